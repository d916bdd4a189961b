"""The command line, as a person types it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from avb_mcp.by_hand import parse_words
from primitives._base import UserError
from primitives.registry import PRIMITIVES
from tests.media import make_film


def avb(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "avb_mcp", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **(env or {})})


def test_a_call_prints_the_text_and_writes_the_picture(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=30)
    words = ["call", "frame_grid", "--workspace", str(folder), "path=materials/a.mp4", "count=4"]
    run = avb(*words, "--out", "sheet.jpg", cwd=folder.parent)
    assert run.returncode == 0, run.stderr
    assert [cell["frame"] for cell in json.loads(run.stdout)["cells"]] == [0, 9, 19, 29]
    assert (folder.parent / "sheet.jpg").read_bytes()[:2] == b"\xff\xd8"
    assert run.stderr.startswith("picture: sheet.jpg (")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["call", "frame_gird", "path=a.mp4"], "avb-mcp: There is no primitive 'frame_gird'. Did you mean frame_grid?"),
        (["call", "probe", "path=nothing.mp4"], "avb-mcp: nothing.mp4 does not exist."),
        (["call", "probe", "materials/a.mp4"], "avb-mcp: 'materials/a.mp4' is not name=value."),
        (["call", "probe", "paths=[1,"], "avb-mcp: paths=[1, starts like JSON but does not parse"),
        (["serve", "--workspace", "no/such/folder"], "avb-mcp: no/such/folder is not a folder."),
        (["serve", "--disable", "everything"], "avb-mcp: There is no primitive 'everything'."),
        (["tools", "--enable", "prob"], "avb-mcp: There is no primitive 'prob'. Did you mean probe?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_sentence_and_exit_code_2(folder: Path, words: list[str], sentence: str) -> None:
    run = avb(*words, cwd=folder)
    assert (run.returncode, run.stdout, run.stderr[: len(sentence)]) == (2, "", sentence)
    assert run.stderr.count("\n") == 1


def test_the_tool_table_counts_its_price(folder: Path) -> None:
    run = avb("tools", cwd=folder, env={"COLUMNS": "160"})
    assert run.returncode == 0
    found = re.search(r"(\d+) tools, ~(\d+) tokens in all, ~(\d+) a tool", run.stdout)
    assert found and int(found[1]) == len(PRIMITIVES) and int(found[3]) <= 400


def test_the_json_list_is_what_a_client_gets_and_obeys_the_switches(folder: Path) -> None:
    run = avb("tools", "--json", cwd=folder, env={"AVB_DISABLE": "submit"})
    assert [tool["name"] for tool in json.loads(run.stdout)] == [p.name for p in PRIMITIVES if p.name != "submit"]
    assert all(tool["inputSchema"]["type"] == "object" for tool in json.loads(run.stdout))


def test_words_become_arguments_by_the_types_of_the_tool() -> None:
    properties = {"times_s": {"type": "array"}, "path": {"type": "string"}, "diagnosis": {"type": "array"}}
    words = ["times_s=1,2.5", "path=a=b.mp4", 'diagnosis=[{"type": "x"}]', "path="]
    assert parse_words(words[:3], properties) == {
        "times_s": ["1", "2.5"],
        "path": "a=b.mp4",
        "diagnosis": [{"type": "x"}],
    }
    assert parse_words(words[3:], properties) == {"path": ""}
    with pytest.raises(UserError, match="is not name=value"):
        parse_words(["count"], properties)
