"""From the ledger to rows: family × harness × model × arm. Expected = attempted + missing, in every row."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from avb_mcp.experiments.plan import Cell
from avb_mcp.experiments.record import CellRecord, Outcome
from avb_mcp.experiments.usage import Prices

TROUBLE = frozenset({Outcome.INFRA, Outcome.CRASH, Outcome.RATE_LIMIT})
"""Outcomes that are no result of the agent's."""


@dataclass(frozen=True)
class Row:
    family: str
    harness: str
    model: str
    arm: str
    expected: int
    attempted: int
    missing: int
    infra: int
    """Attempted, but without a result of the agent's."""
    mean: float | None
    """Over all expected cells; those without a score count 0, as in the paper."""
    standard_error: float | None
    """Of that mean, over the means of tasks; None with fewer than two tasks."""
    mean_scored: float | None
    """Over the cells that have a score."""
    cost_usd: float | None
    """In total; None where a price or a usage is missing."""
    cost_missing: int
    """Attempted cells whose cost is not known."""
    time_s: float | None
    """Mean of the agent's own time."""
    manipulation: str
    """Passed of checked, empty in arms without our tools."""


def rows_of(expected: Sequence[Cell], records: Iterable[CellRecord], prices: Prices) -> list[Row]:
    """One row per group that the plan expects, in the plan's order."""
    final = {record.cell_id: record for record in records if record.final}
    groups: dict[tuple[str, str, str, str], list[Cell]] = {}
    for cell in expected:
        key = (cell.family, cell.agent.harness, cell.agent.model, cell.arm.name)
        groups.setdefault(key, []).append(cell)
    return [_row(key, cells, final, prices) for key, cells in groups.items()]


@dataclass(frozen=True)
class Reason:
    """How often a label was given in an arm, and to what it maps."""

    label: str
    paper_reason: str
    arm: str
    cells: int


def reasons_of(records: Iterable[CellRecord]) -> list[Reason]:
    """Why cells failed, the most frequent first."""
    final = {record.cell_id: record for record in records if record.final}.values()
    counted = Counter((label.name, label.paper_reason, r.cell.arm.name) for r in final for label in set(r.labels))
    return [Reason(*key, cells=count) for key, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))]


def notes_of(rows: Sequence[Row], records: Iterable[CellRecord]) -> list[str]:
    """What must be read with the table."""
    expected, attempted, missing = (sum(getattr(r, n) for r in rows) for n in ("expected", "attempted", "missing"))
    dollars, unknown = sum(row.cost_usd or 0.0 for row in rows), sum(row.cost_missing for row in rows)
    bare = len({record.cell_id for record in records if record.final and record.isolation == "none"})
    notes = [
        f"{expected} expected = {attempted} attempted + {missing} missing",
        f"${dollars:.2f} in all" + (f", and {unknown} cells whose cost is not known" if unknown else ""),
    ]
    return notes + ([f"{bare} cells ran without isolation"] if bare else [])


def _row(key: tuple[str, str, str, str], cells: list[Cell], final: dict[str, CellRecord], prices: Prices) -> Row:
    records = [final[cell.id] for cell in cells if cell.id in final]
    scores = {cell.id: final[cell.id].score for cell in cells if cell.id in final}
    counted = {cell.id: scores.get(cell.id) or 0.0 for cell in cells}
    scored = [score for score in scores.values() if score is not None]
    costs = [prices.cost_usd(record.cell.agent.model, record.usage) for record in records]
    times = [phase.seconds for record in records for phase in record.phases if phase.name == "agent"]
    checks = [record.manipulation.passed for record in records if record.manipulation is not None]
    free = cells[0].agent.is_policy or cells[0].agent.is_scripted
    known = [cost for cost in costs if cost is not None]
    return Row(
        family=key[0],
        harness=key[1],
        model=key[2],
        arm=key[3],
        expected=len(cells),
        attempted=len(records),
        missing=len(cells) - len(records),
        infra=sum(record.outcome in TROUBLE for record in records),
        mean=statistics.fmean(counted.values()) if records else None,
        standard_error=_standard_error(cells, counted) if records else None,
        mean_scored=statistics.fmean(scored) if scored else None,
        cost_usd=0.0 if free else (sum(known) if known else None),
        cost_missing=0 if free else len(costs) - len(known),
        time_s=statistics.fmean(times) if times else None,
        manipulation=f"{sum(checks)}/{len(checks)}" if checks else "",
    )


def _standard_error(cells: Sequence[Cell], scores: dict[str, float]) -> float | None:
    """Repetitions of one task are not independent, so that tasks are what is counted."""
    by_task: dict[str, list[float]] = {}
    for cell in cells:
        by_task.setdefault(cell.task_id, []).append(scores[cell.id])
    means = [statistics.fmean(values) for values in by_task.values()]
    return statistics.stdev(means) / len(means) ** 0.5 if len(means) > 1 else None
