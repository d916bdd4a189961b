"""What a scripted agent is: a name, whether it may see the answers, and what it does in its seat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from avb_mcp.agents._client import Tools


@dataclass(frozen=True)
class Seat:
    """Where an agent works."""

    workspace: Path
    """A copy of the task folder of its own."""
    brief: str
    """The prompt."""
    tools: Tools
    answers: Path | None = None
    """Only for agents that say so."""


@dataclass(frozen=True)
class Agent:
    name: str
    act: Callable[[Seat], None]
    sees_answers: bool = False
