"""What an edit is: pieces of films in the order in which they play, and what the written file should be.

`primitives._media.render.render` writes it. A piece is a range of frames in shown order; its sound is the
film's sound during those frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

Change = Callable[["VideoFrame", int], "VideoFrame"]
"""Makes the new picture of a frame, given the decoded one and its number. Size and pixel format stay."""


@dataclass(frozen=True)
class Sound:
    """What becomes of a piece's sound."""

    gain_db: float = 0.0
    mute: bool = False
    instead: Path | None = None
    """A file whose sound plays instead, from `instead_start_s` on; `instead_name` is how the caller wrote it."""
    instead_name: str = ""
    instead_start_s: Fraction = Fraction(0)


@dataclass(frozen=True)
class Join:
    """How a piece goes over into the next: a plain cut, a cross-fade that overlaps both, or a dip to black."""

    kind: Literal["cut", "fade", "dip"] = "cut"
    seconds: Fraction = Fraction(0)


@dataclass(frozen=True, eq=False)
class Piece:
    """Frames `[frames.start, frames.stop)` of a film."""

    path: Path
    name: str
    """The path as the caller wrote it, for sentences."""
    frames: range
    change: Change | None = None
    """Forces these frames to be re-encoded; without it whole groups of pictures are copied."""
    speed: Fraction = Fraction(1)
    sound: Sound = field(default=Sound())
    join: Join = field(default=Join())


@dataclass(frozen=True)
class OutputSpec:
    """The asked properties of the written file; what is left out stays as in the first piece's film.

    The container follows from the output's suffix.
    """

    video_codec: str | None = None
    quality: Literal["best", "high", "small"] = "high"
    width_px: int | None = None
    height_px: int | None = None
    fps: Fraction | None = None
    pixel_format: str | None = None
    audio_codec: str | None = None
    audio_rate_hz: int | None = None

    @property
    def keeps_picture(self) -> bool:
        """Whether nothing is asked of the picture."""
        asked = (self.video_codec, self.width_px, self.height_px, self.fps, self.pixel_format)
        return all(value is None for value in asked)


@dataclass(frozen=True)
class PlacedPiece:
    """Where a piece lies in the written film."""

    start: Fraction
    length: Fraction
    source_start: Fraction
    """When the piece begins in its film, which starts at 0."""
    source_length: Fraction
    join: Fraction
    """How long the transition to the next piece really is: whole frames, and no longer than the pieces allow."""
    frames: int
    """Frames in the written film, counted to the piece that fades out where two overlap."""


@dataclass(frozen=True)
class RenderReport:
    """What was written, and how."""

    frames: int
    frames_copied: int
    frames_encoded: int
    mode: Literal["smart", "encoded"]
    """`smart`: whole groups copied bit for bit, the rest encoded to match; `encoded`: everything encoded anew."""
    reasons: tuple[str, ...]
    """Why frames were encoded."""
    sound: Literal["copied", "encoded", "none"]
    placed: tuple[PlacedPiece, ...]
    duration: Fraction
    notes: tuple[str, ...]
