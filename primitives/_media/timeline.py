"""Frames and times, exactly: pure functions over presentation timestamps.

Time 0 is the first frame shown, so frame 0 is at 0.0 s whatever offset the container carries. Times are
rationals inside, float seconds at the edge; ranges are half-open `[start_s, end_s)`. A time names the
frame on screen at that moment. Times printed with three decimals lead back to the same frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

SNAP_S = Fraction(1, 1000)
"""A time this close before a frame means that frame: a printed time is rounded."""
VFR_JITTER = Fraction(1, 20)
"""Steps may differ by this share of the median before a film counts as variable frame rate."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """The frames of a film in the order in which they are shown."""

    pts: NDArray[np.int64]
    time_base: Fraction
    end_pts: int
    decode_from: NDArray[np.int64]
    """For each frame the timestamp of the keyframe from which decoding must start."""

    def __len__(self) -> int:
        return len(self.pts)

    @cached_property
    def step_pts(self) -> Fraction:
        """The median distance between frames, at least one tick."""
        if len(self.pts) < 2:
            return Fraction(max(1, self.end_pts - int(self.pts[0])))
        return max(Fraction(1), Fraction(float(np.median(np.diff(self.pts)))))

    @cached_property
    def _snap_pts(self) -> Fraction:
        return min(SNAP_S / self.time_base, self.step_pts / 4)

    @property
    def duration(self) -> Fraction:
        """From the first frame to the end of the last one."""
        return (self.end_pts - int(self.pts[0])) * self.time_base

    @cached_property
    def frame_rate(self) -> Fraction:
        """Frames per second, as the simple rational that the timestamps are rounded from when there is one."""
        if len(self.pts) < 2:
            return 1 / (self.step_pts * self.time_base)
        span = int(self.pts[-1] - self.pts[0]) * self.time_base
        mean = (len(self.pts) - 1) / span
        simple = mean.limit_denominator(1001)
        if self.is_vfr:
            return simple
        # The first and the last timestamp are rounded too, which matters in a short film.
        slack = Fraction(1, 5000) + self.time_base / span
        nearest = min(_common_rates(), key=lambda rate: abs(rate / mean - 1))
        return nearest if abs(nearest / mean - 1) < slack else simple

    @cached_property
    def is_vfr(self) -> bool:
        """Whether frames come at uneven distances, beyond what rounding to the time base explains."""
        if len(self.pts) < 3:
            return False
        steps = np.diff(self.pts)
        allowed = max(float(self.step_pts * VFR_JITTER), 1.5)
        return bool(np.max(np.abs(steps - float(self.step_pts))) > allowed)

    def time_of(self, frame: int) -> Fraction:
        """When a frame appears."""
        return int(self.pts[frame] - self.pts[0]) * self.time_base

    def frame_at(self, time_s: float) -> int:
        """The frame on screen at a time; the first before the film, the last after it."""
        wanted = int(self.pts[0]) + Fraction(time_s) / self.time_base + self._snap_pts
        return max(0, int(np.searchsorted(self.pts, float(wanted), side="right")) - 1)

    def frames_in(self, start_s: float, end_s: float) -> range:
        """The frames on screen during `[start_s, end_s)`: from the one showing at the start."""
        end = int(self.pts[0]) + Fraction(end_s) / self.time_base - self._snap_pts
        last = int(np.searchsorted(self.pts, float(end), side="left")) - 1
        first = self.frame_at(start_s)
        return range(first, max(first, last) + 1)

    def has_start(self, pts: int) -> bool:
        """Whether a timestamp is that of a keyframe from which frames are decoded."""
        return pts in self._starts

    @cached_property
    def _starts(self) -> frozenset[int]:
        return frozenset(self.decode_from.tolist())

    def index_of(self, pts: int) -> int:
        """The frame that carries a timestamp, or the one before it."""
        return max(0, int(np.searchsorted(self.pts, pts, side="right")) - 1)


def _common_rates() -> list[Fraction]:
    whole = [Fraction(n) for n in (24, 25, 30, 48, 50, 60, 12, 15, 10, 100, 120, 240, 8, 20)]
    return whole + [Fraction(n * 1000, 1001) for n in (24, 30, 60, 48, 120, 240, 15, 12)]


def spread(timeline: Timeline, frames: range, count: int) -> list[int]:
    """At most `count` frames of a range, evenly over its time, both ends included."""
    if len(frames) <= count:
        return list(frames)
    if count == 1:
        return [timeline.index_of((int(timeline.pts[frames[0]]) + int(timeline.pts[frames[-1]])) // 2)]
    ticks = np.linspace(timeline.pts[frames[0]], timeline.pts[frames[-1]], count)
    return sorted({timeline.index_of(round(float(tick))) for tick in ticks})
