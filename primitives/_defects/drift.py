"""Sound that is slowed down, falls behind and hurries to catch up, at its own pitch. Pure.

Slow sound shows by its waveform, which comes again (`SoundTrack.again`), fast sound by its pace: how fast its spectrum
changes. So a stretch is looked for that comes again from its start to its end, more than what lies before and after it;
what follows it should be fast.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Values
from primitives._defects.sound import Rows, loud_rows, rows, weighed, wide_bands
from primitives._tracks import HOP_S, SoundTrack

SLOW_S, GRID_S, SIDE_S, MARGIN_S = (2.0, 5.7), 0.1, 2.0, 1.0
"""How long sound is slow; steps at which that is tried; sound beside it; how far it is from a film's ends."""
FAST_SHARE = (0.5, 1.2)
"""How long sound is fast after that, as a share of how long it was slow."""
HEARD_DB, LEAST_HEARD = 30.0, 0.3
PACE_LAGS, PACE_SHARES, DEEPEST_DB = (2, 24), (1.0, -0.17), 45.0
"""The pace: how much bands change over these rows, as a sum of logarithms. What sound is, and how loud, then hardly
counts."""
FASTER = 0.25
WEIGHTS = (4.28, -1.76, 1.81, 1.97, -13.5)
"""Of `Drift.features`: fitted to sounds of the benchmark's known clips with other seeds, the last lowered by 1.1."""
EVERY = 2
"""Sound is measured every other row."""
_SIDE_ROWS, _THIRD_ROWS = 10, 5
"""Rows of the rest of the film that a side is given, and of the whole stretch that its thirds are: few tell little."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Sound is slow over rows `[first, middle)` and fast over `[middle, last)`."""

    first: int
    middle: int
    last: int
    features: tuple[float, ...]
    """How clearly it comes again, what the best stretch elsewhere has of that, how much faster it then is, and how long
    it is slow."""

    @property
    def likely(self) -> float:
        return weighed(self.features, WEIGHTS)


class _Sums:
    """Running sums of a measure over the rows that are heard."""

    def __init__(self, values: Values, heard: NDArray[np.bool_]) -> None:
        middle = float(np.median(values[heard]))
        spread = 1.4826 * float(np.median(np.abs(values[heard] - middle))) + 1e-6
        standard = np.clip((values - middle) / spread, -4, 5) * heard
        self._sums, self._counts = (np.concatenate(([0.0], np.cumsum(x))) for x in (standard, heard))

    def count(self, first: Rows | int, last: Rows | int) -> Values:
        return np.asarray(self._counts[last] - self._counts[first])

    def total(self, first: Rows | int, last: Rows | int) -> Values:
        return np.asarray(self._sums[last] - self._sums[first])

    def mean(self, first: Rows | int, last: Rows | int, prior: Values | float = 0.0, weight: int = 1) -> Values:
        """The mean, as if so many rows more had been at `prior`."""
        return np.asarray((self.total(first, last) + weight * prior) / (self.count(first, last) + weight))


def find_drift(sound: SoundTrack) -> Drift | None:
    """The stretch that comes again most clearly."""
    heard = loud_rows(sound, HEARD_DB)[::EVERY]
    if heard.sum() < LEAST_HEARD * rows(SLOW_S[0]):
        return None
    again, pace = _Sums(sound.again[::EVERY], heard), _Sums(_pace(sound)[::EVERY], heard)
    first, middle = _stretches(len(heard), again)
    if not len(first):
        return None
    clear = _clear(again, first, middle, len(heard))
    best = int(np.argmax(clear))
    start, turn = int(first[best]), int(middle[best])
    length = turn - start
    elsewhere = clear[(middle <= start) | (first >= turn + length)].max(initial=0.0)
    ends = np.arange(turn + round(FAST_SHARE[0] * length), min(len(heard), turn + round(FAST_SHARE[1] * length)) + 1)
    end = int(ends[np.argmax(pace.total(turn, ends) - FASTER * pace.count(turn, ends))])
    faster = float(pace.mean(turn, min(len(heard), turn + length)) - pace.mean(start, turn))
    top = max(0.0, float(clear[best]))
    features = (float(np.log(top + 1)), float(elsewhere) / (top + 1), faster, float(np.log(length * EVERY * HOP_S)))
    return Drift(EVERY * start, EVERY * turn, EVERY * end, features)


def _stretches(count: int, again: _Sums) -> tuple[Rows, Rows]:
    """Starts and ends that are tried."""
    step, shortest, longest, margin = (rows(s) // EVERY for s in (GRID_S, *SLOW_S, MARGIN_S))
    starts, lengths = np.arange(margin - margin % step, count, step), np.arange(shortest, longest + 1, step)
    first, length = (grid.ravel() for grid in np.meshgrid(starts, lengths, indexing="ij"))
    room = first + length + np.maximum(margin, np.ceil(FAST_SHARE[0] * length).astype(np.intp)) <= count
    first, length = first[room], length[room]
    heard = again.count(first, first + length) >= LEAST_HEARD * length
    return first[heard], (first + length)[heard]


def _clear(again: _Sums, first: Rows, middle: Rows, count: int) -> Values:
    """How far the weakest third of each stretch lies over the stronger one of its sides, by how much is heard."""
    side = rows(SIDE_S) // EVERY
    heard, inside = again.count(first, middle), again.mean(first, middle)
    rest = (again.total(0, count) - again.total(first, middle)) / np.maximum(again.count(0, count) - heard, 1)
    sides = [
        again.mean(a, b, rest, _SIDE_ROWS)
        for a, b in ((np.maximum(first - side, 0), first), (middle, np.minimum(middle + side, count)))
    ]
    cuts = [first + (middle - first) * n // 3 for n in range(4)]
    thirds = [again.mean(a, b, inside, _THIRD_ROWS) for a, b in itertools.pairwise(cuts)]
    return np.asarray((np.minimum.reduce(thirds) - np.maximum(*sides)) * np.sqrt(heard))


def _pace(sound: SoundTrack) -> Values:
    bands = wide_bands(sound)
    bands = np.maximum(bands, np.quantile(bands[::3], 0.95, axis=0) - DEEPEST_DB)
    pace = np.zeros(len(bands))
    for lag, share in zip(PACE_LAGS, PACE_SHARES, strict=True):
        change = np.zeros(len(bands))
        change[lag // 2 : len(bands) - lag + lag // 2] = np.abs(bands[lag:] - bands[:-lag]).mean(axis=1)
        pace += share * np.log(change + 0.3)
    return np.asarray((pace + np.roll(pace, -1)) / 2)
