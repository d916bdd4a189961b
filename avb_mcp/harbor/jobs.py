"""`avb-mcp import harbor-job`: the trials of a Harbor job as records of a ledger.

    <job>/<trial>/  config.json  result.json  verifier/{reward.json, verdict.json, task-facts.json}  artifacts/

Only files are read; Harbor itself is not needed. A trial without a result is a cell that is missing. A trial that is
in the ledger already is passed over, so that a job can be imported again while it runs.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from avb_mcp.experiments.arms import ArmSpec, parse_arm
from avb_mcp.experiments.cell import NOT_THE_AGENTS, deliverables_of
from avb_mcp.experiments.checks import manipulation_of
from avb_mcp.experiments.labels import labels_of
from avb_mcp.experiments.ledger import Ledger, one_runner
from avb_mcp.experiments.plan import COMMAND, POLICIES, AgentSpec, Cell, Limits
from avb_mcp.experiments.record import CellRecord, Outcome, Phase
from avb_mcp.experiments.run import load_expected, save_cells
from avb_mcp.harbor.export import FACTS_FILE, VERDICT_FILE
from harness_configs._base import SERVER_NAME, ReadBack, TokenUsage
from harness_configs.registry import HARNESSES
from primitives._base import UserError

TRIAL = "harbor trial"
"""Under this name a record's versions say which trial it was."""
_AGENTS = {"claude-code": "claude_code", "codex": "codex_cli", "gemini-cli": "gemini_cli"}
_OUTCOMES = {"AgentTimeoutError": Outcome.TIMEOUT, "NonZeroAgentExitCodeError": Outcome.CRASH}
_PHASES = {"environment_setup": "stage", "agent_setup": "prepare", "agent_execution": "agent", "verifier": "score"}


@dataclass(frozen=True)
class Trial:
    """One trial's folder, read."""

    folder: Path
    config: dict[str, Any]
    result: dict[str, Any] | None
    facts: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def started_at(self) -> str:
        return str((self.result or {}).get("started_at") or "~")


@dataclass(frozen=True)
class Imported:
    trials: int
    added: int
    missing: int


def import_job(job: Path, out: Path) -> Imported:
    """Bring a job's trials into the ledger of a run's folder."""
    trials = sorted(_trials(job), key=lambda trial: (trial.started_at, trial.name))
    if not trials:
        raise UserError(f"{job} holds no trials of exported tasks. Give the folder of one Harbor job (jobs/<name>).")
    with one_runner(out):
        ledger = Ledger(out)
        known = {record.versions.get(TRIAL): record.cell for record in ledger.records()}
        cells, added = {cell.id: cell for cell in load_expected(out)}, 0
        taken = {cell.id for cell in known.values()}
        for trial in trials:
            if trial.name in known:
                continue
            cell = _next_cell(trial, taken)
            taken.add(cell.id)
            cells[cell.id] = cell
            if trial.result is not None:
                ledger.append(record_of(trial, trial.result, cell))
                added += 1
        save_cells(out, list(cells.values()))
    return Imported(len(trials), added, sum(trial.result is None for trial in trials))


def _trials(job: Path) -> Iterator[Trial]:
    for file in sorted(job.glob("*/config.json")):
        config = _json(file)
        if config is None or "trial_name" not in config:
            continue
        result = _json(file.parent / "result.json")
        yield Trial(file.parent, config, result, _facts(file.parent, config))


def _facts(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Which task it was: told by the verifier, or by the task's own folder where no verifier ran."""
    told = _json(folder / "verifier" / FACTS_FILE)
    if told is not None:
        return told
    path = (config.get("task") or {}).get("path")
    try:
        document = tomllib.loads((Path(str(path)) / "task.toml").read_text(encoding="utf-8"))
        return dict(document["metadata"]["avb"])
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError):
        raise UserError(
            f"{folder} does not say which task it was, and {path} is no task that `avb-mcp export harbor` wrote."
        ) from None


def _next_cell(trial: Trial, taken: set[str]) -> Cell:
    """The trial's cell: the first repetition that no other trial has."""
    repetition = 0
    while True:
        repetition += 1
        try:
            agent = agent_of(trial.config, trial.result)
            cell = Cell(agent=agent, arm=arm_of(trial.config), repetition=repetition, **trial.facts)
        except (ValidationError, TypeError) as error:
            raise UserError(f"{trial.folder} cannot be read as a cell: {str(error).splitlines()[0]}") from error
        if cell.id not in taken:
            return cell


def agent_of(config: dict[str, Any], result: dict[str, Any] | None) -> AgentSpec:
    """Harbor's agent as ours; one that we do not know is a program of the user's."""
    agent, told = config.get("agent") or {}, (result or {}).get("agent_info") or {}
    name = str(agent.get("name") or agent.get("import_path") or told.get("name") or "unknown")
    model = str(agent.get("model_name") or "")
    ours = _AGENTS.get(name, name)
    if ours in HARNESSES:
        return AgentSpec(harness=ours, model=model or "default")
    if ours in POLICIES:
        return AgentSpec(harness=ours)
    return AgentSpec(harness=COMMAND, command=(name,), model=model)


def arm_of(config: dict[str, Any]) -> ArmSpec:
    """Typed where our server was among those of the agent, with what its arguments take away."""
    servers = (config.get("agent") or {}).get("mcp_servers") or []
    ours = next((server for server in servers if server.get("name") == SERVER_NAME), None)
    if ours is None:
        return parse_arm("shell")
    arguments = [str(argument) for argument in ours.get("args") or []]
    options, flags = dict(pairwise(arguments)), {"only": "--enable", "minus": "--disable"}
    parts = [f"{word}:{options[flag]}" for word, flag in flags.items() if flag in options]
    return parse_arm("+".join(["typed", *parts]))


def record_of(trial: Trial, result: dict[str, Any], cell: Cell) -> CellRecord:
    """One finished trial as a record."""
    workspace = trial.folder / "artifacts" / "workspace"
    verdict = _json(trial.folder / "verifier" / VERDICT_FILE) or {}
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    outcome, reason = _outcome(result, "reward" in rewards)
    agent, read = result.get("agent_result") or {}, ReadBack()
    environment = trial.config.get("environment") or {}
    record = CellRecord(
        cell_id=cell.id,
        cell=cell,
        attempt=1,
        final=True,
        outcome=outcome,
        reason=reason,
        started_at=_time(result.get("started_at")),
        ended_at=_time(result.get("finished_at")),
        phases=tuple(_phases(result)),
        isolation=f"harbor: {environment.get('type') or environment.get('import_path') or 'unknown'}",
        network="open",
        limits=Limits(),
        versions={TRIAL: trial.name, "agent": str((result.get("agent_info") or {}).get("version", ""))},
        usage=_usage(agent),
        deliverables=deliverables_of(workspace),
        manipulation=manipulation_of(cell, workspace, read, [], None),
        score=None if outcome in NOT_THE_AGENTS else rewards.get("reward"),
        verdict=verdict,
    )
    return record.model_copy(update={"labels": labels_of(record, workspace, read)})


def _outcome(result: dict[str, Any], has_reward: bool) -> tuple[Outcome, str]:
    trouble = result.get("exception_info")
    if trouble is None:
        return (Outcome.DONE, "") if has_reward else (Outcome.INFRA, "the verifier gave no reward")
    kind, reason = str(trouble.get("exception_type")), str(trouble.get("exception_message"))[:500]
    return _OUTCOMES.get(kind, Outcome.INFRA) if has_reward else Outcome.INFRA, f"{kind}: {reason}"


def _usage(agent: dict[str, Any]) -> TokenUsage | None:
    """Harbor counts what was read from a cache as input too, and reasoning as output."""
    if agent.get("n_input_tokens") is None or agent.get("n_output_tokens") is None:
        return None
    cached = int(agent.get("n_cache_tokens") or 0)
    return TokenUsage(input=int(agent["n_input_tokens"]) - cached, cached=cached, output=int(agent["n_output_tokens"]))


def _phases(result: dict[str, Any]) -> Iterator[Phase]:
    for theirs, ours in _PHASES.items():
        timing = result.get(theirs) or {}
        if timing.get("started_at") and timing.get("finished_at"):
            taken = _time(timing["finished_at"]) - _time(timing["started_at"])
            yield Phase(name=ours, seconds=round(taken.total_seconds(), 3))


def _time(text: object) -> datetime:
    if not isinstance(text, str):
        return datetime.fromtimestamp(0, UTC)
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _json(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        return None
    return value if isinstance(value, dict) else None
