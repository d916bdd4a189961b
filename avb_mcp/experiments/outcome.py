"""How an attempt ended, and whether to try again: an agent's zero is never mistaken for trouble of ours."""

from __future__ import annotations

import re
from typing import Any

from avb_mcp.experiments.plan import Cell, Retries
from avb_mcp.experiments.record import CellRecord, Exit, Outcome
from harness_configs._base import ReadBack

_RATE_LIMIT = re.compile(r"\b429\b|rate.?limit|too many requests|overloaded|quota (?:was )?exceeded", re.I)
_PROVIDER = re.compile(
    r"\b(?:500|502|503|504|529)\b|connection (?:error|refused|reset)|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|"
    r"fetch failed|socket hang up|invalid api key|unauthorized|authentication",
    re.I,
)
_TURNS = re.compile(r"max.?turns|maximum (?:number of )?(?:session )?turns|step limit", re.I)


def judged(cell: Cell, ended: Exit, read: ReadBack, verdict: dict[str, Any], stderr: bytes) -> tuple[Outcome, str]:
    """The outcome of an attempt that was launched and scored."""
    if verdict.get("status") == "error":
        return Outcome.INFRA, "; ".join(verdict.get("reasons", [])) or "the scorer failed"
    if ended.limit == "stopped by the user":
        return Outcome.STOPPED, ended.limit
    if ended.limit:
        return Outcome.LIMIT, ended.limit
    if ended.timed_out:
        return Outcome.TIMEOUT, "the time was up"
    said = "\n".join([*read.errors, stderr.decode(errors="replace")])
    turns_are_up = bool(_TURNS.search("\n".join(read.errors)))
    if (ended.code == 0 and not read.errors) or turns_are_up:
        return Outcome.DONE, "the turns were up" if turns_are_up else ""
    if _RATE_LIMIT.search(said):
        return Outcome.RATE_LIMIT, _line(said, _RATE_LIMIT)
    if _PROVIDER.search(said):
        return Outcome.INFRA, _line(said, _PROVIDER)
    how = f"exit code {ended.code}" if ended.code is not None else f"signal {ended.signal}"
    return Outcome.CRASH, f"{cell.agent.harness} ended with {how}: {_tail(said)}"


def is_final(record: CellRecord, retries: Retries, before: int) -> bool:
    """Whether this was the last attempt; one that the user stopped is done again by the next run.

    `before` is how many attempts at the cell ended in the same way: each kind of trouble has tries of its own.
    """
    if record.outcome is Outcome.STOPPED:
        return False
    allowed = {
        Outcome.RATE_LIMIT: retries.rate_limit,
        Outcome.CRASH: retries.crash,
        Outcome.TIMEOUT: retries.timeout,
        Outcome.INFRA: retries.infra,
    }
    return before >= allowed.get(record.outcome, 0)


def backoff_s(attempt: int, retries: Retries) -> float:
    return float(retries.backoff_s * 2 ** (attempt - 1))


def _line(text: str, pattern: re.Pattern[str]) -> str:
    return next((line.strip()[:500] for line in text.splitlines() if pattern.search(line)), "")


def _tail(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else "it said nothing"
