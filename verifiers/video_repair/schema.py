"""What a repair task's answer folder holds: `truth.json` and the two media files it names.

Times are seconds of the broken file, ranges are half-open. Names of files are plain names in their folder.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator


class Kind(StrEnum):
    """The ten defects of the paper."""

    BACKGROUND_NOISE = "background_noise"
    ROOM_ECHO = "room_echo"
    CLIPPING = "clipping"
    COLOUR_SHIFT = "colour_shift"
    BLUR = "blur"
    LOST_SHARPNESS = "lost_sharpness"
    SHOT_SWAP = "shot_swap"
    FILLER_WORDS = "filler_words"
    REPEATED_FRAMES = "repeated_frames"
    WRONG_SENTENCES = "wrong_sentences"


AUDIO_KINDS = frozenset({Kind.BACKGROUND_NOISE, Kind.ROOM_ECHO, Kind.CLIPPING})
VISUAL_KINDS = frozenset({Kind.COLOUR_SHIFT, Kind.BLUR, Kind.LOST_SHARPNESS})
TIMELINE_KINDS = frozenset({Kind.FILLER_WORDS, Kind.REPEATED_FRAMES, Kind.WRONG_SENTENCES})
WINDOW_KINDS = AUDIO_KINDS | VISUAL_KINDS

FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class TimeRange(_Model):
    start_s: float = Field(ge=0.0)
    end_s: float

    @model_validator(mode="after")
    def _ends_after_start(self) -> Self:
        if self.end_s <= self.start_s:
            raise ValueError(f"the range ends at {self.end_s} s, which is not after its start {self.start_s} s")
        return self

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s


class ReferenceFile(_Model):
    file: FileName
    sha256: Sha256


class Deliverables(_Model):
    media: FileName = "fixed.mp4"
    """The repaired file: a video, or sound alone where the task asks for it."""
    report: FileName = "report.md"
    """Carries the ranges of a timeline defect; not read for the other kinds."""


class ExpectedVideo(_Model):
    codecs: list[str] = Field(min_length=1)
    width_px: int = Field(gt=0, multiple_of=2)
    height_px: int = Field(gt=0, multiple_of=2)
    fps: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*(/[1-9][0-9]*)?$")]
    """Frames per second as an integer or a fraction such as `30000/1001`."""

    @property
    def rate(self) -> Fraction:
        return Fraction(self.fps)


class ExpectedAudio(_Model):
    codecs: list[str] = Field(min_length=1)
    rate_hz: int = Field(gt=0)
    channels: int | None = Field(default=None, gt=0)
    """The number of channels, where the task prescribes it."""


class Expected(_Model):
    """What the deliverable must be, whatever its content."""

    containers: list[str] = Field(min_length=1)
    """Accepted names among those libav gives the format, such as `mp4` in `mov,mp4,m4a,3gp,3g2,mj2`."""
    duration_s: float = Field(gt=0.0)
    """The golden's duration."""
    video: ExpectedVideo | None = None
    audio: ExpectedAudio | None = None

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if self.video is None and self.audio is None:
            raise ValueError("the deliverable is expected to have neither picture nor sound")
        return self


class Tolerances(_Model):
    """Task data of the contract; the defaults are the contract's, or marked (ours)."""

    duration_s: float = Field(default=0.15, gt=0.0)
    """Window kinds: how far the deliverable's duration may be from golden's (ours)."""
    range_end_s: float = Field(default=0.20, gt=0.0)
    """Timeline kinds: how far each end of a reported range may be from the truth."""
    render_duration_s: float = Field(default=0.10, gt=0.0)
    """Timeline kinds: how far the render's length may be from the broken file's without the ranges."""
    render_ssim: float = Field(default=0.95, gt=0.0, le=1.0)
    render_correlation: float = Field(default=0.90, gt=0.0, le=1.0)
    render_lag_s: float = Field(default=0.20, ge=0.0)
    max_removed_ratio: float = Field(default=2.0, ge=1.0)
    """Timeline kinds: how much may be cut in all, in lengths of the true ranges (ours)."""


class Anchor(_Model):
    """What the broken input (score 0) and the golden reference (score 1) measure."""

    broken: float
    golden: float


class Truth(_Model):
    """`truth.json` of one repair task."""

    kind: Kind
    broken: ReferenceFile
    golden: ReferenceFile
    deliverables: Deliverables = Deliverables()
    expected: Expected
    window: TimeRange | None = None
    """Where the defect is: audio and visual kinds."""
    ranges: list[TimeRange] = Field(default_factory=list)
    """What must be cut from the broken file: timeline kinds."""
    tolerances: Tolerances = Tolerances()
    anchors: dict[str, Anchor] = Field(default_factory=dict)
    """Written by `anchors.measure_anchors`; timeline kinds need none."""

    @model_validator(mode="after")
    def _kind_has_its_place(self) -> Self:
        if (self.kind in WINDOW_KINDS) != (self.window is not None):
            raise ValueError(f"{self.kind} {'needs a' if self.kind in WINDOW_KINDS else 'has no'} window")
        if (self.kind in TIMELINE_KINDS) != bool(self.ranges):
            raise ValueError(f"{self.kind} {'needs' if self.kind in TIMELINE_KINDS else 'has no'} ranges")
        if self.kind in AUDIO_KINDS and self.expected.audio is None:
            raise ValueError(f"{self.kind} is a defect of sound, but no sound is expected")
        if self.kind in VISUAL_KINDS | {Kind.SHOT_SWAP} and self.expected.video is None:
            raise ValueError(f"{self.kind} is a defect of the picture, but no picture is expected")
        return self
