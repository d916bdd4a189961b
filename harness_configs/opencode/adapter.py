"""OpenCode: a project's `opencode.json`, arms by an agent's permissions."""

from __future__ import annotations

from typing import Any

from harness_configs._base import (
    CALL_TIMEOUT_S,
    KEY_VARIABLE,
    PROMPT,
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
from harness_configs.opencode.read_back import read_back

_NAME = "opencode"
_AGENT = "avb"
_NATIVE_TOOLS_ONLY = {
    "*": "allow",
    "task": "deny",
    "skill": "deny",
    "webfetch": "deny",
    "websearch": "deny",
    "question": "deny",
    "todowrite": "deny",
}
_OUR_TOOLS_ONLY = {"*": "deny", "avb_*": "allow"}  # a denied tool is not offered at all


def setup(request: SetupRequest) -> Setup:
    entry = {
        "type": "local",
        "command": [request.server.command, *request.server.args],
        "enabled": True,
        "timeout": CALL_TIMEOUT_S * 1000,
        **request.server.env_entry("environment"),
    }
    own = own_path(_NAME, request.arm, "json")
    return Setup(
        files=(
            server_file(request, ("mcp",), entry, path="opencode.json"),
            ConfigFile(scope="workspace", path=own, format="json", content=_arm(request), shared=False),
        ),
        command=_command(request),
        environment=_environment(request, str(request.workspace / own)),
        secrets={} if request.endpoint is None else {KEY_VARIABLE: request.endpoint.api_key},
        notes=(
            "The model must be known to take images: for one that OpenCode does not list, declare "
            '"modalities": {"input": ["text", "image"], "output": ["text"]}, or sheets are withheld from it.',
            "The headless command never asks before it acts: run it where that is acceptable.",
        ),
    )


def _arm(request: SetupRequest) -> dict[str, Any]:
    permission = _OUR_TOOLS_ONLY if request.arm is Arm.TYPED_ONLY else _NATIVE_TOOLS_ONLY
    agent: dict[str, Any] = {"mode": "primary", "permission": permission}
    if request.max_turns is not None:
        agent["steps"] = request.max_turns
    content: dict[str, Any] = {"agent": {_AGENT: agent}}
    if request.endpoint is not None and request.model is not None:
        content["share"] = "disabled"
        content["enabled_providers"] = ["avb"]
        content["provider"] = {"avb": _provider(request.endpoint, request.model)}
    return content


def _provider(endpoint: Endpoint, model: str) -> dict[str, Any]:
    return {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{endpoint.base_url}/v1", "apiKey": f"{{env:{KEY_VARIABLE}}}"},
        "models": {
            model: {
                "tool_call": True,
                "attachment": True,
                "limit": {"context": 200_000, "output": 8_192},
                "modalities": {"input": ["text", "image"], "output": ["text"]},
            }
        },
    }


def _command(request: SetupRequest) -> tuple[str, ...]:
    command = ["opencode", "run", "--format", "json", "--auto", "--agent", _AGENT, "--title", "avb"]
    if request.model is not None:
        command += ["-m", request.model if request.endpoint is None else f"avb/{request.model}"]
    return (*command, PROMPT)


def _environment(request: SetupRequest, own_config: str) -> dict[str, str]:
    environment = {
        "OPENCODE_CONFIG": own_config,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }
    if request.endpoint is not None:
        environment["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
    return environment


HARNESS = Harness(
    name=_NAME,
    title="OpenCode",
    package=NpmPackage(name="opencode-ai", version="1.18.33", executable="opencode"),
    tool_name="avb_{tool}",
    setup=setup,
    read_back=read_back,
)
