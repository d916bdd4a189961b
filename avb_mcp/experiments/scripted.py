"""The model behind `scripted:<policy>`: plays a list of tool calls to a real harness.

The list comes from a file (`scripted:calls.json`, beside the plan) or from a rehearsal: an agent without a model
(`scripted:autopilot`) does the task once on a copy, and its calls are kept. Tools answer the same question the same
way, so that every harness is led through the same task to the same end.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from avb_mcp.agents._base import Seat
from avb_mcp.agents._client import Reply, Tools, serve
from avb_mcp.agents.registry import agents_named
from avb_mcp.agents.runner import stage
from avb_mcp.agents.scripted_model.script import Script, ToolCall
from avb_mcp.tasks.spec import load_task
from primitives._base import UserError


def script_for(policy: str, task: Path, kept: Path, beside: Path) -> Script:
    """The calls for one task: read from a file, kept from before, or rehearsed now."""
    if policy.endswith(".json"):
        return _read(beside / policy)
    if kept.is_file():
        return _read(kept)
    script = rehearse(policy, task)
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{secrets.token_hex(4)}.part")  # another cell may be rehearsing the same task
    part.write_text(script.model_dump_json(indent=1), encoding="utf-8")
    part.replace(kept)
    return script


def rehearse(policy: str, task: Path) -> Script:
    """Let an agent without a model do the task on a copy, and keep its calls."""
    (agent,) = agents_named([policy])
    if agent.sees_answers:
        raise UserError(f"{policy!r} works from the answers, which no model may see. Use scripted:autopilot.")
    calls: list[ToolCall] = []
    folder = Path(tempfile.mkdtemp(prefix="avb-rehearsal-"))
    try:
        workspace = stage(task, folder / "task")
        brief = (workspace / load_task(workspace).brief).read_text(encoding="utf-8")
        with serve(workspace) as tools:
            agent.act(Seat(workspace, brief, _noted(tools, calls)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Script(calls=tuple(calls), final_text=f"{policy} is done.")


def _noted(tools: Tools, calls: list[ToolCall]) -> Tools:
    """The same tools, with every answered call written down once."""

    def send(tool: str, arguments: dict[str, Any]) -> Reply:
        reply = tools.try_call(tool, **arguments)
        calls.append(ToolCall(tool=tool, arguments=arguments))
        return reply

    return Tools(tools.names, send)


def _read(path: Path) -> Script:
    try:
        return Script.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"There is no script {path}.") from None
    except (OSError, ValidationError) as error:
        raise UserError(f"{path} is not a script of tool calls: {str(error).splitlines()[0]}") from error
