"""find_defects: where a film differs from itself as a defect would: candidate windows with evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from primitives._base import Answer, Call, Jpeg, Primitive, RangeRequest, Result, UserError
from primitives._defects.kinds import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from primitives._defects.common import Finding
    from primitives._media.picture import Pixels
    from primitives._media.scan import Scan
    from primitives._tracks import FilmTracks

MAX_ROWS = 30
DEFAULT_ROWS = 8
PICTURED = 4
"""Findings that the picture shows."""
FRAME_PX = 240


class FindDefectsRequest(RangeRequest):
    path: str
    """The film or sound, such as materials/broken.mp4."""
    start_s: float | None = Field(default=None, ge=0)
    """Only windows that reach past this time, in seconds. The whole film is measured all the same."""
    end_s: float | None = Field(default=None, gt=0)
    """Only windows that begin before this time."""
    kinds: list[Kind] = Field(default=[], max_length=13)
    """Only these kinds. Default: all."""
    limit: int = Field(default=DEFAULT_ROWS, ge=1, le=MAX_ROWS)
    """At most so many windows, 1 to 30."""
    doubtful: bool = False
    """Also windows with confidence 0.25 to 0.5, which are more often the film's own than not."""
    picture: bool = True
    """Also a picture: for the first windows the curve with the window marked, and the frames at both ends."""


class Defect(Result):
    kind: Kind
    start_s: float
    end_s: float
    confidence: float
    """0.5 is as likely a defect as not."""
    evidence: dict[str, float]
    next: str
    """What to call to repair or check it."""


class FindDefectsResult(Result):
    path: str
    duration_s: float
    searched: list[str]
    found: int
    defects: list[Defect]
    picture: str | None
    notes: list[str]


def find_defects(request: FindDefectsRequest, call: Call) -> Answer:
    from primitives._defects.advice import advice
    from primitives._defects.kinds import KINDS, PICTURE_KINDS, SOUND_KINDS
    from primitives._defects.search import LEAST_CONFIDENCE, find_all
    from primitives._media.scan import scan
    from primitives._media.tracks import film_tracks

    path = call.input(request.path)
    found = scan(path, request.path, call.check)
    _check_range(request, float(found.duration))
    wanted = set(request.kinds or KINDS)
    tracks = film_tracks(
        call,
        path,
        request.path,
        found,
        picture=not wanted.isdisjoint(PICTURE_KINDS),
        sound=not wanted.isdisjoint(SOUND_KINDS),
    )
    call.media_s += float(found.duration)
    call.progress(0, 0, "comparing the film with itself")
    rows = find_all(tracks, request.kinds, LEAST_CONFIDENCE / 2 if request.doubtful else LEAST_CONFIDENCE)
    rows = [row for row in rows if row.end_s > (request.start_s or 0) and row.start_s < (request.end_s or row.end_s)]
    page = rows[: request.limit]
    image = _picture(call, path, request.path, found, page[:PICTURED]) if request.picture and page else None
    return Answer(
        FindDefectsResult(
            path=request.path,
            duration_s=round(float(found.duration), 3),
            searched=[kind for kind in KINDS if kind in wanted and _possible(kind, tracks)],
            found=len(rows),
            defects=[
                Defect(
                    kind=row.kind,
                    start_s=round(row.start_s, 3),
                    end_s=round(row.end_s, 3),
                    confidence=row.confidence,
                    evidence=row.evidence,
                    next=advice(row, request.path, found.video is not None),
                )
                for row in page
            ],
            picture=f"{image.width_px}x{image.height_px} px, a row a window" if image else None,
            notes=_notes(found, rows, page, request),
        ),
        image,
    )


def _check_range(request: FindDefectsRequest, duration_s: float) -> None:
    if request.start_s is not None and request.start_s >= duration_s:
        raise UserError(
            f"start_s={request.start_s} is past the end of {request.path} ({duration_s:.3f} s). "
            f"Use 0 <= start_s < {duration_s:.3f}."
        )


def _possible(kind: str, tracks: FilmTracks) -> bool:
    from primitives._defects.kinds import PICTURE_KINDS, SOUND_KINDS

    return (kind not in PICTURE_KINDS or tracks.picture is not None) and (
        kind not in SOUND_KINDS or tracks.sound is not None
    )


def _notes(found: Scan, rows: list[Finding], page: list[Finding], request: FindDefectsRequest) -> list[str]:
    notes = list(found.notes)
    if not rows and not request.doubtful:
        notes.append("nothing stands out; doubtful=true also lists what hardly does")
    if len(page) < len(rows):
        notes.append(f"{len(rows) - len(page)} more: raise limit or give kinds")
    if found.sound is None:
        notes.append("there is no sound")
    return notes


def _picture(call: Call, path: Path, name: str, found: Scan, rows: list[Finding]) -> Jpeg:
    from primitives._defects.panel import Row, draw, edge_frames

    chosen: list[list[tuple[str, int]]] = [[] for _ in rows]
    pictures: dict[int, Pixels] = {}
    timeline = found.video
    if timeline is not None:
        for place, row in enumerate(rows):
            places = {
                "first": timeline.frame_at(row.start_s),
                "last": timeline.frame_at(row.end_s),
                "count": len(timeline),
            }
            chosen[place] = edge_frames(places)
        pictures = _frames(call, path, name, found, sorted({number for frames in chosen for _, number in frames}))
    drawn = []
    for row, frames in zip(rows, chosen, strict=True):
        times = [(f"{word} {float(timeline.time_of(n)) if timeline else 0:.2f}s", n) for word, n in frames]
        drawn.append(Row(row, [(label, pictures[n]) for label, n in times if n in pictures]))
    return draw(drawn, float(found.duration))


def _frames(call: Call, path: Path, name: str, found: Scan, wanted: list[int]) -> dict[int, Pixels]:
    from primitives._media.frames import Shown, map_frames
    from primitives._media.picture import bgr, look_of
    from primitives._media.source import open_media, video_stream

    with open_media(path, name) as container:
        stream = video_stream(container, name)
        pixel_aspect = stream.sample_aspect_ratio if stream is not None else None

    def picture_of(shown: Shown) -> tuple[int, Pixels]:
        look = look_of(shown.frame, pixel_aspect)
        width, height = look.size_px(shown.frame.width, shown.frame.height)
        size = min(FRAME_PX, width)
        return shown.wanted, bgr(shown.frame, look, size, max(1, round(size * height / width)))

    return dict(map_frames(path, name, found, wanted, picture_of, call.check))


PRIMITIVE = Primitive(
    name="find_defects",
    title="Find defects",
    description=(
        "Find when a film is wrong: windows with exact ends where picture or sound differs from the film's own clean "
        "part, with kind, confidence, figures and a picture of the evidence. Candidates, best first: look with "
        "frame_grid before you repair. Next: the call named in the row."
    ),
    request=FindDefectsRequest,
    run=find_defects,
    read_only=True,
    returns_image=True,
)
