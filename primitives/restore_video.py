"""restore_video: bring back sharpness, steady brightness or motion in a range, and leave the rest of the film alone."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError
from primitives._region import check_region

if TYPE_CHECKING:
    from pathlib import Path

    from primitives._base import Jpeg
    from primitives._edit import Piece, RenderReport
    from primitives._media.film import Film
    from primitives._restore.common import Region, Repair

SHARP_KINDS = ("deblur", "sharpen", "upscale")
DETAIL = (0.3, 0.3, 0.4, 0.4)
"""The part of the picture that shows a change of sharpness at full size."""


class RestoreVideoRequest(RangeRequest):
    path: str
    """The film, such as materials/a.mp4."""
    start_s: float = Field(ge=0)
    """Start of the damaged range in seconds (included)."""
    end_s: float = Field(gt=0)
    """End of that range (not included)."""
    kind: Literal["deblur", "sharpen", "upscale", "deflicker", "unfreeze", "drop_repeats"]
    """deblur, upscale (lost resolution): a filter learned from the film; sharpen: unsharp mask; deflicker; unfreeze:
    new frames in place of frozen ones; drop_repeats: cut frozen or twice-played frames out, with their sound."""
    strength: float = Field(default=1.0, gt=0, le=1.5)
    """1 repairs fully, less blends with the original. Above 0, at most 1.5. Not for unfreeze, drop_repeats."""
    region: list[float] = Field(default=[], max_length=4)
    """Only there: [x, y, width, height] as shares of the picture from 0 to 1 (not for unfreeze, drop_repeats)."""
    keep_audio: bool = False
    """drop_repeats only: cut the picture, keep all of the sound."""
    output: str | None = None
    """The file to write, below work/ or outputs/. Default: work/<name>_<kind>.<ext>."""

    @model_validator(mode="after")
    def _sound(self) -> RestoreVideoRequest:
        if self.keep_audio and self.kind != "drop_repeats":
            raise ValueError("keep_audio goes with kind drop_repeats only; the other kinds never touch the sound.")
        if self.strength != 1 and self.kind in {"unfreeze", "drop_repeats"}:
            raise ValueError(f"strength does not go with kind {self.kind}: a frame is frozen or not. Leave it out.")
        if self.region and self.kind in {"unfreeze", "drop_repeats"}:
            raise ValueError(f"region does not go with kind {self.kind}, which changes whole frames.")
        check_region(self.region)
        return self


class Stretch(Result):
    """Frames `[first, last)` of the source that were replaced or cut out."""

    first: int
    last: int
    start_s: float
    end_s: float


class RestoreVideoResult(Result):
    output: str
    kind: str
    method: str
    frames: list[int]
    """First frame of the range and the first after it."""
    start_s: float
    end_s: float
    measure: str
    before: float
    after: float
    around: float | None
    """The same figure for the clean film around the range."""
    stretches: list[Stretch]
    duration_s: float
    frames_copied: int
    """Frames that are bit-identical copies."""
    frames_encoded: int
    sound: str
    picture: str
    notes: list[str]


def restore_video(request: RestoreVideoRequest, call: Call) -> Answer:
    from primitives._edit import OutputSpec
    from primitives._media.film import open_film
    from primitives._media.render import render
    from primitives._patch import asked_frames, default_output, patched
    from primitives._writing import all_or_nothing

    film = open_film(call.input(request.path), request.path, call.check)
    frames = asked_frames(film.timeline, request.start_s, request.end_s, request.path)
    call.progress(0, len(frames), "measuring the range and the film around it")
    repair = _plan(request, film, frames, call)
    call.media_s += request.end_s - request.start_s
    if not repair.better:
        raise UserError(
            f"Nothing was written: {request.kind} would not help ({repair.measure}: {repair.before:.2f} as it is, "
            f"{repair.after:.2f} after {repair.how}). Check the range and the kind."
        )
    output = call.output(request.output or default_output(film, request.kind))
    if repair.change is None:
        pieces = _kept(film, repair, request.keep_audio)
    else:
        pieces = patched(film, _touched(frames, repair), repair.change)
    report = render(pieces, output, OutputSpec(quality="best"), call)
    with all_or_nothing(output):
        return _answer(request, film, frames, repair, report, output, call)


def _plan(request: RestoreVideoRequest, film: Film, frames: range, call: Call) -> Repair:
    from primitives._restore.sharp_repair import sharpen
    from primitives._restore.time_repair import deflicker, drop_repeats, unfreeze

    region: Region | None = None
    if request.region:
        region = (request.region[0], request.region[1], request.region[2], request.region[3])
    if request.kind in SHARP_KINDS:
        return sharpen(film, frames, request.kind != "sharpen", request.strength, region, call)
    if request.kind == "deflicker":
        return deflicker(film, frames, request.strength, region, call)
    return unfreeze(film, frames, call) if request.kind == "unfreeze" else drop_repeats(film, frames, call)


def _touched(frames: range, repair: Repair) -> range:
    """The frames that really change."""
    return range(repair.runs[0].first, repair.runs[-1].last) if repair.runs else frames


def _kept(film: Film, repair: Repair, keep_audio: bool) -> list[Piece]:
    """The film without the repeated runs; with its sound running on where that is asked."""
    from primitives._edit import Piece, Sound

    bounds = [0, *(frame for run in repair.runs for frame in (run.first, run.last)), len(film.timeline)]
    pieces, at = [], Fraction(0)
    for first, last in zip(bounds[::2], bounds[1::2], strict=True):
        if last <= first:
            continue
        sound = Sound(instead=film.path, instead_name=film.name, instead_start_s=at) if keep_audio else Sound()
        pieces.append(Piece(film.path, film.name, range(first, last), sound=sound))
        end = film.timeline.time_of(last) if last < len(film.timeline) else film.timeline.duration
        at += end - film.timeline.time_of(first)
    return pieces


def _answer(
    request: RestoreVideoRequest,
    film: Film,
    frames: range,
    repair: Repair,
    report: RenderReport,
    output: Path,
    call: Call,
) -> Answer:
    from primitives._media.film import open_film
    from primitives._patch import span_s

    written = open_film(output, call.workspace.relative(output), call.check)
    stretches = [(run, span_s(film.timeline, range(run.first, run.last))) for run in repair.runs]
    start_s, end_s = span_s(film.timeline, frames)
    result = RestoreVideoResult(
        output=written.name,
        kind=request.kind,
        method=repair.how,
        frames=[frames.start, frames.stop],
        start_s=start_s,
        end_s=end_s,
        measure=repair.measure,
        before=round(repair.before, 2),
        after=round(repair.after, 2),
        around=round(repair.around, 2) if repair.around is not None else None,
        stretches=[Stretch(first=run.first, last=run.last, start_s=s, end_s=e) for run, (s, e) in stretches],
        duration_s=round(float(written.scan.duration), 3),
        frames_copied=report.frames_copied,
        frames_encoded=report.frames_encoded,
        sound=report.sound,
        picture="before | after | outside the range",
        notes=[*repair.notes, *report.reasons, *report.notes],
    )
    return Answer(result, _picture(request, film, written, frames, repair, call))


def _picture(
    request: RestoreVideoRequest, film: Film, written: Film, frames: range, repair: Repair, call: Call
) -> Jpeg:
    """A frame of the range before and after, and the nearest one outside; enlarged where sharpness is the matter."""
    from primitives._media.frames import Shown, map_frames
    from primitives._media.picture import Look, Pixels, region_bgr
    from primitives._sheet import plan_layout, render

    part = DETAIL if request.kind in SHARP_KINDS else (0.0, 0.0, 1.0, 1.0)
    inside = repair.runs[0].first if repair.runs else frames.start
    outside = frames.start - 1 if frames.start else min(frames.stop, len(film.timeline) - 1)

    def picture(source: Film, number: int) -> Pixels:
        def cut(shown: Shown) -> Pixels:
            return region_bgr(shown.frame, Look(), part)

        taken = min(number, len(source.timeline) - 1)
        return map_frames(source.path, source.name, source.scan, [taken], cut, call.check)[0]

    pictures = [picture(film, inside), picture(written, inside), picture(film, outside)]
    layout = plan_layout(3, pictures[0].shape[1] / pictures[0].shape[0], max(320, pictures[0].shape[1]), 3)
    time_s, outside_s = float(film.timeline.time_of(inside)), float(film.timeline.time_of(outside))
    return render(pictures, [f"before {time_s:.2f}s", f"after {time_s:.2f}s", f"outside {outside_s:.2f}s"], layout)


PRIMITIVE = Primitive(
    name="restore_video",
    title="Restore picture",
    description=(
        "Repair a range: deblur, sharpen, upscale, deflicker, unfreeze, or drop_repeats (cut frozen or twice-played "
        "frames). Learns from the clean film beside it, gives figures, writes nothing if it would not help; frames "
        "outside stay as they are. Next: check the ends with frame_grid."
    ),
    request=RestoreVideoRequest,
    run=restore_video,
    read_only=False,
    returns_image=True,
)
