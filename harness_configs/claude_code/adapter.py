"""Claude Code: a project's `.mcp.json`, arms by `--tools`."""

from __future__ import annotations

from harness_configs._base import (
    CALL_TIMEOUT_S,
    PROMPT,
    Arm,
    Harness,
    NpmPackage,
    Setup,
    SetupRequest,
    server_file,
)
from harness_configs.claude_code.read_back import read_back

_NATIVE_TOOLS = ("Bash", "Read", "Write", "Edit", "Glob", "Grep")
_CONFIG = ".mcp.json"


def setup(request: SetupRequest) -> Setup:
    entry = {
        "type": "stdio",
        "command": request.server.command,
        "args": list(request.server.args),
        **request.server.env_entry("env"),
        "timeout": CALL_TIMEOUT_S * 1000,
        "alwaysLoad": True,  # listed from the first request on, never behind tool search
    }
    return Setup(
        files=(server_file(request, ("mcpServers",), entry, path=_CONFIG),),
        command=_command(request),
        environment=_environment(request),
        secrets={} if request.endpoint is None else {"ANTHROPIC_API_KEY": request.endpoint.api_key},
        notes=(
            "Opened by hand in the workspace, Claude Code asks once whether to use the server in .mcp.json.",
            "The headless command never asks before it acts: run it where that is acceptable.",
        ),
    )


def _command(request: SetupRequest) -> tuple[str, ...]:
    native = "" if request.arm is Arm.TYPED_ONLY else ",".join(_NATIVE_TOOLS)
    command = ["claude", "-p", PROMPT, "--output-format", "stream-json", "--verbose"]
    command += ["--strict-mcp-config", "--dangerously-skip-permissions", "--tools", native]
    if request.serves_tools:
        command += ["--mcp-config", _CONFIG]
    if request.model is not None:
        command += ["--model", request.model]
    if request.max_turns is not None:
        command += ["--max-turns", str(request.max_turns)]
    return tuple(command)


def _environment(request: SetupRequest) -> dict[str, str]:
    environment = {
        "IS_SANDBOX": "1",  # without it the command refuses to run as root
        "ENABLE_TOOL_SEARCH": "false",  # otherwise a placeholder for deferred tools is offered as a tool
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    if request.endpoint is not None:
        environment["ANTHROPIC_BASE_URL"] = request.endpoint.base_url
    return environment


HARNESS = Harness(
    name="claude_code",
    title="Claude Code",
    package=NpmPackage(name="@anthropic-ai/claude-code", version="2.1.325", executable="claude"),
    tool_name="mcp__avb__{tool}",
    setup=setup,
    read_back=read_back,
)
