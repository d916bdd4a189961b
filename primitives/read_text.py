"""read_text: what is written on the screen, when and where."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from primitives._base import Answer, Call, Primitive, RangeRequest, Result, UserError
from primitives._region import check_region

if TYPE_CHECKING:
    from primitives._media.reading import Shape
    from primitives._media.scan import Scan
    from primitives._media.timeline import Timeline
    from primitives._reading.captions import Caption

MAX_ROWS = 200
DEFAULT_ROWS = 60
LONGEST_S = 3600.0
VERSION = 3
"""Raised whenever the same film may give other captions, so that kept ones are read anew."""


class ReadTextRequest(RangeRequest):
    path: str
    """The film, such as materials/a.mp4."""
    start_s: float | None = Field(default=None, ge=0)
    """Start of the range in seconds (included). Default 0."""
    end_s: float | None = Field(default=None, gt=0)
    """End of the range in seconds (not included). Default: the end."""
    region: list[float] = Field(default=[], max_length=4)
    """Only this part: [x, y, width, height] as shares of the picture from 0 to 1. Faster, and larger to the reader."""
    find: str | None = Field(default=None, min_length=1)
    """Only captions that contain this text, whatever the case."""
    numbers_only: bool = False
    """Only captions with a number: clocks, counters, scores."""
    offset: int = Field(default=0, ge=0)
    """How many captions to leave out of the list, for paging."""
    limit: int = Field(default=DEFAULT_ROWS, ge=1, le=MAX_ROWS)
    """At most so many captions, 1 to 200."""

    @model_validator(mode="after")
    def _fits(self) -> ReadTextRequest:
        check_region(self.region)
        return self


class TextOnScreen(Result):
    start_s: float
    end_s: float
    frame: int
    """The first frame that shows it."""
    text: str
    box: list[float]
    """x, y, width and height as shares of the picture."""
    confidence: float
    numbers: list[float]
    clock_s: float | None
    """The first clock time in the text, in seconds."""


class ReadTextResult(Result):
    path: str
    start_s: float
    end_s: float
    found: int
    captions: list[TextOnScreen]
    table: str | None
    """The file with every caption, where the list shows a part."""
    next: str | None
    notes: list[str]


def read_text(request: ReadTextRequest, call: Call) -> Answer:
    from primitives._media.scan import scan

    path = call.input(request.path)
    found = scan(path, request.path, call.check)
    timeline = found.pictures(request.path, request.start_s)
    start_s = request.start_s or 0.0
    end_s = min(request.end_s or float(timeline.duration), float(timeline.duration))
    if end_s - start_s > LONGEST_S:
        raise UserError(
            f"{end_s - start_s:.0f} s are more than is read at once ({LONGEST_S:.0f} s). Give start_s and end_s."
        )
    frames = timeline.frames_in(start_s, end_s)
    rows, effort = _read(request, call, path, found, frames)
    call.media_s += len(frames) / float(timeline.frame_rate)
    wanted = [row for row in rows if _is_wanted(row, request)]
    if wanted and request.offset >= len(wanted):
        raise UserError(
            f"offset={request.offset} is past the last of {len(wanted)} captions. Use 0 <= offset < {len(wanted)}."
        )
    page = wanted[request.offset : request.offset + request.limit]
    after = request.offset + len(page)
    return Answer(
        ReadTextResult(
            path=request.path,
            start_s=round(float(timeline.time_of(frames.start)), 3),
            end_s=round(end_s, 3),
            found=len(wanted),
            captions=page,
            table=_write_table(call, request, wanted) if len(page) < len(wanted) else None,
            next=f"offset={after} for captions {after + 1} to {len(wanted)}" if after < len(wanted) else None,
            notes=[*found.notes, effort, *_advice(rows, wanted)],
        )
    )


def _read(
    request: ReadTextRequest, call: Call, path: Path, found: Scan, frames: range
) -> tuple[list[TextOnScreen], str]:
    """Every caption of a range, and what reading it took; kept, so that paging and finding read nothing again."""
    part = hashlib.sha256(json.dumps([frames.start, frames.stop, request.region]).encode()).hexdigest()[:12]
    store = call.workspace.derived(path, f"texts-{VERSION}-{part}")
    try:
        return TypeAdapter(list[TextOnScreen]).validate_json(store.read_bytes()), "this range was read before"
    except (OSError, ValidationError):
        rows, effort = _look(request, call, path, found, frames)
    with contextlib.suppress(OSError), call.workspace.atomic(store) as kept:
        kept.write_bytes(TypeAdapter(list[TextOnScreen]).dump_json(rows))
    return rows, effort


def _look(
    request: ReadTextRequest, call: Call, path: Path, found: Scan, frames: range
) -> tuple[list[TextOnScreen], str]:
    from primitives._media.reading import WHOLE, Region, watch_text
    from primitives._reading.captions import captions
    from primitives._reading.engine import open_reader
    from primitives._reading.follow import TextWatch

    timeline = found.video
    assert timeline is not None
    reader, fps = open_reader(), float(timeline.frame_rate)
    watch = TextWatch(reader, fps)
    region: Region = (*request.region,) if request.region else WHOLE  # type: ignore[assignment]
    shape = watch_text(call, path, request.path, found, frames, region, watch)
    rows = [_row(caption, timeline, shape) for caption in captions(watch.finish(frames.stop), fps)]
    effort = f"looked at {len(frames)} frames, searched {reader.searches} for text, read {reader.readings} lines"
    return rows, effort


def _row(caption: Caption, timeline: Timeline, shape: Shape) -> TextOnScreen:
    from primitives._reading.numbers import clock_s, numbers

    end = timeline.time_of(caption.last) if caption.last < len(timeline) else timeline.duration
    box = caption.box
    return TextOnScreen(
        start_s=round(float(timeline.time_of(caption.first)), 3),
        end_s=round(float(end), 3),
        frame=caption.first,
        text=caption.text,
        box=[
            round((shape.left_px + box.left) / shape.width_px, 3),
            round((shape.top_px + box.top) / shape.height_px, 3),
            round((box.right - box.left) / shape.width_px, 3),
            round(box.height / shape.height_px, 3),
        ],
        confidence=caption.confidence,
        numbers=numbers(caption.text),
        clock_s=clock_s(caption.text),
    )


def _is_wanted(row: TextOnScreen, request: ReadTextRequest) -> bool:
    if request.numbers_only and not row.numbers:
        return False
    return request.find is None or request.find.casefold() in " ".join(row.text.split()).casefold()


def _advice(rows: list[TextOnScreen], wanted: list[TextOnScreen]) -> list[str]:
    if rows and not wanted:
        return [f"{len(rows)} captions were read, none as asked for; leave out find and numbers_only to see them"]
    return []


def _write_table(call: Call, request: ReadTextRequest, rows: list[TextOnScreen]) -> str:
    from primitives._writing import write_text

    name = f"work/{Path(request.path).stem}.texts.json"
    lines = [json.dumps(row.model_dump(mode="json", exclude_none=True), ensure_ascii=False) for row in rows]
    write_text(call, call.output(name), "[\n" + ",\n".join(lines) + "\n]\n")
    return name


PRIMITIVE = Primitive(
    name="read_text",
    title="Read text on screen",
    description=(
        "What is written on screen, and when: captions, titles, clocks, scoreboards, one row a caption with first and "
        "last moment to the frame, place, confidence and its numbers; a region, a text to find. Text shown for less "
        "than 0.4 s may be missed. Next: frame_grid with the row's box as region."
    ),
    request=ReadTextRequest,
    run=read_text,
    read_only=False,
)
