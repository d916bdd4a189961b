from __future__ import annotations

from pathlib import Path

import pytest

from avb_mcp.experiments.plan import Network, Plan, choose, expected_cells, load_plan
from primitives._base import UserError
from tests.avb_mcp.experiments.making import cell, make_suite

PLAN = """
name = "two agents"
suites = ["suite"]
arms = ["shell", "typed"]
repetitions = 2

[[agents]]
harness = "claude_code"
model = "claude-opus-4-7"

[[agents]]
harness = "autopilot"
"""


def _plan(folder: Path, text: str = PLAN) -> Plan:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return load_plan(folder / "plan.toml")


def test_every_task_agent_arm_and_repetition_is_a_cell(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"repair-1": "repair", "order-1": "sequencing"})

    cells = expected_cells(_plan(tmp_path))

    claude = [(c.task_id, c.arm.name, c.repetition) for c in cells if c.agent.harness == "claude_code"]
    assert sorted(claude) == sorted(
        (task, arm, repetition)
        for task in ("repair-1", "order-1")
        for arm in ("shell", "typed")
        for repetition in (1, 2)
    )
    assert len({c.id for c in cells}) == len(cells)


def test_an_agent_without_a_model_has_no_cells_where_there_are_no_tools(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"repair-1": "repair"})

    cells = expected_cells(_plan(tmp_path))

    assert {c.arm.name for c in cells if c.agent.harness == "autopilot"} == {"typed"}


def test_repetitions_come_one_after_another_so_that_an_early_stop_is_balanced(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"repair-1": "repair"})

    repetitions = [c.repetition for c in expected_cells(_plan(tmp_path))]

    assert repetitions == sorted(repetitions)


def test_a_cell_has_another_id_when_its_task_has_other_content() -> None:
    one = cell()

    assert one.id == cell().id
    assert one.id != one.model_copy(update={"task_digest": "1" * 64}).id
    assert one.id.startswith("repair-1--autopilot--typed--r1--")


def test_paths_are_relative_to_the_plan_and_defaults_are_the_papers(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"repair-1": "repair"})

    plan = _plan(tmp_path)

    assert plan.suites == (tmp_path / "suite",)
    assert (plan.limits.time_s, plan.limits.turns, plan.limits.memory_gb) == (1800, 200, 8)
    assert plan.network is Network.OPEN


def test_a_plan_survives_being_saved(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"repair-1": "repair"})
    plan = _plan(tmp_path)

    assert Plan.model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('harness = "claude_code"', 'harness = "cloud_code"', "no harness 'cloud_code'; known are claude_code"),
        ('model = "claude-opus-4-7"', "", "needs a model"),
        ('arms = ["shell", "typed"]', 'arms = ["shel"]', "not known"),
        ('arms = ["shell", "typed"]', "arms = []", "give a list of arms"),
        ("repetitions = 2", "repetitions = 0", "repetitions"),
        ("repetitions = 2", "repeats = 2", "repeats"),
        ('name = "two agents"', "name = two", "cannot be read"),
        ('harness = "autopilot"', 'harness = "claude_code"\nmodel = "claude-opus-4-7"', "listed twice"),
        ('harness = "autopilot"', 'harness = "nop"\nmodel = "gpt-5.5"', "without a model"),
        ('harness = "autopilot"', 'harness = "command"', "belongs to the harness"),
        ('harness = "autopilot"', 'harness = "autopilot"\nsees = ["x"]', "`sees` belongs to the harness"),
    ],
)
def test_a_mistake_in_a_plan_is_a_sentence(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    assert before in PLAN

    with pytest.raises(UserError, match=sentence):
        _plan(tmp_path, PLAN.replace(before, after))


def test_a_plan_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no plan"):
        load_plan(tmp_path / "plan.toml")


def test_only_chooses_by_any_name_of_a_cell_and_says_when_nothing_is_left() -> None:
    cells = [cell("repair-1"), cell("order-1"), cell("order-1", harness="nop")]

    assert choose(cells, ["order-*", "nop"]) == [cells[2]]
    with pytest.raises(UserError, match="No cell matches --only codex"):
        choose(cells, ["codex*"])
