"""Sound that plays again at once, once: so it begins to lag. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Values
from primitives._defects.sound import active, rows
from primitives._tracks import SoundTrack

LAGS_S = (0.25, 1.5)
PART_S = 120.0
"""Sound that is compared with itself at a time: memory stays flat."""
LEAST_HEARD = 0.4
"""Silence is like silence: so much of a stretch must be heard."""
EXACT_S = 0.3
SAME_DB = 2.5
"""The same sound differs by less after coding."""
EVEN, EVEN_LAG_S = 0.8, 0.5
"""Logarithm of how much less a stretch differs from the one before it than others do, and how long it is, at which
chance is as likely: films with the same noises over and over reach 0.8, what plays again 0.9 to 2.5."""
_BANDS, _FLOOR_DB, _ALIKE_DB = 20, -85.0, 1.0
_BESIDE = (-8, -5, 5, 8)


@dataclass(frozen=True)
class Again:
    """From row `first` on the `lag` rows before it are heard again."""

    first: int
    lag: int
    ratio: float
    """1 is as likely chance as not."""


def said_twice(sound: SoundTrack) -> Again:
    """The stretch most like the one right before it: much more than at other lags, and neither comes a third time."""
    bands = np.maximum(sound.bands_db, _FLOOR_DB).reshape(len(sound), _BANDS, -1).mean(axis=2)
    loud = active(sound)
    return max((_best(bands[part], loud[part], part.start) for part in _parts(len(sound))), key=lambda best: best.ratio)


def _parts(count: int) -> Iterator[slice]:
    size, reach = rows(PART_S), 3 * rows(LAGS_S[1])
    for start in range(0, max(1, count - reach), size):
        yield slice(max(0, start - reach), start + size + reach)


def _best(bands: Values, loud: NDArray[np.bool_], start: int) -> Again:
    count, widest = len(bands), max(_BESIDE)
    lags = range(rows(LAGS_S[0]) - widest, min(rows(LAGS_S[1]) + widest, count // 3))
    sums = {lag: _summed(bands, loud, lag) for lag in lags}
    heard = np.concatenate(([0.0], np.cumsum(loud)))
    best = Again(0, 0, 0.0)
    for lag in lags[widest : len(lags) - widest]:
        at = range(2 * lag + widest, count - 2 * lag)
        if not len(at):
            continue
        rows_heard = _over(heard, at, lag)
        weights = 1 / np.maximum(rows_heard, 1)
        own = _over(sums[lag], at, lag) * weights
        near = np.minimum.reduce([_over(sums[lag + by], at, lag) for by in _BESIDE]) * weights
        for by in (lag, -lag):
            there = range(at.start + by, at.stop + by)
            near = np.minimum(near, _over(sums[lag], there, lag) / np.maximum(_over(heard, there, lag), 1))
        score = np.log((near + _ALIKE_DB) / (own + _ALIKE_DB))
        score *= np.minimum(1.0, (SAME_DB / np.maximum(own, 0.1)) ** 3)
        score[rows_heard < LEAST_HEARD * lag] = 0
        place = int(np.argmax(score))
        ratio = float(score[place]) / EVEN * (lag / rows(EVEN_LAG_S)) ** 0.5
        if ratio > best.ratio:
            best = Again(int(at[place]), lag, ratio)
    return Again(start + _start(bands, best), best.lag, best.ratio)


def _start(bands: Values, again: Again) -> int:
    """The exact row: there silence counts, too."""
    lag, near = again.lag, rows(EXACT_S)
    if not lag:
        return again.first
    gaps = np.concatenate(([0.0], np.cumsum(np.abs(bands[lag:] - bands[:-lag]).mean(axis=1))))
    at = np.arange(max(lag, again.first - near), min(len(bands) - lag, again.first + near))
    return int(at[np.argmin(gaps[at] - gaps[at - lag])])


def _summed(bands: Values, loud: NDArray[np.bool_], lag: int) -> Values:
    """Running sum of how much each row that is heard differs from the one so long before."""
    sums = np.zeros(len(bands) + 1)
    sums[lag + 1 :] = np.cumsum(np.einsum("ij->i", np.abs(bands[lag:] - bands[:-lag])) / bands.shape[1] * loud[lag:])
    return sums


def _over(sums: Values, at: range, length: int) -> Values:
    """The sum of so many rows from each place on."""
    return np.asarray(sums[at.start + length : at.stop + length] - sums[at.start : at.stop])
