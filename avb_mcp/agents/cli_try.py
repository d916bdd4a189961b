"""`avb-mcp try suite/ --agent autopilot`: put agents without a model through a suite, and print what they score."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

VANDAL = "vandal"

if TYPE_CHECKING:
    from rich.table import Table

    from avb_mcp.agents._base import Agent
    from avb_mcp.agents.runner import Case, Run


def register(app: typer.Typer) -> None:
    app.command("try")(try_suite)


def try_suite(
    suite: Annotated[Path, typer.Argument(help="A folder that build or import made.")],
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="nop, autopilot, oracle or vandal; may be repeated.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only these tasks; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the runs are kept. Default: nowhere.")] = None,
    jobs: Annotated[int, typer.Option(help="Runs at a time.", min=1)] = 1,
    disable: Annotated[str, typer.Option(help="Serve without these primitives, separated by commas.")] = "",
) -> None:
    """Put agents without a model through a suite over real stdio, score what they hand in, print the table."""
    from rich.console import Console

    from avb_mcp.agents.registry import agents_named
    from avb_mcp.agents.runner import cases_of, require_apart

    names = agent or ["autopilot"]
    agents = agents_named([name for name in names if name != VANDAL])
    cases = cases_of(suite, task or [])
    without = [name.strip() for name in disable.split(",") if name.strip()]
    with tempfile.TemporaryDirectory(prefix="avb-try-") as scratch:
        folder = out or Path(scratch)
        require_apart(folder, suite)
        runs = _watched(cases, agents, folder, without, jobs)
        if VANDAL in names:
            runs += _watched_vandals(suite, cases, folder)
        console = Console(highlight=False)
        console.print(table_of(runs))
        for run in runs:
            if run.error is not None:
                console.print(f"{run.agent} broke on {run.task}: {run.error.strip().splitlines()[-1]}", markup=False)
    sys.exit(1 if any(run.error is not None or run.as_expected is False for run in runs) else 0)


def _watched(cases: Sequence[Case], agents: Sequence[Agent], out: Path, disable: Sequence[str], jobs: int) -> list[Run]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from avb_mcp.agents.runner import run_all

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("", total=len(cases) * len(agents))
        return run_all(
            cases,
            agents,
            out,
            lambda done, total, what: bar.update(line, completed=done, total=total, description=what),
            disable=disable,
            jobs=jobs,
        )


def _watched_vandals(suite: Path, cases: Sequence[Case], out: Path) -> list[Run]:
    from rich.console import Console

    from avb_mcp.agents.runner import run_vandals

    with Console(stderr=True).status("reading the tasks") as status:
        return run_vandals(suite, cases, out, lambda _done, _total, what: status.update(what))


def table_of(runs: Sequence[Run]) -> Table:
    """One row a run."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    tricked = any(run.expected is not None for run in runs)
    for heading in ("task", "family", "agent", "score", "time", "calls", *(("must be",) if tricked else ())):
        table.add_column(heading, justify="right" if heading in ("score", "time", "calls") else "left", no_wrap=True)
    last = ""
    for run in runs:
        score = f"{run.score:.3f}" if run.score is not None else run.status
        named = (run.task, run.family.value) if run.task != last else ("", "")
        must = f"{run.expected}{'' if run.as_expected else ' [bold red]NO[/]'}" if run.expected is not None else ""
        row = (*named, run.agent, score, f"{run.elapsed_s:.1f} s", str(sum(run.calls.values())))
        table.add_row(*row, *((must,) if tricked else ()))
        last = run.task
    return table
