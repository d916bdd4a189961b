"""A plan runs to the end once, however often it is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from avb_mcp.experiments.ledger import Ledger
from avb_mcp.experiments.plan import Budget
from avb_mcp.experiments.run import Spent, load_expected
from avb_mcp.experiments.usage import load_prices
from harness_configs._base import TokenUsage
from tests.avb_mcp.experiments.making import ORDER, cell, order_suite, record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

AGENT = """
import json, pathlib
segments = [{"source": name} for name in %r]
pathlib.Path("outputs/solution.json").write_text(json.dumps({"segments": segments}))
"""
PLAN = """
name = "resumed"
suites = ["suite"]
arms = ["shell"]
repetitions = {repetitions}
isolation = "none"
workers = 2

[retries]
crash = 1
backoff_s = 0

[[agents]]
harness = "command"
command = {command}
"""


def _make(folder: Path, command: list[str], repetitions: int = 1) -> Path:
    order_suite(folder / "suite")
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(command=json.dumps(command), repetitions=repetitions), encoding="utf-8")
    return plan


def _start(plan: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-m", "avb_mcp", "run", str(plan)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_run_that_is_killed_and_started_again_has_every_cell_exactly_once(tmp_path: Path) -> None:
    plan = _make(tmp_path, [sys.executable, "-c", AGENT % ORDER], repetitions=8)
    ledger = Ledger(tmp_path / "runs" / "resumed")
    for killed_after in (1, 4):
        with _start(plan) as process:
            while process.poll() is None and len(list(ledger.records())) < killed_after:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)

    with _start(plan) as process:
        assert process.wait(120) == 0

    expected = load_expected(ledger.path.parent)
    finals = Counter(item.cell_id for item in ledger.records() if item.final)
    assert finals == Counter(item.id for item in expected)
    assert len(expected) == 8
    assert {item.score for item in ledger.records()} == {1.0}
    assert ledger.standing(expected).missing == []


def test_a_program_that_fails_is_tried_again_and_then_counted(tmp_path: Path) -> None:
    plan = _make(tmp_path, [sys.executable, "-c", "raise SystemExit(3)"])

    with _start(plan) as process:
        assert process.wait(120) == 0

    records = list(Ledger(tmp_path / "runs" / "resumed").records())
    assert [(record.attempt, record.final, record.outcome, record.exit.code) for record in records] == [
        (1, False, "crash", 3),
        (2, True, "crash", 3),
    ]
    assert records[-1].score == 0.0
    assert "nothing delivered" in [label.name for label in records[-1].labels]


def test_an_interrupt_leaves_what_is_done_and_the_rest_to_do(tmp_path: Path) -> None:
    plan = _make(tmp_path, [sys.executable, "-c", "import time; time.sleep(300)"])
    cells = tmp_path / "runs" / "resumed" / "cells"

    with _start(plan) as process:
        while process.poll() is None and not list(cells.glob("*/1/stdout")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 1

    (record,) = Ledger(tmp_path / "runs" / "resumed").records()
    assert (record.outcome, record.final, record.score) == ("stopped", False, None)


def test_each_kind_of_trouble_has_tries_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    says = {1: "echo 429 Too Many Requests >&2; exit 1", 2: "exit 3"}
    script = f"echo x >> {log}; case $(wc -l < {log}) in 1) {says[1]};; 2) {says[2]};; *) exit 0;; esac"
    plan = _make(tmp_path, ["sh", "-c", script])

    with _start(plan) as process:
        assert process.wait(120) == 0

    records = Ledger(tmp_path / "runs" / "resumed").records()
    assert [(record.outcome, record.final) for record in records] == [
        ("rate_limit", False),
        ("crash", False),
        ("done", True),
    ]


def test_a_budget_is_spent_by_what_is_known_and_says_so() -> None:
    def spent(**budget: float) -> Spent:
        counted = Spent(load_prices(), Budget(**budget))
        known = cell(harness="claude_code", model="claude-opus-4-7")
        counted.add(record(known, usage=TokenUsage(output=1_000_000), turns=12))
        counted.add(record(known, usage=None, turns=None))
        return counted

    assert spent(usd=25).exhausted == "25.00 of 25.00 dollars are spent"
    assert spent(turns=12).exhausted == "12 of 12 turns are used"
    assert spent(usd=25.01, turns=13, time_s=1000).exhausted == ""
    assert spent().unpriced == 1
