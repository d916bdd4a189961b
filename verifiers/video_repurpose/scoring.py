"""The rubric's arithmetic, exactly as in the contract, section "Repurpose". Pure.

    score = clip((sum of passed positive weights - sum of |weight| of failed negative items)
                 / sum of positive weights, 0, 1)

An ungraded item is neither passed nor failed: its weight leaves both sums and the denominator, and is
reported beside them, together with the scores that the whole rubric could still reach.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

PILLARS = ("format", "visual", "narrative", "sound")


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"


@dataclass(frozen=True)
class Mark:
    """One item's weight and what became of it."""

    pillar: int
    weight: float
    outcome: Outcome


@dataclass(frozen=True)
class Tally:
    """Sums over items; penalties are counted as positive numbers."""

    earned: float = 0.0
    deducted: float = 0.0
    positive_graded: float = 0.0
    positive_ungraded: float = 0.0
    penalty_graded: float = 0.0
    penalty_ungraded: float = 0.0

    @property
    def positive_total(self) -> float:
        return self.positive_graded + self.positive_ungraded

    @property
    def score(self) -> float | None:
        """The contract's score over what was graded; none when no positive weight was."""
        return _ratio(self.earned - self.deducted, self.positive_graded)

    @property
    def lowest(self) -> float | None:
        """The score over the whole rubric if everything ungraded failed."""
        return _ratio(self.earned - self.deducted - self.penalty_ungraded, self.positive_total)

    @property
    def highest(self) -> float | None:
        """The score over the whole rubric if everything ungraded passed."""
        return _ratio(self.earned + self.positive_ungraded - self.deducted, self.positive_total)

    @property
    def earned_share(self) -> float | None:
        """Earned over graded positive weight, penalties aside: a pillar's own figure."""
        return _ratio(self.earned, self.positive_graded)


def tally(marks: Iterable[Mark]) -> Tally:
    """Add up `marks`."""
    sums = dict.fromkeys(Tally.__dataclass_fields__, 0.0)
    for mark in marks:
        side = "ungraded" if mark.outcome is Outcome.UNGRADED else "graded"
        if mark.weight >= 0:
            sums[f"positive_{side}"] += mark.weight
            sums["earned"] += mark.weight if mark.outcome is Outcome.PASSED else 0.0
        else:
            sums[f"penalty_{side}"] -= mark.weight
            sums["deducted"] -= mark.weight if mark.outcome is Outcome.FAILED else 0.0
    return Tally(**sums)


def tally_by_pillar(marks: Iterable[Mark]) -> dict[str, Tally]:
    """One tally per pillar that occurs, in pillar order."""
    by_pillar: dict[int, list[Mark]] = {}
    for mark in marks:
        by_pillar.setdefault(mark.pillar, []).append(mark)
    return {pillar_name(pillar): tally(by_pillar[pillar]) for pillar in sorted(by_pillar)}


def pillar_name(pillar: int) -> str:
    return PILLARS[pillar] if pillar < len(PILLARS) else f"pillar_{pillar}"


def _ratio(points: float, denominator: float) -> float | None:
    return min(1.0, max(0.0, points / denominator)) if denominator > 0 else None
