"""frame_grid: one labelled contact sheet of exact frames, and the list of what each cell shows."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError
from primitives._region import check_region

if TYPE_CHECKING:
    from pathlib import Path

    from primitives._media.picture import Pixels
    from primitives._media.scan import Scan
    from primitives._media.timeline import Timeline

MAX_CELLS = 100
DEFAULT_COUNT = 16
FRAMES_PER_CLIP = 3


class FrameGridRequest(RangeRequest):
    path: str | None = None
    """The film to look at, such as materials/a.mp4."""
    paths: list[str] = Field(default=[], max_length=30)
    """Instead of path: up to 30 clips, each shown by its first, middle and last frame."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the range in seconds (included). Default 0."""
    end_s: float | None = Field(default=None, gt=0)
    """End of the range in seconds (not included). Default: the end."""
    count: int | None = Field(default=None, ge=1, le=MAX_CELLS)
    """How many frames, evenly over the range, 1 to 100. Default 16; with paths: frames per clip."""
    times_s: list[float] = Field(default=[], max_length=MAX_CELLS)
    """Instead of count: exactly these times, at most 100."""
    every_s: float | None = Field(default=None, gt=0)
    """Instead of count: one frame every so many seconds."""
    all_frames: bool = False
    """Instead of count: every frame of a short range (at most 100 frames)."""
    region: list[float] = Field(default=[], max_length=4)
    """Zoom: [x, y, width, height] as shares of the picture from 0 to 1, from full resolution."""

    @model_validator(mode="after")
    def _one_form(self) -> FrameGridRequest:
        if bool(self.path) == bool(self.paths):
            raise ValueError("Give either path (one film) or paths (several clips).")
        ways = [w for w in ("count", "times_s", "every_s", "all_frames") if getattr(self, w) not in (None, [], False)]
        if len(ways) > 1:
            raise ValueError(
                f"{' and '.join(ways)} exclude each other. Use one of count, times_s, every_s, all_frames."
            )
        if self.paths and (ways not in ([], ["count"]) or self.start_s is not None or self.end_s is not None):
            raise ValueError("paths goes with count only. Use path for times, ranges or all_frames.")
        if self.times_s and (self.start_s is not None or self.end_s is not None):
            raise ValueError("times_s already says when. Leave out start_s and end_s.")
        check_region(self.region)
        return self


class Cell(Result):
    cell: int
    time_s: float
    frame: int
    clip: int | None
    """Which of several clips, counted from 1."""


class FrameGridResult(Result):
    path: str | None
    clips: list[str]
    duration_s: float | None
    frame_count: int | None
    fps: float | None
    sheet: str
    cells: list[Cell]
    notes: list[str]


@dataclass(frozen=True, eq=False)
class _Film:
    """A film to take frames from, and which."""

    name: str
    path: Path
    scan: Scan
    timeline: Timeline
    frames: list[int]


@dataclass(frozen=True, eq=False)
class _Taken:
    """A frame that was taken."""

    film: _Film
    number: int
    time_s: float
    picture: Pixels


def frame_grid(request: FrameGridRequest, call: Call) -> Answer:
    from primitives._sheet import plan_layout, render

    films = [_choose(name, request, call) for name in (request.paths or [request.path or ""])]
    total = sum(len(film.frames) for film in films)
    if total > MAX_CELLS:
        raise UserError(
            f"{len(films)} clips x {request.count} frames are {total} cells, at most {MAX_CELLS}. Lower count."
        )
    notes = [f"{film.name}: {note}" for film in films for note in film.scan.notes]
    taken: list[_Taken] = []
    for film in films:
        taken += _take(film, request.region, total, len(taken), notes, call)
    first = taken[0].picture
    per_clip = {len(film.frames) for film in films}
    columns = per_clip.pop() if len(films) > 1 and len(per_clip) == 1 else None
    layout = plan_layout(len(taken), first.shape[1] / first.shape[0], max(first.shape[1], 320), columns)
    image = render([shot.picture for shot in taken], _labels(taken, len(films) > 1), layout)
    only = films[0] if len(films) == 1 else None
    return Answer(
        FrameGridResult(
            path=only.name if only else None,
            clips=[] if only else [film.name for film in films],
            duration_s=round(float(only.timeline.duration), 3) if only else None,
            frame_count=len(only.timeline) if only else None,
            fps=round(float(only.timeline.frame_rate), 3) if only else None,
            sheet=f"{image.width_px}x{image.height_px} px, {layout.columns} columns x {layout.rows} rows, read by rows",
            cells=[
                Cell(cell=n, time_s=shot.time_s, frame=shot.number, clip=None if only else films.index(shot.film) + 1)
                for n, shot in enumerate(taken, start=1)
            ],
            notes=notes,
        ),
        image,
    )


def _choose(name: str, request: FrameGridRequest, call: Call) -> _Film:
    from primitives._media.scan import scan

    path = call.input(name)
    found = scan(path, name, call.check)
    if found.video is None:
        raise UserError(f"{name} has no video, only sound. Use a file with pictures.")
    frames = choose_frames(found.video, request, name)
    call.media_s += float(found.video.time_of(max(frames)) - found.video.time_of(min(frames)))
    return _Film(name, path, found, found.video, frames)


def choose_frames(timeline: Timeline, request: FrameGridRequest, name: str) -> list[int]:
    """Which frames a request means. Pure: over timestamps, not media."""
    from primitives._media.timeline import spread

    duration_s = float(timeline.duration)
    for key, value in (("start_s", request.start_s), *(("times_s", time_s) for time_s in request.times_s)):
        if value is not None and not 0 <= value < duration_s:
            raise UserError(
                f"{key}={value} is past the end of {name} ({duration_s:.3f} s). Use 0 <= {key} < {duration_s:.3f}."
            )
    if request.times_s:
        return [timeline.frame_at(time_s) for time_s in request.times_s]
    start_s, end_s = request.start_s or 0.0, min(request.end_s or duration_s, duration_s)
    frames = timeline.frames_in(start_s, end_s)
    if request.every_s is not None:
        steps = math.ceil((end_s - start_s) / request.every_s - 1e-9)
        if steps > MAX_CELLS:
            raise UserError(
                f"every_s={request.every_s} asks for {steps} frames, at most {MAX_CELLS}. "
                f"Use every_s >= {(end_s - start_s) / MAX_CELLS:.3f}."
            )
        return sorted({timeline.frame_at(start_s + step * request.every_s) for step in range(steps)})
    if request.all_frames:
        if len(frames) > MAX_CELLS:
            longest = float(timeline.time_of(frames[MAX_CELLS]))
            raise UserError(
                f"The range holds {len(frames)} frames, at most {MAX_CELLS}. Use end_s <= {longest:.3f}, or count."
            )
        return list(frames)
    return spread(timeline, frames, request.count or (FRAMES_PER_CLIP if request.paths else DEFAULT_COUNT))


def _take(film: _Film, region: list[float], total: int, done: int, notes: list[str], call: Call) -> list[_Taken]:
    """Decode the frames of one film, each at the size in which the sheet can show it."""
    from primitives._media.frames import Shown, map_frames
    from primitives._media.picture import bgr, look_of, region_bgr
    from primitives._media.source import open_media, video_stream
    from primitives._sheet import plan_layout

    with open_media(film.path, film.name) as container:
        stream = video_stream(container, film.name)
        pixel_aspect = stream.sample_aspect_ratio if stream is not None else None
    finished = itertools.count(done + 1)

    def picture_of(shown: Shown) -> tuple[int, _Taken]:
        look = look_of(shown.frame, pixel_aspect)
        width, height = look.size_px(shown.frame.width, shown.frame.height)
        if region:
            picture = region_bgr(shown.frame, look, (region[0], region[1], region[2], region[3]))
        else:
            cell = plan_layout(total, width / height, width)
            picture = bgr(shown.frame, look, cell.cell_width_px, cell.cell_height_px)
        time_s = round(float(film.timeline.time_of(shown.number)), 4)
        call.progress(next(finished), total, f"frame {shown.number} of {film.name}")
        return shown.wanted, _Taken(film, shown.number, time_s, picture)

    taken = dict(map_frames(film.path, film.name, film.scan, film.frames, picture_of, call.check))
    if not taken:
        raise UserError(f"No frame of {film.name} decodes there: the file is damaged. Try another range or file.")
    for wanted, shot in taken.items():
        if shot.number != wanted:
            notes.append(f"{film.name}: frame {wanted} does not decode, frame {shot.number} is shown instead")
    return [taken[number] for number in film.frames if number in taken]


def _labels(taken: list[_Taken], with_name: bool) -> list[str]:
    """`#07 12.48s`, with a third decimal where frames stand closer than 20 ms, and the clip's name if several."""
    gaps = [abs(b.time_s - a.time_s) for a, b in itertools.pairwise(taken) if a.film is b.film]
    decimals = 3 if gaps and min(gaps) < 0.02 else 2
    names = [f"{shot.film.path.name} " if with_name else "" for shot in taken]
    return [
        f"#{n:02d} {name}{shot.time_s:.{decimals}f}s"
        for n, (shot, name) in enumerate(zip(taken, names, strict=True), 1)
    ]


PRIMITIVE = Primitive(
    name="frame_grid",
    title="Contact sheet",
    description=(
        "See a film: one picture with numbered, time-stamped frames, plus exact times. Whole film (count), a moment "
        "frame by frame (all_frames with start_s, end_s), chosen times_s, several clips (paths), a zoomed region. "
        "Next: narrow the range around what you saw."
    ),
    request=FrameGridRequest,
    run=frame_grid,
    read_only=True,
    returns_image=True,
)
