"""What a cell leaves: one record, complete enough for every table to be made again from it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from avb_mcp.experiments.plan import Cell, Limits
from harness_configs._base import TokenUsage


class Outcome(StrEnum):
    """How an attempt ended."""

    DONE = "done"
    RATE_LIMIT = "rate_limit"
    CRASH = "crash"
    """The agent's program ended with an error of its own."""
    TIMEOUT = "timeout"
    """The clock ran out; what lay in outputs/ was scored."""
    LIMIT = "limit"
    """Memory, processor time, processes or disk ran out; what lay in outputs/ was scored."""
    INFRA = "infra"
    """Ours: staging, isolation or scoring failed."""
    STOPPED = "stopped"
    """Interrupted by the user."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Phase(_Model):
    name: str
    seconds: float


class Exit(_Model):
    code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    limit: str = ""
    """The limit that was hit, in words."""
    cpu_s: float = 0.0
    peak_memory_mb: float = 0.0
    peak_processes: int = 0
    survivors_killed: int = 0
    """Processes that were left when the agent's own had ended."""
    refused: dict[str, int] = Field(default_factory=dict)
    """How often the kernel refused a process, or ended one for its memory, where a control group tells."""


class Manipulation(_Model):
    """Did the arm do to the agent what it says?"""

    passed: bool
    tools_expected: tuple[str, ...] = ()
    tools_listed: tuple[str, ...] = ()
    tools_called: dict[str, int] = Field(default_factory=dict)
    images_sent: int = 0
    """By the server."""
    images_delivered: int | None = None
    """To the model, where the harness's own records show it."""
    problems: tuple[str, ...] = ()


class Label(_Model):
    """A reason for failure, by rule."""

    name: str
    paper_reason: str = ""
    """One of the paper's four, where it maps."""
    evidence: str


class CellRecord(_Model):
    """One attempt at a cell."""

    cell_id: str
    cell: Cell
    attempt: int
    final: bool
    """No further attempt follows."""
    outcome: Outcome
    reason: str = ""
    started_at: datetime
    ended_at: datetime
    phases: tuple[Phase, ...] = ()
    isolation: str
    network: str
    limits: Limits
    exit: Exit = Exit()
    prompt: str = ""
    command: tuple[str, ...] = ()
    versions: dict[str, str] = Field(default_factory=dict)
    usage: TokenUsage | None = None
    """None: missing, which is not zero."""
    turns: int | None = None
    final_message: str = ""
    errors: tuple[str, ...] = ()
    tool_calls: int = 0
    offered_tools: tuple[str, ...] | None = None
    """All that the model was offered, by the names it saw; None where neither model nor harness tells."""
    deliverables: dict[str, int] = Field(default_factory=dict)
    """Bytes by name of what lay in outputs/."""
    manipulation: Manipulation | None = None
    """None where the arm gives no tools of ours."""
    score: float | None = None
    """None where there is no verdict; never a stand-in for one."""
    verdict: dict[str, Any] = Field(default_factory=dict)
    labels: tuple[Label, ...] = ()
