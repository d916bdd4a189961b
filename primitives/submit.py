"""submit: hand in the deliverables in the task's own shape, check every gate that needs no answer, and seal them."""

from __future__ import annotations

import shutil
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, Request, Result, UserError
from primitives._task import Deliverable, Kind, Task

if TYPE_CHECKING:
    from pathlib import Path

    from primitives._gates import GateOutcome

REMUX_SHARE, REMUX_BYTES = 0.02, 1_000_000
"""A re-muxed copy differs in size by no more than this from what it copies."""
_SOUND_SUFFIXES = frozenset({".wav", ".mp3", ".m4a", ".flac", ".ogg", ".aac", ".opus"})


class Finding(Request):
    """One defect that was found."""

    type: str
    """What is wrong, in a word or two."""
    start_s: float = Field(ge=0)
    end_s: float = Field(gt=0)

    @model_validator(mode="after")
    def _forward(self) -> Finding:
        if self.end_s <= self.start_s:
            raise ValueError(f"diagnosis: end_s={self.end_s} must be greater than start_s={self.start_s}.")
        return self


class SubmitRequest(Request):
    files: list[str] = Field(default=[], max_length=20)
    """Media files to hand in, such as work/fixed.mp4. Leave out what already lies in outputs/."""
    ordering: list[str] = Field(default=[], max_length=200)
    """Sequencing: every clip name once, in order."""
    picks: list[str] = Field(default=[], max_length=200)
    """Assembly: the chosen clip for each slot, in order."""
    cuts: list[list[float]] = Field(default=[], max_length=1000)
    """Ranges that were cut out, as [start_s, end_s] pairs in the input's time."""
    diagnosis: list[Finding] = Field(default=[], max_length=50)
    """Repair: what was wrong and when, in the input's time."""
    report: str | None = Field(default=None, max_length=100_000)
    """Text for report.md; diagnosis and cuts are added to it."""
    replace: bool = False
    """Replace an earlier submission."""


class Checked(Result):
    name: str
    kind: str
    passed: list[str]
    failed: list[str]


class SubmitResult(Result):
    accepted: bool
    deliverables: list[Checked]
    sealed_sha256: dict[str, str]
    next: str


def submit(request: SubmitRequest, call: Call) -> Answer:
    sealed = call.workspace.sealed()
    if sealed is not None and not request.replace:
        raise UserError(f"Already submitted: {', '.join(sealed)}. To hand in again, call submit with replace=true.")
    wanted = _wanted(call.workspace.task, request)
    files = _match_files(request.files, wanted, call)
    _refuse_unasked(request, wanted)
    call.workspace.unseal()
    checked = []
    for number, deliverable in enumerate(wanted):
        call.progress(number, len(wanted), f"checking {deliverable.name}")
        checked.append(_hand_in(deliverable, files.get(deliverable.name), request, call))
    accepted = not any(item.failed for item in checked)
    digests = _seal(wanted, call) if accepted else {}
    next_step = "Submitted and sealed. Nothing more to do." if accepted else _advice(checked)
    return Answer(SubmitResult(accepted=accepted, deliverables=checked, sealed_sha256=digests, next=next_step))


def _wanted(task: Task | None, request: SubmitRequest) -> list[Deliverable]:
    """What the task asks for; in a folder without a task, the files that were given."""
    if task is not None and task.deliverables:
        return task.deliverables
    if not request.files:
        raise UserError(
            "There is no task.json here, so nothing is asked for. Give files to hand in, such as work/edit.mp4."
        )
    names = [PurePosixPath(name).name for name in request.files]
    return [
        Deliverable(
            name=name,
            kind=Kind.AUDIO if PurePosixPath(name).suffix.lower() in _SOUND_SUFFIXES else Kind.VIDEO,
        )
        for name in dict.fromkeys(names)
    ]


def _match_files(files: list[str], wanted: list[Deliverable], call: Call) -> dict[str, Path]:
    """Which given file fills which deliverable: by name, or because only one place is left for it."""
    media = [item for item in wanted if item.kind in (Kind.VIDEO, Kind.AUDIO)]
    names = {item.name for item in media}
    matched = {PurePosixPath(name).name: call.input(name) for name in files if PurePosixPath(name).name in names}
    rest = [name for name in files if PurePosixPath(name).name not in names]
    places = [item.name for item in media if item.name not in matched]
    if len(rest) > 1 or (rest and len(places) != 1):
        asked = ", ".join(sorted(names)) or "no media"
        raise UserError(f"Cannot tell where {', '.join(rest)} belongs; the task wants {asked}. Give files those names.")
    if rest:
        matched[places[0]] = call.input(rest[0])
    return matched


def _refuse_unasked(request: SubmitRequest, wanted: list[Deliverable]) -> None:
    """Arguments that fill nothing are a mistake, not something to drop."""
    kinds = {item.kind for item in wanted}
    takers = {"ordering": {Kind.ORDERING}, "picks": {Kind.PICKS}, "cuts": {Kind.CUTS, Kind.REPORT}}
    takers |= {"diagnosis": {Kind.REPORT}, "report": {Kind.REPORT}}
    for argument, takes in takers.items():
        if getattr(request, argument) and not takes & kinds:
            names = ", ".join(f"{item.name} ({item.kind})" for item in wanted)
            raise UserError(f"{argument} was given but this task has no place for it. It wants: {names}.")


def _hand_in(deliverable: Deliverable, source: Path | None, request: SubmitRequest, call: Call) -> Checked:
    """Write one deliverable from what was given, then judge what lies in outputs/."""
    outcomes = _write(deliverable, source, request, call)
    if _all_passed(outcomes):
        outcomes = _judge(deliverable, call)
    return Checked(
        name=deliverable.name,
        kind=deliverable.kind,
        passed=[outcome.gate for outcome in outcomes if outcome.passed],
        failed=[f"{outcome.gate}: {outcome.reason}" for outcome in outcomes if not outcome.passed],
    )


def _write(deliverable: Deliverable, source: Path | None, request: SubmitRequest, call: Call) -> list[GateOutcome]:
    """Put what was given into outputs/; the gates of the arguments themselves."""
    from primitives._gates import ordering_gates, picks_gates, ranges_gates
    from primitives._shapes import cuts_json, report_md
    from primitives._writing import room_needed, write_text

    destination = call.workspace.writable(f"outputs/{deliverable.name}")
    if source is not None and source != destination:
        with room_needed(f"outputs/{deliverable.name}"), call.workspace.atomic(destination) as part:
            shutil.copyfile(source, part)
    outcomes: list[GateOutcome] = []
    text: str | None = None
    if deliverable.kind is Kind.ORDERING and request.ordering:
        outcomes = ordering_gates(request.ordering, deliverable)
        text = _clips_text(request.ordering, deliverable, outcomes, call)
    elif deliverable.kind is Kind.PICKS and request.picks:
        outcomes = picks_gates(request.picks, deliverable)
        text = _clips_text(request.picks, deliverable, outcomes, call)
    elif deliverable.kind is Kind.CUTS and request.cuts:
        outcomes = ranges_gates(request.cuts)
        text = cuts_json(request.cuts, deliverable) if _all_passed(outcomes) else None
    elif deliverable.kind is Kind.REPORT and (request.report or request.diagnosis or request.cuts):
        outcomes = ranges_gates(request.cuts) if request.cuts else []
        text = report_md(request.report or "", request.diagnosis, request.cuts)
    if text is not None:
        write_text(call, destination, text)
    return outcomes


def _all_passed(outcomes: list[GateOutcome]) -> bool:
    return all(outcome.passed for outcome in outcomes)


def _clips_text(given: list[str], deliverable: Deliverable, outcomes: list[GateOutcome], call: Call) -> str | None:
    """solution.json for clips that passed their gates, with the real length of each."""
    from primitives._gates import match_clip
    from primitives._media.scan import scan
    from primitives._shapes import clips_json

    if not _all_passed(outcomes):
        return None
    clips = [match_clip(name, deliverable.clips) or name for name in given]
    here = {path.stem: path for path in reversed(call.workspace.media())}
    paths = [here.get(PurePosixPath(clip).stem) for clip in clips]
    lengths = [float(scan(path, path.name, call.check).duration) if path else 0.0 for path in paths]
    return clips_json(clips, lengths, deliverable)


def _judge(deliverable: Deliverable, call: Call) -> list[GateOutcome]:
    """The gates of what lies in outputs/ now."""
    from primitives._gates import GateOutcome, json_gates, report_gates

    try:
        path = call.workspace.readable(f"outputs/{deliverable.name}")
    except UserError:
        wants = {Kind.VIDEO: "files", Kind.AUDIO: "files"}.get(deliverable.kind, str(deliverable.kind))
        missing = GateOutcome("exists", not deliverable.required, f"is not in outputs/; give the {wants} argument")
        return [missing]
    exists = [GateOutcome("exists", True)]
    if deliverable.kind is Kind.REPORT:
        return exists + report_gates(path.read_text(encoding="utf-8", errors="replace"), deliverable)
    if deliverable.kind in (Kind.VIDEO, Kind.AUDIO):
        return exists + _judge_media(path, deliverable, call)
    return exists + json_gates(path.read_text(encoding="utf-8", errors="replace"), deliverable)


def _judge_media(path: Path, deliverable: Deliverable, call: Call) -> list[GateOutcome]:
    from primitives._gates import GateOutcome, media_gates, specify
    from primitives._media.inspect import decode_damage, facts

    name = f"outputs/{deliverable.name}"
    try:
        found = facts(path, name, call.check)
        damaged = decode_damage(path, name, call.progress)
    except UserError as error:
        return [GateOutcome("decodes", False, str(error))]
    call.media_s += found.duration_s
    like = deliverable.spec.like
    spec = specify(deliverable.spec, facts(call.input(like), like, call.check) if like else None)
    kind_there = found.video_codec if deliverable.kind is Kind.VIDEO else found.audio_codec
    original = _copied_from(path, name, call)
    return [
        GateOutcome("decodes", not damaged, f"{damaged} packets do not decode" if damaged else ""),
        GateOutcome(
            "has_" + deliverable.kind,
            kind_there is not None,
            "" if kind_there else f"has no {deliverable.kind}",
        ),
        *media_gates(found, spec),
        GateOutcome(
            "not_a_copy",
            original is None,
            f"is a copy of {original}; hand in the edited film" if original else "",
        ),
    ]


def _copied_from(path: Path, name: str, call: Call) -> str | None:
    """The input whose picture and sound this file repeats packet by packet, if any."""
    from primitives._media.inspect import payload_digest

    own: str | None = None
    size = path.stat().st_size
    for other in call.workspace.media():
        label = call.workspace.relative(other)
        if (
            label.startswith(("work/", "outputs/"))
            or abs(other.stat().st_size - size) > REMUX_SHARE * size + REMUX_BYTES
        ):
            continue
        own = own or payload_digest(path, name, call.check)
        try:
            same = payload_digest(other, label, call.check) == own
        except UserError:
            continue  # an unreadable neighbour cannot be what was copied
        if same:
            return label
    return None


def _seal(wanted: list[Deliverable], call: Call) -> dict[str, str]:
    from primitives._media.inspect import file_digest

    digests = {}
    for deliverable in wanted:
        try:
            path = call.workspace.readable(f"outputs/{deliverable.name}")
        except UserError:
            continue  # not required and not handed in
        digests[deliverable.name] = file_digest(path)
    call.workspace.seal(digests)
    return digests


def _advice(checked: list[Checked]) -> str:
    names = ", ".join(item.name for item in checked if item.failed)
    return f"Not accepted yet: fix {names} and call submit again. What was given is kept in outputs/."


PRIMITIVE = Primitive(
    name="submit",
    title="Hand in the work",
    description=(
        "Hand in the deliverables: writes them to outputs/ in the task's shape, checks every gate that needs no answer "
        "(decodes, codec, size, fps, duration, permutation, not a copy), says what fails. Seals when all pass."
    ),
    request=SubmitRequest,
    run=submit,
    read_only=False,
    destructive=True,
)
