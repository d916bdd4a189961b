"""What a person sees of a run: the matrix before it, a live line while it lasts, the table after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from avb_mcp.experiments.ledger import Standing
from avb_mcp.experiments.plan import Cell, agent_name
from avb_mcp.experiments.record import CellRecord, Outcome
from avb_mcp.experiments.run import Watcher
from avb_mcp.experiments.usage import Prices

UNKNOWN = "?"
WIDE = 160
"""Columns where there is no terminal: in a file nothing need be cut short."""


def console() -> Console:
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else WIDE)


def matrix(cells: Sequence[Cell], standing: Standing, records: Sequence[CellRecord], prices: Prices) -> Table:
    """Agents by arms: how many cells, how many are left, and what those will cost by what the others did."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("agent", "arm", "cells", "left", "expected cost", "expected time"):
        table.add_column(heading, justify="left" if heading in ("agent", "arm") else "right", no_wrap=True)
    left = {cell.id for cell in standing.missing}
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((agent_name(cell.agent), cell.arm.name), []).append(cell)
    dollars, unknown = 0.0, 0
    for (agent, arm), group in groups.items():
        past = [r for r in records if agent_name(r.cell.agent) == agent and r.cell.arm.name == arm]
        open_cells = sum(cell.id in left for cell in group)
        cost, seconds = _expected_cost(group[0], past, prices), _expected_seconds(past)
        table.add_row(
            agent,
            arm,
            str(len(group)),
            str(open_cells),
            UNKNOWN if cost is None else f"${cost * open_cells:.2f}",
            UNKNOWN if seconds is None else f"{seconds * open_cells / 60:.1f} min",
        )
        dollars, unknown = dollars + (cost or 0.0) * open_cells, unknown + (cost is None) * open_cells
    more = f" + {unknown} cells {UNKNOWN}" if unknown else ""
    table.add_row("in all", "", str(len(cells)), str(len(left)), f"${dollars:.2f}{more}", "")
    return table


def _expected_cost(cell: Cell, past: Sequence[CellRecord], prices: Prices) -> float | None:
    """Dollars a cell, from what cells of the same kind used before."""
    if cell.agent.is_policy or cell.agent.is_scripted:
        return 0.0
    costs = [prices.cost_usd(record.cell.agent.model, record.usage) for record in past]
    known = [cost for cost in costs if cost is not None]
    return fmean(known) if known else None


def _expected_seconds(past: Sequence[CellRecord]) -> float | None:
    seconds = [sum(phase.seconds for phase in record.phases) for record in past]
    return fmean(seconds) if seconds else None


@contextmanager
def live(console: Console, total: int, finished: int) -> Iterator[Watcher]:
    """A bar on stderr, and above it a line for every finished attempt."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        line = bar.add_task("", total=total, completed=finished)

        def watcher(record: CellRecord | None, running: Sequence[str]) -> None:
            if record is None:
                bar.update(line, description=", ".join(name[:60] for name in running[:3]))
                return
            bar.console.print(_line(record), markup=False, highlight=False, soft_wrap=True)
            if record.final:
                bar.advance(line)

        yield watcher


def _line(record: CellRecord) -> str:
    score = "  -   " if record.score is None else f"{record.score:.4f}"
    agent_s = next((phase.seconds for phase in record.phases if phase.name == "agent"), 0.0)
    how = record.outcome if record.outcome is Outcome.DONE else f"{record.outcome}: {record.reason[:120]}"
    again = "" if record.final or record.outcome is Outcome.STOPPED else " (again)"
    check = ""
    if record.manipulation is not None and not record.manipulation.passed:
        check = f"  CHECK FAILED: {record.manipulation.problems[0]}"
    cell = record.cell
    name = f"{cell.task_id} {agent_name(cell.agent)} {cell.arm.name} r{cell.repetition}"
    return f"{score}  {agent_s:7.1f} s  {name}  {how}{again}{check}"
