"""Put our keys into a config file that belongs to someone else: text in, text out.

What the file says already stays: other keys, their order, TOML comments, JSON indentation. A file that does
not parse is refused, never repaired. Merging twice changes nothing, and text that needs no change comes back
byte for byte.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, MutableMapping
from typing import Any, Literal, NoReturn

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Item, Table

KeyPath = tuple[str, ...]
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class MergeError(ValueError):
    """The file cannot be changed safely; the message says why."""


def merged(
    text: str | None,
    content: Mapping[str, Any],
    absent: tuple[KeyPath, ...] = (),
    *,
    format: Literal["json", "toml"],
) -> str | None:
    """`text` with `content` merged in and the key paths of `absent` removed; None stands for no file."""
    if text is None and not content:
        return None
    if format == "json":
        return _merged_json(text, content, absent)
    return _merged_toml(text, content, absent)


def _merged_json(text: str | None, content: Mapping[str, Any], absent: tuple[KeyPath, ...]) -> str:
    document = _parsed_json(text) if text is not None and text.strip() else {}
    changed = _apply(document, content, absent)
    if text is not None and text.strip() and not changed:
        return text
    indent = _INDENT.search(text or "")
    result = json.dumps(document, indent=indent.group(1) if indent else 2, ensure_ascii=False) + "\n"
    return result.replace("\n", "\r\n") if "\r\n" in (text or "") else result


def _parsed_json(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        raise MergeError(
            f"line {error.lineno} is not plain JSON ({error.msg}); comments and trailing commas would be lost"
        ) from error
    if not isinstance(document, dict):
        raise MergeError(f"the top level is a {type(document).__name__}, an object is needed")
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise MergeError(f"the key {twice!r} occurs twice in one object; one of them would be lost")
    return document


def _not_json(constant: str) -> NoReturn:
    raise MergeError(f"{constant} is not plain JSON")


def _merged_toml(text: str | None, content: Mapping[str, Any], absent: tuple[KeyPath, ...]) -> str:
    try:
        expected = tomllib.loads(text or "")
        document = tomlkit.parse(text or "")
    except (tomllib.TOMLDecodeError, TOMLKitError) as error:
        raise MergeError(f"it is not valid TOML ({error})") from error
    if not _apply(expected, content, absent) and text is not None:
        return text
    _apply(document, content, absent)
    result = tomlkit.dumps(document)
    if result.endswith("\n\n") and not (text or "").endswith("\n\n"):
        result = result[:-1]
    # Editing around comments and split tables is intricate: the result must mean what a plain merge means.
    if tomllib.loads(result) != expected:
        raise MergeError("its tables are laid out in a way that cannot be edited without loss")
    return result


def _apply(document: MutableMapping[str, Any], content: Mapping[str, Any], absent: tuple[KeyPath, ...]) -> bool:
    changed = _put(document, content, ())
    for path in absent:
        changed = _remove(document, path) or changed
    return changed


def _put(document: MutableMapping[str, Any], content: Mapping[str, Any], above: KeyPath) -> bool:
    changed = False
    for key, value in content.items():
        here = (*above, key)
        if not isinstance(value, Mapping):
            if key not in document or not _same(document[key], value):
                document[key] = value
                changed = True
        elif key not in document:
            document[key] = _nested(value, document, here)
            changed = True
        elif isinstance(document[key], MutableMapping):
            changed = _put(document[key], value, here) or changed
        else:
            raise MergeError(f"{'.'.join(here)} is {_plain(document[key])!r}, a table is needed there")
    return changed


def _nested(value: Mapping[str, Any], document: MutableMapping[str, Any], here: KeyPath) -> Any:
    """`value` as the document's own kind of table; a TOML table that holds only tables gets no header."""
    if not isinstance(document, Item | tomlkit.TOMLDocument):
        return dict(value)
    holds_only_tables = bool(value) and all(isinstance(inner, Mapping) for inner in value.values())
    inline = isinstance(document, InlineTable)
    table = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=holds_only_tables)
    _put(table, value, here)
    if isinstance(table, Table) and not holds_only_tables:
        table.add(tomlkit.nl())  # an empty line before whatever follows
    return table


def _remove(document: Any, path: KeyPath) -> bool:
    """Delete the entry, and every table above it that is left empty."""
    first, *rest = path
    if not isinstance(document, MutableMapping) or first not in document:
        return False
    if rest:
        if not _remove(document[first], tuple(rest)):
            return False
        if document[first]:
            return True
    del document[first]
    return True


def _same(present: Any, value: Any) -> bool:
    plain = _plain(present)
    return type(plain) is type(value) and bool(plain == value)


def _plain(value: Any) -> Any:
    return value.unwrap() if isinstance(value, Item) else value
