"""Gemini CLI: a project's `.gemini/settings.json`, arms by a policy file."""

from __future__ import annotations

from typing import Any

from harness_configs._base import (
    CALL_TIMEOUT_S,
    PROMPT,
    SERVER_NAME,
    Arm,
    ConfigFile,
    Harness,
    NpmPackage,
    Setup,
    SetupRequest,
    own_path,
    server_file,
)
from harness_configs.gemini_cli.read_back import read_back

_NAME = "gemini_cli"
_NATIVE_TOOLS = (
    "run_shell_command",
    "read_file",
    "write_file",
    "replace",
    "glob",
    "grep_search",
    "list_directory",
)
_CONTROLLED_RUN = {
    # With a base URL in the environment and no stated type, the CLI picks "gateway" and refuses it.
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


def setup(request: SetupRequest) -> Setup:
    entry = {
        "command": request.server.command,
        "args": list(request.server.args),
        **request.server.env_entry("env"),
        "timeout": CALL_TIMEOUT_S * 1000,
        "trust": True,
    }
    extra: dict[str, Any] = {} if request.endpoint is None else dict(_CONTROLLED_RUN)
    if request.max_turns is not None:
        extra["model"] = {"maxSessionTurns": request.max_turns}
    own = own_path(_NAME, request.arm, "toml")
    return Setup(
        files=(
            server_file(request, ("mcpServers",), entry, path=".gemini/settings.json", extra=extra),
            ConfigFile(scope="workspace", path=own, format="toml", content=_policy(request.arm), shared=False),
        ),
        command=_command(request, str(request.workspace / own)),
        environment=_environment(request),
        secrets={} if request.endpoint is None else {"GEMINI_API_KEY": request.endpoint.api_key},
        notes=(
            "Gemini CLI reads .gemini/settings.json only in folders that it trusts; opened by hand, it asks once.",
            "The headless command trusts the folder for that run and never asks before it acts: run it where "
            "that is acceptable.",
        ),
    )


def _policy(arm: Arm) -> dict[str, Any]:
    """Deny everything, then allow the arm's tools; what is denied outright is not offered to the model."""
    rules: list[dict[str, Any]] = [{"toolName": "*", "decision": "deny", "priority": 100}]
    if arm is not Arm.TYPED_ONLY:
        rules.append({"toolName": list(_NATIVE_TOOLS), "decision": "allow", "priority": 200})
    if arm is not Arm.SHELL:
        rules.append({"mcpName": SERVER_NAME, "toolName": "*", "decision": "allow", "priority": 200})
    return {"rule": rules}


def _command(request: SetupRequest, policy: str) -> tuple[str, ...]:
    command = ["gemini", "-p", PROMPT, "--output-format", "stream-json", "--approval-mode", "yolo"]
    command += ["--policy", policy]
    if request.model is not None:
        command += ["-m", request.model]
    return tuple(command)


def _environment(request: SetupRequest) -> dict[str, str]:
    # With the flag --skip-trust instead, the project's settings were not applied.
    environment = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    if request.endpoint is not None:
        environment["GOOGLE_GEMINI_BASE_URL"] = request.endpoint.base_url
    return environment


HARNESS = Harness(
    name=_NAME,
    title="Gemini CLI",
    package=NpmPackage(name="@google/gemini-cli", version="0.61.0", executable="gemini", node_at_least=(20, 0)),
    tool_name="mcp_avb_{tool}",
    setup=setup,
    read_back=read_back,
)
