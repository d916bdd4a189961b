"""What each harness's own records say about one run of two tool calls.

The records are those of the pinned versions, driven by the scripted model, with long texts cut. The model said
that each of its three answers cost 1000 fresh, 3000 cached and 200 written tokens, 44 visible and 33 of reasoning.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from harness_configs._base import FinishedRun, ReadBack, Step, TokenUsage
from harness_configs.openclaw.read_back import STATE
from harness_configs.registry import HARNESSES

RECORDS = Path(__file__).parent / "records"
FINAL = "The scripted model has seen the sheet."
EVERYTHING = TokenUsage(input=3000, cached=9000, cache_write=600, output=132, reasoning=99)
NO_CACHE_WRITE = TokenUsage(input=3600, cached=9000, cache_write=0, output=132, reasoning=99)
"""Gemini's protocol and Chat Completions as OpenCode reads them do not tell what was written to a cache."""
USAGE = {
    "claude_code": EVERYTHING,
    "codex_cli": EVERYTHING,
    "opencode": NO_CACHE_WRITE,
    "gemini_cli": NO_CACHE_WRITE,
    "openclaw": EVERYTHING,
}


@pytest.fixture
def finished(tmp_path: Path) -> dict[str, FinishedRun]:
    """The five runs as they lie on disk."""
    runs = {name: _run(tmp_path / name, name) for name in HARNESSES}
    sessions = runs["codex_cli"].home / ".codex" / "sessions" / "2026" / "01" / "01"
    sessions.mkdir(parents=True)
    shutil.copyfile(RECORDS / "codex_cli_rollout.jsonl", sessions / "rollout-1.jsonl")
    chats = runs["gemini_cli"].home / ".gemini" / "tmp" / "workspace" / "chats"
    chats.mkdir(parents=True)
    shutil.copyfile(RECORDS / "gemini_cli_session.jsonl", chats / "session-1.jsonl")
    _write_events(runs["openclaw"].workspace / STATE)
    return runs


def _run(folder: Path, name: str) -> FinishedRun:
    (file,) = RECORDS.glob(f"{name}.json*")
    return FinishedRun(file.read_text(encoding="utf-8"), "", folder / "home", folder / "workspace")


def _write_events(state: Path) -> None:
    file = state / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    file.parent.mkdir(parents=True)
    events = json.loads((RECORDS / "openclaw_events.json").read_text(encoding="utf-8"))
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE transcript_events (event_json, navigation_json, created_at, seq)")
        database.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", events)
    database.close()


def _read(finished: dict[str, FinishedRun], name: str) -> ReadBack:
    return HARNESSES[name].read_back(finished[name])


@pytest.mark.parametrize("name", HARNESSES)
def test_the_five_buckets_are_what_the_model_said_it_cost(finished: dict[str, FinishedRun], name: str) -> None:
    assert _read(finished, name).usage == USAGE[name]


@pytest.mark.parametrize("name", HARNESSES)
def test_the_calls_are_found_under_the_names_that_the_model_saw(finished: dict[str, FinishedRun], name: str) -> None:
    read = _read(finished, name)

    calls = [(step.tool, json.loads(step.arguments), step.failed) for step in read.steps if step.kind == "tool_call"]
    visible = HARNESSES[name].model_visible
    assert calls == [
        (visible("probe"), {"path": "materials/film.mp4"}, False),
        (visible("frame_grid"), {"path": "materials/film.mp4", "count": 6}, False),
    ]
    assert (read.final_message, read.turns, read.errors) == (FINAL, 3, ())


@pytest.mark.parametrize("name", [name for name in HARNESSES if name != "openclaw"])
def test_the_sheet_is_seen_in_the_result_of_its_call(finished: dict[str, FinishedRun], name: str) -> None:
    images = [step.images for step in _read(finished, name).steps if step.kind == "tool_call"]

    assert images == [0, 1]


@pytest.mark.parametrize("name", HARNESSES)
def test_a_run_cut_off_before_it_printed_anything_has_no_usage_rather_than_zero(tmp_path: Path, name: str) -> None:
    read = HARNESSES[name].read_back(FinishedRun('{"type": "sys', "Killed", tmp_path, tmp_path))

    assert read == ReadBack(turns=read.turns)
    assert not read.turns


@pytest.mark.parametrize("name", ["codex_cli", "gemini_cli", "openclaw"])
def test_a_run_cut_off_before_its_totals_is_counted_from_its_session(
    finished: dict[str, FinishedRun], name: str
) -> None:
    cut = FinishedRun("", "", finished[name].home, finished[name].workspace)

    assert HARNESSES[name].read_back(cut).usage == USAGE[name]


def test_a_failed_call_and_a_failed_run_are_told(tmp_path: Path) -> None:
    lines = [
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]}},
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": True}]},
        },
        {"type": "result", "subtype": "error_max_turns", "is_error": True, "num_turns": 1, "usage": {}},
    ]
    text = "\n".join(json.dumps(line) for line in lines)

    read = HARNESSES["claude_code"].read_back(FinishedRun(text, "", tmp_path, tmp_path))

    assert read.steps == (Step(kind="tool_call", tool="Bash", arguments="{}", text="no", failed=True),)
    assert read.errors == ("error_max_turns: ",)
