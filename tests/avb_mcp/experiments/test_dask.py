"""The same cells on Dask workers that are processes of their own."""

from __future__ import annotations

import importlib.util
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
from avb_mcp.experiments.run import load_expected
from tests.avb_mcp.experiments.making import ORDER, order_suite

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
    pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="the extra dask is not installed"),
]

AGENT = """
import json, pathlib
segments = [{"source": name} for name in %r]
pathlib.Path("outputs/solution.json").write_text(json.dumps({"segments": segments}))
"""
PLAN = """
name = "spread"
suites = ["suite"]
arms = ["shell"]
repetitions = %d
isolation = "none"
engine = "dask"
workers = 2

[[agents]]
harness = "command"
command = %s
"""


def _start(folder: Path, code: str, repetitions: int) -> subprocess.Popen[bytes]:
    order_suite(folder / "suite")
    plan = PLAN % (repetitions, json.dumps([sys.executable, "-c", code]))
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-m", "avb_mcp", "run", str(folder / "plan.toml"), "--out", str(folder / "run")]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_every_cell_is_done_once(tmp_path: Path) -> None:
    with _start(tmp_path, AGENT % ORDER, 3) as process:
        assert process.wait(120) == 0

    records = list(Ledger(tmp_path / "run").records())
    assert Counter(r.cell_id for r in records) == Counter(cell.id for cell in load_expected(tmp_path / "run"))
    assert [(r.outcome, r.score) for r in records] == [("done", 1.0)] * 3


@pytest.mark.slow
def test_an_interrupt_reaches_the_workers_and_the_cell_stays_to_be_done(tmp_path: Path) -> None:
    with _start(tmp_path, "import time; time.sleep(300)", 1) as process:
        while process.poll() is None and not list((tmp_path / "run" / "cells").glob("*/1/stdout")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 1

    (record,) = Ledger(tmp_path / "run").records()
    assert (record.outcome, record.final, record.score) == ("stopped", False, None)
