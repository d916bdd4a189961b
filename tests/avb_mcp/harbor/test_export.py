from __future__ import annotations

import base64
import csv
import hashlib
import json
import tomllib
import zipfile
from pathlib import Path

import pytest

from avb_mcp.harbor.export import export_harbor
from avb_mcp.harbor.wheel import write_wheel
from primitives._base import UserError
from primitives.registry import PRIMITIVES
from tests.avb_mcp.experiments.making import order_suite


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_task_has_all_parts_and_the_answers_only_where_the_agent_never_is(tmp_path: Path) -> None:
    suite = order_suite(tmp_path / "suite", 2)

    folders = export_harbor(suite, tmp_path / "out", ["order-2"])

    assert folders == [tmp_path / "out" / "tasks" / "order-2"]
    names = _names(folders[0])
    answers = {name for name in names if "answer" in name or "reference" in name}
    assert {name.partition("/")[0] for name in answers} == {"tests", "solution"}
    assert {"task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh", "solution/solve.sh"} <= names
    assert {f"environment/workspace/materials/{n}.mp4" for n in "123"} <= names
    assert (folders[0] / "tests" / "test.sh").stat().st_mode & 0o111


def test_the_task_says_what_an_import_needs_to_know(tmp_path: Path) -> None:
    suite = order_suite(tmp_path / "suite")

    (folder,) = export_harbor(suite, tmp_path / "out")

    document = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    facts = json.loads((folder / "tests" / "task-facts.json").read_text(encoding="utf-8"))
    assert document["schema_version"] == "1.4"
    assert document["task"]["name"] == "suite/order-1"
    assert document["metadata"]["avb"] == facts
    assert (facts["suite"], facts["task_id"], facts["family"]) == ("suite", "order-1", "sequencing")
    assert document["verifier"]["environment_mode"] == "separate"


def test_the_typed_arm_is_a_config_and_a_sentence(tmp_path: Path) -> None:
    export_harbor(order_suite(tmp_path / "suite"), tmp_path / "out")

    server = json.loads((tmp_path / "out" / "typed.mcp.json").read_text(encoding="utf-8"))["mcpServers"]["avb"]
    sentence = (tmp_path / "out" / "typed.md").read_text(encoding="utf-8")
    assert server["args"] == ["serve", "--workspace", "/workspace"]
    assert all(primitive.name in sentence for primitive in PRIMITIVES)


@pytest.mark.parametrize(
    ("out", "tasks", "sentence"),
    [
        ("out", ["order-9"], "has no task order-9"),
        ("suite/out", [], "lies inside the suite"),
        ("full", [], "not empty"),
    ],
)
def test_what_cannot_be_exported_is_a_sentence(tmp_path: Path, out: str, tasks: list[str], sentence: str) -> None:
    suite = order_suite(tmp_path / "suite")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()

    with pytest.raises(UserError, match=sentence):
        export_harbor(suite, tmp_path / out, tasks)


def test_the_wheel_is_whole_and_the_same_twice(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()

    wheel, again = write_wheel(tmp_path), write_wheel(tmp_path / "again")

    assert wheel.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        listed = {row[0]: row[1] for row in csv.reader(archive.read(record).decode().splitlines())}
        assert set(listed) == set(names)
        for name in names:
            if name != record:
                digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).decode().rstrip("=")
                assert listed[name] == f"sha256={digest}"
    assert {"avb_mcp/cli.py", "primitives/registry.py", "verifiers/registry.py", "harness_configs/registry.py"} <= set(
        names
    )
