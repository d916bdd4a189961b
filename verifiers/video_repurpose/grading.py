"""From a rubric and a film to one row per item.

First every check of the rubric is bound, so that the film is watched once for all of them; then each item is
answered by its check, by the judge, or, for compound items, by one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verifiers.video_repurpose.film import Film, watch
from verifiers.video_repurpose.judge import Answer, Evidence, Judge
from verifiers.video_repurpose.kinds import KINDS
from verifiers.video_repurpose.kinds._base import Check, Finding, ungraded
from verifiers.video_repurpose.schema import CompoundItem, LlmItem, PythonItem, PythonStage, RubricItem
from verifiers.video_repurpose.scoring import Mark, Outcome

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

_OUTCOMES = {Answer.YES: Outcome.PASSED, Answer.NO: Outcome.FAILED, Answer.ABSTAIN: Outcome.UNGRADED}


@dataclass(frozen=True)
class Row:
    """One item with its result."""

    item: RubricItem
    finding: Finding

    @property
    def mark(self) -> Mark:
        return Mark(self.item.pillar, self.item.weight, self.finding.outcome)


@dataclass(frozen=True)
class _Viewing:
    """What is needed to answer any item of one deliverable."""

    path: Path
    film: Film
    judge: Judge

    def check(self, step: PythonItem | PythonStage) -> Finding:
        check = bind(step)
        if isinstance(check, str):
            return ungraded(check)
        finding = check.run(self.film)
        if check.surplus_params:
            ignored = f"{finding.evidence} (params ignored: {', '.join(check.surplus_params)})"
            finding = replace(finding, evidence=ignored)
        return finding

    def ask(self, item: LlmItem | CompoundItem, prompt: str, measured: Sequence[str]) -> Finding:
        ruling = self.judge.ask(item, prompt, Evidence(self.path, tuple(measured)))
        return Finding(_OUTCOMES[ruling.answer], "; ".join([*measured, f"judge: {ruling.reason}"]))


def grade(items: Sequence[RubricItem], final: Path, judge: Judge) -> list[Row]:
    """Answer every item about `final`; `MediaError` if it is no readable media file."""
    checks = [bind(step) for item in items for step in _python_steps(item)]
    measures = dict.fromkeys(measure for check in checks if isinstance(check, Check) for measure in check.measures)
    viewing = _Viewing(final, watch(final, measures), judge)
    return [Row(item, _answer(item, viewing)) for item in items]


def bind(step: PythonItem | PythonStage) -> Check | str:
    """The check of `step`, or the sentence that says why there is none."""
    kind = KINDS.get(step.kind)
    if kind is None:
        return f"unknown kind {step.kind!r}; known are {', '.join(sorted(KINDS))}"
    try:
        return kind.bind(step.params)
    except ValueError as error:
        return f"{step.kind} cannot run: {error}"


def fill_placeholders(prompt: str, saved: Mapping[str, str]) -> str:
    """`prompt` with each `{name}` that a stage saved; the others stay as they are."""
    return PLACEHOLDER.sub(lambda match: saved.get(match.group(1), match.group()), prompt)


def _python_steps(item: RubricItem) -> list[PythonItem | PythonStage]:
    if isinstance(item, CompoundItem):
        return [stage for stage in item.stages if isinstance(stage, PythonStage)]
    return [item] if isinstance(item, PythonItem) else []


def _answer(item: RubricItem, viewing: _Viewing) -> Finding:
    if isinstance(item, PythonItem):
        return viewing.check(item)
    if isinstance(item, LlmItem):
        return viewing.ask(item, item.question, ())
    return _answer_compound(item, viewing)


def _answer_compound(item: CompoundItem, viewing: _Viewing) -> Finding:
    """Stages in order; the first python stage that does not pass decides, else the llm stage does."""
    saved: dict[str, str] = {}
    measured: list[str] = []
    for stage in item.stages:
        if not isinstance(stage, PythonStage):
            return viewing.ask(item, fill_placeholders(stage.prompt or item.criterion, saved), measured)
        finding = viewing.check(stage)
        saved[stage.saved_name] = finding.evidence
        measured.append(f"{stage.kind}: {finding.evidence}")
        if finding.outcome is not Outcome.PASSED:
            return replace(finding, evidence="; ".join(measured))
    return Finding(Outcome.PASSED, "; ".join(measured))
