"""Moments without any sound: whether it was cut off there, and whether it goes on afterwards where it stopped. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from primitives._defects.common import Values, runs
from primitives._defects.sound import GONE_DB, rows, weighed
from primitives._tracks import SoundTrack

SHORTEST_S = 0.05
BESIDE_S = 0.15
LONG_S = 2.0
"""Longer silences are shots without sound: they say nothing about how often it stops."""
QUIET_DB, LOUD_DB = -32.0, -5.0
"""What is so far below the film's loud parts may well end by itself, and what is so near to them does not."""
CUT = (0.1, 0.18, 5.2)
"""Weights of the level before a gap, and of the quieter side's, for sound that was cut off."""
GOES_ON = (-0.79, 0.49, 1.1)
"""Weights of how the sound differs after a gap within 20 and 40 ms, for sound that goes on where it stopped.

Both were fitted to gaps in other films of the benchmark's known clips.
"""


@dataclass(frozen=True)
class Gap:
    """Rows `[first, last)` without sound, with sound on both sides."""

    first: int
    last: int
    cut: float
    """How likely sound was cut off: a pause is quiet on both sides."""
    goes_on: float
    """How likely the sound after it goes on where it stopped."""
    beside_db: float
    elsewhere: float
    """How much of the rest of the film is silent, for a moment each."""


def find_gaps(sound: SoundTrack) -> list[Gap]:
    """The gaps within a film."""
    gone = sound.level_db < GONE_DB
    loud_db = float(np.quantile(sound.level_db, 0.9))
    bands = np.maximum(sound.bands_db, GONE_DB)
    silences, found = runs(gone), []
    for first, last in silences:
        if first <= 2 or last >= len(sound) - 2 or last - first < rows(SHORTEST_S):
            continue
        before_db, after_db = side_db(sound, first), side_db(sound, last + rows(BESIDE_S))
        least_db = min(before_db, after_db)
        levels = [float(np.clip(level_db - loud_db, QUIET_DB, LOUD_DB)) for level_db in (before_db, least_db)]
        elsewhere = sum(b - a for a, b in silences if a != first and b - a <= rows(LONG_S)) / len(sound)
        differs = [_differs(bands, first, last, size) for size in (2, 4)]
        found.append(Gap(first, last, weighed(levels, CUT), weighed(differs, GOES_ON), least_db, elsewhere))
    return found


def side_db(sound: SoundTrack, row: int) -> float:
    """The level right before a row. The coder smears an edge: the loudest rows tell."""
    return float(np.quantile(sound.level_db[max(0, row - rows(BESIDE_S)) : row], 0.8))


def _differs(bands: Values, first: int, last: int, size: int) -> float:
    """How much so many rows after a gap differ from those before it, in decibels, over all bands."""
    before, after = bands[max(0, first - 1 - size) : first - 1], bands[last + 1 : last + 1 + size]
    return float(np.abs(after.mean(axis=0) - before.mean(axis=0)).mean()) if len(after) else np.inf
