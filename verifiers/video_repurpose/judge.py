"""Who answers a yes/no question about the deliverable.

Only judges that need no network live here: human labels from a file, and nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from verifiers.video_repurpose.schema import CompoundItem, LlmItem


class Answer(StrEnum):
    YES = "yes"
    NO = "no"
    ABSTAIN = "abstain"


@dataclass(frozen=True)
class Ruling:
    answer: Answer
    reason: str = ""


@dataclass(frozen=True)
class Evidence:
    """What a judge may look at besides the prompt."""

    final: Path
    measured: tuple[str, ...] = ()
    """What the python stages before the question found, one sentence each."""


class Judge(Protocol):
    def ask(self, item: LlmItem | CompoundItem, prompt: str, evidence: Evidence) -> Ruling:
        """Whether the deliverable meets `item`; abstain rather than guess."""


class NoJudge:
    """Nobody is there to answer, so every question stays open."""

    def ask(self, item: LlmItem | CompoundItem, prompt: str, evidence: Evidence) -> Ruling:  # noqa: ARG002
        return Ruling(Answer.ABSTAIN, "no judge was given")


class LabelsJudge:
    """Answers that people gave beforehand, by item id."""

    def __init__(self, labels: Mapping[str, bool | None]) -> None:
        self._labels = labels

    def ask(self, item: LlmItem | CompoundItem, prompt: str, evidence: Evidence) -> Ruling:  # noqa: ARG002
        label = self._labels.get(item.id)
        if label is None:
            return Ruling(Answer.ABSTAIN, f"the labels hold no answer for item {item.id}")
        return Ruling(Answer.YES if label else Answer.NO, "human label")
