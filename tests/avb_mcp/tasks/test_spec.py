"""suite.json and task.json: what is refused, in which words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from avb_mcp.docs import schema_texts
from avb_mcp.tasks.spec import Entry, Source, Suite, digest_of, load_suite, load_task
from primitives._base import UserError

SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "schemas"
ENTRY = {"id": "a", "family": "repair", "builder": "repair", "seed": 1, "digest": "0" * 64, "files": {}}


def test_a_folder_without_suite_json_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no suite.json. Give a folder"):
        load_suite(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Invalid JSON"),
        (json.dumps({"name": "s", "builder_version": "1", "version": 2}), "version: Input should be 1"),
        (json.dumps({"name": "s", "builder_version": "1", "surprise": 1}), "surprise: Extra inputs"),
    ],
)
def test_a_damaged_suite_json_is_one_sentence_with_the_place(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "suite.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=words):
        load_suite(tmp_path)


def test_a_damaged_task_json_is_one_sentence_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text(json.dumps({"id": "a", "family": "cooking"}), encoding="utf-8")
    with pytest.raises(UserError, match="family: Input should be"):
        load_task(tmp_path)


@pytest.mark.parametrize("task_id", ["", "../a", "A", "a b", "a/b", ".a", "a" * 81])
def test_a_task_id_is_a_plain_lower_case_name(task_id: str) -> None:
    with pytest.raises(ValidationError):
        Entry.model_validate(ENTRY | {"id": task_id})


def test_names_are_listed_once_and_sources_of_tasks_are_known() -> None:
    source = Source(name="film.mp4", sha256="0" * 64)
    with pytest.raises(ValidationError, match="the task 'a' is listed twice"):
        Suite(name="s", builder_version="1", tasks=[Entry.model_validate(ENTRY)] * 2)
    with pytest.raises(ValidationError, match=r"the source 'film.mp4' is listed twice"):
        Suite(name="s", builder_version="1", sources=[source, source])
    with pytest.raises(ValidationError, match=r"the source 'film.mp4' of a task is not listed"):
        Suite(name="s", builder_version="1", tasks=[Entry.model_validate(ENTRY | {"sources": ["film.mp4"]})])


def test_the_digest_hangs_on_paths_and_contents_and_not_on_their_order() -> None:
    files = {"a": "1", "b": "2"}
    assert digest_of(files) == digest_of({"b": "2", "a": "1"})
    assert digest_of(files) != digest_of({"a": "2", "b": "1"})


def test_the_published_schemas_are_those_of_the_models() -> None:
    """`make docs` writes them anew."""
    assert {path.name: path.read_text(encoding="utf-8") for path in SCHEMAS.iterdir()} == schema_texts()
