"""Put an agent through a task: a fresh copy of the workspace, the real server, then the verifier.

    <out>/<task>/<agent>/  task/ (the workspace it worked in)  run.json  verdict.json

The answers folder is named to an agent only if it says so, and is opened for scoring when the server has ended.
A run that broke is no zero: `status` says so and there is no score.
"""

from __future__ import annotations

import json
import re
import shutil
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from avb_mcp.agents._base import Agent, Seat
from avb_mcp.agents._client import serve
from avb_mcp.score import score_workspace
from avb_mcp.tasks.spec import TASK_FILE, answers_of, load_suite, load_task, workspace_of
from primitives._base import UserError
from primitives._task import Family

WORKSPACE, RUN_FILE, VERDICT_FILE = "task", "run.json", "verdict.json"
TRACE = Path(".avb") / "trace.jsonl"


class Run(BaseModel):
    """One agent on one task; the whole of run.json."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    task: str
    family: Family
    agent: str
    status: str
    """The verdict's status, or `broken` when the agent itself failed."""
    score: float | None
    components: dict[str, float]
    reasons: list[str]
    elapsed_s: float
    """From the server's start to its end, without scoring."""
    tools: list[str]
    """The tools that were listed."""
    calls: dict[str, int]
    """Calls by tool, as the server's trace has them."""
    expected: str | None = None
    """Of a vandal: the reward that its trick must get."""
    as_expected: bool | None = None
    error: str | None = None


@dataclass(frozen=True)
class Case:
    """A task to run and, where there are any, its answers."""

    workspace: Path
    answers: Path | None


def cases_of(suite: Path, tasks: Sequence[str] = ()) -> list[Case]:
    """The tasks of a suite, all or those asked for."""
    known = [entry.id for entry in load_suite(suite).tasks]
    unknown = [task for task in tasks if task not in known]
    if unknown:
        raise UserError(f"{suite} has no task {unknown[0]}. Its tasks are {', '.join(known)}.")
    return [Case(workspace_of(suite, task), answers_of(suite, task)) for task in known if not tasks or task in tasks]


def require_apart(out: Path, suite: Path) -> None:
    """Runs never touch a suite."""
    if out.resolve().is_relative_to(suite.resolve()):
        raise UserError(f"{out} lies inside the suite. Give --out a folder elsewhere.")


def run_agent(case: Case, agent: Agent, out: Path, disable: Sequence[str] = ()) -> Run:
    """Stage, run, score; the record is kept in <out>/<task>/<agent>/."""
    task = load_task(case.workspace)
    folder = out / task.id / re.sub(r"[^a-z0-9]+", "-", agent.name.lower()).strip("-")
    shutil.rmtree(folder, ignore_errors=True)
    workspace = stage(case.workspace, folder / WORKSPACE)
    started = time.monotonic()
    tools, error = _act(agent, case, workspace, disable)
    elapsed_s = time.monotonic() - started
    run = Run(
        task=task.id,
        family=task.family,
        agent=agent.name,
        status="broken",
        score=None,
        components={},
        reasons=[],
        elapsed_s=round(elapsed_s, 3),
        tools=tools,
        calls=count_calls(workspace),
        error=error,
    )
    if error is None:
        run = _scored(run, case, workspace, folder)
    (folder / RUN_FILE).write_text(run.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return run


def stage(workspace: Path, destination: Path) -> Path:
    """A fresh copy of a task folder: what the agent may know, and empty work/ and outputs/."""
    if not (workspace / TASK_FILE).is_file():
        raise UserError(f"{workspace} holds no {TASK_FILE}. Give a task folder of a suite.")
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(workspace, destination, ignore=shutil.ignore_patterns("outputs", "output", "work", ".avb"))
    for name in ("work", "outputs"):
        (destination / name).mkdir()
    return destination


def count_calls(workspace: Path) -> dict[str, int]:
    """How often each tool was called, from the server's own trace."""
    counts: dict[str, int] = {}
    trace = workspace / TRACE
    for line in trace.read_text(encoding="utf-8").splitlines() if trace.is_file() else []:
        tool = json.loads(line)["tool"]
        counts[tool] = counts.get(tool, 0) + 1
    return counts


def _act(agent: Agent, case: Case, workspace: Path, disable: Sequence[str]) -> tuple[list[str], str | None]:
    """Let the agent work; the tools it had, and what broke."""
    brief = (workspace / load_task(workspace).brief).read_text(encoding="utf-8")
    names: list[str] = []
    try:
        with serve(workspace, disable) as tools:
            names = list(tools.names)
            agent.act(Seat(workspace, brief, tools, case.answers if agent.sees_answers else None))
    except Exception:  # noqa: BLE001 - the top of a run: whatever broke belongs into its record
        return names, traceback.format_exc()
    return names, None


def _scored(run: Run, case: Case, workspace: Path, folder: Path) -> Run:
    if case.answers is None or not case.answers.is_dir():
        return run.model_copy(update={"status": "no answers"})
    verdict = score_workspace(workspace, case.answers)
    (folder / VERDICT_FILE).write_text(verdict.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return run.model_copy(
        update={
            "status": verdict.status.value,
            "score": verdict.score,
            "components": verdict.components,
            "reasons": verdict.reasons,
        }
    )


Progress = Callable[[int, int, str], None]
"""How many runs are done, of how many, and which one was the last."""


def run_all(
    cases: Sequence[Case],
    agents: Sequence[Agent],
    out: Path,
    progress: Progress,
    *,
    disable: Sequence[str] = (),
    jobs: int = 1,
) -> list[Run]:
    """Every agent on every task, `jobs` at a time; in the order of the tasks."""
    pairs = [(case, agent) for case in cases for agent in agents]
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run_agent, case, agent, out, disable): (case, agent) for case, agent in pairs}
        for done, future in enumerate(as_completed(waiting), 1):
            case, agent = waiting[future]
            progress(done, len(pairs), f"{agent.name} on {case.workspace.name}")
        return [future.result() for future in waiting]


def run_vandals(suite: Path, cases: Sequence[Case], out: Path, progress: Progress) -> list[Run]:
    """Every trick of the verifier gate on every task, with whether it got what it must get."""
    from avb_mcp.agents.vandal import vandals

    runs: list[Run] = []
    for number, case in enumerate(cases):
        with vandals(suite, case.workspace.name) as found:
            for vandal in found:
                progress(number, len(cases), f"{vandal.agent.name} on {case.workspace.name}")
                run = run_agent(case, vandal.agent, out)
                holds = vandal.expected.holds(run.score)
                runs.append(run.model_copy(update={"expected": str(vandal.expected), "as_expected": holds}))
    return runs
