"""camera_motion: what the camera does in each shot, told from what moves in front of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Jpeg, Primitive, RangeRequest, Result, UserError
from primitives._camera.names import Movement

if TYPE_CHECKING:
    from pathlib import Path

    from primitives._camera.judge import Verdict
    from primitives._media.scan import Scan
    from primitives._media.shots import Changes

MAX_CLIPS = 30
MAX_ROWS = 40
DEFAULT_ROWS = 30
PICTURED = 12
"""Shots that the picture shows."""
SENSITIVITY = 0.5
LEAST_PER_S, LEAST_DEG_PER_S = 0.001, 0.1
"""Figures below these say nothing."""


class CameraMotionRequest(RangeRequest):
    path: str | None = None
    """The film, such as materials/a.mp4."""
    paths: list[str] = Field(default=[], max_length=MAX_CLIPS)
    """Instead of path: up to 30 clips, each whole."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the range in seconds (included). Default 0."""
    end_s: float | None = Field(default=None, gt=0)
    """End of the range in seconds (not included). Default: the end."""
    by_shot: bool = True
    """A row a shot; false: one row for the whole range or clip."""
    picture: bool = False
    """Also a picture: of the first 12 rows a frame with arrows, green what moves with the camera, red on its own."""
    offset: int = Field(default=0, ge=0)
    """How many rows to leave out, for paging."""
    limit: int = Field(default=DEFAULT_ROWS, ge=1, le=MAX_ROWS)
    """At most so many rows, 1 to 40."""

    @model_validator(mode="after")
    def _one_form(self) -> CameraMotionRequest:
        if bool(self.path) == bool(self.paths):
            raise ValueError("Give either path (one film) or paths (several clips).")
        if self.paths and (self.start_s is not None or self.end_s is not None):
            raise ValueError("paths are whole clips. Use path for a range.")
        return self


class ShotMotion(Result):
    clip: str | None
    shot: int
    start_s: float
    end_s: float
    movement: Movement
    """truck, boom and push are pan, tilt and zoom by a camera that travels: near things were seen to move further."""
    direction: str | None
    """Where the camera goes; things drift the other way."""
    confidence: float
    also: list[str]
    pan_per_s: float | None
    """Picture widths, positive right. Of the whole row, as the next three; left out where it is next to nothing."""
    tilt_per_s: float | None
    """Picture heights, positive up."""
    zoom_per_s: float | None
    """0.1 is ten per cent larger."""
    roll_deg_per_s: float | None
    """Positive clockwise, as the camera turns."""
    shake: float | None
    """Root mean square in picture heights."""
    speeds: list[list[float]]
    """Pairs of a time and the main movement's speed around it."""
    own_motion_box: list[float]
    """Where something keeps moving on its own: x, y, width, height as shares of the picture."""
    subject_height: float | None
    """Of a still camera: how tall what moves is, as a share of the picture; about 0.8 is head and shoulders."""


class CameraMotionResult(Result):
    path: str | None
    row_count: int
    rows: list[ShotMotion]
    picture: str | None
    next: str | None
    notes: list[str]


@dataclass(frozen=True, eq=False)
class _Shot:
    """A shot of a film, without its dissolves and fades."""

    name: str
    path: Path
    scan: Scan
    number: int
    frames: range
    clean: range
    verdict: Verdict
    subject_height: float | None


def camera_motion(request: CameraMotionRequest, call: Call) -> Answer:
    shots: list[_Shot] = []
    for name in request.paths or [request.path or ""]:
        shots += _watch(request, call, name)
    if request.offset >= len(shots):
        raise UserError(
            f"offset={request.offset} is past the last of {len(shots)} rows. Use 0 <= offset < {len(shots)}."
        )
    page = shots[request.offset : request.offset + request.limit]
    image = _picture(call, page[:PICTURED]) if request.picture else None
    after = request.offset + len(page)
    scans = {shot.name: shot.scan for shot in shots}
    notes = [f"{name}: {note}" for name, found in scans.items() for note in found.notes]
    if any(shot.verdict.movement == "unclear" for shot in page):
        notes.append("unclear: too little to follow (flat, dark, blurred or all in motion); look with frame_grid")
    return Answer(
        CameraMotionResult(
            path=request.path,
            row_count=len(shots),
            rows=[_row(shot, bool(request.paths)) for shot in page],
            picture=f"{image.width_px}x{image.height_px} px, a frame a row" if image else None,
            next=f"offset={after} for rows {after + 1} to {len(shots)}" if after < len(shots) else None,
            notes=notes,
        ),
        image,
    )


def _watch(request: CameraMotionRequest, call: Call, name: str) -> list[_Shot]:
    """The shots of one film, judged."""
    import numpy as np

    from primitives._camera.judge import judge
    from primitives._camera.subject import subject_height
    from primitives._media.moves import film_moves
    from primitives._media.scan import scan

    path = call.input(name)
    found = scan(path, name, call.check)
    timeline = found.pictures(name, request.start_s)
    end_s = min(request.end_s or float(timeline.duration), float(timeline.duration))
    frames = timeline.frames_in(request.start_s or 0.0, end_s)
    steps, changes = film_moves(call, path, name, found, frames)
    call.media_s += len(frames) / float(timeline.frame_rate)
    shots = []
    for number, (whole, clean) in enumerate(list_stretches(changes, request.by_shot), start=1):
        inside = steps.between(clean)
        times_s = (timeline.pts[inside.frames] - timeline.pts[0]) * float(timeline.time_base)
        verdict = judge(inside, np.asarray(times_s, np.float64))
        subject = subject_height(inside, clean) if verdict.movement == "static" else None
        shots.append(_Shot(name, path, found, number, whole, clean, verdict, subject))
    return shots


def list_stretches(changes: Changes, by_shot: bool) -> list[tuple[range, range]]:
    """Shots as frames, each with its part that no dissolve or fade touches. Pure."""
    frames = changes.frames
    if not by_shot:
        return [(frames, frames)]
    inner = [change for change in changes.sure(SENSITIVITY) if frames.start < change.frame < frames.stop]
    starts = [frames.start, *(change.frame for change in inner)]
    ends = [*starts[1:], frames.stop]
    clean_starts = [frames.start, *(max(change.frame, change.end) for change in inner)]
    clean_ends = [*(min(change.frame, change.start) for change in inner), frames.stop]
    return [
        (range(start, end), range(clean_start, max(clean_start, clean_end)))
        for start, end, clean_start, clean_end in zip(starts, ends, clean_starts, clean_ends, strict=True)
    ]


def _row(shot: _Shot, with_clip: bool) -> ShotMotion:
    timeline, verdict = shot.scan.video, shot.verdict
    assert timeline is not None
    end = timeline.time_of(shot.frames.stop) if shot.frames.stop < len(timeline) else timeline.duration
    return ShotMotion(
        clip=shot.name if with_clip else None,
        shot=shot.number,
        start_s=round(float(timeline.time_of(shot.frames.start)), 3),
        end_s=round(float(end), 3),
        movement=verdict.movement,
        direction=verdict.direction,
        confidence=verdict.confidence,
        also=list(verdict.also),
        pan_per_s=_noticed(verdict.pan_per_s, LEAST_PER_S),
        tilt_per_s=_noticed(verdict.tilt_per_s, LEAST_PER_S),
        zoom_per_s=_noticed(verdict.zoom_per_s, LEAST_PER_S),
        roll_deg_per_s=_noticed(verdict.roll_deg_per_s, LEAST_DEG_PER_S),
        shake=_noticed(verdict.shake, LEAST_PER_S),
        speeds=[list(pair) for pair in verdict.speeds],
        own_motion_box=list(verdict.own_box or ()),
        subject_height=shot.subject_height,
    )


def _noticed(value: float, least: float) -> float | None:
    return value if abs(value) >= least else None


def _picture(call: Call, shots: list[_Shot]) -> Jpeg:
    """A frame of each shot with arrows where points went."""
    from primitives._media.arrows import arrows
    from primitives._sheet import plan_layout, render

    cells = [
        arrows(call, shot.path, shot.name, shot.scan, shot.clean if len(shot.clean) > 1 else shot.frames)
        for shot in shots
    ]
    labels = [
        f"#{place:02d} {shot.verdict.movement} {shot.verdict.direction or ''}".strip()
        for place, shot in enumerate(shots, 1)
    ]
    first = cells[0]
    layout = plan_layout(len(cells), first.shape[1] / first.shape[0], first.shape[1])
    return render(cells, labels, layout)


PRIMITIVE = Primitive(
    name="camera_motion",
    title="Camera movement",
    description=(
        "How the camera moves, per shot or clip: static, pan, tilt, roll, zoom, truck, boom, push or handheld, with "
        "direction, speed over time, shake and confidence, told from what moves in front of it; picture=true draws the "
        "motion. Next: compare with the storyboard, or frame_grid where unclear."
    ),
    request=CameraMotionRequest,
    run=camera_motion,
    read_only=True,
    returns_image=True,
)
