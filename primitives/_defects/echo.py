"""Room echo: sound dies away more slowly than in the rest of the film. For voices; music hides it."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import percentile_filter, uniform_filter1d

from primitives._defects.common import Curve, Finding, Values, confidence, spread_of, step_window
from primitives._defects.sound import rows
from primitives._tracks import HOP_S, FilmTracks

FALL_S = 0.06
"""Time over which a fall is measured."""
RANGE_DB = 65.0
"""What lies further below the loudest is floor, not decay."""
SHORTEST_S, LONGEST_S = 1.5, 30.0
EVEN = 0.8
_STRIDE, _POOL = 2, 5
_GRID_S = _STRIDE * _POOL * HOP_S


def find_echo(tracks: FilmTracks) -> list[Finding]:
    """The stretch in which the steepest falls are least steep."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    bands = np.maximum(sound.bands_db, float(np.quantile(sound.bands_db, 0.95)) - RANGE_DB)
    fine, sure = (_falls(bands, percent, seconds) for percent, seconds in ((10, 0.6), (4, 1.0)))
    first, last, _ = step_window(fine, round(SHORTEST_S / _GRID_S), round(LONGEST_S / _GRID_S))
    if first < 3 or last > len(fine) - 3:
        return []
    first, last = _steepest(fine, first, 1), _steepest(fine, last, -1)
    outside = np.concatenate((sure[: max(1, first - 3)], sure[last + 3 :]))
    if last - first < 8 or len(outside) < 10:
        return []
    inside_db, outside_db = float(np.median(sure[first + 2 : last - 2])), float(np.median(outside))
    ratio = (inside_db - outside_db) / (2.2 + 2.2 * spread_of(outside)) / EVEN
    return [
        Finding(
            "echo",
            first * _GRID_S,
            last * _GRID_S,
            confidence(ratio),
            {"fall_inside_db": round(inside_db, 1), "fall_outside_db": round(outside_db, 1)},
            Curve("steepest falls in 60 ms, dB", np.arange(len(fine)) * _GRID_S, fine),
        )
    ]


def _falls(bands: Values, percent: float, seconds: float) -> Values:
    """How far levels fall within 60 ms where they fall most, one row a tenth of a second."""
    smooth = uniform_filter1d(bands, 3, axis=0)
    falls = np.zeros_like(smooth)
    falls[rows(FALL_S) :] = smooth[rows(FALL_S) :] - smooth[: -rows(FALL_S)]
    falls = falls[::_STRIDE]
    steep = percentile_filter(falls, percent, size=(rows(seconds) // _STRIDE | 1, 1)).mean(axis=1)
    count = len(steep) // _POOL
    return np.asarray(steep[: count * _POOL].reshape(count, _POOL).mean(axis=1))


def _steepest(track: Values, place: int, sign: int) -> int:
    """Where the track steps most near an end."""
    side = 3
    places = range(max(side, place - 5), min(len(track) - side, place + 5) + 1)
    steps = [sign * float(track[n : n + side].mean() - track[n - side : n].mean()) for n in places]
    return places[int(np.argmax(steps))] if steps else place
