"""vandal: known tricks, each with the reward that it must get. It sees the answers and hands in through files.

A vandal is an agent per trick: it sits at the same server as everybody else, and leaves what the trick says in
outputs/. The tricks are those of `avb_mcp.attacks`; `avb-mcp check --attacks` tries all of them without a server.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from avb_mcp.agents._base import Agent, Seat
from avb_mcp.attacks._base import Attack, Bound
from avb_mcp.attacks.own import in_gate, load_own
from avb_mcp.tasks.spec import load_suite

NAME = "vandal"


@dataclass(frozen=True)
class Vandal:
    agent: Agent
    expected: Bound


@contextmanager
def vandals(suite: Path, task: str) -> Iterator[list[Vandal]]:
    """The vandals that fit a task of a suite; they can be run for as long as the block lasts."""
    known = load_suite(suite)
    entry = next(entry for entry in known.tasks if entry.id == task)
    with tempfile.TemporaryDirectory(prefix="avb-vandal-") as spool:
        loaded = load_own(suite, known, entry, Path(spool))
        yield [_vandal(attack, loaded.task) for attack in loaded.attacks if in_gate(attack)]


def _vandal(attack: Attack[Any], target: Any) -> Vandal:
    def act(seat: Seat) -> None:
        attack.hand_in(target, seat.workspace / "outputs")

    return Vandal(Agent(f"{NAME}: {attack.name}", act, sees_answers=True), attack.expected)
