"""Whole cells through the real command lines: the plan in docs/, a repair and a sequencing task, no key.

The autopilot does each task once; a scripted model on loopback leads every harness through the same calls, each cell
isolated. So every harness must come to the same score, with every picture delivered and every token counted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from avb_mcp import npm
from avb_mcp.agents.scripted_model.script import Usage
from avb_mcp.demo.film import make_film
from avb_mcp.demo.run import requests
from avb_mcp.experiments.doctor import told_usage, usage_agrees
from avb_mcp.experiments.ledger import Ledger
from avb_mcp.experiments.record import CellRecord
from avb_mcp.tasks.builders.registry import plan_tasks
from avb_mcp.tasks.footage import open_footage
from avb_mcp.tasks.spec import Source
from avb_mcp.tasks.suite import write_suite
from harness_configs.registry import HARNESSES
from primitives._task import Family

pytestmark = [
    pytest.mark.harness,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]

PLAN = Path(__file__).resolve().parents[2] / "docs" / "plans" / "offline.toml"
FAMILIES = (Family.REPAIR, Family.SEQUENCING)
TYPED = ("typed", "typed-only")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[CellRecord]:
    """Two tasks x five harnesses x three arms."""
    absent = [harness.package.name for harness in HARNESSES.values() if npm.find(harness.package) is None]
    if absent and shutil.which("npm") is None:
        pytest.skip(f"npm is absent, so {absent[0]} cannot be installed")
    folder = tmp_path_factory.mktemp("five")
    make_film(folder / "film.mp4", lambda _done: None)
    footage, asked = open_footage(folder / "film.mp4"), requests()
    plans = [plan for family in FAMILIES for plan in plan_tasks(family, [footage], asked[family])]
    write_suite(folder / "suite", plans, [Source(name=footage.name, sha256=footage.sha256)], lambda *_: None)
    shutil.copy(PLAN, folder / "plan.toml")
    command = [sys.executable, "-m", "avb_mcp", "run", str(folder / "plan.toml"), "--workers", "2"]
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([*command, "--out", str(folder / "run")], env=environment, timeout=1500, check=True)
    return list(Ledger(folder / "run").records())


def test_every_cell_ends_well_at_the_first_try(records: list[CellRecord]) -> None:
    assert len(records) == len(FAMILIES) * len(HARNESSES) * 3
    assert {(record.outcome, record.final, record.attempt) for record in records} == {("done", True, 1)}
    assert {record.network for record in records} == {"loopback"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_harness_comes_to_the_same_score_with_typed_tools(records: list[CellRecord], family: Family) -> None:
    scores = {
        (record.cell.agent.harness, record.cell.arm.name): record.score
        for record in records
        if record.cell.family == family and record.cell.arm.name in TYPED
    }

    assert len(scores) == len(HARNESSES) * len(TYPED)
    (score,) = set(scores.values())
    assert score is not None
    assert score > 0


@pytest.mark.parametrize("harness", list(HARNESSES))
def test_every_picture_that_the_server_sent_reached_the_model(records: list[CellRecord], harness: str) -> None:
    checks = [record.manipulation for record in records if record.cell.agent.harness == harness]

    typed = [check for check in checks if check is not None]
    assert len(typed) == len(FAMILIES) * len(TYPED)
    for check in typed:
        assert (check.passed, check.problems) == (True, ())
        assert check.images_delivered == check.images_sent > 0


@pytest.mark.parametrize("harness", list(HARNESSES))
def test_the_tokens_read_back_are_those_that_the_model_told(records: list[CellRecord], harness: str) -> None:
    for record in (record for record in records if record.cell.agent.harness == harness):
        assert record.turns is not None
        assert usage_agrees(record.usage, told_usage(Usage(), record.turns)), record.cell_id


@pytest.mark.parametrize("harness", list(HARNESSES))
def test_a_shell_arm_has_none_of_our_tools(records: list[CellRecord], harness: str) -> None:
    shell = [r for r in records if r.cell.agent.harness == harness and r.cell.arm.name == "shell"]

    assert [(r.manipulation, r.score, r.tool_calls) for r in shell] == [(None, 0.0, 0)] * len(FAMILIES)
