"""Brightness that jumps from frame to frame: each frame's levels are led along their own smooth course."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._flow import correlation
from primitives._restore.repeats import Small

SHARES = np.linspace(0.02, 0.98, 17)
SMOOTH_S = 0.4
_CUT_LIKENESS = 0.6
Levels = NDArray[np.float64]
"""Luma quantiles: a row for each frame."""


@dataclass(frozen=True, eq=False)
class Course:
    """The levels of consecutive frames as they are and as they should run."""

    first: int
    found: Levels
    wanted: Levels

    def curve(self, frame: int, strength: float) -> NDArray[np.float64]:
        """The new level for each of 256 old ones."""
        found, wanted = self.found[frame - self.first], self.wanted[frame - self.first]
        shift = np.interp(np.arange(256), found, wanted - found)
        return np.asarray(np.clip(np.arange(256) + strength * shift, 0, 255))

    def gain(self, frame: int, strength: float) -> float:
        """How much the colour differences grow along with the brightness."""
        found, wanted = (levels[frame - self.first].mean() - 16 for levels in (self.found, self.wanted))
        return 1 + strength * float(np.clip(wanted / max(found, 1.0), 0.5, 2.0) - 1)

    def roughness(self, frames: range) -> float:
        """How far the brightness of a range jumps from its smooth course, in grey levels (r.m.s.)."""
        rows = slice(frames.start - self.first, frames.stop - self.first)
        return float(np.sqrt(np.mean((self.found[rows] - self.wanted[rows]).mean(axis=1) ** 2)))

    def roughness_after(self, pictures: Sequence[Small], frames: range, strength: float) -> float:
        """The same once the curves are applied."""
        gaps = []
        for frame in frames:
            made = np.interp(pictures[frame - self.first], np.arange(256), self.curve(frame, strength))
            gaps.append(np.mean(np.quantile(made, SHARES)) - self.wanted[frame - self.first].mean())
        return float(np.sqrt(np.mean(np.square(gaps))))


def course(pictures: Sequence[Small], first: int, fps: float) -> Course:
    """The course of brightness, smoothed within each shot."""
    found = np.array([np.quantile(picture, SHARES) for picture in pictures])
    found = np.maximum.accumulate(found + np.arange(len(SHARES)) * 1e-3, axis=1)
    wanted = np.empty_like(found)
    for start, stop in _shots(pictures):
        wanted[start:stop] = _smoothed(found[start:stop], SMOOTH_S * fps)
    return Course(first, found, wanted)


def _shots(pictures: Sequence[Small]) -> list[tuple[int, int]]:
    cuts = [
        number
        for number in range(1, len(pictures))
        if correlation(pictures[number - 1], pictures[number]) < _CUT_LIKENESS
    ]
    bounds = [0, *cuts, len(pictures)]
    return list(itertools.pairwise(bounds))


def _smoothed(levels: Levels, sigma: float) -> Levels:
    """A Gaussian mean over time; at the ends of a shot it leans on what there is."""
    frames = np.arange(len(levels))
    weights = np.exp(-((frames[:, None] - frames[None]) ** 2) / (2 * sigma**2))
    return np.asarray((weights @ levels) / weights.sum(axis=1, keepdims=True))
