"""`avb-mcp export harbor` and `avb-mcp import harbor-job`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    exporting = typer.Typer(no_args_is_help=True, help="Make a suite into tasks of another engine.")
    exporting.callback()(lambda: None)  # with one command only, typer would leave its name out
    exporting.command(name="harbor")(export)
    app.add_typer(exporting, name="export")


def export(
    suite: Annotated[Path, typer.Argument(help="The suite's folder.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder for the tasks.")],
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
) -> None:
    """Write a suite as Harbor tasks, and the MCP config of the typed arm."""
    from avb_mcp.harbor.export import export_harbor

    folders = export_harbor(suite, out, task or [])
    typer.echo(f"{len(folders)} tasks in {out / 'tasks'}; {out / 'README.md'} says how to run them.")


def import_job(
    job: Annotated[Path, typer.Argument(help="The folder of one Harbor job: jobs/<name>.")],
    out: Annotated[Path | None, typer.Option(help="The run's folder to add to. Default: runs/<job>.")] = None,
) -> None:
    """Bring the trials of a Harbor job into a ledger; the same command again adds what is new."""
    from avb_mcp.harbor.jobs import import_job as run

    folder = out or Path("runs") / job.resolve().name
    done = run(job, folder)
    typer.echo(
        f"{done.trials} trials, {done.added} new in {folder}, {done.missing} without a result. "
        f"Next: avb-mcp report {folder}"
    )
