"""Hardened JSON: everything hostile is refused with a sentence, everything honest is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from verifiers._json import (
    MAX_DEPTH,
    MAX_JSON_BYTES,
    AnswerError,
    SubmissionError,
    SubmissionMissing,
    load_answer_json,
    load_answer_model,
    load_submission_json,
    load_submission_text,
    parse_json,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(-1e300, 1e300) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_any_honest_value_comes_back_unchanged(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NaN", "NaN is not a JSON number"),
        ('{"a": [-Infinity]}', "-Infinity is not a JSON number"),
        ("1e999", "the number 1e999 is too large"),
        ("9" * 19, "an integer has more than 18 digits"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' occurs twice"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nests deeper than"),
        ("[" * 200_000, "nests deeper than"),
        ('{"a":' * 100_000, "nests deeper than"),
        ('["\\ud800"]', "lone surrogate"),
        ('{"\\udfff": 1}', "lone surrogate"),
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[1] [2]", "Extra data"),
    ],
)
def test_hostile_json_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(text)


def test_brackets_inside_strings_are_no_nesting() -> None:
    value = ["[" * 500, {"{" * 500 + '"\\': "]}"}]
    assert parse_json(json.dumps(value)) == value


def test_nesting_at_the_limit_is_read() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None


def test_an_absent_file_is_a_missing_submission(tmp_path: Path) -> None:
    with pytest.raises(SubmissionMissing, match=r"solution\.json was not submitted"):
        load_submission_json(tmp_path / "solution.json")


def test_a_name_with_a_nul_byte_is_a_missing_submission(tmp_path: Path) -> None:
    with pytest.raises(SubmissionMissing):
        load_submission_json(tmp_path / "solution\0.json")


def test_a_symlink_is_refused_even_to_a_good_file(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text("[1]")
    (tmp_path / "solution.json").symlink_to(tmp_path / "answer.json")
    with pytest.raises(SubmissionError, match="symlink"):
        load_submission_json(tmp_path / "solution.json")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\xff\xfe[1]", "not UTF-8"),
        (b" " * (MAX_JSON_BYTES + 1), "at most"),
        (b"[1,]", "not acceptable JSON"),
    ],
)
def test_a_bad_file_is_refused_with_its_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "solution.json"
    path.write_bytes(content)
    with pytest.raises(SubmissionError, match=reason):
        load_submission_json(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="not a regular file"):
        load_submission_json(tmp_path)


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "solution.json"
    path.write_bytes(b"\xef\xbb\xbf[1]")
    assert load_submission_json(path) == [1]


def test_lenient_text_replaces_what_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_bytes(b"- start: 1\xff")
    assert load_submission_text(path, lenient=True) == "- start: 1\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff"])
def test_trouble_with_the_answer_is_never_the_submissions(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "reference.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AnswerError, match=r"reference\.json"):
        load_answer_json(path)


def test_an_answer_of_the_wrong_shape_says_where(tmp_path: Path) -> None:
    class Reference(BaseModel):
        count: int

    path = tmp_path / "reference.json"
    path.write_text('{"count": "many"}')
    with pytest.raises(AnswerError, match=r"reference\.json is wrong at count"):
        load_answer_model(path, Reference)
