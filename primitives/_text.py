"""A typed result as text that every harness shows alike: JSON over several lines, one row per line.

Long single lines are dropped by some harnesses and deep indentation wastes tokens: so scalars and rows of
tables stand on a line each.
"""

from __future__ import annotations

import json
from typing import Any

from primitives._base import Result

MAX_CHARACTERS = 12_000
_ROW_CHARACTERS = 160


def as_text(result: Result) -> str:
    """The JSON of a result without empty fields, cut at a line before any harness would cut it."""
    text = _block(_without_empty(result.model_dump(mode="json")), "")
    if len(text) <= MAX_CHARACTERS:
        return text
    kept = text[: MAX_CHARACTERS - 200].rsplit("\n", 1)[0]
    return f"{kept}\n... cut here: {len(text) - len(kept)} of {len(text)} characters left out. Ask for less at a time."


def _without_empty(node: Any) -> Any:
    if isinstance(node, dict):
        kept = {key: _without_empty(value) for key, value in node.items()}
        return {key: value for key, value in kept.items() if value is not None and value != [] and value != {}}
    if isinstance(node, list):
        return [_without_empty(item) for item in node]
    return node


def _block(node: Any, indent: str) -> str:
    inner = indent + " "
    line = json.dumps(node, ensure_ascii=False)
    if not isinstance(node, dict | list) or (indent and len(line) <= _ROW_CHARACTERS):
        return line
    if isinstance(node, list):
        return "[\n" + ",\n".join(inner + _block(item, inner) for item in node) + f"\n{indent}]"
    fields = (f"{inner}{json.dumps(key)}: {_block(value, inner)}" for key, value in node.items())
    return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
