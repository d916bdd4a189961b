"""color_match: bring the colour of a range back to a reference, and leave the rest of the film alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError

if TYPE_CHECKING:
    from pathlib import Path

    from primitives._base import Jpeg
    from primitives._colour.choose import Choice
    from primitives._colour.reference import Found
    from primitives._edit import RenderReport
    from primitives._media.film import Film
    from primitives._media.picture import Pixels

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff"})
REFERENCE_PICTURES = 8
WORTH_DB = 0.5
"""A repair that gains less than this is not written: the estimate is not finer than that."""


class ColorMatchRequest(RangeRequest):
    path: str
    """The film, such as materials/a.mp4."""
    start_s: float = Field(ge=0)
    """Start of the range whose colour is wrong, in seconds (included)."""
    end_s: float = Field(gt=0)
    """End of that range (not included)."""
    reference: str | None = None
    """Match this film or image. Default: the same scene just outside the range."""
    reference_start_s: float | None = Field(default=None, ge=0)
    """Start of the reference range, in reference or, without it, in path."""
    reference_end_s: float | None = Field(default=None, gt=0)
    """End of the reference range (not included)."""
    method: Literal["auto", "reinhard", "mkl", "curve", "mkl_curve", "affine", "poly"] = "auto"
    """auto measures all on held-out frames and takes the best."""
    strength: float = Field(default=1.0, gt=0, le=1.5)
    """1 repairs fully, less blends with the original. Above 0, at most 1.5."""
    feather_s: float = Field(default=0.0, ge=0, le=10)
    """Fade the repair in and out over so many seconds inside the range. Default 0: hard ends."""
    output: str | None = None
    """The file to write, below work/ or outputs/. Default: work/<name>_color.<ext>."""


class Look(Result):
    """Figures of a picture, each from 0 to 255."""

    mean_rgb: list[float]
    contrast: float
    saturation: float


class ColorMatchResult(Result):
    output: str | None
    """Absent when nothing was written."""
    method: str
    reference: str
    frames: list[int]
    """First frame of the range and the first after it."""
    start_s: float
    end_s: float
    psnr_before_db: float
    """Distance of range and reference before and after, on frames that the fit had not seen."""
    psnr_after_db: float
    methods_db: dict[str, float]
    before: Look
    after: Look
    target: Look
    frames_copied: int
    """Frames that are bit-identical copies."""
    frames_encoded: int
    sound: str
    picture: str
    notes: list[str]


def color_match(request: ColorMatchRequest, call: Call) -> Answer:
    from primitives._colour.choose import choose
    from primitives._media.film import open_film
    from primitives._patch import asked_frames

    path = call.input(request.path)
    film = open_film(path, request.path, call.check)
    frames = asked_frames(film.timeline, request.start_s, request.end_s, request.path)
    call.progress(0, len(frames), "measuring colours")
    found = _evidence(request, film, frames, call)
    choice = choose(found.parts, None if request.method == "auto" else request.method, call.check)
    call.media_s += request.end_s - request.start_s
    if choice.after_db < choice.before_db + WORTH_DB:
        raise UserError(
            f"Nothing was written: the range already matches its reference ({choice.before_db} dB, "
            f"{choice.after_db} dB after the best repair, {choice.method}). Check the range, or give another reference."
        )
    return _repair(request, film, frames, found, choice, call)


def _evidence(request: ColorMatchRequest, film: Film, frames: range, call: Call) -> Found:
    from primitives._colour.reference import from_neighbours, from_pictures

    asked_range = request.reference_start_s is not None or request.reference_end_s is not None
    if request.reference is None and not asked_range:
        return from_neighbours(film, frames, call.check)
    return from_pictures(film, frames, _reference_pictures(request, film, call), call.check)


def _reference_pictures(request: ColorMatchRequest, film: Film, call: Call) -> list[Pixels]:
    from primitives._colour.reference import read_pictures
    from primitives._media.film import open_film
    from primitives._media.timeline import spread
    from primitives._patch import asked_frames

    other = film
    if request.reference is not None:
        path = call.input(request.reference)
        if path.suffix.lower() in IMAGE_SUFFIXES:
            return [_image(path, request.reference)]
        other = open_film(path, request.reference, call.check)
    start_s = request.reference_start_s or 0.0
    frames = asked_frames(other.timeline, start_s, request.reference_end_s, other.name, "reference_")
    pictures = read_pictures(other, spread(other.timeline, frames, REFERENCE_PICTURES), call.check)
    if not pictures:
        raise UserError(f"No frame of {other.name} decodes there. Use another reference range.")
    return list(pictures.values())


def _image(path: Path, name: str) -> Pixels:
    import cv2
    import numpy as np

    from primitives._colour.align import WIDTH_PX
    from primitives._media.picture import resize

    picture = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise UserError(f"{name} is not a readable image. Use PNG or JPEG, or a film.")
    plain = np.asarray(picture, dtype=np.uint8)
    width = min(WIDTH_PX, plain.shape[1])
    return resize(plain, width, max(1, round(plain.shape[0] * width / plain.shape[1])))


def _repair(request: ColorMatchRequest, film: Film, frames: range, found: Found, choice: Choice, call: Call) -> Answer:
    from primitives._colour.table import Grade
    from primitives._patch import default_output, feathered, patch
    from primitives._writing import all_or_nothing

    grade = Grade(choice.change, request.strength)
    share = feathered(film.timeline, frames, request.feather_s)
    output = call.output(request.output or default_output(film, "color"))
    report = patch(film, frames, lambda frame, number: grade(frame, share(number)), output, call)
    with all_or_nothing(output):
        return _answer(film, frames, found, choice, report, output, call)


def _answer(
    film: Film, frames: range, found: Found, choice: Choice, report: RenderReport, output: Path, call: Call
) -> Answer:
    from primitives._media.film import open_film
    from primitives._patch import span_s

    written = open_film(output, call.workspace.relative(output), call.check)
    pictures, image = _before_after(film, written, found, call)
    start_s, end_s = span_s(film.timeline, frames)
    before, after, target = (_look(picture) for picture in pictures)
    return Answer(
        ColorMatchResult(
            output=written.name,
            method=choice.method,
            reference=found.how,
            frames=[frames.start, frames.stop],
            start_s=start_s,
            end_s=end_s,
            psnr_before_db=choice.before_db,
            psnr_after_db=choice.after_db,
            methods_db=choice.scores_db,
            before=before,
            after=after,
            target=target,
            frames_copied=report.frames_copied,
            frames_encoded=report.frames_encoded,
            sound=report.sound,
            picture="before | after | reference",
            notes=[*found.notes, *report.reasons, *report.notes],
        ),
        image,
    )


def _before_after(film: Film, written: Film, found: Found, call: Call) -> tuple[list[Pixels], Jpeg]:
    from primitives._colour.reference import read_pictures
    from primitives._sheet import plan_layout, render

    before = read_pictures(film, [found.inside], call.check)[found.inside]
    after = read_pictures(written, [found.inside], call.check)[found.inside]
    pictures = [before, after, found.shown]
    layout = plan_layout(3, before.shape[1] / before.shape[0], 512, 3)
    time_s = float(film.timeline.time_of(found.inside))
    labels = [f"before {time_s:.2f}s", f"after {time_s:.2f}s", "reference"]
    return pictures, render(pictures, labels, layout)


def _look(picture: Pixels) -> Look:
    import numpy as np

    rgb = picture[..., ::-1].reshape(-1, 3).astype(np.float32)
    grey = rgb @ np.array([0.2126, 0.7152, 0.0722], dtype=np.float32)
    return Look(
        mean_rgb=[round(float(level), 1) for level in rgb.mean(axis=0)],
        contrast=round(float(grey.std()), 1),
        saturation=round(float((rgb.max(axis=1) - rgb.min(axis=1)).mean()), 1),
    )


PRIMITIVE = Primitive(
    name="color_match",
    title="Match colour",
    description=(
        "Repair the colour of a range (gain, gamma, temperature, saturation, contrast) to match the same scene just "
        "outside it, or a reference range, film or image. Frames outside and sound stay as they are. Shows before, "
        "after and reference. Next: check the ends with frame_grid."
    ),
    request=ColorMatchRequest,
    run=color_match,
    read_only=False,
    returns_image=True,
)
