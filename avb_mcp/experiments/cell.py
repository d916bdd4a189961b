"""One attempt at one cell: stage, launch, read back, score, and the record of it.

    runs/<plan>/cells/<cell>/<attempt>/
      workspace/  home/  stdout  stderr  prompt.md  trajectory.json  verdict.json

The answers are opened by the scorer when no process of the agent is left.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from avb_mcp.agents.scripted_model.server import ScriptedModel
from avb_mcp.experiments.checks import manipulation_of
from avb_mcp.experiments.commands import Command, Seat, command_for, scripted_policy
from avb_mcp.experiments.isolation import View, wrapped
from avb_mcp.experiments.labels import labels_of
from avb_mcp.experiments.launch import Launch, inside_argv, launch
from avb_mcp.experiments.outcome import judged
from avb_mcp.experiments.plan import Cell, Isolation, Network, Plan
from avb_mcp.experiments.record import CellRecord, Outcome, Phase
from avb_mcp.experiments.relay import MODEL_PORT, leading_to
from avb_mcp.experiments.scripted import script_for
from avb_mcp.experiments.staging import prompt_of, stage_cell
from avb_mcp.tasks.spec import answers_of, workspace_of
from harness_configs._base import FinishedRun, ReadBack
from primitives._base import UserError

SCORE_TIMEOUT_S = 1800
NOT_THE_AGENTS = frozenset({Outcome.INFRA, Outcome.RATE_LIMIT, Outcome.STOPPED})
"""Outcomes that say nothing about the agent: the verdict is kept, but it is no score."""
MAX_KEPT_CHARACTERS = 20_000_000
"""Of an agent's output that is read back."""
_ALONE_PATIENCE_S, _ALONE_POLL_S = 120.0, 0.1


class CellJob(BaseModel):
    """All that a worker needs to know, here or on another machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    plan: Plan
    cell: Cell
    suite: Path
    folder: Path
    """The run's folder."""
    beside: Path
    """Where the plan lies; scripts are found there."""
    attempt: int
    isolation: Isolation
    runner: str = ""
    """The run that wants it, by the name in its folder's lock."""


@dataclass
class _Clock:
    """Phases and how long each took."""

    phases: list[Phase] = field(default_factory=list)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.phases.append(Phase(name=name, seconds=round(time.monotonic() - started, 3)))


def unstarted(job: CellJob) -> CellRecord:
    """The record of an attempt of which nothing is known yet: until it is, that is trouble of ours."""
    now = datetime.now(UTC)
    return CellRecord(
        cell_id=job.cell.id,
        cell=job.cell,
        attempt=job.attempt,
        final=False,
        outcome=Outcome.INFRA,
        started_at=now,
        ended_at=now,
        isolation=job.isolation,
        network=job.plan.network,
        limits=job.plan.limits,
    )


def run_attempt(job: CellJob, stop: threading.Event | None = None) -> CellRecord:
    """Never raises for what can go wrong with a cell: trouble of ours is the outcome `infra`."""
    clock, record = _Clock(), unstarted(job)
    folder = job.folder / "cells" / job.cell.id / str(job.attempt)
    try:
        with _alone(folder.parent):
            shutil.rmtree(folder, ignore_errors=True)
            record = _attempt(job, record, folder, clock, stop or threading.Event())
    except UserError as error:
        record = record.model_copy(update={"reason": str(error)})
    except (OSError, subprocess.SubprocessError) as error:
        record = record.model_copy(update={"reason": f"{type(error).__name__}: {error}"})
    return record.model_copy(update={"ended_at": datetime.now(UTC), "phases": tuple(clock.phases)})


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One attempt at a cell at a time: a worker of a run that was killed may still be at its last one."""
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + _ALONE_PATIENCE_S
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise UserError(f"Another worker is still at the cell {folder.name}.") from None
                time.sleep(_ALONE_POLL_S)
        yield
    finally:
        os.close(file)


def _attempt(job: CellJob, record: CellRecord, folder: Path, clock: _Clock, stop: threading.Event) -> CellRecord:
    cell, answers = job.cell, answers_of(job.suite, job.cell.task_id)
    workspace, home = folder / "workspace", folder / "home"
    with clock.phase("stage"):
        home.mkdir(parents=True)
        stage_cell(workspace_of(job.suite, cell.task_id), workspace, cell.arm)
        prompt = prompt_of(workspace, answers, cell.arm)
        (folder / "prompt.md").write_text(prompt + "\n", encoding="utf-8")
    with ExitStack() as stack:
        with clock.phase("prepare"):
            model = _model(job, stack)
            base_url, relay = _way_to_model(job, model, stack)
            seat = Seat(workspace, home, prompt, cell.arm, answers, base_url, job.plan.limits.turns)
            command = command_for(cell.agent, seat)
        with clock.phase("agent"):
            ended = launch(_launch(job, command, folder, relay), stop)
        offered = [] if model is None else [sorted(r.tool_names) for r in model.requests if r.offered_tools]
        delivered = None if model is None else len({i.sha256 for r in model.requests for i in r.images})
    with clock.phase("read back"):
        read = command.read_back(finished_run(folder))
        _keep_trajectory(folder, read, offered)
    with clock.phase("score"):
        verdict = _score(workspace, answers, folder)
    manipulation = manipulation_of(cell, workspace, read, offered, delivered)
    outcome, reason = judged(cell, ended, read, verdict, (folder / "stderr").read_bytes()[-20_000:])
    record = record.model_copy(
        update={
            "outcome": outcome,
            "reason": reason,
            "exit": ended,
            "prompt": prompt,
            "command": tuple("{prompt}" if part == prompt else part for part in command.argv),
            "versions": command.versions,
            "usage": read.usage,
            "turns": read.turns,
            "final_message": read.final_message[:2000],
            "errors": read.errors,
            "tool_calls": sum(step.kind == "tool_call" for step in read.steps),
            "offered_tools": tuple(offered[0]) if offered else read.offered_tools,
            "deliverables": deliverables_of(workspace),
            "manipulation": manipulation,
            "score": None if outcome in NOT_THE_AGENTS else verdict.get("score"),
            "verdict": verdict,
        }
    )
    return record.model_copy(update={"labels": labels_of(record, workspace, read)})


def _model(job: CellJob, stack: ExitStack) -> ScriptedModel | None:
    agent = job.cell.agent
    if not agent.is_scripted:
        return None
    policy = scripted_policy(agent)
    kept = job.folder / "scripts" / f"{policy}-{job.cell.task_digest[:16]}.json"
    script = script_for(policy, workspace_of(job.suite, job.cell.task_id), kept, job.beside)
    return stack.enter_context(ScriptedModel(script))


def _way_to_model(job: CellJob, model: ScriptedModel | None, stack: ExitStack) -> tuple[str, tuple[Path, int] | None]:
    """The model's address as the agent sees it, and the relay that it needs when its network is cut off."""
    base_url = model.base_url if model is not None else job.cell.agent.base_url
    if job.plan.network is not Network.LOOPBACK or job.isolation is Isolation.NONE or job.cell.agent.is_policy:
        return base_url, None
    if not base_url:
        raise UserError('network = "loopback" needs a model with a base_url, or scripted:<policy>.')
    # Socket paths are short; the run's folder may not be.
    name = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="avb-", dir="/tmp"))) / "model"
    return f"http://127.0.0.1:{MODEL_PORT}", (stack.enter_context(leading_to(base_url, name)), MODEL_PORT)


def _launch(job: CellJob, command: Command, folder: Path, relay: tuple[Path, int] | None) -> Launch:
    workspace, home, limits = folder / "workspace", folder / "home", job.plan.limits
    argv = inside_argv(command.argv, limits, relay)
    if job.isolation is Isolation.BUBBLEWRAP:
        sockets = (relay[0].parent,) if relay else ()
        view = View(workspace.resolve(), home.resolve(), command.readable, sockets)
        argv = wrapped(argv, view, job.plan.network)
    environment = {"LANG": "C.UTF-8", **command.environment, **command.secrets, "HOME": str(home.resolve())}
    return Launch(
        argv=argv,
        cwd=workspace,
        environment=environment,
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        limits=limits,
        mark=secrets.token_hex(8),
        disk=(workspace, home),
    )


def finished_run(folder: Path) -> FinishedRun:
    def text(name: str) -> str:
        with (folder / name).open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_KEPT_CHARACTERS)

    return FinishedRun(text("stdout"), text("stderr"), folder / "home", folder / "workspace")


def _keep_trajectory(folder: Path, read: ReadBack, offered: list[list[str]]) -> None:
    kept = {"requests": len(offered) or None}
    text = json.dumps(kept | json.loads(read.model_dump_json()), indent=1, ensure_ascii=False)
    (folder / "trajectory.json").write_text(text + "\n", encoding="utf-8")


def _score(workspace: Path, answers: Path, folder: Path) -> dict[str, Any]:
    """In a process of its own: what an agent hands in is decoded by native code, and may crash it."""
    out = folder / "verdict.json"
    command = (sys.executable, "-m", "avb_mcp", "score", str(workspace), "--answers", str(answers), "--out", str(out))
    run = subprocess.run(command, capture_output=True, text=True, timeout=SCORE_TIMEOUT_S, check=False)
    if not out.is_file():
        raise UserError(f"The scorer ended with exit code {run.returncode}: {run.stderr.strip()[-500:]}")
    verdict: dict[str, Any] = json.loads(out.read_bytes())
    return verdict


def deliverables_of(workspace: Path) -> dict[str, int]:
    """Bytes by name of what lies in outputs/."""
    outputs = workspace / "outputs"
    files = sorted(outputs.iterdir()) if outputs.is_dir() and not outputs.is_symlink() else []
    return {path.name: path.lstat().st_size for path in files if path.is_file() and not path.is_symlink()}
