"""What the findings in sound share: where it speaks, and exact ends for a window that is roughly known. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import percentile_filter

from primitives._defects.common import Values, runs
from primitives._tracks import HOP_S, SoundTrack

ACTIVE_DB = 25.0
GONE_DB = -85.0
"""Below that nothing was recorded, whatever the coder adds."""
_BINS, _BIN_DB = 64, 2.0


def rows(seconds: float) -> int:
    return max(1, round(seconds / HOP_S))


def pooled(track: Values, by: int) -> Values:
    """Means of so many neighbouring rows."""
    count = len(track) // by
    return np.asarray(track[: count * by].reshape(count, by, *track.shape[1:]).mean(axis=1))


def low(track: Values, percent: float, seconds: float) -> Values:
    """A low percentile around each row."""
    size = rows(seconds) | 1
    return np.asarray(percentile_filter(track, percent, size=(size, *([1] * (track.ndim - 1)))))


def exact_ends(levels: Values, first: int, last: int, reach: int, shares: int = 8) -> tuple[int, int]:
    """The ends of a window at which its rows are told best from the rest.

    For each measure the levels inside and outside give two histograms; a row speaks for the window by their ratio.
    Rows further than `reach` from either end are taken as known.
    """
    count = len(levels)
    inside = np.zeros(count, bool)
    margin = min(reach, (last - first) // 4)
    inside[first + margin : last - margin] = True
    outside = np.ones(count, bool)
    outside[max(0, first - reach) : last + reach] = False
    if inside.sum() < 10 or outside.sum() < 10:
        return first, last
    steps = np.clip((levels + 120) / _BIN_DB, 0, _BINS - 1).astype(int)
    speaks = np.zeros(count)
    for measure in range(levels.shape[1]):
        own, other = (_share(steps[rows_, measure]) for rows_ in (inside, outside))
        speaks += np.log(own / other)[steps[:, measure]]
    speaks = np.clip(speaks / shares, -3, 3)
    middle = (first + last) // 2
    start = _turn(speaks[max(0, first - reach) : min(middle, first + reach)]) + max(0, first - reach)
    tail = speaks[max(middle, last - reach) : last + reach][::-1]
    return start, min(count, last + reach) - _turn(tail)


def _share(steps: Values) -> Values:
    counts = np.convolve(np.bincount(steps, minlength=_BINS), [0.25, 0.5, 0.25], "same")
    return np.asarray((counts + 0.02 * len(steps) / _BINS + 0.3) / (counts.sum() + 0.02 * len(steps) + 0.3 * _BINS))


def _turn(speaks: Values) -> int:
    """Where rows begin to speak for the window: the tail with the largest sum."""
    tails = np.concatenate((np.cumsum(speaks[::-1])[::-1], [0.0]))
    return int(np.argmax(tails))


def sounding(sound: SoundTrack) -> Values:
    """The bands' levels; in a gap what was heard before it is heard backwards, so that it has no edges."""
    bands = sound.bands_db.copy()
    for first, last in runs(sound.level_db < GONE_DB):
        if first:
            bands[first:last] = bands[first - 1 - np.arange(last - first) % first]
        elif last < len(bands):
            bands[:last] = bands[last + np.arange(last)[::-1] % (len(bands) - last)]
    return bands


def active(sound: SoundTrack) -> NDArray[np.bool_]:
    """Rows that are loud enough to be judged by their shape."""
    return np.asarray(sound.level_db > float(np.quantile(sound.level_db, 0.9)) - ACTIVE_DB)
