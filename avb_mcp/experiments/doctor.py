"""`avb-mcp doctor`: drive an installed harness through a tiny task without a key, and say what reached the model.

A scripted model on loopback asks for two tools, one of which answers with a picture. So the whole way is walked:
config files, the harness's own client, our server, the picture in the next request, the harness's own counts.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from avb_mcp import npm
from avb_mcp.agents.scripted_model.script import Script, ToolCall, Usage
from avb_mcp.agents.scripted_model.server import ModelRequest, ScriptedModel
from avb_mcp.experiments.arms import parse_arm
from avb_mcp.experiments.cell import finished_run
from avb_mcp.experiments.checks import trace_lines
from avb_mcp.experiments.commands import Seat, command_for
from avb_mcp.experiments.isolation import View, choose, wrapped
from avb_mcp.experiments.launch import Launch, inside_argv, launch
from avb_mcp.experiments.plan import AgentSpec, Isolation, Limits, Network
from avb_mcp.experiments.relay import MODEL_PORT, leading_to
from avb_mcp.tasks.film_write import write_film
from avb_mcp.trace import LISTED_FILE, TRACE_FILE
from harness_configs._base import TokenUsage
from harness_configs.registry import HARNESSES, harness_named

FILM = "materials/film.mp4"
CALLS = (
    ToolCall(tool="probe", arguments={"path": FILM}),
    ToolCall(tool="frame_grid", arguments={"path": FILM, "count": 6}),
)
FINAL = "The film has been seen."
LIMITS = Limits(time_s=300, turns=10)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    ok: bool
    seen: str


def examine(name: str, isolation: Isolation = Isolation.AUTO) -> list[Finding]:
    """Everything about one harness, in the order in which it happens."""
    harness = harness_named(name)
    started = time.monotonic()
    tool = npm.ensure(harness.package)
    found = [Finding("installed", True, f"{harness.package.name} {harness.package.version}, {tool.argv[-1]}")]
    used = choose(isolation)
    found.append(Finding("isolation", True, used))
    with tempfile.TemporaryDirectory(prefix="avb-doctor-") as scratch:
        found += _drive(name, Path(scratch), used)
    found.append(Finding("time", True, f"{time.monotonic() - started:.1f} s in all"))
    return found


def _drive(name: str, folder: Path, isolation: Isolation) -> list[Finding]:
    workspace, home = folder / "workspace", folder / "home"
    for part in (workspace / "materials", workspace / "outputs", workspace / "work", home):
        part.mkdir(parents=True)
    write_film(workspace / FILM, _pictures(), Fraction(25), None)
    agent, arm = AgentSpec(harness=name, model="scripted:doctor"), parse_arm("typed")
    with ScriptedModel(Script(calls=CALLS, final_text=FINAL)) as model:
        isolated = isolation is Isolation.BUBBLEWRAP
        base_url = f"http://127.0.0.1:{MODEL_PORT}" if isolated else model.base_url
        seat = Seat(workspace, home, "Look at the film.", arm, folder, base_url, LIMITS.turns)
        command = command_for(agent, seat)
        with leading_to(model.base_url, folder / "model") as socket:
            argv = inside_argv(command.argv, LIMITS, (socket, MODEL_PORT) if isolated else None)
            if isolated:
                view = View(workspace, home, command.readable, (socket,))
                argv = wrapped(argv, view, Network.LOOPBACK)
            environment = {"LANG": "C.UTF-8", **command.environment, **command.secrets, "HOME": str(home)}
            out, err = folder / "stdout", folder / "stderr"
            job = Launch(argv, workspace, environment, out, err, LIMITS, folder.name, (workspace, home))
            started = time.monotonic()
            ended = launch(job, threading.Event())
            seconds = time.monotonic() - started
        requests = [request for request in model.requests if request.offered_tools]
        told = told_usage(model.usage, len(requests))
    read = command.read_back(finished_run(folder))
    failed = "" if ended.code == 0 else f"; {err.read_text(errors='replace').strip()[-300:]}"
    return [
        Finding("ran", ended.code == 0, f"exit code {ended.code} after {seconds:.1f} s{failed}"),
        _listed(name, arm.tools, workspace, requests),
        _called(workspace),
        _delivered(requests),
        Finding("usage read", usage_agrees(read.usage, told), f"{read.usage} (the model said {told})"),
        Finding("last words", read.final_message == FINAL, repr(read.final_message[:80])),
    ]


def _pictures() -> Iterator[npt.NDArray[np.uint8]]:
    """Two seconds of a bar that crosses the picture."""
    for at in range(50):
        picture = np.full((180 * 3 // 2, 320), 128, np.uint8)
        picture[:180] = 60
        picture[:180, 6 * at : 6 * at + 20] = 220
        yield picture


def _listed(name: str, tools: tuple[str, ...], workspace: Path, requests: list[ModelRequest]) -> Finding:
    asked = list(trace_lines(workspace / ".avb" / LISTED_FILE))
    offered = requests[0].tool_names if requests else set()
    missing = {HARNESSES[name].model_visible(tool) for tool in tools} - offered
    text = f"{len(tools) - len(missing)} of {len(tools)} offered to the model in its first request"
    return Finding("tools listed", bool(asked) and bool(requests) and not missing, text)


def _called(workspace: Path) -> Finding:
    calls = [str(line.get("tool")) for line in trace_lines(workspace / ".avb" / TRACE_FILE)]
    return Finding("tools called", calls == [call.tool for call in CALLS], ", ".join(calls) or "none")


def _delivered(requests: list[ModelRequest]) -> Finding:
    images = [image for request in requests for image in request.images]
    kinds = sorted({f"{image.media_type}, {len(image.data) / 1000:.0f} kB" for image in images})
    return Finding("image delivered", bool(images), "; ".join(kinds) or "none")


def told_usage(usage: Usage, answers: int) -> TokenUsage:
    """What a scripted model says it has used in so many answers."""
    return TokenUsage(
        input=usage.input_tokens * answers,
        cached=usage.cache_read_tokens * answers,
        cache_write=usage.cache_write_tokens * answers,
        output=usage.output_tokens * answers,
        reasoning=usage.reasoning_tokens * answers,
    )


def usage_agrees(read: TokenUsage | None, told: TokenUsage) -> bool:
    """Equal; or, where a protocol does not tell what was written to a cache, that part counted as input."""
    merged = told.model_copy(update={"input": told.input + told.cache_write, "cache_write": 0})
    return read in (told, merged)
