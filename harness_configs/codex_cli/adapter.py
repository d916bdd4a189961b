"""Codex CLI: a project's `.codex/config.toml`, arms by feature switches and a model catalogue.

Codex decides per model whether MCP tools are listed, hidden behind tool search, or reached through
JavaScript only. The catalogue that it ships with, with these fields overridden, makes every model list them.
"""

from __future__ import annotations

import json
from typing import Any

from harness_configs._base import (
    CALL_TIMEOUT_S,
    KEY_VARIABLE,
    PROMPT,
    STARTUP_TIMEOUT_S,
    Arm,
    DerivedFile,
    Endpoint,
    Harness,
    NpmPackage,
    Setup,
    SetupRequest,
    own_path,
    server_file,
)
from harness_configs.codex_cli.read_back import read_back

_NAME = "codex_cli"
_ALWAYS_OFF = ("plugins", "apps", "multi_agent", "goals", "tool_suggest", "skill_search", "image_generation")
_OFF_WITHOUT_SHELL = ("shell_tool", "unified_exec", "view_image", "sleep_tool")
_PLAIN_TOOLS: dict[str, Any] = {
    "supports_search_tool": False,
    "tool_mode": None,
    "use_responses_lite": False,
    "multi_agent_version": None,
    "experimental_supported_tools": [],
}


def setup(request: SetupRequest) -> Setup:
    entry = {
        "command": request.server.command,
        "args": list(request.server.args),
        "required": True,  # otherwise the first request goes out before the server is up
        "startup_timeout_sec": STARTUP_TIMEOUT_S,
        "tool_timeout_sec": CALL_TIMEOUT_S,
        "default_tools_approval_mode": "approve",
        **request.server.env_entry("env"),
    }
    return Setup(
        files=(server_file(request, ("mcp_servers",), entry, path=".codex/config.toml", format="toml"),),
        command=_command(request),
        secrets={} if request.endpoint is None else {KEY_VARIABLE: request.endpoint.api_key},
        notes=(
            "Codex reads .codex/config.toml only in folders that it trusts; opened by hand, it asks once.",
            "The headless command trusts the folder for that run and never asks before it acts: run it where "
            "that is acceptable, with stdin from /dev/null.",
        ),
        derived=(_catalogue(request.arm),),
    )


def _catalogue(arm: Arm) -> DerivedFile:
    # No switch removes apply_patch, only the catalogue does.
    overrides: dict[str, Any] = {"apply_patch_tool_type": None} if arm is Arm.TYPED_ONLY else {}
    return DerivedFile(
        path=own_path(_NAME, arm, "json"),
        source=("debug", "models", "--bundled"),
        list_key="models",
        overrides={**_PLAIN_TOOLS, **overrides},
    )


def _command(request: SetupRequest) -> tuple[str, ...]:
    workspace = str(request.workspace)
    command = ["codex", "exec", "--json", "--skip-git-repo-check", "-C", workspace]
    command += ["--dangerously-bypass-approvals-and-sandbox"]
    features = _ALWAYS_OFF + (_OFF_WITHOUT_SHELL if request.arm is Arm.TYPED_ONLY else ())
    for feature in features:
        command += ["--disable", feature]
    settings = {
        "web_search": _toml("disabled"),
        "check_for_update_on_startup": "false",
        "tool_output_token_limit": "20000",
        "model_catalog_json": _toml(str(request.workspace / own_path(_NAME, request.arm, "json"))),
        "projects": f'{{{_toml(workspace)}={{trust_level="trusted"}}}}',
    }
    if request.endpoint is not None:
        settings["model_provider"] = _toml("avb")
        settings["model_providers.avb"] = _provider(request.endpoint)
    for key, value in settings.items():
        command += ["-c", f"{key}={value}"]
    if request.model is not None:
        command += ["-m", request.model]
    return (*command, PROMPT)


def _provider(endpoint: Endpoint) -> str:
    return (
        f'{{name="avb",base_url={_toml(endpoint.base_url + "/v1")},wire_api="responses",'
        f'env_key="{KEY_VARIABLE}",request_max_retries=1,stream_max_retries=1}}'
    )


def _toml(text: str) -> str:
    """A TOML basic string; JSON's escapes are a subset of TOML's."""
    return json.dumps(text, ensure_ascii=False)


HARNESS = Harness(
    name=_NAME,
    title="Codex CLI",
    package=NpmPackage(name="@openai/codex", version="0.166.0", executable="codex", node_at_least=(16, 0)),
    tool_name="mcp__avb.{tool}",
    setup=setup,
    read_back=read_back,
)
