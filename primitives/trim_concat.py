"""trim_concat: cut, drop, reorder and join, frame by frame exact; what a cut does not touch is copied bit for bit."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, Request, Result, UserError

if TYPE_CHECKING:
    from pathlib import Path

    from primitives._edit import OutputSpec, Piece, RenderReport, Sound
    from primitives._media.scan import Scan
    from primitives._media.timeline import Timeline

MAX_SEGMENTS = 500
LIMITS = {"width_px": (16, 8192), "height_px": (16, 8192), "fps": (1, 240), "audio_rate_hz": (8000, 192_000)}
"""Checked here and told in words: as schema they would cost more than they say."""
MAX_ROWS = 40
"""Rows of the edit list in the answer; the whole of it lies in the .otio file."""


class Segment(Request):
    path: str | None = None
    """Default: the call's path."""
    start_s: float = Field(default=0, ge=0)
    end_s: float | None = Field(default=None, gt=0)
    """Not included. Default: the end."""
    speed: float = Field(default=1, ge=0.1, le=20)
    """0.1 to 20, same pitch."""
    gain_db: float = Field(default=0, ge=-60, le=30)
    mute: bool = False
    audio_path: str | None = None
    """Play this file's sound instead."""
    audio_start_s: float = Field(default=0, ge=0)
    transition: Literal["cut", "fade", "dip"] = "cut"
    """To the next: fade overlaps both, dip goes through black."""
    transition_s: float = Field(default=0.5, gt=0, le=10)

    @model_validator(mode="after")
    def _forward(self) -> Segment:
        if self.end_s is not None and self.end_s <= self.start_s:
            raise ValueError(f"segments: end_s={self.end_s} must be greater than start_s={self.start_s}.")
        if self.mute and self.audio_path is not None:
            raise ValueError("segments: mute and audio_path exclude each other. Use one of them.")
        return self


class TrimConcatRequest(Request):
    path: str | None = None
    """The film."""
    segments: list[Segment] = Field(default=[], max_length=MAX_SEGMENTS)
    """What plays, in this order."""
    drop: list[list[float]] = Field(default=[], max_length=MAX_SEGMENTS)
    """Instead of segments: [start_s, end_s] pairs to cut out of path."""
    output: str | None = None
    """Below work/ or outputs/; the suffix is the container."""
    video_codec: str | None = None
    """h264, hevc, vp9, av1, prores. This and all below: default as the first film."""
    quality: Literal["best", "high", "small"] = "high"
    """Of encoded frames."""
    width_px: int | None = None
    """16 to 8192."""
    height_px: int | None = None
    """16 to 8192."""
    fps: float | None = None
    """1 to 240."""
    pixel_format: str | None = None
    """Such as yuv420p."""
    audio_codec: str | None = None
    """aac, mp3, opus, flac."""
    audio_rate_hz: int | None = None
    """8000 to 192000."""

    @model_validator(mode="after")
    def _one_form(self) -> TrimConcatRequest:
        if bool(self.segments) == bool(self.drop):
            raise ValueError("Give either segments (what plays) or path and drop (what to cut out).")
        if self.drop and self.path is None:
            raise ValueError("drop needs path: the film to cut out of.")
        if any(segment.path is None for segment in self.segments) and self.path is None:
            raise ValueError("A segment has no path. Give path for all segments, or one in each.")
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ValueError(f"{name}={value} must be from {least} to {most}.")
        for pair in self.drop:
            if len(pair) != 2 or not 0 <= pair[0] < pair[1]:
                raise ValueError(f"drop={pair} must be [start_s, end_s] with 0 <= start_s < end_s.")
        return self


class EditRow(Result):
    path: str
    source_start_s: float
    source_end_s: float
    start_s: float
    """In the written film."""
    end_s: float
    frames: int


class Written(Result):
    path: str
    container: str
    duration_s: float
    video: str
    audio: str | None
    size_bytes: int


class TrimConcatResult(Result):
    written: Written
    frames_copied: int
    frames_encoded: int
    why_encoded: list[str]
    sound: str
    edit: list[EditRow]
    more_rows: int | None
    timeline: str
    """The edit as OpenTimelineIO."""
    notes: list[str]


def trim_concat(request: TrimConcatRequest, call: Call) -> Answer:
    from primitives._media.render import render
    from primitives._writing import all_or_nothing, write_text

    pieces = _pieces(request, call)
    output = call.output(request.output or _default_output(pieces[0], call))
    sheet = call.output(call.workspace.relative(output.with_suffix(".otio")))
    report = render(pieces, output, _spec(request), call)
    call.media_s += float(report.duration)
    with all_or_nothing(output, sheet):
        write_text(call, sheet, _otio(pieces, report, sheet, call))
        written = _written(output, call)
    rows = [
        EditRow(
            path=piece.name,
            source_start_s=_s(placed.source_start),
            source_end_s=_s(placed.source_start + placed.source_length),
            start_s=_s(placed.start),
            end_s=_s(placed.start + placed.length),
            frames=placed.frames,
        )
        for piece, placed in zip(pieces, report.placed, strict=True)
    ]
    return Answer(
        TrimConcatResult(
            written=written,
            frames_copied=report.frames_copied,
            frames_encoded=report.frames_encoded,
            why_encoded=list(report.reasons),
            sound={"copied": "copied untouched", "encoded": "cut to the sample, encoded once"}.get(
                report.sound, "none"
            ),
            edit=rows[:MAX_ROWS],
            more_rows=max(0, len(rows) - MAX_ROWS) or None,
            timeline=call.workspace.relative(sheet),
            notes=list(report.notes),
        )
    )


def _pieces(request: TrimConcatRequest, call: Call) -> list[Piece]:
    """The request as pieces in frames, checked against what the films really hold."""
    from primitives._edit import Join, Piece
    from primitives._edit_ranges import kept_frames, segment_frames
    from primitives._media.scan import scan

    scans: dict[str, Scan] = {}

    def film(name: str) -> tuple[Path, Timeline]:
        path = call.input(name)
        found = scans.setdefault(name, scan(path, name, call.check))
        if found.video is None:
            raise UserError(f"{name} has no video. Use a file with pictures.")
        return path, found.video

    if request.drop:
        path, timeline = film(request.path or "")
        kept = kept_frames(timeline, request.drop, request.path or "")
        return [Piece(path, request.path or "", frames) for frames in kept]
    pieces = []
    for segment in request.segments:
        name = segment.path or request.path or ""
        path, timeline = film(name)
        frames = segment_frames(timeline, segment.start_s, segment.end_s, name, float(scans[name].duration))
        join = Join(segment.transition, Fraction(str(segment.transition_s)))
        speed = Fraction(str(segment.speed))
        pieces.append(Piece(path, name, frames, speed=speed, sound=_sound(segment, call), join=join))
    return pieces


def _sound(segment: Segment, call: Call) -> Sound:
    from primitives._edit import Sound
    from primitives._media.sound_track import sound_length

    if segment.audio_path is None:
        return Sound(segment.gain_db, segment.mute)
    path = call.input(segment.audio_path)
    length_s = float(sound_length(path, segment.audio_path, call.check))
    if segment.audio_start_s >= length_s:
        raise UserError(
            f"audio_start_s={segment.audio_start_s} is past the end of {segment.audio_path} ({length_s:.3f} s)."
        )
    return Sound(segment.gain_db, False, path, segment.audio_path, Fraction(str(segment.audio_start_s)))


def _spec(request: TrimConcatRequest) -> OutputSpec:
    from primitives._edit import OutputSpec
    from primitives._edit_ranges import frame_rate

    return OutputSpec(
        video_codec=request.video_codec,
        quality=request.quality,
        width_px=request.width_px,
        height_px=request.height_px,
        fps=frame_rate(request.fps) if request.fps is not None else None,
        pixel_format=request.pixel_format,
        audio_codec=request.audio_codec,
        audio_rate_hz=request.audio_rate_hz,
    )


def _default_output(first: Piece, call: Call) -> str:
    """A name in work/ that is no input of this call."""
    suffix = first.path.suffix.lower() if first.path.suffix.lower() in {".mp4", ".mov", ".mkv", ".webm"} else ".mp4"
    name = f"work/{first.path.stem}_edit"
    taken = {call.workspace.relative(path) for path in call.read}
    return next(n for n in (f"{name}{number or ''}{suffix}" for number in range(len(taken) + 1)) if n not in taken)


def _written(output: Path, call: Call) -> Written:
    """The file as it lies there, opened again."""
    from primitives._media.inspect import facts
    from primitives._media.scan import scan

    name = call.workspace.relative(output)
    found, timeline = facts(output, name, call.check), scan(output, name, call.check).video
    frames = len(timeline) if timeline is not None else 0
    return Written(
        path=name,
        container=found.container,
        duration_s=round(found.duration_s, 3),
        video=f"{found.video_codec} {found.width_px}x{found.height_px} {found.fps or 0:.3f} fps {frames} frames",
        audio=f"{found.audio_codec} {found.audio_rate_hz} Hz" if found.audio_codec else None,
        size_bytes=output.stat().st_size,
    )


def _otio(pieces: list[Piece], report: RenderReport, sheet: Path, call: Call) -> str:
    from primitives._media.scan import scan
    from primitives._otio import OtioClip, timeline_json

    def url(path: Path) -> str:
        return os.path.relpath(path, sheet.parent)

    clips = []
    for piece, placed in zip(pieces, report.placed, strict=True):
        timeline = scan(piece.path, piece.name, call.check).video
        assert timeline is not None
        clips.append(
            OtioClip(
                name=piece.path.stem,
                url=url(piece.path),
                first_frame=piece.frames.start,
                frames=placed.length * timeline.frame_rate,
                frame_rate=timeline.frame_rate,
                film_frames=len(timeline),
                speed=piece.speed,
                join=piece.join.kind,
                join_frames=round(placed.join * timeline.frame_rate),
                muted=piece.sound.mute,
                gain_db=piece.sound.gain_db,
                sound_url=url(piece.sound.instead) if piece.sound.instead is not None else None,
                sound_start=piece.sound.instead_start_s,
            )
        )
    return timeline_json(sheet.stem, clips)


def _s(seconds: Fraction) -> float:
    return round(float(seconds), 4)


PRIMITIVE = Primitive(
    name="trim_concat",
    title="Cut and join",
    description=(
        "Cut, drop, reorder and join films, frame-exact: segments in playing order, or path + drop to cut ranges out. "
        "H.264 that no cut touches is copied bit for bit. Next: frame_grid at the joins, then submit."
    ),
    request=TrimConcatRequest,
    run=trim_concat,
    read_only=False,
)
