"""`avb-mcp run`: a plan becomes a ledger."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from primitives._base import UserError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from avb_mcp.experiments.engines import Engine


def register(app: typer.Typer) -> None:
    app.command("run")(run)
    app.command("doctor")(doctor)


def run(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="plan.toml: tasks, agents, arms, limits.")],
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only cells whose task, agent, arm, family or id matches.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the matrix and its cost, run nothing.")] = False,
    out: Annotated[Path | None, typer.Option(help="The run's folder. Default: runs/<name> beside the plan.")] = None,
    engine: Annotated[str, typer.Option(help="local or dask; by default what the plan says.")] = "",
    scheduler: Annotated[str, typer.Option(help="Address of a Dask scheduler; without one, workers here.")] = "",
    workers: Annotated[int, typer.Option(help="Cells at a time; 0: what the plan says.", min=0)] = 0,
) -> None:
    """Run what is missing of a plan: every task under every agent and arm. The same command resumes."""
    from avb_mcp.experiments import run as running
    from avb_mcp.experiments import views
    from avb_mcp.experiments.isolation import note as isolation_note
    from avb_mcp.experiments.ledger import Ledger, one_runner
    from avb_mcp.experiments.plan import choose, expected_cells, load_plan
    from avb_mcp.experiments.usage import load_prices

    plan, beside = load_plan(plan_file), plan_file.resolve().parent
    prices = load_prices(plan.prices)
    cells = expected_cells(plan)
    chosen = choose(cells, only or [])
    folder = out or running.default_folder(plan, beside)
    running.require_folder_apart(folder, plan)
    ledger, console = Ledger(folder), views.console()
    standing = ledger.standing(chosen)
    console.print(views.matrix(chosen, standing, running.past_records(folder), prices))
    console.print(f"{len(chosen)} cells, {len(standing.missing)} left to run in {folder}", markup=False)
    if note := isolation_note(plan.isolation):
        console.print(note, markup=False)
    if dry_run:
        return
    with one_runner(folder) as name:
        running.save_expected(folder, plan, cells)
        running.install_harnesses(standing.missing, lambda text: console.print(text, markup=False))
        spent = running.Spent(prices, plan.budget)
        finished = len(chosen) - len(standing.missing)
        with (
            _engine(engine or plan.engine, scheduler, workers or plan.workers) as chosen_engine,
            views.live(console, len(chosen), finished) as watcher,
        ):
            runner = running.Runner(plan, folder, beside, ledger, spent, watcher, name)
            ended = runner.run(chosen, chosen_engine)
    words = f"{ended.finished} of {len(chosen)} cells are done"
    console.print(f"{words}; {ended.reason}. The same command goes on." if ended.missing else f"{words}.", markup=False)
    sys.exit(1 if ended.missing else 0)


def _engine(name: str, scheduler: str, workers: int) -> AbstractContextManager[Engine]:
    from avb_mcp.experiments.engines import dask_engine, local_engine

    if name == "local":
        return local_engine(workers)
    if name == "dask":
        return dask_engine(scheduler, workers)
    raise UserError(f"There is no engine {name!r}. Use local or dask.")


def doctor(
    harness: Annotated[str, typer.Option(help="claude_code, codex_cli, opencode, gemini_cli or openclaw.")],
    isolation: Annotated[str, typer.Option(help="auto, bubblewrap or none.")] = "auto",
) -> None:
    """Drive a harness through a tiny task without a key, and say what reached the model."""
    from rich.console import Console
    from rich.table import Table

    from avb_mcp.experiments.doctor import examine
    from avb_mcp.experiments.plan import Isolation
    from harness_configs.registry import HARNESSES

    if harness not in HARNESSES:
        raise UserError(f"There is no harness {harness!r}. Use {', '.join(HARNESSES)}.")
    if isolation not in list(Isolation):
        raise UserError(f"There is no isolation {isolation!r}. Use {', '.join(Isolation)}.")
    found = examine(harness, Isolation(isolation))
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in found:
        table.add_row("ok" if finding.ok else "NO", finding.what, finding.seen)
    Console(highlight=False, soft_wrap=True).print(table)
    sys.exit(0 if all(finding.ok for finding in found) else 1)
