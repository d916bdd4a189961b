"""The rows of a report as a table for the terminal, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from rich.table import Table

from avb_mcp.report.rows import Row

UNKNOWN = "?"
HEADINGS = ("family", "harness", "model", "arm", "mean ± se", "n", "missing", "infra", "cost", "time", "check")


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


def as_markdown(rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(HEADINGS)} |", "|" + "---|" * len(HEADINGS)]
    lines += [f"| {' | '.join(_shown(row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(Row.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(vars(row))
    return text.getvalue()
