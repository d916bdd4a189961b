"""Agents on small built tasks, through a real server over stdio: all for the oracle, nothing for nop."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from avb_mcp.agents import autopilot, nop, oracle
from avb_mcp.agents._base import Agent, Seat
from avb_mcp.agents.registry import AGENTS, agents_named
from avb_mcp.agents.runner import Case, Run, cases_of, require_apart, run_agent, run_all, run_vandals
from avb_mcp.score import score_workspace
from avb_mcp.tasks.builders import assembly, repair, repurpose, sequencing
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.footage import Footage, open_footage
from avb_mcp.tasks.spec import Source, workspace_of
from avb_mcp.tasks.suite import TaskPlan, write_suite
from primitives._base import UserError
from tests.avb_mcp.tasks.shot_films import shot_film

SHOTS = (40, 36, 44, 38, 42, 40, 36)


@pytest.fixture(scope="module")
def footage(tmp_path_factory: pytest.TempPathFactory) -> Footage:
    return open_footage(shot_film(tmp_path_factory.mktemp("film") / "film.mp4", SHOTS, size=(320, 180)))


@pytest.fixture(scope="module")
def suite(footage: Footage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task of every family, both schemes of repair."""
    ask = BuildRequest(seed=3, count=1, slots=3, min_clips=4, max_clips=5)
    broken = {"min_s": 9.0, "max_s": 12.0}
    plans: list[TaskPlan] = [
        *sequencing.plan([footage], ask),
        *assembly.plan([footage], ask),
        *repurpose.plan([footage], BuildRequest(seed=3, count=1)),
        *repair.plan([footage], BuildRequest(seed=3, count=1, kinds=("repeated_frames",), **broken)),
        *repair.plan([footage], BuildRequest(seed=4, count=1, kinds=("colour_grade",), **broken)),
    ]
    out = tmp_path_factory.mktemp("suites") / "suite"
    write_suite(out, plans, [Source(name=footage.name, sha256=footage.sha256)], lambda *_: None)
    return out


@pytest.fixture(scope="module")
def runs(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    out = tmp_path_factory.mktemp("runs")
    found = run_all(cases_of(suite), [nop.AGENT, oracle.AGENT], out, lambda *_: None, jobs=2)
    assert [run.error for run in found] == [None] * len(found)
    return found


def scores(runs: Sequence[Run], agent: str) -> dict[str, float | None]:
    return {run.task: run.score for run in runs if run.agent == agent}


def test_the_oracle_gets_everything_in_every_family(runs: list[Run]) -> None:
    found = scores(runs, "oracle")
    assert len(found) == 5
    assert all(score == pytest.approx(1.0, abs=0.005) for score in found.values()), found


def test_nop_gets_nothing_in_any_family_though_the_tools_were_listed(runs: list[Run]) -> None:
    assert set(scores(runs, "nop").values()) == {0.0}
    assert all("probe" in run.tools and run.calls == {} for run in runs if run.agent == "nop")


def test_the_oracle_hands_in_through_the_submit_tool(runs: list[Run]) -> None:
    assert all(run.calls.get("submit") == 1 for run in runs if run.agent == "oracle")


def test_a_suite_is_the_same_after_the_runs(suite: Path, runs: list[Run]) -> None:
    assert runs
    left = {path.name for task in (suite / "tasks").iterdir() for path in task.iterdir()}
    assert left == {"task.json", "brief.md", "materials"}


def blind(suite: Path, task: str, elsewhere: Path) -> Case:
    """A task of which no answers are on this disk's path: only its workspace, alone in a folder."""
    return Case(Path(shutil.copytree(workspace_of(suite, task), elsewhere / task)), None)


@pytest.mark.parametrize("family", ["assembly", "repurpose", "repair"])
def test_the_autopilot_beats_nop_without_any_answers_on_disk(
    suite: Path, runs: list[Run], family: str, tmp_path: Path
) -> None:
    task = next(run.task for run in runs if run.family == family)
    case = blind(suite, task, tmp_path / "alone")
    run = run_agent(case, autopilot.AGENT, tmp_path / "runs")
    assert (run.error, run.status, run.score) == (None, "no answers", None)
    handed_in = tmp_path / "runs" / task / "autopilot" / "task"
    score = score_workspace(handed_in, suite / "answers" / task).score
    assert score is not None and score > 0.3


def test_the_autopilot_hands_in_a_whole_order_of_the_clips(suite: Path, runs: list[Run], tmp_path: Path) -> None:
    task = next(run.task for run in runs if run.family == "sequencing")
    run = run_agent(cases_of(suite, [task])[0], autopilot.AGENT, tmp_path)
    assert (run.error, run.status) == (None, "scored")
    record = json.loads((tmp_path / task / "autopilot" / "verdict.json").read_text(encoding="utf-8"))
    assert record["components"]["honesty"] == 1.0


def test_the_autopilot_orders_clips_by_their_joins(tmp_path: Path) -> None:
    film = open_footage(shot_film(tmp_path / "film.mp4", SHOTS, glide=True))
    plans = sequencing.plan([film], BuildRequest(seed=5, count=1, min_clips=6, max_clips=6))
    write_suite(tmp_path / "suite", plans, [Source(name=film.name, sha256=film.sha256)], lambda *_: None)
    run = run_agent(cases_of(tmp_path / "suite")[0], autopilot.AGENT, tmp_path / "runs")
    assert (run.error, run.score, run.calls.get("join_scores")) == (None, 1.0, 1)


def test_the_autopilot_does_without_tools_that_are_not_listed(suite: Path, runs: list[Run], tmp_path: Path) -> None:
    task = next(run.task for run in runs if run.family == "sequencing")
    run = run_agent(
        cases_of(suite, [task])[0], autopilot.AGENT, tmp_path, disable=["frame_grid", "scene_cuts", "join_scores"]
    )
    assert (run.error, run.status, "frame_grid" in run.tools) == (None, "scored", False)


def test_an_agent_that_breaks_is_a_broken_run_and_no_zero(suite: Path, tmp_path: Path) -> None:
    def break_down(_seat: Seat) -> None:
        raise RuntimeError("the agent fell over")

    run = run_agent(cases_of(suite)[0], Agent("clumsy", break_down), tmp_path)
    assert (run.status, run.score) == ("broken", None)
    assert "the agent fell over" in (run.error or "")


def test_only_agents_that_say_so_are_told_where_the_answers_are(suite: Path, tmp_path: Path) -> None:
    told: dict[str, Path | None] = {}
    for agent in (Agent("a", lambda seat: told.update(a=seat.answers)),
                  Agent("b", lambda seat: told.update(b=seat.answers), sees_answers=True)):  # fmt: skip
        run_agent(cases_of(suite)[0], agent, tmp_path)
    assert told["a"] is None and told["b"] is not None
    assert [agent.name for agent in AGENTS if agent.sees_answers] == ["oracle"]


@pytest.mark.slow
def test_every_trick_of_a_vandal_gets_what_it_must(suite: Path, runs: list[Run], tmp_path: Path) -> None:
    task = next(run.task for run in runs if run.family == "assembly")
    found = run_vandals(suite, cases_of(suite, [task]), tmp_path, lambda *_: None)
    assert len(found) >= 5
    assert [run.agent for run in found if not run.as_expected] == []


def test_mistakes_are_sentences(suite: Path) -> None:
    with pytest.raises(UserError, match="no task elsewhere"):
        cases_of(suite, ["elsewhere"])
    with pytest.raises(UserError, match=r"There is no agent 'genius'\. Use nop, autopilot, oracle or vandal"):
        agents_named(["genius"])
    with pytest.raises(UserError, match="inside the suite"):
        require_apart(suite / "runs", suite)
