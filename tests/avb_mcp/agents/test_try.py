"""`avb-mcp try`: its table, and what it says to mistakes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from avb_mcp.agents.cli_try import table_of
from avb_mcp.agents.runner import Run
from avb_mcp.cli import app
from primitives._base import UserError
from primitives._task import Family


def run(agent: str, score: float | None, **more: object) -> Run:
    fields: dict[str, object] = {
        "task": "repair-1", "family": Family.REPAIR, "agent": agent, "score": score,
        "status": "scored" if score is not None else "broken",
        "components": {}, "reasons": [], "elapsed_s": 1.25, "tools": ["probe"], "calls": {"probe": 2},
    }  # fmt: skip
    return Run.model_validate(fields | more)


def shown(runs: list[Run]) -> list[str]:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(table_of(runs))
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_the_table_names_a_task_once_and_says_broken_where_there_is_no_score() -> None:
    heading, first, second = shown([run("nop", 0.0), run("autopilot", None)])
    assert heading.split() == ["task", "family", "agent", "score", "time", "calls"]
    assert first.split() == ["repair-1", "repair", "nop", "0.000", "1.2", "s", "2"]
    assert second.split() == ["autopilot", "broken", "1.2", "s", "2"]


def test_a_vandal_that_earned_more_than_it_must_is_marked() -> None:
    heading, held, broke = shown(
        [
            run("vandal: silence", 0.0, expected="0", as_expected=True),
            run("vandal: NaN JSON", 0.4, expected="0", as_expected=False),
        ]
    )
    assert heading.endswith("must be") and held.endswith(" 0") and broke.endswith("0 NO")


def test_a_folder_that_is_no_suite_is_a_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["try", str(tmp_path), "--agent", "nop"])
    assert isinstance(result.exception, UserError) and "holds no suite.json" in str(result.exception)


def test_an_unknown_agent_is_a_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["try", str(tmp_path), "--agent", "genius"])
    assert isinstance(result.exception, UserError)
    with pytest.raises(UserError, match="There is no agent 'genius'"):
        raise result.exception
