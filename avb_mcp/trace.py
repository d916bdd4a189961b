"""One JSON line per tool call in `.avb/trace.jsonl`: what an experiment needs to know about tool use."""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from avb_mcp.workspace import Workspace

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


def append(workspace: Workspace, line: TraceLine) -> None:
    """Add a line in one write, so that lines of concurrent servers never mix."""
    if len(str(line.arguments)) > MAX_ARGUMENT_CHARACTERS:
        line = line.model_copy(update={"arguments": str(line.arguments)[:MAX_ARGUMENT_CHARACTERS] + "..."})
    data = line.model_dump_json(exclude_none=True).encode() + b"\n"
    path = workspace.private("trace.jsonl")
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
