"""Footage that tasks are made from: opened once, read exactly and as a stream, written by one path for all builders.

Whatever a source is, builders see upright pictures with square pixels and even sides, as planar YUV 4:2:0, on an even
grid of frames from time 0 on, and sound of one or two channels at 48 kHz. Memory stays flat however long the film.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange

from avb_mcp.tasks.film_write import EXPORT, LIMITED_RANGE, RATE_HZ, Export, Image, Sound, layout_of, write_film
from avb_mcp.tasks.spec import sha256_of
from avb_mcp.workspace import Workspace
from primitives._base import Call, UserError
from primitives._media.conform import Conform
from primitives._media.film import Colour, Film, PictureFacts, SoundFacts, open_film
from primitives._media.frames import decode_straight
from primitives._media.shots import film_changes
from primitives._media.sound_track import SoundPiece, mix

__all__ = [
    "EXPORT",
    "RATE_HZ",
    "Export",
    "Footage",
    "Image",
    "Shot",
    "Sound",
    "frames",
    "open_footage",
    "sound",
    "write_film",
]

SENSITIVITY = 0.5
"""Changes of shot count when they are as likely as not."""
MIN_SIDE_PX = 16
VFR_RATES = tuple(Fraction(rate) for rate in (10, 12, 15, 20, 24, 25, 30, 50, 60))
_FULL_RANGE = 2

Opening = Literal["start", "cut", "fade", "dissolve"]


@dataclass(frozen=True)
class Shot:
    """Frames `[first, last)` between two changes; a gradual change is shared by the shots on its two sides."""

    first: int
    last: int
    start_s: float
    end_s: float
    opening: Opening
    """How it begins."""
    clean_first: int
    clean_last: int
    """The frames that no fade or dissolve reaches."""


@dataclass(frozen=True, eq=False)
class Footage:
    """A source as builders see it."""

    path: Path
    name: str
    sha256: str
    width_px: int
    height_px: int
    fps: Fraction
    frame_count: int
    rate_hz: int | None
    """The rate of the source's own sound; None without sound."""
    channels: int
    """1 or 2; more are mixed down to 2. 0 without sound."""
    shots: tuple[Shot, ...]
    colour: Colour
    """How the written numbers mean colours."""
    notes: tuple[str, ...] = ()
    """What is odd about the source and was dealt with."""
    _film: Film = field(repr=False, kw_only=True)
    _grid: npt.NDArray[np.int64] | None = field(repr=False, kw_only=True, default=None)
    """The source's frame for each frame here; None where they are the same."""

    @property
    def duration_s(self) -> float:
        return float(self.frame_count / self.fps)

    @property
    def has_sound(self) -> bool:
        return self.channels > 0

    def time_of(self, frame: int) -> float:
        """When a frame appears, in seconds."""
        return float(frame / self.fps)

    def frame_at(self, time_s: float) -> int:
        """The frame nearest to a time."""
        return min(self.frame_count, max(0, round(time_s * self.fps)))


def open_footage(path: Path) -> Footage:
    """What a source is; whatever is wrong with it is a sentence."""
    name = path.name
    if not path.is_file():
        raise UserError(f"{path} is not a file. Give --source a film.")
    if not os.access(path, os.R_OK):
        raise UserError(f"{path} may not be read. Change its permissions.")
    with tempfile.TemporaryDirectory() as folder:
        call = Call(Workspace(Path(folder)))
        film = open_film(path, name, call.check)
        picture = _upright(film)
        fps, grid = _grid(film)
        frame_count = len(film.timeline) if grid is None else len(grid)
        changes = film_changes(call, path, name, film.scan).sure(SENSITIVITY)
    bounds = [(_on_grid(c.frame, grid), _on_grid(c.start, grid), _on_grid(c.end, grid), c.kind) for c in changes]
    return Footage(
        path=path,
        name=name,
        sha256=sha256_of(path),
        width_px=picture.width_px,
        height_px=picture.height_px,
        fps=fps,
        frame_count=frame_count,
        rate_hz=film.sound.rate_hz if film.sound else None,
        channels=min(2, film.sound.channels) if film.sound else 0,
        shots=_shots(bounds, frame_count, fps),
        colour=picture.colour,
        notes=film.scan.notes,
        _film=film,
        _grid=grid,
    )


def frames(footage: Footage, first: int, last: int) -> Iterator[Image]:
    """The pictures `[first, last)`, exactly those; a frame that does not decode is a `UserError`."""
    if not 0 <= first <= last <= footage.frame_count:
        raise ValueError(f"frames [{first}, {last}) are not within the {footage.frame_count} of {footage.name}")
    if first == last:
        return
    film, grid = footage._film, footage._grid
    wanted = list(range(first, last)) if grid is None else grid[first:last].tolist()
    conform = Conform(film.picture, _upright(film))
    decoded = decode_straight(film.path, film.name, film.scan, sorted(set(wanted)), _never_stop)
    shown, picture = None, None
    for number in wanted:
        if shown is None or shown.wanted != number:
            shown = next(decoded, None)
            if shown is None or shown.number != number or shown.frame.is_corrupt:
                raise UserError(
                    f"{footage.name} is damaged: frame {number} does not decode. Use a source that plays to its end."
                )
            picture = _picture(shown.frame, film.picture, conform)
        assert picture is not None
        yield picture


def sound(footage: Footage, start_s: float, end_s: float) -> Sound | None:
    """The sound of `[start_s, end_s)`, filled up with silence where the source has none; None without sound."""
    if not footage.has_sound:
        return None
    start, end = Fraction(start_s).limit_denominator(RATE_HZ), Fraction(end_s).limit_denominator(RATE_HZ)
    facts = SoundFacts("pcm", RATE_HZ, layout_of(footage.channels), footage.channels, None)
    piece = SoundPiece(footage.path, footage.name, Fraction(0), end - start, start)
    chunks = list(mix([piece], facts, end - start, _never_stop))
    heard = np.concatenate([np.zeros((footage.channels, 0), np.float32), *chunks], axis=1)
    return np.asarray(np.clip(np.nan_to_num(heard), -1.0, 1.0), np.float32)


def _never_stop() -> None:
    """Builders are interrupted by the keyboard, not by a flag."""


def _upright(film: Film) -> PictureFacts:
    """The film's picture as builders see it."""
    source = film.picture
    width, height = source.width_px, source.height_px
    aspect = source.pixel_aspect if source.pixel_aspect > 0 else Fraction(1)
    if aspect > 1:
        width = round(width * aspect)
    elif aspect < 1:
        height = round(height / aspect)
    if source.rotation_deg % 180:
        width, height = height, width
    width, height = width // 2 * 2, height // 2 * 2
    if min(width, height) < MIN_SIDE_PX:
        raise UserError(f"{film.name} is {width}x{height} pixels; at least {MIN_SIDE_PX}x{MIN_SIDE_PX} are needed.")
    colour = Colour(LIMITED_RANGE, source.colour.primaries, source.colour.transfer, source.colour.space)
    return PictureFacts("h264", width, height, "yuv420p", Fraction(1), 0, colour, False, False)


def _picture(frame: VideoFrame, source: PictureFacts, conform: Conform) -> Image:
    if source.colour.range == _FULL_RANGE and frame.format.name == "yuv420p":
        frame = frame.reformat(format="yuv420p", src_color_range=ColorRange.JPEG, dst_color_range=ColorRange.MPEG)
    return np.asarray(conform(frame).to_ndarray(), np.uint8)


def _grid(film: Film) -> tuple[Fraction, npt.NDArray[np.int64] | None]:
    """The rate of the even grid, and which of the source's frames stands at each of its places."""
    timeline = film.timeline
    if not timeline.is_vfr:
        return timeline.frame_rate, None
    mean = timeline.frame_rate
    fps = next((rate for rate in VFR_RATES if rate >= mean * Fraction(97, 100)), VFR_RATES[-1])
    count = max(1, int(timeline.duration * fps))
    return fps, np.array([timeline.frame_at(float(number / fps)) for number in range(count)], np.int64)


def _on_grid(frame: int, grid: npt.NDArray[np.int64] | None) -> int:
    """The first place at which a source frame, or a later one, stands."""
    return frame if grid is None else int(np.searchsorted(grid, frame))


def _shots(
    bounds: list[tuple[int, int, int, Literal["cut", "fade", "dissolve"]]], count: int, fps: Fraction
) -> tuple[Shot, ...]:
    opened: dict[int, tuple[int, int, Opening]] = {0: (0, 0, "start")}
    for frame, start, end, kind in bounds:
        if frame < count:
            opened[frame] = (start, end, kind if frame else "start")
    marks = [*sorted(opened), count]
    closing = min((start for frame, start, _, _ in bounds if frame >= count), default=count)
    shots = []
    for first, last in pairwise(marks):
        _, clean_first, opening = opened[first]
        clean_last = opened[last][0] if last in opened else closing
        clean_first = min(max(first, clean_first), last)
        shots.append(
            Shot(
                first=first,
                last=last,
                start_s=float(first / fps),
                end_s=float(last / fps),
                opening=opening,
                clean_first=clean_first,
                clean_last=max(clean_first, min(last, clean_last)),
            )
        )
    return tuple(shots)
