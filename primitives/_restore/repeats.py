"""Frozen frames and stretches that play twice: found in a range by comparing small pictures. Pure over arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Small = NDArray[np.float32]
SMALL_PX = (160, 90)
BLOCK_PX = 10
STILL = 0.9
"""Grey levels by which the most changed blocks of a repeated frame may differ: coding noise."""
STILL_AT_KEYFRAME = 3.0
STILL_SHARE = 0.3
"""The same as a share of the motion around the range."""
SHORTEST_REPEAT = 5
_MOST_CHANGED = 0.995
_NOISE = 0.1
_GAP = 1
"""Frames that coding noise may lift out of a run."""
_STRAY = 0.25
"""Beside a long run, runs shorter than this share of it are pauses in the motion."""


@dataclass(frozen=True)
class Run:
    """Frames `[first, last)` that repeat what was shown `lag` frames before."""

    first: int
    last: int
    lag: int


def small(luma: NDArray[np.uint8]) -> Small:
    """A luma plane, small enough to compare many."""
    return cv2.resize(luma, SMALL_PX, interpolation=cv2.INTER_AREA).astype(np.float32)


def difference(a: Small, b: Small) -> float:
    """How much the most changed parts of two pictures differ, in grey levels."""
    gap = np.abs(a - b).reshape(SMALL_PX[1] // BLOCK_PX, BLOCK_PX, SMALL_PX[0] // BLOCK_PX, BLOCK_PX)
    return float(np.quantile(gap.mean(axis=(1, 3)), _MOST_CHANGED))


def steps_of(pictures: Sequence[Small]) -> NDArray[np.float64]:
    """The difference of each picture to the one before; the first counts as moving."""
    return np.array([np.inf, *(difference(a, b) for a, b in itertools.pairwise(pictures))])


def limits(steps_inside: NDArray[np.float64], steps_outside: NDArray[np.float64]) -> tuple[float, float]:
    """Steps under which a frame repeats the one before it: usually, and at a keyframe with its other coding noise.

    Halfway, by ratio, between the stillest frame of the range and the motion around it.
    """
    moving = float(np.median(steps_outside[np.isfinite(steps_outside)])) if np.isfinite(steps_outside).any() else STILL
    halfway = float(np.sqrt(max(float(np.min(steps_inside)), _NOISE) * moving))
    share = STILL_SHARE * moving
    return min(STILL, share, halfway), min(STILL_AT_KEYFRAME, share)


def frozen_runs(
    steps: NDArray[np.float64], frames: range, first: int, still: tuple[float, float], keyframes: Set[int]
) -> list[Run]:
    """Runs of frames inside a range that stand still. `steps[0]` belongs to frame `first`."""
    usual, at_keyframe = still
    sure = {frame for frame in frames if steps[frame - first] < usual}
    noisy = {n for n in frames if n in keyframes and n + 1 in sure and steps[n - first] < at_keyframe}
    runs: list[Run] = []
    for frame in sorted(sure | noisy):
        if runs and frame - runs[-1].last <= _GAP:
            runs[-1] = Run(runs[-1].first, frame + 1, 1)
        else:
            runs.append(Run(frame, frame + 1, 1))
    longest = max((_length(run) for run in runs), default=0)
    return [run for run in runs if _length(run) >= longest * _STRAY]


def repeated_run(pictures: Sequence[Small], frames: range, first: int) -> Run | None:
    """The longest stretch inside a range that shows again what was shown just before it."""
    blocks = np.stack([_blocks(picture) for picture in pictures])
    best: Run | None = None
    for lag in range(SHORTEST_REPEAT, min(len(frames), frames.stop - first) + 1):
        start = max(frames.start, first + lag)
        now, then = blocks[start - first : frames.stop - first], blocks[start - first - lag : frames.stop - first - lag]
        if not len(now):
            continue
        gaps = np.quantile(np.abs(now - then), _MOST_CHANGED, axis=1)
        around = np.quantile(np.abs(blocks[lag:] - blocks[:-lag]), _MOST_CHANGED, axis=1)
        found = _longest(gaps < min(STILL, STILL_SHARE * float(np.max(around))), start, lag)
        # A stretch that plays twice is matched over its whole length at its own lag.
        if found and _length(found) >= 0.9 * lag and (best is None or _length(found) > _length(best)):
            best = found
    return best


def _blocks(picture: Small) -> NDArray[np.float32]:
    rows, columns = SMALL_PX[1] // BLOCK_PX, SMALL_PX[0] // BLOCK_PX
    return np.asarray(picture.reshape(rows, BLOCK_PX, columns, BLOCK_PX).mean(axis=(1, 3)).ravel())


def _length(run: Run) -> int:
    return run.last - run.first


def _longest(same: NDArray[np.bool_], start: int, lag: int) -> Run | None:
    edges = np.flatnonzero(np.diff(np.r_[False, same, False].astype(np.int8)))
    runs = [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if not runs:
        return None
    a, b = max(runs, key=lambda run: run[1] - run[0])
    return Run(start + a, start + b, lag)
