"""OpenClaw: the user's `openclaw.json` for everyday use, a config of our own for each arm.

OpenClaw has no config per project, so everyday use needs the server in the user's file. A headless run names
its config, and then sees that one only.
"""

from __future__ import annotations

from typing import Any

from harness_configs._base import (
    CALL_TIMEOUT_S,
    KEY_VARIABLE,
    PROMPT,
    SERVER_NAME,
    STARTUP_TIMEOUT_S,
    Arm,
    ConfigFile,
    Endpoint,
    Harness,
    NpmPackage,
    Setup,
    SetupRequest,
    own_path,
    server_file,
)
from harness_configs.openclaw.read_back import STATE, read_back

_NAME = "openclaw"
_RUN_TIMEOUT_S = 3600  # of the whole run; OpenClaw's own default is 600
_NATIVE_TOOLS = ["group:fs", "group:runtime"]
_OUR_TOOLS = ["avb__*"]
# Behind tool search a sheet reaches the model as base64 text instead of an image.
_NO_TOOL_SEARCH = {"toolSearch": False}


def setup(request: SetupRequest) -> Setup:
    entry = {
        "command": request.server.command,
        "args": list(request.server.args),
        **request.server.env_entry("env"),
        "requestTimeoutMs": CALL_TIMEOUT_S * 1000,
        "connectionTimeoutMs": STARTUP_TIMEOUT_S * 1000,
    }
    extra = {"tools": _NO_TOOL_SEARCH} if request.serves_tools else {}
    own = own_path(_NAME, request.arm, "json")
    return Setup(
        files=(
            server_file(
                request,
                ("mcp", "servers"),
                entry,
                scope="home",
                path=".openclaw/openclaw.json",
                extra=extra,
            ),
            ConfigFile(scope="workspace", path=own, format="json", content=_arm(request, entry), shared=False),
        ),
        command=_command(request, str(request.workspace / own)),
        folders=(STATE,),
        secrets={} if request.endpoint is None else {KEY_VARIABLE: request.endpoint.api_key},
        notes=(
            "OpenClaw has one config per user, so ~/.openclaw/openclaw.json serves one workspace at a time.",
            "The headless command reads its own config only: name the model with --model provider/model and "
            "give the provider's key in the environment. It never asks before it acts.",
        ),
    )


def _arm(request: SetupRequest, entry: dict[str, Any]) -> dict[str, Any]:
    native = [] if request.arm is Arm.TYPED_ONLY else _NATIVE_TOOLS
    ours = _OUR_TOOLS if request.serves_tools else []
    content: dict[str, Any] = {
        "update": {"checkOnStart": False},
        "tools": {"allow": native + ours, **_NO_TOOL_SEARCH},
    }
    if request.serves_tools:
        content["mcp"] = {"servers": {SERVER_NAME: entry}}
    if request.endpoint is not None and request.model is not None:
        content["models"] = {
            "mode": "replace",
            "providers": {"avb": _provider(request.endpoint, request.model)},
        }
    return content


def _provider(endpoint: Endpoint, model: str) -> dict[str, Any]:
    return {
        "baseUrl": f"{endpoint.base_url}/v1",
        "apiKey": f"${{{KEY_VARIABLE}}}",
        "api": "openai-completions",
        "models": [
            {
                "id": model,
                "name": model,
                "reasoning": False,
                "input": ["text", "image"],
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                "contextWindow": 200_000,
                "maxTokens": 8_192,
            }
        ],
    }


def _command(request: SetupRequest, config: str) -> tuple[str, ...]:
    command = ["openclaw", "agent", "exec", PROMPT, "--json", "--config", config]
    command += ["--cwd", str(request.workspace), "--timeout", str(_RUN_TIMEOUT_S)]
    command += ["--state-dir", str(request.workspace / STATE)]
    if request.model is not None:
        command += ["--model", request.model if request.endpoint is None else f"avb/{request.model}"]
    return tuple(command)


HARNESS = Harness(
    name=_NAME,
    title="OpenClaw",
    # Node 24.16 would do as well, 25 would not; asking for 26.1 keeps the rule one number.
    package=NpmPackage(name="openclaw", version="2026.9.6", executable="openclaw", node_at_least=(26, 1)),
    tool_name="avb__{tool}",
    setup=setup,
    read_back=read_back,
)
