"""The MCP server: tools generated from the registry, results in the form that every harness shows alike.

Only the tools capability is declared. A result is text, or text and one image; never structured content,
which some harnesses show instead of the rest. What the model can fix comes back as an error result with a
sentence; an unknown tool is a protocol error. stdout is the wire: everything else goes to stderr.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from avb_mcp import __version__, trace
from avb_mcp.calls import Caller, Job, Outcome
from primitives._base import Primitive
from primitives._schema import input_schema

INSTRUCTIONS = (
    "Typed video tools for one task folder. Paths are relative to it: materials/ (inputs, read-only), work/ (scratch), "
    "outputs/ (deliverables). Times are seconds, ranges include start_s and exclude end_s. Start with probe, look with "
    "frame_grid, hand in with submit."
)
PROGRESS_EVERY_S = 1.0
_CALL_ID_KEYS = ("claudecode/toolUseId", "callId", "progressToken")
_log = logging.getLogger("avb_mcp")


def tool_list(primitives: tuple[Primitive[Any], ...]) -> list[types.Tool]:
    """The tools as clients see them."""
    return [
        types.Tool(
            name=primitive.name,
            title=primitive.title,
            description=primitive.description,
            input_schema=input_schema(primitive.request),
            annotations=types.ToolAnnotations(
                title=primitive.title,
                read_only_hint=primitive.read_only,
                destructive_hint=primitive.destructive,
                idempotent_hint=primitive.read_only,
                open_world_hint=False,
            ),
        )
        for primitive in primitives
    ]


def make_server(caller: Caller, call_budget_s: float) -> Server[None]:
    """A server over one workspace."""
    tools = tool_list(tuple(caller.primitives.values()))

    async def on_list_tools(context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        name, version = _client(context)
        names = [tool.name for tool in tools]
        line = trace.ListedLine(at=trace.now(), tools=names, client=name, client_version=version)
        trace.append_listed(caller.workspace, line)
        return types.ListToolsResult(tools=tools)

    async def on_call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in caller.primitives:
            known = ", ".join(caller.primitives)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name!r} here. Tools: {known}.")
        return await _call(caller, context, params.name, params.arguments or {}, call_budget_s)

    @contextlib.asynccontextmanager
    async def lifespan(_server: Server[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            caller.shut_down()

    return Server(
        "avb-mcp",
        version=__version__,
        title="avb-mcp: typed video tools",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )


async def _call(
    caller: Caller, context: Any, tool: str, arguments: dict[str, Any], budget_s: float
) -> types.CallToolResult:
    started_at, clock = trace.now(), time.monotonic()
    outcome = Outcome("cancelled", "Cancelled.")
    job = caller.start(tool, arguments)
    try:
        outcome = await _wait(job, context, tool, budget_s)
    finally:
        caller.leave(job, cancelled=outcome.status == "cancelled")
        line = _trace_line(context, tool, arguments, outcome)
        trace.append(
            caller.workspace,
            line.model_copy(update={"started_at": started_at, "elapsed_s": round(time.monotonic() - clock, 4)}),
        )
        if outcome.crash:
            _log.error("%s %s\n%s", tool, arguments, outcome.crash)
    return _result(outcome)


async def _wait(job: Job, context: Any, tool: str, budget_s: float) -> Outcome:
    """Wait for a job within the budget, passing its progress on. Progress must grow with every message."""
    deadline = time.monotonic() + budget_s
    next_report = time.monotonic() + PROGRESS_EVERY_S
    sent, pause = 0.0, 0.002
    while not job.finished.is_set():
        now = time.monotonic()
        if now >= deadline:
            return job.still_running(tool)
        if now >= next_report:
            share = job.done / job.total if job.total else 0.0
            sent = max(share * 100, sent + 0.001)
            await context.session.report_progress(round(sent, 3), 100.0, job.message)
            next_report = now + PROGRESS_EVERY_S
        await anyio.sleep(pause)
        pause = min(pause * 2, 0.05)
    assert job.outcome is not None
    return job.outcome


def _result(outcome: Outcome) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=outcome.text)]
    if outcome.image is not None:
        data = base64.b64encode(outcome.image.data).decode("ascii")
        content.append(types.ImageContent(type="image", data=data, mime_type="image/jpeg"))
    return types.CallToolResult(content=content, is_error=outcome.is_error)


def _trace_line(context: Any, tool: str, arguments: dict[str, Any], outcome: Outcome) -> trace.TraceLine:
    client, client_version = _client(context)
    meta = dict(context.meta or {})
    call_id = next((str(meta[key]) for key in _CALL_ID_KEYS if key in meta), None)
    image = outcome.image
    return trace.TraceLine(
        tool=tool,
        arguments=arguments,
        started_at=trace.now(),
        elapsed_s=0.0,
        status=outcome.status,
        error=outcome.text if outcome.is_error else None,
        cache_hit=outcome.cache_hit,
        text_bytes=len(outcome.text.encode()),
        image_bytes=len(image.data) if image else 0,
        image_pixels=image.width_px * image.height_px if image else 0,
        media_s=round(outcome.media_s, 3),
        client=client,
        client_version=client_version,
        call_id=call_id,
    )


def _client(context: Any) -> tuple[str | None, str | None]:
    """Name and version of who is asking, where it says."""
    client = context.session.client_params.client_info if context.session.client_params else None
    return (client.name, client.version) if client else (None, None)


async def serve_stdio(server: Server[None]) -> None:
    """Serve until the client closes its end."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve_http(server: Server[None], port: int) -> None:
    """Serve on loopback only; requests with a foreign Host or Origin are refused."""
    import uvicorn

    app = server.streamable_http_app(host="127.0.0.1")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", ws="none")
