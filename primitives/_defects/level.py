"""A jump of level: everything is louder or softer between two edges, by the same in every band.

In steady sound (music, rooms, machines) the edges themselves show: all bands step alike. In speech they do not, but
there sounds of the same colour have the same level all over the film, and a window where they have not stands out.
"""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, Values, confidence, step_window
from primitives._defects.likeness import louder_than_alike
from primitives._defects.sound import exact_ends, pooled, rows, sounding
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

LOWEST_DB = -90.0
SHORTEST_S, LONGEST_S = 0.8, 30.0
LEAST_DB = 3.5
BESIDE_S = 1.5
COMMON = 0.35
"""Longer windows, as a share of the film, count less."""
FEW = 0.9
"""What other steps count as at least."""
SURE_SHARE = 0.35
"""Films are louder and softer by themselves: what is over the even point counts so much."""
EDGE_SIZES_S = (0.03, 0.06)
EVEN_EDGE, EVEN_WINDOW = 1.1, 1.2
_POOL_S, _BLOCK = 0.2, 5
_PAIRS = 4


def find_levels(tracks: FilmTracks) -> list[Finding]:
    """The best windows by their edges and by their level, if they are good enough."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    bands = np.maximum(sounding(sound), LOWEST_DB)
    louder = louder_than_alike(sound)
    found = [*_by_level(bands, louder), *_by_edges(bands, louder)]
    return [_finding(sound, bands, *candidate) for candidate in found]


def _by_level(bands: Values, louder: Values) -> list[tuple[int, int, float]]:
    """The stretches that stand furthest above and below the rest, against how much the rest varies."""
    by = rows(_POOL_S)
    track, found = pooled(louder, by), []
    for sign in (1.0, -1.0):
        first, last, gap = step_window(sign * track, round(SHORTEST_S / _POOL_S), round(12 / _POOL_S))
        if first < rows(1.0) // by or last > len(track) - rows(1.0) // by:
            continue
        sides = np.concatenate((track[:first], track[last:]))
        start, end = exact_ends(bands, first * by, last * by, rows(0.5))
        if end - start >= rows(SHORTEST_S) and len(sides) > _BLOCK:
            varies = float(np.std(pooled(sides, _BLOCK)))
            ratio = gap / (1 + varies) * _rare((end - start) / len(bands))
            found.append((start, end, ratio * _at_once(bands, start, end, sign) / EVEN_WINDOW))
    return found


def _rare(share: float) -> float:
    """What takes half of a film is its own way."""
    return min(1.0, COMMON / share)


def _at_once(bands: Values, start: int, end: int, sign: float) -> float:
    """More where the loud moments step at both ends, in all bands alike: music and scenes swell, gain steps."""
    size = rows(BESIDE_S)
    steps = [
        np.quantile(bands[row : row + size], 0.8, axis=0) - np.quantile(bands[max(0, row - size) : row], 0.8, axis=0)
        for row in (start, end)
    ]
    both = sign * (steps[0] - steps[1]) / 2
    middle = float(np.median(both))
    spread = 1.4826 * float(np.median(np.abs(both - middle)))
    least = min(sign * float(np.median(steps[0])), -sign * float(np.median(steps[1])))
    return float(np.clip(0.5 + 0.4 * middle / (spread + 2), 0.3, 1.2) * np.clip(least / LEAST_DB, 0.5, 1.0))


def _by_edges(bands: Values, louder: Values) -> list[tuple[int, int, float]]:
    """The steps of all bands alike that undo each other best, against other such steps of the film."""
    steps = [band_steps(bands, rows(size_s)) for size_s in EDGE_SIZES_S]
    peaks = _peaks(np.max([np.abs(_alike(some)) for some in steps], axis=0))
    middles = [np.median(some, axis=1) for some in steps]
    sums = np.concatenate(([0.0], np.cumsum(louder, dtype=np.float64)))
    pairs: list[tuple[float, int, int]] = []
    for number, first in enumerate(peaks):
        for last in peaks[number + 1 :]:
            if last - first > rows(LONGEST_S):
                break
            near = [_opposite(float(middle[first]), float(middle[last])) for middle in middles]
            if last - first < rows(SHORTEST_S) or not any(near):
                continue
            strength = max(_undone(some[first], some[last]) for some, good in zip(steps, near, strict=True) if good)
            lift = float(np.sign(middles[0][first])) * _lift(sums, first, last)
            strength *= min(1.2, max(0.75, 0.9 + 0.05 * lift)) * _rare((last - first) / len(bands))
            pairs.append((strength, first, last))
    pairs.sort(reverse=True)
    # Speech starts and stops all the time: then two such steps are nothing special.
    found = []
    for strength, first, last in pairs[:_PAIRS]:
        rivals = [other for other, a, b in pairs if not {a, b} & {first, last}]
        usual = rivals[0] if rivals else 0.0
        found.append((first, last, strength / (FEW + usual) / EVEN_EDGE))
    return found


def _opposite(first_db: float, last_db: float) -> bool:
    """Whether two steps can undo each other, as far as the middle band tells."""
    return first_db * last_db < 0 and 0.4 < abs(first_db / last_db) < 2.5


def _undone(first: Values, last: Values) -> float:
    """How alike all bands step at one edge and back at the other."""
    both = (first - last) / 2
    middle = float(np.median(both))
    left_db = float(np.median(first + last))
    if abs(middle) < LEAST_DB:
        return 0.0
    spread = 1.4826 * float(np.median(np.abs(both - middle)))
    return abs(middle) / (spread + 1.5) * float(np.exp(-((left_db / (2 + 0.4 * abs(middle))) ** 2)))


def _lift(sums: Values, first: int, last: int) -> float:
    """How much louder than its like a window is, against what is beside it, by running sums."""
    start, end = max(0, first - rows(3.0)), min(len(sums) - 1, last + rows(3.0))
    inside = sums[last] - sums[first]
    beside = (sums[end] - sums[start] - inside) / max(1, end - start - last + first)
    return float(inside / (last - first) - beside)


def band_steps(bands: Values, size: int) -> Values:
    """How far each band steps at each row, by the means of so many rows before and after."""
    sums = np.concatenate((np.zeros((1, bands.shape[1])), np.cumsum(bands, axis=0, dtype=np.float64)))
    at = np.arange(size + 1, len(bands) - size - 1)
    steps = np.zeros(bands.shape, np.float32)
    steps[at] = (sums[at + size + 1] - sums[at + 1] - sums[at - 1] + sums[at - 1 - size]) / size
    return steps


def _alike(steps: Values) -> Values:
    """How far all bands step at each row, against how differently they do so; 0 where they hardly step."""
    middle = np.median(steps, axis=1)
    spread = 1.4826 * np.median(np.abs(steps - middle[:, None]), axis=1)
    return np.where(np.abs(middle) > LEAST_DB, middle / (spread + 1.5), 0.0)


def _peaks(strength: Values) -> list[int]:
    reach = rows(0.1)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(strength, reach), 2 * reach + 1).max(axis=1)
    peaks = np.flatnonzero((strength >= around) & (strength > 0.3))
    most = max(10, int(len(strength) * HOP_S))
    return sorted(int(n) for n in peaks[np.argsort(-strength[peaks])][:most])


def _finding(sound: SoundTrack, bands: Values, first: int, last: int, ratio: float) -> Finding:
    near = rows(4.0)
    inside = np.quantile(bands[first:last], 0.7, axis=0)
    beside = np.quantile(np.concatenate((bands[max(0, first - near) : first], bands[last : last + near])), 0.7, axis=0)
    return Finding(
        "level",
        first * HOP_S,
        last * HOP_S,
        confidence(min(ratio, 1 + SURE_SHARE * (ratio - 1))),
        {"change_db": round(float(np.median(inside - beside)), 1)},
        Curve("level, dB", np.arange(len(sound)) * HOP_S, np.maximum(sound.level_db, -90)),
    )
