"""Two videos compared frame by frame in one pass, and how far a repair moved from broken to golden.

Frames are laid on the task's frame grid by their times, so variable rates and odd starts compare alike. Each
golden frame takes the best of the submission's frames within ±`DRIFT_FRAMES` (ours: an honest render may
drift by one). Planes are compared as decoded (Y, U, V at 4:2:0, weighted by their samples): a lost colour tag
is no damage, a changed colour is.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np

from verifiers._files import AnswerError
from verifiers._media import DecodedFrame, Image, MediaError, video_frames
from verifiers._ssim import WINDOW_PX, ssim
from verifiers.video_repair.schema import TimeRange

DRIFT_FRAMES = 1
OUTSIDE_HEIGHT_PX = 360
"""Frames outside the window are compared at most this high (ours: speed); inside they are compared whole."""
MAX_PSNR_DB = 60.0

Planes = tuple[Image, ...]


@dataclass(frozen=True)
class FrameScore:
    psnr_db: float
    ssim: float


NO_FRAME = FrameScore(0.0, 0.0)


@dataclass
class Progress:
    """Least-squares share of the way from broken to golden, over everything added."""

    along: float = 0.0
    whole: float = 0.0
    moved: float = 0.0
    samples: int = 0

    def add(self, broken: Image, golden: Image, submission: Image) -> None:
        to_golden = cv2.subtract(golden, broken, dtype=cv2.CV_32F).ravel()
        to_submission = cv2.subtract(submission, broken, dtype=cv2.CV_32F).ravel()
        self.along += float(to_golden @ to_submission)
        self.whole += float(to_golden @ to_golden)
        self.moved += float(to_submission @ to_submission)
        self.samples += broken.size

    @property
    def share(self) -> float:
        """0: no nearer to golden than broken is; 1: all the way."""
        return self.along / self.whole if self.whole else 0.0

    @property
    def psnr_to_broken_db(self) -> float:
        return _psnr_db(self.moved, self.samples)


@dataclass
class PictureComparison:
    inside: list[FrameScore] = field(default_factory=list)
    outside: list[FrameScore] = field(default_factory=list)
    progress: Progress = field(default_factory=Progress)
    golden_frames: int = 0
    submission_frames: int = 0
    """Counted on the frame grid, up to twice as many as golden has."""


class GridFrame:
    """One picture of the grid; its planes are converted at most once."""

    def __init__(self, frame: DecodedFrame) -> None:
        self._frame = frame

    @cached_property
    def planes(self) -> Planes:
        try:
            return self._frame.yuv420()
        except AssertionError as error:  # how PyAV refuses a picture of odd size
            raise MediaError(f"frame {self._frame.index} cannot be split into planes: {error}") from error

    @cached_property
    def small(self) -> Planes:
        factor = math.ceil(self.planes[0].shape[0] / OUTSIDE_HEIGHT_PX)  # whole factors scale fast
        return self.planes if factor == 1 else tuple(scaled(plane, 1 / factor) for plane in self.planes)


def scaled(plane: Image, scale: float) -> Image:
    small = cv2.resize(plane, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def on_grid(path: Path, rate: Fraction) -> Iterator[GridFrame]:
    """What `path` shows in the middle of each 1/`rate` second, from its first frame to its last."""
    slot = 0
    shown: GridFrame | None = None
    for frame in video_frames(path):
        while shown is not None and (slot + 0.5) / rate <= frame.time_s:
            yield shown
            slot += 1
        shown = GridFrame(frame)
    if shown is not None:
        yield shown


def answer_frames(path: Path, rate: Fraction) -> Iterator[GridFrame]:
    """`on_grid` for a file of the answer folder: if it does not decode, that is our trouble."""
    try:
        yield from on_grid(path, rate)
    except MediaError as error:
        raise AnswerError(f"the answer's media cannot be read: {error}") from error


def compare_pictures(
    golden: Path,
    submission: Path,
    rate: Fraction,
    *,
    window: TimeRange | None = None,
    broken: Path | None = None,
) -> PictureComparison:
    """Score every golden frame, inside or outside the window; `broken` adds the progress inside it."""
    result = PictureComparison()
    broken_frames: Iterator[GridFrame] = iter(()) if broken is None else answer_frames(broken, rate)
    nearby = _neighbourhoods(on_grid(submission, rate), result)
    for index, reference in enumerate(answer_frames(golden, rate)):
        candidates = next(nearby)
        result.golden_frames += 1
        if window is None or not window.start_s <= index / rate < window.end_s:
            result.outside.append(_best([item.small for item in candidates], reference.small)[0])
            if window is not None and index / rate < window.start_s:
                next(broken_frames, None)
            continue
        score, best = _best([item.planes for item in candidates], reference.planes)
        result.inside.append(score)
        damaged = next(broken_frames, None)
        if damaged is not None and best is not None:
            for planes in zip(damaged.planes, reference.planes, best, strict=True):
                result.progress.add(*planes)
    for _ in range(result.golden_frames):
        next(nearby)
    return result


def _neighbourhoods(frames: Iterator[GridFrame], count_into: PictureComparison) -> Iterator[Sequence[GridFrame]]:
    """The frames within `DRIFT_FRAMES` of each slot, without end: empty once the frames are long over."""
    held: deque[GridFrame | None] = deque([None] * (2 * DRIFT_FRAMES + 1), maxlen=2 * DRIFT_FRAMES + 1)

    def pull() -> None:
        frame = next(frames, None)
        count_into.submission_frames += frame is not None
        held.append(frame)

    for _ in range(DRIFT_FRAMES):
        pull()
    while True:
        pull()
        middle_first = sorted(range(len(held)), key=lambda place: abs(place - DRIFT_FRAMES))
        yield [frame for place in middle_first if (frame := held[place]) is not None]


def _best(candidates: Sequence[Planes], reference: Planes) -> tuple[FrameScore, Planes | None]:
    """The candidate with the least squared error (the first of equals) and its score."""
    if not candidates:
        return NO_FRAME, None
    errors = [_squared_error(planes, reference) for planes in candidates]
    chosen = int(np.argmin(errors))
    samples = sum(plane.size for plane in reference)
    ssim = sum(ssim_plane(a, b) * b.size for a, b in zip(candidates[chosen], reference, strict=True)) / samples
    return FrameScore(_psnr_db(errors[chosen], samples), ssim), candidates[chosen]


def _squared_error(planes: Planes, reference: Planes) -> float:
    if planes[0].shape != reference[0].shape:
        sizes = [f"{plane.shape[1]}x{plane.shape[0]}" for plane in (planes[0], reference[0])]
        raise MediaError(f"a frame of {sizes[0]} pixels stands where {sizes[1]} are expected")
    return sum(cv2.norm(a, b, cv2.NORM_L2SQR) for a, b in zip(planes, reference, strict=True))


def _psnr_db(squared_error: float, samples: int) -> float:
    if squared_error <= 0.0:
        return MAX_PSNR_DB
    return float(min(MAX_PSNR_DB, 10.0 * np.log10(255.0**2 * samples / squared_error)))


def ssim_plane(a: Image, b: Image) -> float:
    """SSIM of two planes; those too small for its window are the same or not."""
    return ssim(b, a) if min(b.shape) >= WINDOW_PX else float(np.array_equal(a, b))
