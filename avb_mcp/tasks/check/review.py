"""Review gate: two people by name approve the task as it is; what a judge is asked is one yes/no question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from avb_mcp.tasks.check._base import Finding, GateName, Subject
from avb_mcp.tasks.check.approvals import NEEDED, Approvals
from verifiers._json import AnswerError
from verifiers.video_repurpose.schema import CompoundItem, LlmItem, LlmStage, RubricItem, load_rubric

GATE = GateName.REVIEW
_YES_NO = re.compile(
    r"^(is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|must)\b|\byes[ /]+(or )?no\b", re.I
)


def check(subject: Subject, approvals: Approvals) -> Iterator[Finding]:
    names = approvals.names(subject.entry.id, subject.digest)
    if len(names) < NEEDED:
        by = f" (by {', '.join(names)})" if names else ""
        lapsed = approvals.lapsed(subject.entry.id, subject.digest)
        earlier = f"; changed since {', '.join(lapsed)} approved it" if lapsed else ""
        yield subject.fault(GATE, f"{len(names)} of {NEEDED} approvals{by}{earlier}: `avb-mcp approve`")
    if subject.answer is None or "rubric" not in subject.answer.reference:
        return
    try:
        items = load_rubric(subject.answers / subject.answer.reference["rubric"])
    except AnswerError:
        return  # a finding of the authoring gate
    for item in items:
        if fault := not_atomic(_question(item)):
            yield subject.fault(GATE, f"rubric, {item.id}: {fault}")


def _question(item: RubricItem) -> str:
    if isinstance(item, LlmItem):
        return item.question
    if isinstance(item, CompoundItem):
        return next((stage.prompt for stage in item.stages if isinstance(stage, LlmStage)), "")
    return ""


def not_atomic(question: str) -> str:
    """Why a question to a judge is not one yes/no question; empty when it is, or when nothing is asked."""
    asked = question.strip()
    if not asked:
        return ""
    if asked.count("?") > 1:
        return f"asks {asked.count('?')} questions at once"
    sentences = [part.strip() for part in re.split(r"(?<=[.!?:])\s+", asked)]
    question_sentence = next((part for part in sentences if part.endswith("?")), "")
    if question_sentence and not any(_YES_NO.search(part) for part in sentences):
        return "is no question to answer with yes or no"
    return ""
