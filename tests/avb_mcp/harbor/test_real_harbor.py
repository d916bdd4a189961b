"""The real package loads the exported tasks, and our environment gives the oracle 1 and nop 0.

Harbor wants a Python of its own (3.12 or newer): `AVB_HARBOR_PYTHON` names one that has it, else this one is tried.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from avb_mcp.experiments.isolation import why_not
from avb_mcp.experiments.ledger import Ledger
from avb_mcp.harbor.export import export_harbor
from avb_mcp.harbor.jobs import import_job
from tests.avb_mcp.experiments.making import order_suite

PYTHON = os.environ.get("AVB_HARBOR_PYTHON", sys.executable)
LOAD = (
    "import sys; from harbor.models.task.task import Task; from harbor.cli.utils import load_mcp_servers; "
    "from pathlib import Path; task = Task(sys.argv[1]); (server,) = load_mcp_servers(Path(sys.argv[2])); "
    "print(task.config.schema_version, task.name, server.name, server.transport)"
)


def _run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    project = str(Path(__file__).resolve().parents[3])
    environment = os.environ | {"PYTHONPATH": project, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return subprocess.run(
        [PYTHON, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    if _run("-c", "import harbor", folder=tmp_path).returncode != 0:
        pytest.skip(f"{PYTHON} has no harbor (Python 3.12 or newer); AVB_HARBOR_PYTHON may name one that has")
    export_harbor(order_suite(tmp_path / "suite"), tmp_path / "out")
    return tmp_path / "out"


def test_the_tasks_load_and_the_config_names_our_server(exported: Path) -> None:
    run = _run("-c", LOAD, "tasks/order-1", "typed.mcp.json", folder=exported)

    assert run.stdout.split() == ["1.4", "suite/order-1", "avb", "stdio"], run.stderr


@pytest.mark.skipif(bool(why_not()), reason=f"bubblewrap cannot be used here: {why_not()}")
def test_the_oracle_gets_one_and_nop_nothing_and_both_come_back(exported: Path, tmp_path: Path) -> None:
    for agent in ("oracle", "nop"):
        where = ("-p", "tasks", "-o", "jobs", "--job-name", agent, "-q", "-y")
        local = ("-e", "avb_mcp.harbor.local:LocalEnvironment", "--ek", f"python={sys.executable}")
        run = _run("-m", "harbor.cli.main", "run", "-a", agent, *where, *local, folder=exported)
        assert run.returncode == 0, run.stderr
        import_job(exported / "jobs" / agent, tmp_path / "run")

    records = list(Ledger(tmp_path / "run").records())
    assert [(r.cell.agent.harness, r.outcome, r.score) for r in records] == [
        ("oracle", "done", 1.0),
        ("nop", "done", 0.0),
    ]
    assert set(records[0].deliverables) == {"solution.json", "solution.mp4"}
