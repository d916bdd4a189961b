"""A Harbor job becomes records, once, and what Harbor does not know stays unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from avb_mcp.experiments.ledger import Ledger
from avb_mcp.experiments.record import CellRecord, Outcome
from avb_mcp.experiments.run import load_expected
from avb_mcp.harbor.jobs import import_job
from harness_configs._base import TokenUsage
from primitives._base import UserError

FACTS = {"suite": "s", "task_id": "order-1", "task_digest": "0" * 64, "family": "sequencing", "sources": ["a"]}
SERVER = {"name": "avb", "command": "/opt/avb-mcp/bin/avb-mcp", "args": ["serve", "--workspace", "/workspace"]}
TIMES = {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:01:00Z"}


def _trial(job: Path, name: str, *, agent: dict[str, Any], score: float | None = 1.0, **result: Any) -> Path:
    folder = job / name
    (folder / "verifier").mkdir(parents=True)
    config = {"trial_name": name, "agent": agent, "environment": {"type": "docker"}, "task": {"path": "/gone"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "verifier" / "task-facts.json").write_text(json.dumps(FACTS), encoding="utf-8")
    rewards = None if score is None else {"rewards": {"reward": score}}
    document = {**TIMES, "agent_execution": TIMES, "verifier_result": rewards, **result}
    (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def _records(run: Path) -> list[CellRecord]:
    return list(Ledger(run).records())


def test_agents_arms_and_repetitions_are_ours(tmp_path: Path) -> None:
    job, run = tmp_path / "job", tmp_path / "run"
    claude = {"name": "claude-code", "model_name": "anthropic/claude-opus-4-7"}
    minus = {**SERVER, "args": [*SERVER["args"], "--disable", "probe"]}
    _trial(job, "a", agent=claude)
    _trial(job, "b", agent={**claude, "mcp_servers": [SERVER]})
    _trial(job, "c", agent={**claude, "mcp_servers": [SERVER]}, score=0.5)
    _trial(job, "d", agent={"name": "aider", "mcp_servers": [minus]})

    import_job(job, run)

    cells = [(r.cell.agent.harness, r.cell.arm.name, r.cell.repetition, r.score) for r in _records(run)]
    assert cells == [
        ("claude_code", "shell", 1, 1.0),
        ("claude_code", "typed", 1, 1.0),
        ("claude_code", "typed", 2, 0.5),
        ("command", "typed+minus:probe", 1, 1.0),
    ]
    assert [cell.id for cell in load_expected(run)] == [record.cell_id for record in _records(run)]


def test_tokens_do_not_overlap_and_times_are_kept(tmp_path: Path) -> None:
    tokens = {"n_input_tokens": 100, "n_cache_tokens": 30, "n_output_tokens": 7}
    _trial(tmp_path / "job", "a", agent={"name": "codex", "model_name": "gpt-5.5"}, agent_result=tokens)
    _trial(tmp_path / "job", "b", agent={"name": "nop"}, score=0.0)

    import_job(tmp_path / "job", tmp_path / "run")

    codex, nop = _records(tmp_path / "run")
    assert codex.usage == TokenUsage(input=70, cached=30, output=7)
    assert nop.usage is None
    assert [(phase.name, phase.seconds) for phase in codex.phases] == [("agent", 60.0)]
    assert codex.isolation == "harbor: docker"


@pytest.mark.parametrize(
    ("kind", "score", "outcome", "counted"),
    [
        ("AgentTimeoutError", 0.25, Outcome.TIMEOUT, 0.25),
        ("NonZeroAgentExitCodeError", 0.0, Outcome.CRASH, 0.0),
        ("RewardFileNotFoundError", None, Outcome.INFRA, None),
        ("EnvironmentStartTimeoutError", None, Outcome.INFRA, None),
    ],
)
def test_trouble_is_told_from_an_agents_zero(
    tmp_path: Path, kind: str, score: float | None, outcome: Outcome, counted: float | None
) -> None:
    trouble = {"exception_type": kind, "exception_message": "why"}
    _trial(tmp_path / "job", "a", agent={"name": "oracle"}, score=score, exception_info=trouble)

    import_job(tmp_path / "job", tmp_path / "run")

    (record,) = _records(tmp_path / "run")
    assert (record.outcome, record.score, record.reason) == (outcome, counted, f"{kind}: why")


def test_a_job_that_goes_on_is_imported_again_and_every_trial_is_there_once(tmp_path: Path) -> None:
    job, run = tmp_path / "job", tmp_path / "run"
    _trial(job, "a", agent={"name": "oracle"})
    unfinished = _trial(job, "b", agent={"name": "oracle"}) / "result.json"
    result = unfinished.read_bytes()
    unfinished.unlink()

    first = import_job(job, run)
    unfinished.write_bytes(result)
    second = import_job(job, run)

    assert (first.trials, first.added, first.missing) == (2, 1, 1)
    assert (second.trials, second.added, second.missing) == (2, 1, 0)
    assert sorted(record.cell.repetition for record in _records(run)) == [1, 2]
    assert len(load_expected(run)) == 2


def test_a_folder_without_trials_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no trials"):
        import_job(tmp_path, tmp_path / "run")
