"""Whole cells with agents that mean no good: in every arm nothing is found, and nothing gets out of hand."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from avb_mcp.experiments.cgroups import groups_for
from avb_mcp.experiments.isolation import why_not
from avb_mcp.experiments.ledger import Ledger
from avb_mcp.experiments.plan import Limits
from avb_mcp.experiments.record import CellRecord
from tests.avb_mcp.experiments.making import order_suite

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
    pytest.mark.skipif(bool(why_not()), reason=f"bubblewrap cannot be used here: {why_not()}"),
]

ARMS = ["shell", "typed", "typed-only", "minus:probe"]
HUNTER = Path(__file__).with_name("hunter.py").read_text(encoding="utf-8")
PLAN = """
name = "bad agents"
suites = ["suite"]
arms = {arms}
repetitions = 1
isolation = "{isolation}"
network = "none"
workers = 3

[limits]
time_s = {time_s}
processes = 40
disk_gb = 0.1

[retries]
crash = 0
"""
AGENT = """
[[agents]]
harness = "command"
model = "{name}"
command = {command}
"""
BAD = {
    "bomb": [
        sys.executable, "-c", "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    ],
    "file": ["sh", "-c", "head -c 10000000000 /dev/zero > outputs/big; sleep 4242"],
    "hang": ["sh", "-c", "(trap '' TERM INT; sleep 4242) & trap '' TERM; sleep 4242"],
}  # fmt: skip


def _run(
    folder: Path, agents: dict[str, list[str]], *, arms: list[str], isolation: str = "bubblewrap", time_s: float = 60
) -> list[CellRecord]:
    plan = PLAN.format(arms=json.dumps(arms), isolation=isolation, time_s=time_s)
    plan += "".join(AGENT.format(name=name, command=json.dumps(command)) for name, command in agents.items())
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path), "AVB_SECRET": "key-answer"}
    run = [sys.executable, "-m", "avb_mcp", "run", str(folder / "plan.toml"), "--out", str(folder / "runs" / isolation)]
    subprocess.run(run, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=100, check=True)
    return list(Ledger(folder / "runs" / isolation).records())


def _found(folder: Path, isolation: str, record: CellRecord) -> list[str]:
    place = folder / "runs" / isolation / "cells" / record.cell_id / "1" / "workspace" / "outputs" / "found.json"
    found: list[str] = json.loads(place.read_text(encoding="utf-8"))
    return found


def test_a_hunt_for_answers_comes_back_empty_in_every_arm_and_finds_them_where_nothing_is_isolated(
    tmp_path: Path,
) -> None:
    order_suite(tmp_path / "suite")
    (tmp_path / "suite" / "answers" / "order-1" / "notes.txt").write_text("true-answer", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        # The hunter puts the words together itself: whole, they would be found in its own command line.
        hunt = [sys.executable, "-c", HUNTER, "true,key,mark", str(server.getsockname()[1])]
        isolated = _run(tmp_path, {"hunter": [*hunt, "/"]}, arms=ARMS)
        (bare,) = _run(tmp_path, {"hunter": [*hunt, str(tmp_path)]}, arms=["shell"], isolation="none")

    assert {record.cell.arm.name: _found(tmp_path, "bubblewrap", record) for record in isolated} == {
        arm: [] for arm in ARMS
    }
    everything = "\n".join(_found(tmp_path, "none", bare))
    for what in ("true-answer in", "answer.json", "mark-answer in", "key-answer in", "the runner is", "was reached"):
        assert what in everything, what


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CellRecord]:
    """What became of each bad agent."""
    with groups_for("test-of-bounds", Limits(processes=10)) as groups:
        if os.geteuid() == 0 and not groups.folders:
            pytest.skip("no control group can be made here, and root knows no other bound on processes")
    folder = tmp_path_factory.mktemp("bad")
    order_suite(folder / "suite")
    return {record.cell.agent.model: record for record in _run(folder, BAD, arms=["shell"], time_s=8)}


def test_a_fork_bomb_is_refused_and_recorded(ended: dict[str, CellRecord]) -> None:
    record = ended["bomb"]

    assert record.outcome in ("timeout", "limit")
    assert record.exit.peak_processes <= 41
    assert record.exit.refused.get("processes", 0) > 0 or os.geteuid() != 0
    assert record.score == 0.0


def test_a_file_of_ten_gigabytes_stops_at_the_bound_and_is_recorded(ended: dict[str, CellRecord]) -> None:
    record = ended["file"]

    assert (record.outcome, record.deliverables) == ("limit", {"big": 100_000_000})
    assert "GB on disk, 0.1 are allowed" in record.reason


def test_an_agent_that_hangs_with_a_child_that_ignores_the_request_to_end_is_ended_and_recorded(
    ended: dict[str, CellRecord],
) -> None:
    record = ended["hang"]

    assert (record.outcome, record.reason, record.exit.timed_out) == ("timeout", "the time was up", True)
    sleeping = [p for p in Path("/proc").glob("[0-9]*/cmdline") if p.read_bytes() == b"sleep\x004242\x00"]
    assert sleeping == []
