"""Sound that plays again at once, once: so it begins to lag. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Values
from primitives._defects.sound import rows
from primitives._tracks import SoundTrack

LAGS_S = (0.25, 1.5)
PART_S = 120.0
"""Sound that is compared with itself at a time: memory stays flat."""
EVEN, EVEN_LAG_S = 0.5, 0.5
_BANDS, _FLOOR_DB, _ALIKE_DB = 20, -85.0, 1.0
_BESIDE = (-8, -5, 5, 8)


@dataclass(frozen=True)
class Again:
    """From row `first` on the `lag` rows before it are heard again."""

    first: int
    lag: int
    ratio: float
    """1 is as likely chance as not."""


def said_twice(sound: SoundTrack) -> Again | None:
    """The stretch most like the one right before it: much more than at other lags, and neither comes a third time."""
    bands = np.maximum(sound.bands_db, _FLOOR_DB).reshape(len(sound), _BANDS, -1).mean(axis=2)
    return max((_best(bands[part], part.start) for part in _parts(len(sound))), key=lambda best: best.ratio)


def _parts(count: int) -> Iterator[slice]:
    size, reach = rows(PART_S), 3 * rows(LAGS_S[1])
    for start in range(0, max(1, count - reach), size):
        yield slice(max(0, start - reach), start + size + reach)


def _best(bands: Values, start: int) -> Again:
    count, widest = len(bands), max(_BESIDE)
    lags = range(rows(LAGS_S[0]) - widest, min(rows(LAGS_S[1]) + widest, count // 3))
    sums = {lag: _summed(bands, lag) for lag in lags}
    best = Again(0, 0, 0.0)
    for lag in lags[widest : len(lags) - widest]:
        at = np.arange(lag + widest, count - 2 * lag)
        if not len(at):
            continue
        own = _mean(sums[lag], at, lag)
        other = np.min([_mean(sums[lag + by], at, lag) for by in _BESIDE], axis=0)
        third = np.minimum(_mean(sums[lag], at + lag, lag), _mean(sums[lag], at - lag, lag, lag))
        score = np.log((np.minimum(other, third) + _ALIKE_DB) / (own + _ALIKE_DB))
        place = int(np.argmax(score))
        ratio = float(score[place]) / EVEN * (lag / rows(EVEN_LAG_S)) ** 0.5
        if ratio > best.ratio:
            best = Again(start + int(at[place]), lag, ratio)
    return best


def _summed(bands: Values, lag: int) -> Values:
    """Running sum of how much each row differs from the one so long before."""
    gaps = np.zeros(len(bands) + 1, np.float32)
    gaps[lag + 1 :] = np.cumsum(np.abs(bands[lag:] - bands[:-lag]).mean(axis=1))
    return gaps


def _mean(sums: Values, at: NDArray[np.intp], length: int, from_row: int = 0) -> Values:
    """The mean over so many rows from each place on; endless where the rows have none so long before."""
    found = (sums[at + length] - sums[np.maximum(at, 0)]) / length
    return np.asarray(np.where(at >= from_row, found, np.inf))
