"""Repair tasks: one defect (or two) put into a stretch of a film.

Golden and broken are written by the same path from the same source frames, so that outside the defect they differ by
nothing but one encode. The place and strength come from the seed; what cannot be measured is drawn again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from avb_mcp.tasks.answers import Answer, repair_answer, repair_v3_answer
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders._repair_texts import brief, deliverables
from avb_mcp.tasks.defects import _profile
from avb_mcp.tasks.defects._base import (
    CannotPlace,
    Damage,
    Defect,
    Drawn,
    Needs,
    Stretch,
    broken_count,
    broken_frames,
    broken_sound,
)
from avb_mcp.tasks.defects.registry import DEFECTS, by_name
from avb_mcp.tasks.footage import EXPORT, RATE_HZ, Footage, Image, write_film
from avb_mcp.tasks.spec import LIMITS, sha256_of
from avb_mcp.tasks.suite import Bench, Made, TaskPlan, seed_of
from primitives._base import UserError
from primitives._task import Family, Task
from verifiers.video_repair.anchors import measure_anchors
from verifiers.video_repair.schema import Expected, ExpectedAudio, ExpectedVideo, Kind, ReferenceFile, TimeRange, Truth
from verifiers.video_repair.scoring import UnmeasurableDefect
from verifiers.video_repair_v3.runner import verify as verify_v3
from verifiers.video_repair_v3.scoring import EDIT_POINTS

TRIES, PLACES = 5, 20
"""Tasks that are made and cannot be measured, and stretches without a place for the defect, before giving up."""
STRETCHES = 24
SNAP_S = 2.0
"""A stretch begins at a cut when one is this near."""
BROKEN, GOLDEN, SOURCE = "broken.mp4", "golden.mp4", "source.mp4"
TELLING = 0.01
"""A defect that costs a copy of the broken film less of its score than this is no task."""


def plan(footage: Sequence[Footage], request: BuildRequest) -> list[TaskPlan]:
    """Tasks for the asked kinds in turn, each from the next source that can carry it."""
    serving = _serving(_asked(request), footage, request)
    plans: list[TaskPlan] = []
    ids: set[str] = set()
    for number in range(request.count):
        defect, sources = serving[number % len(serving)]
        # One further with every round, so that a defect meets every source.
        source = sources[(number + number // len(serving)) % len(sources)]
        task_id = _task_id(request, defect.scheme, number, ids)
        ids.add(task_id)
        seed = seed_of(request.seed, task_id, defect.name, source.sha256, request.min_s, request.max_s)
        make = partial(_make, task_id=task_id, defect=defect, footage=source, request=request)
        plans.append(TaskPlan(task_id, Family.REPAIR, f"repair/{defect.name}", (source.name,), seed, make))
    return plans


def kinds(scheme: str) -> list[str]:
    """The defects of a scheme by name."""
    return [defect.name for defect in DEFECTS if defect.scheme == scheme]


def _asked(request: BuildRequest) -> list[Defect[Any]]:
    known = by_name()
    for name in request.kinds:
        if name not in known:
            raise UserError(f"There is no defect {name!r}. Known are {', '.join(known)}.")
        if request.scheme and known[name].scheme != request.scheme:
            options = ", ".join(kinds(request.scheme))
            raise UserError(f"{name} is a defect of scheme {known[name].scheme}; {request.scheme} has {options}.")
    return [known[name] for name in request.kinds or kinds(request.scheme or "h1")]


Serving = list[tuple[Defect[Any], list[Footage]]]


def _serving(defects: Sequence[Defect[Any]], footage: Sequence[Footage], request: BuildRequest) -> Serving:
    """Each defect with the sources that can carry it. One that was asked for by name and has none is an error."""
    found: Serving = []
    refusals: list[str] = []
    for defect in defects:
        reasons = [refusal(source, defect, request) for source in footage]
        able = [source for source, reason in zip(footage, reasons, strict=True) if not reason]
        refusals += [] if able else reasons
        if able:
            found.append((defect, able))
        elif request.kinds:
            raise UserError(" ".join(refusals))
    if not found:
        raise UserError(refusals[0] if refusals else "Repair tasks need a film. Give --source.")
    return found


def left_out(footage: Sequence[Footage], request: BuildRequest) -> list[str]:
    """The defects that no source can carry and that therefore have no task, each with the reasons."""
    reasons = {defect.name: [refusal(source, defect, request) for source in footage] for defect in _asked(request)}
    return [f"{name} is left out: {' '.join(told)}" for name, told in reasons.items() if all(told)]


def refusal(footage: Footage, defect: Defect[Any], request: BuildRequest) -> str:
    """Why a source cannot carry a defect, as a sentence; empty when it can, as far as is known before looking."""
    needs = defect.needs
    least_s = max(request.min_s, needs.min_s) + needs.spare_s
    if request.max_s < max(request.min_s, needs.min_s):
        return (
            f"{defect.name} needs films of at least {max(request.min_s, needs.min_s):g} s, {request.max_s:g} s allowed."
        )
    if footage.duration_s < least_s:
        way_out = " or a lower --min-s" if request.min_s > needs.min_s else ""
        lasts = f"{footage.name} lasts {footage.duration_s:.1f} s; {defect.name} needs at least {least_s:g} s"
        return f"{lasts}. Give a longer source{way_out}."
    if needs.sound and not footage.has_sound:
        return f"{footage.name} has no sound, which {defect.name} needs."
    if len(footage.shots) < needs.shots:
        return f"{footage.name} has {len(footage.shots)} shots; {defect.name} needs at least {needs.shots}."
    return ""


def _task_id(request: BuildRequest, scheme: str, number: int, taken: set[str]) -> str:
    """An id that tells nothing."""
    for salt in range(1000):
        found = f"{request.prefix}repair-{seed_of('repair', request.seed, scheme, number, salt) & 0xFFFF:04x}"
        if found not in taken:
            return found
    raise UserError(f"{request.count} tasks are too many for one seed.")


def pick_stretch(footage: Footage, needs: Needs, request: BuildRequest, rng: np.random.Generator) -> Stretch:
    """A stretch of the source that is long enough and has enough shots."""
    shortest_s = max(request.min_s, needs.min_s)
    longest_s = min(request.max_s, footage.duration_s - needs.spare_s)
    for attempt in range(STRETCHES):
        # The more draws fail, the longer the stretch.
        length_s = rng.uniform(shortest_s + (longest_s - shortest_s) * attempt / STRETCHES, longest_s)
        length = min(footage.frame_at(length_s), footage.frame_count)
        first = _snapped(footage, int(rng.integers(0, footage.frame_count - length + 1)), length)
        stretch = Stretch(footage, first, first + length)
        if len(stretch.shots) >= needs.shots:
            return stretch
    raise CannotPlace(f"no stretch of {shortest_s:g} to {longest_s:g} s with {needs.shots} shots")


def _snapped(footage: Footage, first: int, length: int) -> int:
    near = footage.frame_at(SNAP_S)
    starts = [shot.first for shot in footage.shots if abs(shot.first - first) <= near]
    starts = [start for start in starts if start + length <= footage.frame_count]
    return min(starts, key=lambda start: abs(start - first), default=first)


def _make(bench: Bench, *, task_id: str, defect: Defect[Any], footage: Footage, request: BuildRequest) -> Made:
    why = ""
    for _ in range(TRIES):
        stretch, drawn = _placed(footage, defect, request, bench.rng)
        damage = defect.damage(stretch, drawn)
        _write_golden(bench, stretch, defect)
        _write_broken(bench, stretch, damage)
        try:
            answer = _answers(bench, task_id, defect, stretch, damage)
        except UnmeasurableDefect as error:
            why = str(error)
            continue
        _write_recipe(bench, defect, drawn, stretch, damage)
        return _made(bench, task_id, defect, stretch, damage, answer)
    raise _cannot_carry(footage, defect, why)


def _placed(
    footage: Footage, defect: Defect[Any], request: BuildRequest, rng: np.random.Generator
) -> tuple[Stretch, Drawn]:
    """A stretch in which the defect finds a place, and what was drawn for it."""
    why = ""
    for _ in range(PLACES):
        try:
            stretch = pick_stretch(footage, defect.needs, request, rng)
            return stretch, defect.draw(stretch, rng)
        except CannotPlace as error:
            why = str(error)
    raise _cannot_carry(footage, defect, why)


def _cannot_carry(footage: Footage, defect: Defect[Any], why: str) -> UserError:
    return UserError(
        f"{footage.name} cannot carry {defect.name}: {why}. Use a longer or livelier source, or other --kinds."
    )


def _made(bench: Bench, task_id: str, defect: Defect[Any], stretch: Stretch, damage: Damage, answer: Answer) -> Made:
    cuts = bool(damage.ranges)
    length_s = float(broken_count(stretch, damage) / stretch.fps)
    asked = deliverables(defect.scheme, length_s, cuts=cuts)
    task = Task(id=task_id, family=Family.REPAIR, deliverables=asked, limits=LIMITS)
    return Made(task, brief(bench.rng, defect.symptoms, defect.scheme, cuts=cuts), answer)


# ---- films


def _write_golden(bench: Bench, stretch: Stretch, defect: Defect[Any]) -> None:
    name = GOLDEN if defect.scheme == "h1" else SOURCE
    pictures = stretch.pictures(0, stretch.frame_count)
    watched = _watched(pictures, stretch.frame_count, lambda share: bench.progress(0.4 * share, "the film as it was"))
    export = replace(EXPORT, colour=stretch.footage.colour)
    write_film(bench.answers / name, watched, stretch.fps, stretch.sound, export)


def _write_broken(bench: Bench, stretch: Stretch, damage: Damage) -> None:
    count = broken_count(stretch, damage)
    pictures = broken_frames(stretch, damage)
    watched = _watched(pictures, count, lambda share: bench.progress(0.4 + 0.4 * share, "the broken film"))
    export = replace(EXPORT, colour=stretch.footage.colour)
    write_film(bench.materials / BROKEN, watched, stretch.fps, broken_sound(stretch, damage), export)
    bench.progress(0.8, "measuring")


def _watched(pictures: Iterable[Image], count: int, tell: Callable[[float], None]) -> Iterator[Image]:
    for number, picture in enumerate(pictures):
        if number % 25 == 0:
            tell(number / count)
        yield picture


# ---- answers


def _answers(bench: Bench, task_id: str, defect: Defect[Any], stretch: Stretch, damage: Damage) -> Answer:
    if defect.scheme == "v3":
        _write_json(bench.answers / "profile.json", _profile.whole(stretch, damage))
        _require_telling(bench)
        return repair_v3_answer(task_id)
    shutil.copyfile(bench.materials / BROKEN, bench.answers / BROKEN)
    truth = _truth(bench.answers, Kind(defect.name), stretch, damage)
    truth = truth.model_copy(update={"anchors": measure_anchors(truth, bench.answers)})
    (bench.answers / "truth.json").write_text(truth.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return repair_answer(task_id)


def _require_telling(bench: Bench) -> None:
    """The released scheme pays for what was never broken: see that a copy of the broken film loses something."""
    profile, no_report = bench.answers / "profile.json", bench.answers / "no_report.md"
    verdict = verify_v3(bench.materials / BROKEN, no_report, bench.answers / SOURCE, profile)
    if verdict.score is None or verdict.components["edit"] > 1 - 100 * TELLING / EDIT_POINTS:
        raise UnmeasurableDefect("what it changes can hardly be measured")


def _truth(answers: Path, kind: Kind, stretch: Stretch, damage: Damage) -> Truth:
    footage = stretch.footage
    video = ExpectedVideo(
        codecs=["h264", "hevc"], width_px=footage.width_px, height_px=footage.height_px, fps=str(footage.fps)
    )
    audio = ExpectedAudio(codecs=["aac"], rate_hz=RATE_HZ, channels=footage.channels) if footage.has_sound else None
    return Truth(
        kind=kind,
        golden=ReferenceFile(file=GOLDEN, sha256=sha256_of(answers / GOLDEN)),
        broken=ReferenceFile(file=BROKEN, sha256=sha256_of(answers / BROKEN)),
        expected=Expected(containers=["mp4"], duration_s=stretch.duration_s, video=video, audio=audio),
        window=_range(stretch, damage.window) if damage.window else None,
        ranges=[_range(stretch, span) for span in damage.ranges],
    )


def _range(stretch: Stretch, span: tuple[int, int]) -> TimeRange:
    return TimeRange(start_s=stretch.seconds(span[0]), end_s=stretch.seconds(span[1]))


def _write_recipe(bench: Bench, defect: Defect[Any], drawn: Drawn, stretch: Stretch, damage: Damage) -> None:
    """How the task was made, for whoever reviews it."""
    recipe = {
        "defect": defect.name,
        "scheme": defect.scheme,
        "drawn": drawn.model_dump(mode="json"),
        "source": {"name": stretch.footage.name, "sha256": stretch.footage.sha256},
        "stretch": {"first_frame": stretch.first, "last_frame": stretch.last, "fps": str(stretch.fps)},
        "note": damage.note,
    }
    _write_json(bench.answers / "recipe.json", recipe)


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
