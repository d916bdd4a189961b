"""Agents meet the tools as every harness does: `avb-mcp serve` as a process of its own, MCP over its stdio.

Policies are plain functions: `Tools.call` waits for the answer, and asks again while the server says that a long
call is still running.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters


class ToolRefused(Exception):
    """A tool answered with an error; the sentence says what was wrong with the call."""


@dataclass(frozen=True)
class Reply:
    """What one call brought back: text, and for some tools a picture."""

    text: str
    image: bytes | None = None
    is_error: bool = False

    @property
    def data(self) -> dict[str, Any]:
        """The typed result that the text carries."""
        value = json.loads(self.text)
        if not isinstance(value, dict):
            raise ValueError(f"a tool result is an object, not {type(value).__name__}")
        return value


class Tools:
    """The tools of one server."""

    def __init__(self, names: Sequence[str], send: Callable[[str, dict[str, Any]], Reply]) -> None:
        self.names = tuple(names)
        self.calls = 0
        """How many calls were made."""
        self._send = send

    def __contains__(self, tool: str) -> bool:
        return tool in self.names

    def try_call(self, tool: str, /, **arguments: Any) -> Reply:
        """One call and its reply, an error or not."""
        while True:
            self.calls += 1
            reply = self._send(tool, arguments)
            if reply.is_error or not _still_running(reply.text):
                return reply

    def call(self, tool: str, /, **arguments: Any) -> Reply:
        """One call; `ToolRefused` when the tool says no."""
        reply = self.try_call(tool, **arguments)
        if reply.is_error:
            raise ToolRefused(reply.text)
        return reply


@contextmanager
def serve(workspace: Path, disable: Sequence[str] = ()) -> Iterator[Tools]:
    """A server over the workspace for as long as the block lasts, and its tools."""
    arguments = ["-m", "avb_mcp", "serve", "--workspace", str(workspace)]
    if disable:
        arguments += ["--disable", ",".join(disable)]
    # The client passes only a few variables on by itself; the server must find the same packages as this process.
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    info = types.Implementation(name="avb-mcp-agent", version="1")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, client_info=info)) as client,
    ):

        def send(tool: str, given: dict[str, Any]) -> Reply:
            return _reply(portal.call(client.call_tool, tool, given))

        listed = portal.call(client.list_tools).tools
        yield Tools([tool.name for tool in listed], send)


def _reply(result: types.CallToolResult) -> Reply:
    text = "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
    images = [block.data for block in result.content if isinstance(block, types.ImageContent)]
    return Reply(text, base64.b64decode(images[0]) if images else None, bool(result.is_error))


def _still_running(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("status") == "running" and "job" in value
