"""Background noise that comes at once, stays, and goes at once: between two edges no band falls back to its floor.

Each moment at which a band is quiet speaks against noise there, each at which it is not a little for it. Noise need not
fill all bands, so some ranges of them are looked at by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import minimum_filter1d, uniform_filter1d

from primitives._defects.common import Curve, Finding, Values, best_stretch
from primitives._defects.sound import parts, peaks, ranked, rows, weighed, wide_bands
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

RANGES = (slice(0, 20), slice(0, 5), slice(0, 10), slice(5, 15), slice(10, 20), slice(15, 20))
QUIET, STILL_QUIET = 0.3, 0.03
"""Share of a band's moments that are called quiet, and that are left under noise."""
SHORTEST_S, LONGEST_S, BESIDE_S, LEAST_S = 0.8, 20.0, 3.0, 0.6
EDGE_S, EDGE_DB = 0.25, 4.0
"""Sound on each side of an edge whose floor is compared, and by how much it must step."""
FULLY = 0.8
PAIRS = 3
LONG_S = 3.0
"""Longer windows are no more certain."""
WEIGHTS = (0.72, -1.7, 4.6, -3.6)
"""Of `Window.features`."""


@dataclass(frozen=True, eq=False)
class Window:
    first: int
    last: int
    lifted_db: float
    """By how much the floor stands over that of both sides."""
    features: tuple[float, ...]


def find_noise(tracks: FilmTracks) -> list[Finding]:
    """Stretches in which the floor never falls back to what it is right before and after."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(3 * SHORTEST_S):
        return []
    found = []
    for start, part in parts(sound):
        best = max(noise_windows(part), key=lambda window: weighed(window.features, WEIGHTS), default=None)
        if best is not None:
            found.append(_finding(part, start, best))
    return found


def noise_windows(sound: SoundTrack) -> list[Window]:
    """The best stretches of each range of bands, and what tells whether they are noise."""
    bands = uniform_filter1d(wide_bands(sound), 3, axis=0)
    quiet = bands < np.quantile(bands[::3], QUIET, axis=0)
    share = np.clip(quiet.mean(axis=0), 0.02, 0.6)
    speaks = np.where(quiet, np.log(STILL_QUIET / share), np.log((1 - STILL_QUIET) / (1 - share)))
    steps = _floor_steps(bands)
    found = []
    for some in RANGES:
        means, edges = speaks[:, some].mean(axis=1), steps[:, some].mean(axis=1)
        windows = {_at_edges(edges, *window) for window in (best_stretch(means)[1:], *_between_edges(means, edges))}
        judged = (_judged(bands[:, some], first, last) for first, last in windows)
        found += [window for window in judged if window is not None]
    return found


def _floor_steps(bands: Values) -> Values:
    """How much higher the floor of each band is right after each row than right before it."""
    size = rows(EDGE_S)
    lowest = minimum_filter1d(bands, size, axis=0, mode="nearest")
    steps = np.zeros_like(bands)
    half = size // 2 + 1
    steps[half:-half] = lowest[2 * half :] - lowest[: -2 * half]
    return steps


def _between_edges(speaks: Values, steps: Values) -> Iterator[tuple[int, int]]:
    """The stretches from an edge up to an edge down that step most, where rows speak for noise."""
    ups, downs = peaks(steps, EDGE_DB, 0.4), peaks(-steps, EDGE_DB, 0.4)
    first, last = (ends.ravel() for ends in np.meshgrid(ups, downs, indexing="ij"))
    good = (last - first >= rows(SHORTEST_S)) & (last - first <= rows(LONGEST_S))
    first, last = first[good], last[good]
    sums = np.concatenate(([0.0], np.cumsum(speaks)))
    means = (sums[last] - sums[first]) / np.maximum(last - first, 1)
    strength = np.minimum(steps[first], -steps[last]) * np.clip(means, 0, None)
    for place in np.argsort(-strength)[:PAIRS]:
        if strength[place] > 0:
            yield int(first[place]), int(last[place])


def _at_edges(steps: Values, first: int, last: int) -> tuple[int, int]:
    """The same window from the first row at which the floor steps up fully to the last at which it steps down."""
    reach = rows(EDGE_S)
    return _earliest(steps, first, reach), len(steps) - 1 - _earliest(-steps[::-1], len(steps) - 1 - last, reach)


def _earliest(steps: Values, row: int, reach: int) -> int:
    """The floor is that of what follows: it is still low before an edge, and has stepped for as long after it."""
    start = max(0, row - reach)
    near = steps[start : row + reach // 2]
    return start + int(np.argmax(near > FULLY * near.max())) if len(near) and near.max() > EDGE_DB else row


def _judged(bands: Values, first: int, last: int) -> Window | None:
    size, edge = rows(BESIDE_S), rows(EDGE_S)
    sides = bands[max(0, first - size) : max(0, first - 3)], bands[last + 3 : last + size]
    if last - first < rows(SHORTEST_S) or min(map(len, sides)) < rows(LEAST_S):
        return None
    before, after, inside = (ranked(some[::2], (0.05, 0.1, 0.5)) for some in (*sides, bands[first + 3 : last - 3]))
    lift_db = float((inside[1] - np.maximum(before[1], after[1])).mean())
    ends = [float(ranked(bands[a:b], (0.2,)).mean()) for a, b in _ends(first, last, edge)]
    least_db = min(lift_db, ends[1] - ends[0], ends[2] - ends[3])
    # Noise is steady: its median is hardly over its floor.
    range_db = float((inside[2] - inside[0]).mean())
    length = min(np.log((last - first) * HOP_S), np.log(LONG_S))
    return Window(first, last, lift_db, (least_db / (range_db + 1.5), float(np.log(range_db + 0.5)), float(length)))


def _ends(first: int, last: int, size: int) -> list[tuple[int, int]]:
    """Right before and in the window's start, right in and after its end."""
    return [
        (max(0, first - 2 - size), max(1, first - 2)),
        (first + 2, first + 2 + size),
        (last - 2 - size, last - 2),
        (last + 2, last + 2 + size),
    ]


def _finding(part: SoundTrack, start: int, window: Window) -> Finding:
    floor = minimum_filter1d(uniform_filter1d(wide_bands(part), 3, axis=0), rows(EDGE_S), axis=0).mean(axis=1)
    first, last = window.first, window.last
    outside = np.concatenate((floor[: max(1, first - 20)], floor[last + 20 :]))
    return Finding(
        "noise",
        (start + first) * HOP_S,
        (start + last) * HOP_S,
        weighed(window.features, WEIGHTS),
        {
            "floor_inside_db": round(float(np.median(floor[first + 10 : last - 10])), 1),
            "floor_outside_db": round(float(np.median(outside)), 1),
            "held_above_both_sides_db": round(window.lifted_db, 1),
        },
        Curve("floor of the sound, dB", (start + np.arange(len(floor))) * HOP_S, floor),
    )
