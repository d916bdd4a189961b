"""A jump of level: everything is louder or softer between two edges, by the same in every band.

In steady sound (music, rooms, machines) the edges themselves show: all bands step alike. In speech they do not, but
there the level of a second is steady over the film, and a window stands out.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import percentile_filter

from primitives._defects.common import Curve, Finding, Values, confidence, spread_of, step_window
from primitives._defects.sound import exact_ends, pooled, rows
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

LOWEST_DB = -90.0
SHORTEST_S, LONGEST_S = 0.8, 60.0
LEAST_DB = 3.5
EDGE_S = 0.08
EVEN_EDGE, EVEN_WINDOW = 1.0, 1.0
_POOL = 5
_HIGH = 80


def find_levels(tracks: FilmTracks) -> list[Finding]:
    """The best window by its edges and the best by its level, if they are good enough."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    bands = np.maximum(sound.bands_db, LOWEST_DB)
    high = percentile_filter(pooled(bands, _POOL), _HIGH, size=(rows(1.0) // _POOL | 1, 1)).mean(axis=1)
    found = [*_by_level(bands, high), *_by_edges(bands)]
    return [_finding(sound, bands, *candidate) for candidate in found]


def _by_level(bands: Values, high: Values) -> list[tuple[int, int, float]]:
    """The stretches that stand furthest above and below the rest, against how much the rest varies."""
    found = []
    for sign in (1.0, -1.0):
        first, last, _ = step_window(sign * high, rows(SHORTEST_S) // _POOL, rows(20.0) // _POOL)
        if first <= rows(1.0) // _POOL or last >= len(high) - rows(1.0) // _POOL:
            continue
        sides = np.concatenate((high[: first - rows(0.5) // _POOL], high[last + rows(0.5) // _POOL :]))
        gap = abs(float(np.median(high[first:last]) - np.median(sides))) if len(sides) else 0.0
        start, end = exact_ends(bands, first * _POOL, last * _POOL, rows(0.5))
        if end - start >= rows(SHORTEST_S) and gap > LEAST_DB:
            at_once = min(_step_at(bands, start, sign), _step_at(bands, end, -sign)) / (0.5 * gap)
            ratio = gap / (2.5 + 1.8 * spread_of(sides)) * min(1.0, max(0.2, at_once)) / EVEN_WINDOW
            found.append((start, end, ratio))
    return found


def _step_at(bands: Values, row: int, sign: float) -> float:
    """By how much the loud moments right after a row are louder than those right before; music swells, gain steps."""
    size = rows(0.6)
    after, before = (
        np.quantile(side, 0.8, axis=0) for side in (bands[row : row + size], bands[max(0, row - size) : row])
    )
    return sign * float(np.median(after - before))


def _by_edges(bands: Values) -> list[tuple[int, int, float]]:
    """The two steps of all bands alike that undo each other best, against other such steps of the film."""
    step, alike = parallel_steps(bands)
    peaks = _peaks(np.where(np.abs(step) > LEAST_DB, np.abs(alike), 0.0))
    best = (0, 0, 0.0)
    for number, first in enumerate(peaks):
        for last in peaks[number + 1 :]:
            if not rows(SHORTEST_S) <= last - first <= rows(LONGEST_S) or step[first] * step[last] > 0:
                continue
            sizes = sorted((abs(float(step[first])), abs(float(step[last]))))
            strength = float(np.sqrt(abs(alike[first] * alike[last]))) * (sizes[0] / sizes[1]) ** 2
            if strength > best[2]:
                best = (first, last, strength)
    first, last, strength = best
    if not last:
        return []
    others = [abs(float(alike[n])) for n in peaks if n not in (first, last)]
    # Speech starts and stops all the time: then two such steps are nothing special.
    usual = sorted(others)[-4] if len(others) > 3 else 0.0
    return [(first, last, strength / (0.6 + usual) / EVEN_EDGE)]


def parallel_steps(bands: Values) -> tuple[Values, Values]:
    """How far all bands step at each row, and how alike they do so."""
    size, gap = rows(EDGE_S), 1
    sums = np.concatenate((np.zeros((1, bands.shape[1])), np.cumsum(bands, axis=0, dtype=np.float64)))
    at = np.arange(size + gap, len(bands) - size - gap)
    steps = (sums[at + size + gap] - sums[at + gap] - sums[at - gap] + sums[at - gap - size]) / size
    middle = np.median(steps, axis=1)
    spread = 1.4826 * np.median(np.abs(steps - middle[:, None]), axis=1)
    step, alike = np.zeros(len(bands)), np.zeros(len(bands))
    step[at], alike[at] = middle, middle / (spread + 1.5)
    return step, alike


def _peaks(strength: Values) -> list[int]:
    reach = rows(0.1)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(strength, reach), 2 * reach + 1).max(axis=1)
    peaks = np.flatnonzero((strength >= around) & (strength > 0.3))
    most = max(10, int(2 * len(strength) * HOP_S))
    return sorted(int(n) for n in peaks[np.argsort(-strength[peaks])][:most])


def _finding(sound: SoundTrack, bands: Values, first: int, last: int, ratio: float) -> Finding:
    near = rows(4.0)
    inside = np.quantile(bands[first:last], 0.7, axis=0)
    beside = np.quantile(np.concatenate((bands[max(0, first - near) : first], bands[last : last + near])), 0.7, axis=0)
    return Finding(
        "level",
        first * HOP_S,
        last * HOP_S,
        confidence(ratio),
        {"change_db": round(float(np.median(inside - beside)), 1)},
        Curve("level, dB", np.arange(len(sound)) * HOP_S, np.maximum(sound.level_db, -90)),
    )
