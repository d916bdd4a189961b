"""What an experiment needs to know about tool use: a JSON line per tool call in `.avb/trace.jsonl`, and one per
request for the list of tools in `.avb/listed.jsonl`.
"""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from avb_mcp.workspace import Workspace

TRACE_FILE, LISTED_FILE = "trace.jsonl", "listed.jsonl"
MAX_ARGUMENT_CHARACTERS = 4000
_log = logging.getLogger("avb_mcp")


class TraceLine(BaseModel):
    """One call as the server saw it."""

    tool: str
    arguments: Any
    started_at: datetime
    elapsed_s: float
    status: str
    """`ok`, `error` (a sentence to the model), `running` (over the call budget), `cancelled` or `crash`."""
    error: str | None = None
    cache_hit: bool = False
    text_bytes: int = 0
    image_bytes: int = 0
    image_pixels: int = 0
    media_s: float = 0.0
    client: str | None = None
    client_version: str | None = None
    call_id: str | None = None
    """The harness's own id of the call, where it sends one: joins this trace with its log."""


class ListedLine(BaseModel):
    """One request for the list of tools."""

    at: datetime
    tools: list[str]
    client: str | None = None
    client_version: str | None = None


def append(workspace: Workspace, line: TraceLine) -> None:
    """Add a call."""
    if len(str(line.arguments)) > MAX_ARGUMENT_CHARACTERS:
        line = line.model_copy(update={"arguments": str(line.arguments)[:MAX_ARGUMENT_CHARACTERS] + "..."})
    _append(workspace, TRACE_FILE, line)


def append_listed(workspace: Workspace, line: ListedLine) -> None:
    """Add a request for the list of tools."""
    _append(workspace, LISTED_FILE, line)


def _append(workspace: Workspace, name: str, line: BaseModel) -> None:
    """Add a line in one write, so that lines of concurrent servers never mix."""
    data = line.model_dump_json(exclude_none=True).encode() + b"\n"
    path = workspace.private(name)
    try:
        path.parent.mkdir(exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, data)
        finally:
            os.close(file)
    except OSError as error:
        _log.warning("the call was not recorded in %s: %s", path, error.strerror)


def now() -> datetime:
    """The time for a trace line."""
    return datetime.now(UTC)
