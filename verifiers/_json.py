"""JSON from a submission, read as if it were hostile; JSON from the answer side, read by the same rules.

Refused with a sentence: a symlink or oversized file, text that is not UTF-8, nesting deeper than
`MAX_DEPTH`, NaN and Infinity (also as `1e999`), integers of more than `MAX_INT_DIGITS` digits, duplicate
keys, and text that cannot be written back as UTF-8 (lone surrogates).
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from verifiers._files import AnswerError, SubmissionError, SubmissionMissing, require_submission_file

__all__ = [
    "AnswerError",
    "JsonValue",
    "SubmissionError",
    "SubmissionMissing",
    "load_answer_json",
    "load_answer_model",
    "load_submission_json",
    "load_submission_text",
    "parse_json",
]

MAX_JSON_BYTES = 1 << 20
MAX_ANSWER_JSON_BYTES = 64 << 20
MAX_DEPTH = 32
MAX_INT_DIGITS = 18

Model = TypeVar("Model", bound=BaseModel)
JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]

# Quoted strings are skipped so that brackets inside them do not count.
_DEPTH_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def load_submission_json(path: Path, *, max_bytes: int = MAX_JSON_BYTES) -> JsonValue:
    """The value in a submitted JSON file, or `SubmissionError` with the reason it is not one."""
    text = load_submission_text(path, max_bytes=max_bytes)
    try:
        return parse_json(text)
    except ValueError as error:
        raise SubmissionError(f"{path.name} is not acceptable JSON: {error}") from error


def load_submission_text(path: Path, *, max_bytes: int = MAX_JSON_BYTES, lenient: bool = False) -> str:
    """A submitted text file as UTF-8 (a leading byte-order mark is dropped).

    `lenient` replaces bytes that are not UTF-8 instead of refusing the file.
    """
    require_submission_file(path, max_bytes=max_bytes)
    try:
        return path.read_bytes().decode("utf-8-sig", errors="replace" if lenient else "strict")
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{path.name} is not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise SubmissionError(f"{path.name} cannot be read: {error.strerror}") from error


def load_answer_json(path: Path) -> JsonValue:
    """The value in a reference JSON file; any trouble is `AnswerError`."""
    try:
        if path.stat().st_size > MAX_ANSWER_JSON_BYTES:
            raise AnswerError(f"the reference file {path.name} is larger than {MAX_ANSWER_JSON_BYTES} bytes")
        return parse_json(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise AnswerError(f"the reference file {path.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise AnswerError(f"the reference file {path.name} is not acceptable JSON: {error}") from error


def load_answer_model(path: Path, model: type[Model]) -> Model:
    """A reference JSON file as `model`; any trouble is `AnswerError`."""
    try:
        return model.model_validate(load_answer_json(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "top level"
        raise AnswerError(f"the reference file {path.name} is wrong at {where}: {first['msg']}") from error


def parse_json(text: str) -> JsonValue:
    """Parse hardened JSON; `ValueError` with a sentence otherwise."""
    _check_depth(text)
    value: JsonValue = json.loads(
        text,
        parse_constant=_refuse_constant,
        parse_float=_finite_float,
        parse_int=_bounded_int,
        object_pairs_hook=_unique_keys,
    )
    _check_text(value)
    return value


def _check_depth(text: str) -> None:
    depth = 0
    for match in _DEPTH_TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"it nests deeper than {MAX_DEPTH} levels")
        elif token in "]}":
            depth -= 1


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:24]} is too large")
    return value


def _bounded_int(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_INT_DIGITS:
        raise ValueError(f"an integer has more than {MAX_INT_DIGITS} digits")
    return int(digits)


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value: dict[str, JsonValue] = {}
    for key, item in pairs:
        if key in value:
            raise ValueError(f"the key {key[:40]!a} occurs twice in one object")
        value[key] = item
    return value


def _check_text(value: JsonValue) -> None:
    """Depth is already bounded, so plain recursion is safe."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("a string holds a lone surrogate") from None
    elif isinstance(value, list):
        for item in value:
            _check_text(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check_text(item)
