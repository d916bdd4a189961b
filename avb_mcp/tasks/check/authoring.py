"""Authoring gate: the fields are filled, the limits feasible, the items observable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from avb_mcp.tasks.check._base import Finding, GateName, Subject
from avb_mcp.tasks.spec import load_task
from primitives._base import UserError
from primitives._task import Deliverable, Kind, Task
from verifiers._json import AnswerError, JsonValue, load_answer_json, load_answer_model
from verifiers.lint import Severity, lint
from verifiers.video_repair.schema import Kind as Defect
from verifiers.video_repair.schema import Truth

GATE = GateName.AUTHORING
MIN_BRIEF_CHARACTERS = 40
MIN_TIME_S, MIN_TURNS = 60.0, 5
"""Less is no time to look at a film, change it and hand it in (ours)."""
UNFILLED = re.compile(r"\(none was given\)|\bTODO\b|\bTBD\b|\bFIXME\b|\{\{.*?\}\}")


def check(subject: Subject) -> Iterator[Finding]:
    try:
        task = load_task(subject.workspace)
    except UserError as error:
        yield subject.fault(GATE, str(error))
        return
    if (task.id, task.family) != (subject.entry.id, subject.entry.family):
        yield subject.fault(GATE, f"task.json is for {task.id} ({task.family}), suite.json says {subject.entry.family}")
    for sentence in (*_brief(subject, task), *_limits(task), *_deliverables(subject, task), *_told(subject)):
        yield subject.fault(GATE, sentence)
    if unfilled := UNFILLED.search(subject.brief):
        yield subject.note(GATE, f"the brief still says {unfilled[0]!r} where something can be filled in")
    if task.limits.time_s is None and task.limits.turns is None:
        yield subject.note(GATE, "no limits of its own; a run's plan sets them")
    yield from _rubric(subject, task)


def _brief(subject: Subject, task: Task) -> Iterator[str]:
    if len(subject.brief.strip()) < MIN_BRIEF_CHARACTERS:
        yield f"{task.brief} is missing, unreadable or shorter than {MIN_BRIEF_CHARACTERS} characters"
        return
    for deliverable in task.deliverables:
        if deliverable.required and deliverable.name not in subject.brief:
            yield f"the brief does not name the deliverable {deliverable.name}"


def _limits(task: Task) -> Iterator[str]:
    limits = task.limits
    if limits.time_s is not None and limits.time_s < MIN_TIME_S:
        yield f"{limits.time_s:g} s are too little time; allow {MIN_TIME_S:g} s or more"
    if limits.turns is not None and limits.turns < MIN_TURNS:
        yield f"{limits.turns} turns are too few; allow {MIN_TURNS} or more"


def _deliverables(subject: Subject, task: Task) -> Iterator[str]:
    if not task.deliverables:
        yield "task.json asks for no deliverable"
    materials = {item.path for item in task.materials}
    stems = {PurePosixPath(path).stem for path in materials}
    for item in task.deliverables:
        yield from _feasible(item)
        if item.spec.like is not None and item.spec.like not in materials:
            yield f"{item.name} is to be like {item.spec.like}, which is not among the materials"
        strangers = [clip for clip in item.clips if PurePosixPath(clip).stem not in stems]
        if strangers:
            yield f"{item.name} chooses from the clip {strangers[0]}, which is not among the materials"
        if item.kind is Kind.PICKS and item.slots and item.slots > len(item.clips):
            yield f"{item.name} has {item.slots} slots for {len(item.clips)} clips"
    if subject.answer is not None:
        wanted = {name for name in subject.answer.submission.values() if name != "."}
        missing = sorted(wanted - {item.name for item in task.deliverables})
        if missing:
            yield f"{missing[0]} is scored but not asked for"


def _feasible(item: Deliverable) -> Iterator[str]:
    low, high, length = item.spec.min_duration_s, item.spec.max_duration_s, item.spec.duration_s
    if low is not None and high is not None and low > high:
        yield f"{item.name} is to last at least {low:g} s and at most {high:g} s"
    if length is not None and not (low or 0.0) <= length <= (length if high is None else high):
        yield f"{item.name} is to last {length:g} s, outside its own range"


def _told(subject: Subject) -> Iterator[str]:
    """A repair brief that names one defect, and it is the one."""
    if subject.answer is None or subject.answer.verifier != "video_repair":
        return
    try:
        truth = load_answer_model(subject.answers / "truth.json", Truth)
    except AnswerError:
        return
    text = subject.brief.lower() + (subject.task.model_dump_json() if subject.task else "")
    named = [kind for kind in Defect if kind.value in text or kind.value.replace("_", " ") in text]
    if named == [truth.kind]:
        yield f"the brief names the defect: {truth.kind}"


def _rubric(subject: Subject, task: Task) -> Iterator[Finding]:
    if subject.answer is None or "rubric" not in subject.answer.reference:
        return
    try:
        rubric: JsonValue = load_answer_json(subject.answers / subject.answer.reference["rubric"])
    except AnswerError as error:
        yield subject.fault(GATE, str(error))
        return
    for found in lint(rubric, subject.brief, task.model_dump(mode="json", exclude={"brief"})):
        sentence = f"rubric, {found.where}: {found.sentence}"
        yield subject.fault(GATE, sentence) if found.severity is Severity.ERROR else subject.note(GATE, sentence)
