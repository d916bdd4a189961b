"""scene_cuts: the shots of a film, and how each begins: by a cut, a dissolve or a fade."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from primitives._base import Answer, Call, Jpeg, Primitive, RangeRequest, Result, UserError

if TYPE_CHECKING:
    from primitives._cuts import Transition
    from primitives._media.scan import Scan
    from primitives._media.shots import Changes
    from primitives._media.timeline import Timeline

MAX_ROWS = 100
DEFAULT_ROWS = 60


class SceneCutsRequest(RangeRequest):
    path: str
    """The film, such as materials/a.mp4."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the range in seconds (included). Default 0."""
    end_s: float | None = Field(default=None, gt=0)
    """End of the range in seconds (not included). Default: the end."""
    sensitivity: float = Field(default=0.5, ge=0, le=0.8)
    """0 finds only certain changes, 0.8 also doubtful ones: a change counts from strength 1 - sensitivity on."""
    sheet: bool = False
    """Also a picture: the first clear frame of each listed shot."""
    offset: int = Field(default=0, ge=0)
    """How many shots to leave out of the list, for paging."""
    limit: int = Field(default=DEFAULT_ROWS, ge=1, le=MAX_ROWS)
    """At most so many shots in the list, 1 to 100."""


class Shot(Result):
    shot: int
    start_s: float
    end_s: float
    frame: int
    """The first frame."""
    begins: str
    """start (of the range), cut, dissolve or fade."""
    strength: float | None
    change_s: list[float]
    """Where a dissolve or fade into the shot begins and ends."""


class SceneCutsResult(Result):
    path: str
    start_s: float
    end_s: float
    fps: float
    shot_count: int
    cuts: int
    dissolves: int
    fades: int
    shots: list[Shot]
    closing_fade_s: list[float]
    """Where the last shot begins and ends to fade out."""
    table: str | None
    """The file with every shot, where the list shows a part."""
    sheet: str | None
    next: str | None
    notes: list[str]


def scene_cuts(request: SceneCutsRequest, call: Call) -> Answer:
    from primitives._media.scan import scan
    from primitives._media.shots import film_changes

    path = call.input(request.path)
    found = scan(path, request.path, call.check)
    timeline = found.pictures(request.path, request.start_s)
    end_s = min(request.end_s or float(timeline.duration), float(timeline.duration))
    frames = timeline.frames_in(request.start_s or 0.0, end_s)
    changes = film_changes(call, path, request.path, found, frames)
    call.media_s += len(frames) / float(timeline.frame_rate)
    shots = list_shots(timeline, changes, request.sensitivity)
    if request.offset >= len(shots):
        raise UserError(
            f"offset={request.offset} is past the last of {len(shots)} shots. Use 0 <= offset < {len(shots)}."
        )
    page = shots[request.offset : request.offset + request.limit]
    image = _heads(call, path, request.path, found, timeline, page) if request.sheet else None
    after = request.offset + len(page)
    kinds = [shot.begins for shot in shots[1:]]
    return Answer(
        SceneCutsResult(
            path=request.path,
            start_s=shots[0].start_s,
            end_s=shots[-1].end_s,
            fps=round(float(timeline.frame_rate), 3),
            shot_count=len(shots),
            cuts=kinds.count("cut"),
            dissolves=kinds.count("dissolve"),
            fades=kinds.count("fade"),
            shots=page,
            closing_fade_s=_span_s(timeline, next((c for c in changes.transitions if c.frame == frames.stop), None)),
            table=_write_table(call, request, shots) if len(page) < len(shots) else None,
            sheet=f"{image.width_px}x{image.height_px} px, one frame a shot, read by rows" if image else None,
            next=f"offset={after} for shots {after + 1} to {len(shots)}" if after < len(shots) else None,
            notes=list(found.notes),
        ),
        image,
    )


def list_shots(timeline: Timeline, changes: Changes, sensitivity: float) -> list[Shot]:
    """The shots of a range, by the transitions that are sure enough. Pure: over timestamps, not media."""
    frames, sure = changes.frames, changes.sure(sensitivity)
    inner = [change for change in sure if frames.start < change.frame < frames.stop]
    opening = next((change for change in sure if change.frame == frames.start and change.kind == "fade"), None)
    starts = [frames.start, *(change.frame for change in inner)]
    into: list[Transition | None] = [opening, *inner]
    return [
        Shot(
            shot=number,
            start_s=_time_s(timeline, start),
            end_s=_time_s(timeline, end),
            frame=start,
            begins=change.kind if change else "start",
            strength=change.strength if change else None,
            change_s=_span_s(timeline, change),
        )
        for number, (start, end, change) in enumerate(
            zip(starts, [*starts[1:], frames.stop], into, strict=True), start=1
        )
    ]


def _span_s(timeline: Timeline, change: Transition | None) -> list[float]:
    if change is None or change.start == change.end:
        return []
    return [_time_s(timeline, change.start), _time_s(timeline, change.end)]


def _time_s(timeline: Timeline, frame: int) -> float:
    time = timeline.time_of(frame) if frame < len(timeline) else timeline.duration
    return round(float(time), 3)


def _write_table(call: Call, request: SceneCutsRequest, shots: list[Shot]) -> str:
    from primitives._writing import write_text

    name = f"work/{Path(request.path).stem}.shots.json"
    destination = call.output(name)
    rows = [shot.model_dump(mode="json", exclude_none=True) for shot in shots]
    text = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
    write_text(call, destination, text)
    return name


def _heads(call: Call, path: Path, name: str, found: Scan, timeline: Timeline, shots: list[Shot]) -> Jpeg:
    """A sheet with the first frame of each shot that shows nothing of the shot before it, under its own time."""
    from primitives._media.frames import Shown, map_frames
    from primitives._media.picture import Pixels, bgr, look_of
    from primitives._media.source import open_media, video_stream
    from primitives._sheet import plan_layout, render

    with open_media(path, name) as container:
        stream = video_stream(container, name)
        pixel_aspect = stream.sample_aspect_ratio if stream is not None else None

    def picture_of(shown: Shown) -> tuple[int, Pixels]:
        look = look_of(shown.frame, pixel_aspect)
        width, height = look.size_px(shown.frame.width, shown.frame.height)
        cell = plan_layout(len(shots), width / height, width)
        call.progress(0, 0, f"drawing frame {shown.number} of {name}")
        return shown.wanted, bgr(shown.frame, look, cell.cell_width_px, cell.cell_height_px)

    heads = [timeline.frame_at(min(max([shot.start_s, *shot.change_s]), shot.end_s - 0.001)) for shot in shots]
    pictures = dict(map_frames(path, name, found, heads, picture_of, call.check))
    if not pictures:
        raise UserError(f"No frame of {name} decodes there: the file is damaged. Try another range or file.")
    shown = [(shot, head) for shot, head in zip(shots, heads, strict=True) if head in pictures]
    first = pictures[shown[0][1]]
    layout = plan_layout(len(shown), first.shape[1] / first.shape[0], max(first.shape[1], 320))
    labels = [f"#{shot.shot:02d} {float(timeline.time_of(head)):.2f}s" for shot, head in shown]
    return render([pictures[head] for _, head in shown], labels, layout)


PRIMITIVE = Primitive(
    name="scene_cuts",
    title="Shots and cuts",
    description=(
        "Find where shots begin: hard cuts, dissolves and fades of a film or a range, frame-exact, each with strength "
        "(0.5 is doubtful); with sheet=true also a picture of every shot's first frame. Long lists are paged. "
        "Next: frame_grid around a change, or trim_concat by shots."
    ),
    request=SceneCutsRequest,
    run=scene_cuts,
    read_only=False,
    returns_image=True,
)
