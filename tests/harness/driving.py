"""Drive one real harness through one arm, headless and offline, and keep what can be seen from outside."""

from __future__ import annotations

import base64
import os
import select
import subprocess
from dataclasses import dataclass
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from avb_mcp import npm
from avb_mcp.agents.scripted_model.script import Script, ToolCall
from avb_mcp.agents.scripted_model.server import ModelRequest, ScriptedModel
from avb_mcp.setup_harness import plan_setup, server_command, write_setup
from harness_configs._base import PROMPT, Arm, Endpoint, Harness
from tests.media import make_film

FILM = "materials/film.mp4"
SHEET_ARGUMENTS = {"path": FILM, "count": 6}
FINAL_TEXT = "The scripted model has seen the sheet."
SCRIPT = Script(
    calls=(
        ToolCall(tool="probe", arguments={"path": FILM}),
        ToolCall(tool="frame_grid", arguments=SHEET_ARGUMENTS),
    ),
    final_text=FINAL_TEXT,
)
# Names that make a harness reach for its most intrusive tool mode, where it knows any.
MODELS = {"claude_code": "claude-sonnet-4-5", "codex_cli": "gpt-6-sol", "gemini_cli": "gemini-2.5-flash"}
# Whatever asks for the outside world is refused at once instead of being served.
NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
RUN_TIMEOUT_S = 300
EXIT_TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class Run:
    harness: Harness
    arm: Arm
    workspace: Path
    exit_code: int
    stdout: str
    stderr: str
    requests: list[ModelRequest]
    """Those that offer tools; titles and other errands are left out."""
    servers_left: list[str]


def drive(harness: Harness, arm: Arm, tool: npm.InstalledTool, folder: Path) -> Run:
    """Set the arm up in a fresh workspace and home with `write_setup`, and run it against the script."""
    workspace, home = folder / "workspace", folder / "home"
    home.mkdir()
    make_film(workspace / FILM)
    with ScriptedModel(SCRIPT) as model:
        plan = plan_setup(
            harness.name,
            workspace,
            arm,
            home=home,
            model=MODELS.get(harness.name, "scripted"),
            endpoint=Endpoint(base_url=model.base_url, api_key="sk-scripted"),
        )
        write_setup(plan, tool)
        arguments = ["Look at the film." if part == PROMPT else part for part in plan.setup.command[1:]]
        setup_environment = {**plan.setup.environment, **plan.setup.secrets}
        finished = subprocess.run(
            [*tool.argv, *arguments],
            cwd=workspace,
            env={"PATH": tool.search_path, "HOME": str(home), **NO_NETWORK, **setup_environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
            check=False,
        )
        requests = [request for request in model.requests if request.offered_tools]
    return Run(
        harness=harness,
        arm=arm,
        workspace=workspace,
        exit_code=finished.returncode,
        stdout=finished.stdout,
        stderr=finished.stderr,
        requests=requests,
        servers_left=servers_left(workspace, EXIT_TIMEOUT_MS),
    )


def sheet_from_the_server(workspace: Path) -> bytes:
    """The image that our server sends for the scripted call, asked for by a plain MCP client."""

    async def ask() -> bytes:
        async with _client(workspace) as client:
            result = await client.call_tool("frame_grid", SHEET_ARGUMENTS)
        (image,) = [block for block in result.content if block.type == "image"]
        return base64.b64decode(image.data)

    return anyio.run(ask)


def tools_from_the_server(workspace: Path) -> set[str]:
    async def ask() -> set[str]:
        async with _client(workspace) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    return anyio.run(ask)


def _client(workspace: Path) -> Client:
    command = server_command(workspace)
    return Client(StdioServerParameters(command=command.command, args=list(command.args)))


def servers_left(workspace: Path, patience_ms: int) -> list[str]:
    """Command lines of servers of this workspace that are not gone a while after their harness."""
    left = []
    for entry in Path("/proc").glob("[0-9]*"):
        command_line = _command_line(entry)
        if f"--workspace\0{workspace}" in command_line and not _ends(int(entry.name), patience_ms):
            left.append(command_line.replace("\0", " "))
    return left


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _ends(pid: int, patience_ms: int) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(patience_ms))
    finally:
        os.close(handle)
