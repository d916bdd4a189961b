"""From an agent of the plan to a command: a harness's, the user's own, or one of ours."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from avb_mcp import __version__, npm
from avb_mcp.experiments.arms import ArmSpec
from avb_mcp.experiments.isolation import is_system
from avb_mcp.experiments.plan import COMMAND, SCRIPTED, AgentSpec
from avb_mcp.setup_harness import plan_setup, server_command, write_setup
from harness_configs._base import CALL_TIMEOUT_S, KEY_VARIABLE, PROMPT, Endpoint, FinishedRun, ReadBack
from harness_configs.registry import HARNESSES
from primitives._base import UserError

WORKSPACE = "{workspace}"
_SCRIPTED_MODELS = {"claude_code": "claude-sonnet-4-6", "codex_cli": "gpt-5.5", "gemini_cli": "gemini-2.5-flash"}
"""Names under which a harness that knows its models accepts the scripted one."""
SCRIPTED_KEY = "sk-scripted"
_PATIENT = ("--call-budget", str(CALL_TIMEOUT_S - 60))
"""For a scripted model, which cannot ask again for a call that takes long."""


@dataclass(frozen=True)
class Command:
    argv: tuple[str, ...]
    environment: dict[str, str]
    read_back: Callable[[FinishedRun], ReadBack]
    secrets: dict[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    """Parts of the file system that the program needs besides the system's."""
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Seat:
    """Where the agent will work."""

    workspace: Path
    home: Path
    prompt: str
    arm: ArmSpec
    answers: Path
    """For the oracle and the vandal; no other agent gets to see it."""
    base_url: str
    """The model server as the agent reaches it; empty for the provider's own."""
    max_turns: int


def command_for(agent: AgentSpec, seat: Seat) -> Command:
    if agent.is_policy:
        return _policy(agent, seat)
    if agent.harness == COMMAND:
        return _own(agent, seat)
    return _harness(agent, seat)


def _harness(agent: AgentSpec, seat: Seat) -> Command:
    harness = HARNESSES[agent.harness]
    tool = npm.ensure(harness.package)
    keys = _keys(agent)
    endpoint = None
    if seat.base_url:
        key = SCRIPTED_KEY if agent.is_scripted else next(iter(keys.values()), "none")
        endpoint = Endpoint(base_url=seat.base_url, api_key=key)
    model = _SCRIPTED_MODELS.get(agent.harness, "scripted") if agent.is_scripted else agent.model
    plan = plan_setup(
        agent.harness,
        seat.workspace,
        seat.arm.base,
        home=seat.home,
        server=server_command(seat.workspace, (*seat.arm.server_arguments, *(_PATIENT if agent.is_scripted else ()))),
        model=model,
        endpoint=endpoint,
        max_turns=seat.max_turns,
    )
    write_setup(plan, tool)
    arguments = [seat.prompt if part == PROMPT else part for part in plan.setup.command[1:]]
    return Command(
        argv=(*tool.argv, *arguments),
        environment={"PATH": tool.search_path, **plan.setup.environment},
        secrets={**keys, **plan.setup.secrets},
        read_back=harness.read_back,
        readable=(npm.tools_folder(), *_folders_of(tool.search_path), *(Path(part) for part in tool.argv)),
        versions={"harness": f"{harness.package.name} {harness.package.version}", "avb-mcp": __version__},
    )


def _own(agent: AgentSpec, seat: Seat) -> Command:
    program = shutil.which(agent.command[0])
    if program is None:
        raise UserError(f"There is no program {agent.command[0]!r} on the PATH.")
    replaced = {PROMPT: seat.prompt, WORKSPACE: str(seat.workspace)}
    arguments = []
    for part in agent.command[1:]:
        for name, value in replaced.items():
            part = part.replace(name, value)
        arguments.append(part)
    environment = {"PATH": os.environ.get("PATH", os.defpath)}
    if seat.base_url:
        environment["AVB_MODEL_URL"] = seat.base_url
    server = server_command(seat.workspace, seat.arm.server_arguments)
    if seat.arm.serves_tools:
        environment["AVB_SERVER"] = " ".join((server.command, *server.args))
    secrets = _keys(agent) | ({KEY_VARIABLE: SCRIPTED_KEY} if agent.is_scripted else {})
    return Command(
        argv=(program, *arguments),
        environment=environment,
        secrets=secrets,
        read_back=_plain,
        readable=(Path(program), Path(program).resolve(), *agent.sees),
        versions={"avb-mcp": __version__},
    )


def _policy(agent: AgentSpec, seat: Seat) -> Command:
    argv = [sys.executable, "-m", "avb_mcp.experiments.policy", agent.harness, "--workspace", str(seat.workspace)]
    argv += ["--brief", seat.prompt]
    sees_answers = agent.harness in ("oracle", "vandal")
    if sees_answers:
        argv += ["--answers", str(seat.answers)]
    return Command(
        argv=(*argv, *seat.arm.server_arguments),
        environment={"PATH": os.environ.get("PATH", os.defpath)},
        read_back=_plain,
        readable=(seat.answers,) if sees_answers else (),
        versions={"avb-mcp": __version__},
    )


def _plain(run: FinishedRun) -> ReadBack:
    """A program whose records are not known: its last line stands for its final message."""
    lines = run.stdout.strip().splitlines()
    return ReadBack(final_message=lines[-1] if lines else "")


def _keys(agent: AgentSpec) -> dict[str, str]:
    missing = [name for name in agent.keys if not os.environ.get(name)]
    if missing:
        raise UserError(f"{agent.harness} needs the environment variable {missing[0]}, which is not set.")
    return {name: os.environ[name] for name in agent.keys}


def scripted_policy(agent: AgentSpec) -> str:
    """The policy that plays the model."""
    return agent.model.removeprefix(SCRIPTED)


def _folders_of(search_path: str) -> tuple[Path, ...]:
    """The installation around each program's folder: `bin` beside `lib`. The system's own is there anyway."""
    folders = [Path(part) for part in search_path.split(os.pathsep) if part and not is_system(Path(part))]
    return tuple(folder.parent if folder.name == "bin" else folder for folder in folders)
