"""avb-mcp: serve the tools, call one by hand, list them, set up a harness, score, see the demo."""

from __future__ import annotations

import json
import logging
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from avb_mcp import __version__, cli_tasks
from avb_mcp.agents import cli_try
from avb_mcp.experiments import cli_run
from avb_mcp.harbor import cli_harbor
from avb_mcp.report import cli_report
from primitives._base import UserError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Typed video tools for agents over MCP.",
)
Workspace = Annotated[Path, typer.Option("--workspace", "-w", help="The task folder: tools see nothing outside it.")]
Enable = Annotated[str, typer.Option("--enable", help="Only these primitives, separated by commas.")]
Disable = Annotated[
    str, typer.Option("--disable", envvar="AVB_DISABLE", help="Without these primitives, separated by commas.")
]


class Transport(StrEnum):
    STDIO = "stdio"
    HTTP = "http"


def main() -> None:
    """Run the command; a mistake of the caller's is one sentence on stderr and exit code 2."""
    try:
        app()
    except UserError as error:
        typer.echo(f"avb-mcp: {error}", err=True)
        sys.exit(2)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"avb-mcp {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


@app.command()
def serve(
    workspace: Workspace = Path(),
    enable: Enable = "",
    disable: Disable = "",
    transport: Annotated[Transport, typer.Option(help="stdio for harnesses; http on loopback.")] = Transport.STDIO,
    port: Annotated[int, typer.Option(help="Port for http.", min=1, max=65535)] = 8765,
    call_budget: Annotated[
        float, typer.Option(help="Seconds after which a call answers with a job to pick up.", min=0.05)
    ] = 45.0,
) -> None:
    """Serve the typed video tools of one task folder over MCP."""
    import anyio

    from avb_mcp.calls import Caller
    from avb_mcp.server import make_server, serve_http, serve_stdio
    from avb_mcp.workspace import Workspace as Folder
    from primitives.registry import select

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="avb-mcp: %(message)s")
    caller = Caller(Folder(workspace), select(_names(enable), _names(disable)))
    server = make_server(caller, call_budget)
    if transport is Transport.HTTP:
        serve_http(server, port)
        return
    anyio.run(serve_stdio, server)
    sys.stdout.flush()
    # A job may still sit in native code; nobody is left to hear its answer.
    os._exit(0)


@app.command()
def call(
    tool: Annotated[str, typer.Argument(help="The primitive, such as frame_grid.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="name=value, as in path=materials/a.mp4 count=16")
    ] = None,
    workspace: Workspace = Path(),
    out: Annotated[Path | None, typer.Option(help="Where the picture goes. Default: <tool>.jpg here.")] = None,
) -> None:
    """Call one tool by hand, through the same code as the server."""
    from avb_mcp.by_hand import call_by_hand

    sys.exit(call_by_hand(tool, arguments or [], workspace, out))


@app.command()
def tools(
    enable: Enable = "",
    disable: Disable = "",
    as_json: Annotated[bool, typer.Option("--json", help="The list as an MCP client gets it.")] = False,
) -> None:
    """List the tools, what they do and what they cost a model to know about."""
    from avb_mcp.server import tool_list
    from avb_mcp.tool_table import print_table, wire
    from primitives.registry import select

    listed = tool_list(select(_names(enable), _names(disable)))
    if as_json:
        typer.echo(json.dumps([wire(tool) for tool in listed], indent=2, ensure_ascii=False))
    else:
        print_table(listed)


@app.command()
def setup(
    harness: Annotated[str, typer.Argument(help="claude_code, codex_cli, opencode, gemini_cli or openclaw.")],
    workspace: Workspace = Path(),
    arm: Annotated[str, typer.Option(help="typed, typed-only or shell.")] = "typed",
    write: Annotated[bool, typer.Option("--write", help="Write the files; other entries in them stay.")] = False,
) -> None:
    """Show (or write) what a harness needs to start this server, and the headless command for an arm."""
    from avb_mcp.setup_harness import describe, describe_written, plan_setup, write_setup
    from harness_configs._base import Arm

    if arm not in list(Arm):
        raise UserError(f"There is no arm {arm!r}. Use {', '.join(Arm)}.")
    plan = plan_setup(harness, workspace, Arm(arm))
    typer.echo(describe_written(plan, write_setup(plan)) if write else describe(plan), nl=False)


@app.command()
def score(
    workspace: Annotated[
        Path | None, typer.Argument(help="A task folder; what lies in its outputs/ is scored.")
    ] = None,
    answers: Annotated[Path | None, typer.Option(help="The answers folder of that task.")] = None,
    dataset: Annotated[Path | None, typer.Option(help="The public dataset: a parquet file or its folder.")] = None,
    task_id: Annotated[int | None, typer.Option(help="The row of --dataset.")] = None,
    submission: Annotated[Path | None, typer.Option(help="The folder with the deliverables, for --dataset.")] = None,
    source: Annotated[Path | None, typer.Option(help="Repair rows: the original video.")] = None,
    profiles: Annotated[Path | None, typer.Option(help="Repair rows: the folder of the cells' profiles.")] = None,
    labels: Annotated[Path | None, typer.Option(help="Recap rows: human answers by item id.")] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the verdict to this file.")] = None,
    reward: Annotated[Path | None, typer.Option(help='Also write the score alone, as {"reward": 0.5}.')] = None,
) -> None:
    """Score a task folder by its answers, or a submission by a row of the public dataset."""
    from avb_mcp.score import report, score_workspace

    of_dataset = (dataset, task_id, submission, source, profiles, labels)
    if workspace and answers and all(value is None for value in of_dataset):
        sys.exit(report(score_workspace(workspace, answers), out, reward))
    if dataset is None or task_id is None or submission is None or workspace or answers:
        raise UserError("Give a task folder and --answers, or --dataset with --task-id and --submission.")
    from avb_mcp.dataset import load_row, score_row

    row = load_row(dataset, task_id)
    sys.exit(report(score_row(row, submission, source=source, profiles=profiles, labels=labels), out, reward))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the film, the suite, the runs and the page.")] = Path("demo"),
) -> None:
    """Draw a film, build a task of every family, let agents without a model try them, write a page of what came out."""
    from avb_mcp.demo.run import run_demo

    run_demo(out)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


for _commands in (cli_tasks, cli_try, cli_run, cli_report, cli_harbor):
    _commands.register(app)
