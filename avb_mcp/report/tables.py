"""The rows of a report as a table for the terminal, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from rich.table import Table

from avb_mcp.report.rows import Reason, Row

UNKNOWN = "?"
HEADINGS = ("family", "harness", "model", "arm", "mean ± se", "n", "missing", "infra", "cost", "time", "check")
REASON_HEADINGS = ("why cells failed", "the paper's reason", "arm", "cells")


def _shown(row: Row) -> tuple[str, ...]:
    error = "" if row.standard_error is None else f" ± {row.standard_error:.3f}"
    cost = UNKNOWN if row.cost_usd is None else f"${row.cost_usd:.2f}" + ("+?" if row.cost_missing else "")
    return (
        row.family,
        row.harness,
        row.model,
        row.arm,
        "-" if row.mean is None else f"{row.mean:.3f}{error}",
        str(row.expected),
        str(row.missing),
        str(row.infra),
        cost,
        "-" if row.time_s is None else f"{row.time_s:.1f} s",
        row.manipulation or "-",
    )


def as_table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in HEADINGS[:4] else "right", no_wrap=True)
    for row in rows:
        table.add_row(*_shown(row))
    return table


def reasons_table(reasons: Sequence[Reason]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in REASON_HEADINGS:
        table.add_column(heading, justify="right" if heading == "cells" else "left", no_wrap=True)
    for reason in reasons:
        table.add_row(reason.label, reason.paper_reason or "-", reason.arm, str(reason.cells))
    return table


def as_markdown(rows: Sequence[Row], notes: Sequence[str] = (), reasons: Sequence[Reason] = ()) -> str:
    parts = [_markdown(HEADINGS, [_shown(row) for row in rows]), *(f"{note}\n" for note in notes)]
    if reasons:
        shown = [(reason.label, reason.paper_reason or "-", reason.arm, str(reason.cells)) for reason in reasons]
        parts.append(_markdown(REASON_HEADINGS, shown))
    return "\n".join(parts)


def _markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(headings)} |", "|" + "---|" * len(headings)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(Row.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(vars(row))
    return text.getvalue()
