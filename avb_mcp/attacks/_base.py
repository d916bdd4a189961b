"""What an attack is: something to hand in, and the reward that it must get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from avb_mcp.attacks._footage import Footage

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Bound:
    """The lowest and the highest right reward."""

    low: float
    high: float

    def holds(self, reward: float | None) -> bool:
        return reward is not None and self.low - TOLERANCE <= reward <= self.high + TOLERANCE

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:.3g}"
        if self.low == 0.0:
            return f"<= {self.high:.3g}"
        return f">= {self.low:.3g}" if self.high == 1.0 else f"{self.low:.3g} to {self.high:.3g}"


def exactly(reward: float) -> Bound:
    return Bound(reward, reward)


def at_most(reward: float) -> Bound:
    return Bound(0.0, reward)


def at_least(reward: float) -> Bound:
    return Bound(reward, 1.0)


NOTHING = exactly(0.0)


class BuiltTask(Protocol):
    """A task on disk: its answers folder, with answer.json."""

    @property
    def answers(self) -> Path: ...


TaskT = TypeVar("TaskT", bound=BuiltTask)


@dataclass(frozen=True)
class Attack(Generic[TaskT]):
    """`name` is the trick, with what sets this one apart after a colon; controls say so first."""

    name: str
    expected: Bound
    hand_in: Callable[[TaskT, Path], None]
    """Fills the outputs folder."""

    @property
    def trick(self) -> str:
        return self.name.split(":")[0]


@dataclass(frozen=True)
class Target(Generic[TaskT]):
    """One task of a family, built on demand, and everything that is tried on it."""

    family: str
    task: str
    build: Callable[[Footage, Path], TaskT]
    attacks: tuple[Attack[TaskT], ...]


def hand_in_nothing(_task: BuiltTask, _outputs: Path) -> None:
    """The folder stays empty."""
