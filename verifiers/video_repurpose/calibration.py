"""How far a judge agrees with people: agreement rate and Cohen's kappa, per pillar and over all. Pure.

Only items that both sides answered count; counts are added, never averages averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verifiers.video_repurpose.schema import RubricItem
from verifiers.video_repurpose.scoring import pillar_name

OVERALL = "all"


@dataclass(frozen=True)
class Agreement:
    """A two-by-two table of answers."""

    both_yes: int = 0
    both_no: int = 0
    only_judge_yes: int = 0
    only_human_yes: int = 0

    @property
    def compared(self) -> int:
        return self.both_yes + self.both_no + self.only_judge_yes + self.only_human_yes

    @property
    def rate(self) -> float | None:
        return (self.both_yes + self.both_no) / self.compared if self.compared else None

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance; none when chance alone already explains everything (one answer only)."""
        if self.rate is None:
            return None
        judge_yes = (self.both_yes + self.only_judge_yes) / self.compared
        human_yes = (self.both_yes + self.only_human_yes) / self.compared
        by_chance = judge_yes * human_yes + (1 - judge_yes) * (1 - human_yes)
        return (self.rate - by_chance) / (1 - by_chance) if by_chance < 1 else None

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            self.both_yes + other.both_yes,
            self.both_no + other.both_no,
            self.only_judge_yes + other.only_judge_yes,
            self.only_human_yes + other.only_human_yes,
        )


def agreement(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """Count `(judge, human)` answers."""
    table = Agreement()
    for judge, human in pairs:
        table += Agreement(judge and human, not judge and not human, judge and not human, human and not judge)
    return table


def calibrate(
    items: Iterable[RubricItem],
    judge: Mapping[str, bool | None],
    human: Mapping[str, bool | None],
) -> dict[str, Agreement]:
    """Agreement per pillar name, and under `OVERALL`; null answers on either side are left out."""
    pairs: dict[str, list[tuple[bool, bool]]] = {}
    for item in items:
        ours, theirs = judge.get(item.id), human.get(item.id)
        if ours is not None and theirs is not None:
            pairs.setdefault(pillar_name(item.pillar), []).append((ours, theirs))
    by_pillar = {name: agreement(answers) for name, answers in pairs.items()}
    return {**by_pillar, OVERALL: sum(by_pillar.values(), Agreement())}
