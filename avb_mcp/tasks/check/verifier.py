"""Verifier gate: the golden path scores 1, tricks score what the scheme says, no answer can be reached."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from avb_mcp.agents._client import ToolRefused
from avb_mcp.agents.oracle import submit_oracle
from avb_mcp.attacks.own import attack_suite, in_gate
from avb_mcp.score import score_workspace
from avb_mcp.tasks.check._base import Finding, GateName, Subject
from avb_mcp.workspace import Workspace
from primitives._base import UserError
from verifiers._json import AnswerError, load_answer_model
from verifiers._verdict import Status, Verdict
from verifiers.video_repair.anchors import check_anchors
from verifiers.video_repair.schema import Truth

GATE = GateName.VERIFIER
PERFECT = 1.0 - 1e-6


def check(subject: Subject) -> Iterator[Finding]:
    for sentence in unreachable(subject):
        yield subject.fault(GATE, sentence)
    if not subject.has_answers:
        yield subject.fault(GATE, "there are no answers, so nothing can be scored")
        return
    if subject.answer is None or subject.task is None:
        yield subject.fault(GATE, "answer.json or task.json cannot be read")
        return
    try:
        yield from _golden_path(subject)
        for sentence in _anchors(subject):
            yield subject.fault(GATE, sentence)
        for row in attack_suite(subject.folder, subject.suite, [subject.entry], in_gate):
            if not row.holds:
                got = "no score" if row.obtained is None else f"{row.obtained:.3f}"
                yield subject.fault(GATE, f"{row.attack}: scores {got} where {row.expected} is stated")
    except AnswerError as error:
        yield subject.fault(GATE, str(error))


def _golden_path(subject: Subject) -> Iterator[Finding]:
    """The perfect submission, made by the oracle over a real server in a copy of the workspace."""
    with tempfile.TemporaryDirectory(prefix="avb-check-") as place:
        workspace = Path(place) / "task"
        shutil.copytree(subject.workspace, workspace)
        for fault in _oracle_faults(workspace, subject.answers):
            yield subject.fault(GATE, f"the oracle cannot hand in: {fault}")
            return
        verdict = score_workspace(workspace, subject.answers)
    if _is_perfect(verdict):
        return
    if verdict.status is Status.UNGRADED:
        yield subject.note(GATE, "every item is for a judge: the golden path cannot be checked here")
        return
    got = "no score" if verdict.score is None else f"{verdict.score:.4f}"
    yield subject.fault(GATE, f"the oracle scores {got}, not 1: {'; '.join(verdict.reasons[:3]) or verdict.status}")


def _oracle_faults(workspace: Path, answers: Path) -> list[str]:
    """Hand in as the oracle does; why it could not. A client's errors come in groups."""
    faults: list[str] = []
    try:
        submit_oracle(workspace, answers)
    except* KeyError as group:
        faults += [f"{error} is not among the materials" for error in _leaves(group)]
    except* (UserError, ToolRefused, AnswerError, OSError) as group:
        faults += [str(error) for error in _leaves(group)]
    return faults


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _is_perfect(verdict: Verdict) -> bool:
    return verdict.status is Status.SCORED and verdict.score is not None and verdict.score >= PERFECT


def _anchors(subject: Subject) -> Iterator[str]:
    if subject.answer is not None and subject.answer.verifier == "video_repair":
        folder = subject.answers / subject.answer.reference["answers"]
        yield from check_anchors(load_answer_model(folder / "truth.json", Truth), folder)


def unreachable(subject: Subject) -> Iterator[str]:
    """Ways from the workspace to the answers, as a caller of the tools could write them."""
    if subject.answers.resolve().is_relative_to(subject.workspace.resolve()):
        yield "the answers lie inside the workspace"
    if not subject.workspace.is_dir():
        yield "there is no workspace"
        return
    try:
        workspace = Workspace(subject.workspace)
    except UserError as error:
        yield str(error)
        return
    name = next((path.name for path in sorted(subject.answers.glob("*")) if path.is_file()), "answer.json")
    ways = (
        f"../../answers/{subject.entry.id}/{name}",
        f"materials/../../../answers/{subject.entry.id}/{name}",
        str(subject.answers.resolve() / name),
        f"file:{subject.answers.resolve() / name}",
        f"/workspace/../answers/{subject.entry.id}/{name}",
    )
    for way in ways:
        try:
            workspace.readable(way)
        except UserError:
            continue
        yield f"a tool would read {way}"
