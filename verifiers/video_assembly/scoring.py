"""Assembly scores (contract, "Assembly"), pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifiers._files import SubmissionError


@dataclass(frozen=True)
class AssemblyScore:
    correct_slots: tuple[bool, ...]
    candidates_per_slot: int

    @property
    def accuracy(self) -> float:
        return sum(self.correct_slots) / len(self.correct_slots)

    @property
    def unfloored(self) -> float:
        """0 for guessing among a slot's own candidates on average, 1 for every slot right."""
        guess = 1 / self.candidates_per_slot
        return (self.accuracy - guess) / (1 - guess)

    @property
    def headline(self) -> float:
        return max(0.0, self.unfloored)

    def components(self) -> dict[str, float]:
        return {
            "accuracy": self.accuracy,
            "unfloored": self.unfloored,
            "strict_match": float(all(self.correct_slots)),
        }


COMPONENTS = tuple(AssemblyScore((True,), 2).components())


def require_every_slot(submission: Sequence[str], reference: Sequence[str]) -> None:
    if len(submission) != len(reference):
        given, slots = len(submission), len(reference)
        raise SubmissionError(f"{given} segments were given, the storyboard has {slots} slots")


def score_assembly(
    submission: Sequence[str], reference: Sequence[str], *, candidates_per_slot: int, honest: Sequence[bool]
) -> AssemblyScore:
    """A slot counts when it holds the right clip and, with honesty on, the render shows that clip."""
    correct = [picked == right and shown for picked, right, shown in zip(submission, reference, honest, strict=True)]
    return AssemblyScore(tuple(correct), candidates_per_slot)
