"""Frozen frames and stretches that play twice: found in a range by comparing small pictures. Pure over arrays.

A frozen frame differs from the held picture by coding noise only: less than the calmest step of the film around it.
A stretch that plays twice is as long as its lag, matches all along, and stops matching at both of its ends. Where the
film itself hardly moves, neither can be told for sure; then the doubtful frames are named instead.
"""

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
STILL_AT_KEYFRAME, STILL_SHARE = 3.0, 0.3
"""Grey levels, and share of the motion around, by which a frozen picture may change at a keyframe."""
SHORTEST_FREEZE, SHORTEST_REPEAT = 2, 5
_MOST_CHANGED = 0.995
_BLANK = 4.0
_QUIET = 0.02
"""Squared grey levels between frames that are the same to the eye: no motion."""
LEAST_CALM, MOST_CALM = 0.05, 2.0
"""Where even the calmest steps are below the first, nothing moves; above the second they say no more about noise."""
_CORE, _SURE_IN, _LIMIT, _SURE_OUT = 0.5, 0.65, 0.78, 0.9
"""Shares of the calmest step: surely frozen beside its neighbour; in doubt from, decided at, in doubt up to."""
_STRAY = 0.25
"""Beside a long run, runs shorter than this share of it are pauses in the motion."""
_LEAST_CONTRAST, _CLEARLY_BETTER, _REPEAT_NOISE = 2.0, 1.25, 4.0
"""What the ends of a stretch that plays twice must stand out by, also against any other; and how far it may be off."""


@dataclass(frozen=True)
class Run:
    """Frames `[first, last)` that repeat what was shown `lag` frames before."""

    first: int
    last: int
    lag: int

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class Found:
    """Runs, and the frames of which it cannot be told whether they belong to one."""

    runs: list[Run]
    doubtful: list[int]


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


def _distance(a: Small, b: Small) -> float:
    return float(np.mean((a - b) ** 2))


def _distances(pictures: Sequence[Small]) -> NDArray[np.float32]:
    """Of every picture to every other."""
    rows = np.stack(pictures).reshape(len(pictures), -1)
    rows -= rows.mean(axis=0)  # small numbers keep the differences exact
    power = np.einsum("ij,ij->i", rows, rows)
    return np.asarray((power[:, None] + power[None] - 2 * rows @ rows.T) / rows.shape[1])


def _moves_of(pictures: Sequence[Small]) -> NDArray[np.float64]:
    return np.array([np.inf, *(_distance(a, b) for a, b in itertools.pairwise(pictures))])


@dataclass(frozen=True)
class _Motion:
    """How the film around a range moves, in squared grey levels."""

    calm: float
    """Its calmest steps; 0 where nothing moves."""
    sure_out: float
    """Distances from here on are motion, as a share of `calm`."""


def _motion(moves: NDArray[np.float64]) -> _Motion:
    moving = moves[np.isfinite(moves) & (moves > _QUIET)]
    if len(moving) < 3 or np.quantile(moving, 0.1) < LEAST_CALM:
        return _Motion(0.0, 1.0)
    calm, slow = (float(level) for level in np.quantile(moving, (0.1, 0.25)))
    # A film with pauses of its own: whether a calm frame is a pause or frozen cannot be told.
    return _Motion(min(calm, MOST_CALM), _SURE_OUT * float(np.sqrt(slow / calm)))


def _still_at_keyframe(steps: NDArray[np.float64]) -> float:
    return min(STILL_AT_KEYFRAME, STILL_SHARE * float(np.median(steps[np.isfinite(steps)])))


def frozen_runs(pictures: Sequence[Small], frames: range, first: int, keyframes: Set[int]) -> Found:
    """Runs of frames inside a range that stand still. `pictures[0]` belongs to frame `first`."""
    moves, steps = _moves_of(pictures), steps_of(pictures)
    motion = _motion(np.r_[moves[: frames.start - first], moves[frames.stop - first :]])
    if not motion.calm:
        return Found([], [])
    still = _stretches(moves < _CORE * motion.calm, first)
    runs, doubtful, spans = [], [], []
    for core in still:
        if core.last <= frames.start or core.first >= frames.stop:
            continue
        span = _grown(pictures, core, first, motion.calm, steps, keyframes)
        run, doubt = _ends(span, frames, motion.sure_out)
        if len(run) and not span.blank:
            runs.append(run)
            doubtful += doubt
            spans.append(span)
    runs = _joined(runs)
    longest = max((len(run) for run in runs), default=0)
    natural = [core for core in still if not any(span.first <= core.first < span.last for span in spans)]
    if longest < SHORTEST_FREEZE or longest <= max((len(core) for core in natural), default=0):
        return Found([], [])
    kept = [run for run in runs if len(run) >= longest * _STRAY]
    near = {n for run in kept for n in range(run.first - 2, run.last + 2)}
    return Found(kept, sorted(n for n in set(doubtful) if n in near))


@dataclass(frozen=True)
class _Span:
    """Frames `[first, last)` that repeat a held picture, and how far they and their neighbours are from it."""

    first: int
    last: int
    offs: dict[int, float]
    """Distances as shares of the calmest step."""
    blank: bool
    """The held picture shows nothing."""


def _grown(
    pictures: Sequence[Small], core: Run, first: int, calm: float, steps: NDArray[np.float64], keyframes: Set[int]
) -> _Span:
    """All frames around a core that show its picture; the first is the held one, unless a keyframe renewed it."""
    held = np.median(np.stack(pictures[core.first - 1 - first : core.last - first]), axis=0)

    def off(frame: int) -> float:
        return _distance(pictures[frame - first], held) / calm

    start, stop, end = core.first - 1, core.last, first + len(pictures)
    while start > first and off(start - 1) < _LIMIT:
        start -= 1
    while stop < end and off(stop) < _LIMIT:
        stop += 1
    renewed = start in keyframes and start > first and steps[start - first] < _still_at_keyframe(steps)
    offs = {n: off(n) for n in range(max(first, start - 2), min(end, stop + 2))}
    return _Span(start if renewed else start + 1, stop, offs, blank=float(held.std()) < _BLANK)


def _ends(span: _Span, frames: range, sure_out: float) -> tuple[Run, list[int]]:
    """The run inside the asked range, and doubtful frames at its ends. An end of the range decides a doubt."""
    run = Run(max(span.first, frames.start), min(span.last, frames.stop), 1)
    if not len(run):
        return run, []
    off, doubtful = span.offs, []
    if run.first > frames.start:
        doubtful += [n for n in (run.first - 1,) if off.get(n, 0.0) > _SURE_IN]
        doubtful += [n for n in (run.first - 2,) if off.get(n, sure_out) < sure_out]
    last = run.last
    while last < frames.stop and off.get(last, sure_out) < sure_out:
        last += 1
    if last < frames.stop:
        doubtful += [n for n in (run.last - 1,) if off.get(n, 0.0) > _SURE_IN] + list(range(run.last, last))
        last = run.last
    return Run(run.first, last, 1), doubtful


def _stretches(flags: NDArray[np.bool_], first: int) -> list[Run]:
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(np.int8)))
    return [Run(first + int(a), first + int(b), 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _joined(runs: Sequence[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in runs:
        if joined and run.first <= joined[-1].last:
            joined[-1] = Run(joined[-1].first, max(run.last, joined[-1].last), 1)
        else:
            joined.append(run)
    return joined


def repeated_run(pictures: Sequence[Small], frames: range, first: int) -> Found:
    """The stretch inside a range that shows again what was shown just before it."""
    apart = _distances(pictures)
    scored: list[tuple[float, Run]] = []
    for lag in range(SHORTEST_REPEAT, min(len(frames), len(pictures) // 2) + 1):
        off = np.diagonal(apart, -lag)  # off[n] belongs to frame first + lag + n
        padded = np.r_[np.inf, off, np.inf]
        worst = np.lib.stride_tricks.sliding_window_view(off, lag).max(axis=1) if len(off) >= lag else np.empty(0)
        for place, most in enumerate(worst.tolist()):
            run = Run(first + lag + place, first + 2 * lag + place, lag)
            contrast = float(min(padded[place], padded[place + lag + 1])) / max(most, _QUIET)
            inside = frames.start <= run.first and run.last <= frames.stop
            matches = most < _REPEAT_NOISE and _LEAST_CONTRAST < contrast < np.inf
            if inside and matches and _is_best_lag(apart, run, first):
                scored.append((contrast, run))
    scored.sort(key=lambda one: -one[0])
    if not scored:
        return Found([], [])
    best = scored[0][1]
    if (best.first, best.last) == (frames.start, frames.stop):
        return Found([best], [])
    rivals = [run for contrast, run in scored[1:] if contrast * _CLEARLY_BETTER > scored[0][0]]
    doubtful = {n for run in rivals for n in {*range(run.first, run.last)} ^ {*range(best.first, best.last)}}
    return Found([best], sorted(doubtful))


def _is_best_lag(apart: NDArray[np.float32], run: Run, first: int) -> bool:
    """Whether a stretch is more like what played a lag ago than like that a frame earlier or later."""
    places = np.arange(run.first - first, run.last - first)
    lags = [lag for lag in (run.lag - 1, run.lag + 1) if places[0] >= lag]
    own = float(apart[places, places - run.lag].mean())
    return all(own < float(apart[places, places - lag].mean()) for lag in lags)
