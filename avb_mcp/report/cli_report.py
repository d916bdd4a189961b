"""`avb-mcp report`: a ledger becomes a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from primitives._base import UserError

WIDE = 160
"""Columns where there is no terminal: in a file nothing need be cut short."""


def register(app: typer.Typer) -> None:
    app.command("report")(report)


def report(
    runs: Annotated[Path, typer.Argument(help="A run's folder, or a folder of such.")],
    prices: Annotated[Path | None, typer.Option(help="Price the tokens by this list, not the shipped one.")] = None,
) -> None:
    """Print family by harness by model by arm: scores, errors, missing cells, costs; also as CSV and Markdown."""
    from rich.console import Console

    from avb_mcp.experiments import run as running
    from avb_mcp.experiments.ledger import LEDGER_FILE, Ledger
    from avb_mcp.experiments.usage import load_prices
    from avb_mcp.report.rows import notes_of, reasons_of, rows_of
    from avb_mcp.report.tables import as_csv, as_markdown, as_table, reasons_table

    folders = (
        [runs] if (runs / LEDGER_FILE).is_file() else sorted(path.parent for path in runs.glob(f"*/{LEDGER_FILE}"))
    )
    if not folders:
        raise UserError(f"{runs} holds no {LEDGER_FILE}. Give a folder that `avb-mcp run` made.")
    listed, console = load_prices(prices), Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
    for folder in folders:
        records = list(Ledger(folder).records())
        rows, reasons = rows_of(running.load_expected(folder), records, listed), reasons_of(records)
        notes = notes_of(rows, records)
        (folder / "report.csv").write_text(as_csv(rows), encoding="utf-8")
        (folder / "report.md").write_text(as_markdown(rows, notes, reasons), encoding="utf-8")
        console.print(f"{folder}", markup=False)
        console.print(as_table(rows))
        for note in notes:
            console.print(note, markup=False)
        if reasons:
            console.print(reasons_table(reasons))
