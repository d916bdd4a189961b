"""Moments without any sound: whether it was cut off there, and whether it goes on afterwards where it stopped. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Values, runs
from primitives._defects.sound import GONE_DB, loud_rows, rows, weighed
from primitives._tracks import SoundTrack

SHORTEST_S = 0.05
BESIDE_S = 0.15
LONG_S = 2.0
"""Longer silences are shots without sound: they say nothing about how often it stops."""
QUIET_DB, LOUD_DB = -35.0, -5.0
"""What is so far below the film's loud parts may well end by itself, and what is so near to them does not."""
HIGH_BANDS, HUSH_DB, CLICK_DB = slice(36, None), -95.0, (0.0, 25.0)
"""Sound that is cut off clicks, in the bands over 11 kHz, where there is little else."""
CUT = (0.13, 0.08, 0.2, 3.4)
"""Weights of the level before a gap, of that right after it and of the clicks at both, for sound that was cut off."""
NEAR_ROWS = 3
GOES_ON = (-2.7, -1.9, 0.6)
"""Weights of how the sound differs across a gap, right at it and 10 ms away, against how sound of the film differs from
one moment to the next; for sound that goes on where it stopped.

Both were fitted to gaps in other films of the benchmark's known clips; the last one of `CUT` was then lowered by 0.2.
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
    silences = runs(sound.level_db < GONE_DB)
    inside = [gap for gap in silences if gap[0] > 4 and gap[1] < len(sound) - 2 and gap[1] - gap[0] >= rows(SHORTEST_S)]
    if not inside:
        return []
    loud_db = float(np.quantile(sound.level_db, 0.9))
    bands, high = np.maximum(sound.bands_db, GONE_DB), np.maximum(sound.bands_db[:, HIGH_BANDS], HUSH_DB)
    usual_db = _usual_change(bands, loud_rows(sound, -QUIET_DB))
    found = []
    for first, last in inside:
        before_db, after_db = side_db(sound, first), side_db(sound, last + rows(BESIDE_S))
        levels = [
            float(np.clip(level_db - loud_db, QUIET_DB, LOUD_DB)) for level_db in (before_db, sound.level_db[last + 1])
        ]
        elsewhere = sum(b - a for a, b in silences if a != first and b - a <= rows(LONG_S)) / len(sound)
        clicks = sum(_click(high[row - 2 : row + 2], high[side]) for row, side in _edges(first, last))
        cut = weighed((*levels, clicks), CUT)
        differs = [float(np.log(_differs(bands, first, last, away) / usual_db)) for away in (0, 1)]
        found.append(Gap(first, last, cut, weighed(differs, GOES_ON), min(before_db, after_db), elsewhere))
    return found


def _usual_change(bands: Values, heard: NDArray[np.bool_]) -> float:
    """How much sound that is heard differs from what it is a moment later, in decibels."""
    at = np.flatnonzero(heard[:-NEAR_ROWS])
    return float(np.median(np.abs(bands[at + NEAR_ROWS] - bands[at]).mean(axis=1))) + 0.5 if len(at) else 8.0


def _edges(first: int, last: int) -> tuple[tuple[int, slice], tuple[int, slice]]:
    """Both ends of a gap, each with the sound beside it."""
    return (first, slice(max(0, first - 7), first - 3)), (last, slice(last + 3, last + 7))


def _click(edge: Values, beside: Values) -> float:
    """How much louder an edge is than the sound beside it."""
    if not len(beside):
        return 0.0
    return float(np.clip(edge.max(axis=0) - beside.max(axis=0), *CLICK_DB).mean())


def side_db(sound: SoundTrack, row: int) -> float:
    """The level right before a row. The coder smears an edge: the loudest rows tell."""
    return float(np.quantile(sound.level_db[max(0, row - rows(BESIDE_S)) : row], 0.8))


def _differs(bands: Values, first: int, last: int, away: int) -> float:
    """How much two rows after a gap differ from those before it, so many rows away from it, in decibels."""
    before, after = bands[max(0, first - away - 2) : first - away], bands[last + away : last + away + 2]
    return float(np.abs(after.mean(axis=0) - before.mean(axis=0)).mean()) + 0.5
