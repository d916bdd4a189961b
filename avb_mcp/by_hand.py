"""`avb-mcp call`: one tool from a terminal, with a progress bar."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from avb_mcp.calls import Caller, Job, Outcome
from avb_mcp.workspace import Workspace
from primitives._base import UserError
from primitives._schema import input_schema
from primitives.registry import by_name, select


def call_by_hand(tool: str, words: list[str], workspace: Path, out: Path | None) -> int:
    """Run the call, print its text, write its picture; the exit code."""
    primitive = select([tool], [])[0]
    arguments = parse_words(words, input_schema(by_name()[tool].request)["properties"])
    caller = Caller(Workspace(workspace), (primitive,))
    outcome = _watch(caller, caller.start(tool, arguments))
    if outcome.crash:
        sys.stderr.write(outcome.crash)
    if outcome.is_error:
        raise UserError(outcome.text)
    sys.stdout.write(outcome.text + "\n")
    if outcome.image is not None:
        destination = out or Path(f"{tool}.jpg")
        destination.write_bytes(outcome.image.data)
        Console(stderr=True).print(
            f"picture: {destination} ({outcome.image.width_px}x{outcome.image.height_px} px, "
            f"{len(outcome.image.data) // 1000} kB)",
            highlight=False,
        )
    return 0


def parse_words(words: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    """`count=16 times_s=1,2.5 paths=a.mp4,b.mp4 diagnosis='[{"type": ...}]'` as arguments of a tool."""
    arguments: dict[str, Any] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator:
            raise UserError(f"{word!r} is not name=value. Write, for example, path=materials/a.mp4 count=16.")
        kind = properties.get(name, {}).get("type")
        arguments[name] = _value(name, value, kind)
    return arguments


def _value(name: str, value: str, kind: str | None) -> Any:
    if value[:1] in "[{" and value:
        try:
            return json.loads(value)
        except ValueError as error:
            raise UserError(f"{name}={value} starts like JSON but does not parse: {error}.") from None
    return [part.strip() for part in value.split(",") if part.strip()] if kind == "array" else value


def _watch(caller: Caller, job: Job) -> Outcome:
    """Show progress until the job is done; Ctrl-C stops it cleanly."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("starting", total=None)
        try:
            while not job.finished.wait(0.1):
                bar.update(line, description=job.message, completed=job.done, total=job.total or None)
        except KeyboardInterrupt:
            caller.leave(job, cancelled=True)
            job.finished.wait(5)
            raise UserError("Stopped. Nothing was written.") from None
    caller.leave(job)
    assert job.outcome is not None
    return job.outcome
