"""Plans, cells and records to test with."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from avb_mcp.experiments.arms import parse_arm
from avb_mcp.experiments.plan import AgentSpec, Cell, Limits
from avb_mcp.experiments.record import CellRecord, Outcome
from avb_mcp.tasks.spec import Entry, Suite

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_suite(folder: Path, tasks: dict[str, str]) -> None:
    """A suite.json with these tasks (id to family) and nothing behind it."""
    entries = [
        Entry(id=name, family=family, builder="test", seed=0, digest=f"{number:064x}", files={})
        for number, (name, family) in enumerate(tasks.items())
    ]
    folder.mkdir(parents=True)
    suite = Suite(name=folder.name, builder_version="0", tasks=entries)
    (folder / "suite.json").write_text(suite.model_dump_json(), encoding="utf-8")


def cell(task: str = "repair-1", *, arm: str = "typed", repetition: int = 1, **agent: Any) -> Cell:
    return Cell(
        suite="suite",
        task_id=task,
        task_digest="0" * 64,
        family=task.partition("-")[0],
        sources=(),
        agent=AgentSpec(**(agent or {"harness": "autopilot"})),
        arm=parse_arm(arm),
        repetition=repetition,
    )


def record(of: Cell, score: float | None = 1.0, **fields: Any) -> CellRecord:
    given: dict[str, Any] = {
        "attempt": 1,
        "final": True,
        "outcome": Outcome.DONE,
        "started_at": NOW,
        "ended_at": NOW,
        "isolation": "none",
        "network": "open",
        "limits": Limits(),
        "score": score,
    }
    return CellRecord(cell_id=of.id, cell=of, **(given | fields))
