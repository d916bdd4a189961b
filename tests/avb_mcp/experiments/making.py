"""Plans, cells and records to test with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from avb_mcp.experiments.arms import parse_arm
from avb_mcp.experiments.plan import AgentSpec, Cell, Limits
from avb_mcp.experiments.record import CellRecord, Outcome
from avb_mcp.tasks.answers import order_answer
from avb_mcp.tasks.film_write import write_film
from avb_mcp.tasks.spec import Entry, Source, Suite
from avb_mcp.tasks.suite import Bench, Made, TaskPlan, write_suite
from primitives._task import Deliverable, Family, Kind, Material, Task

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ORDER = ["2", "3", "1"]
"""The true order of the clips of every task of `order_suite`."""


def make_suite(folder: Path, tasks: dict[str, str]) -> None:
    """A suite.json with these tasks (id to family) and nothing behind it."""
    entries = [
        Entry(id=name, family=family, builder="test", seed=0, digest=f"{number:064x}", files={})
        for number, (name, family) in enumerate(tasks.items())
    ]
    folder.mkdir(parents=True)
    suite = Suite(name=folder.name, builder_version="0", tasks=entries)
    (folder / "suite.json").write_text(suite.model_dump_json(), encoding="utf-8")


def order_suite(folder: Path, tasks: int = 1) -> Path:
    """A suite of sequencing tasks with three tiny clips each: cheap, and the oracle gets 1."""
    plans = [
        TaskPlan(f"order-{number}", Family.SEQUENCING, "test", ("drawn",), number, _order_task(number))
        for number in range(1, tasks + 1)
    ]
    write_suite(folder, plans, [Source(name="drawn", sha256="a" * 64)], lambda *_: None)
    return folder


def _order_task(number: int) -> Callable[[Bench], Made]:
    def make(bench: Bench) -> Made:
        paths = {name: f"materials/{name}.mp4" for name in sorted(ORDER)}
        for name, path in paths.items():
            write_film(bench.workspace / path, _pictures(number * 10 + int(name)), Fraction(25), None)
        (bench.answers / "reference.json").write_text(json.dumps({"correct_order": ORDER}), encoding="utf-8")
        task = Task(
            id=f"order-{number}",
            family=Family.SEQUENCING,
            materials=[Material(path=path) for path in paths.values()],
            deliverables=[
                Deliverable(name="solution.json", kind=Kind.ORDERING, clips=sorted(ORDER)),
                Deliverable(name="solution.mp4", kind=Kind.VIDEO),
            ],
        )
        return Made(task, "Put the clips in order.", order_answer(task.id, honesty=False))

    return make


def _pictures(seed: int) -> Iterator[NDArray[np.uint8]]:
    """A second of a pattern that moves."""
    ground = np.random.default_rng(seed).integers(40, 200, (96 * 3 // 2, 128), dtype=np.uint8)
    for at in range(25):
        yield np.roll(ground, at, axis=1)


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
