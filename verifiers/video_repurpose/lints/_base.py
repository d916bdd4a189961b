"""What a lint says, and what every lint looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from verifiers.video_repurpose.kinds import KINDS
from verifiers.video_repurpose.kinds._base import KindParams
from verifiers.video_repurpose.schema import CompoundItem, PythonItem, PythonStage, RubricItem


class Severity(StrEnum):
    ERROR = "error"
    """The rubric cannot score what its author meant."""
    WARNING = "warning"
    """Probably a slip; a person should look."""


@dataclass(frozen=True)
class Finding:
    severity: Severity
    code: str
    where: str
    sentence: str


def error(code: str, where: str, sentence: str) -> Finding:
    return Finding(Severity.ERROR, code, where, sentence)


def warning(code: str, where: str, sentence: str) -> Finding:
    return Finding(Severity.WARNING, code, where, sentence)


@dataclass(frozen=True)
class Condition:
    """One python check of the rubric with its params in force."""

    where: str
    kind: str
    params: KindParams
    wanted: bool
    """Whether a perfect film meets it: true for every item but those without effect."""


def steps(item: RubricItem) -> Iterator[tuple[str, PythonItem | PythonStage]]:
    """The python checks of an item, each with its place."""
    if isinstance(item, PythonItem):
        yield item.id, item
    elif isinstance(item, CompoundItem):
        for number, stage in enumerate(item.stages, start=1):
            if isinstance(stage, PythonStage):
                yield f"{item.id} stage {number}", stage


def conditions(items: tuple[RubricItem, ...]) -> tuple[Condition, ...]:
    """Every check that can run; the others are findings of `structure`."""
    found = []
    for item in items:
        for where, step in steps(item):
            kind = KINDS.get(step.kind)
            try:
                params = None if kind is None else kind.params.model_validate(step.params)
            except ValueError:
                continue
            if params is not None:
                found.append(Condition(where, step.kind, params, wanted=item.weight != 0))
    return tuple(found)
