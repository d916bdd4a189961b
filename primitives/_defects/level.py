"""A jump of level: everything is louder or softer between two edges, by the same in every band.

In steady sound (music, rooms, machines) the edges themselves show: all bands step alike, and back again. In speech they
do not, but there the loud moments of a few seconds are as loud as those of the next, and a stretch where they are not
stands out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from primitives._defects.common import Curve, Finding, Values, best_stretch
from primitives._defects.sound import Rows, exact_ends, parts, peaks, ranked, rows, weighed, wide_bands
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

SHORTEST_S, LONGEST_S, BESIDE_S, LEAST_S = 0.8, 15.0, 3.5, 0.4
AROUND_S = 0.3
"""A moment is as loud as the loudest one so near to it: pauses between syllables are none."""
PAUSE_DB = 30.0
EDGE_S = 0.04
"""Sound on each side of an edge by which its step is told."""
LEAST_DB = 3.0
EDGES_A_SECOND = 1.2
PAIRS = 20
USUAL = 6
"""The place of the edge, by strength, that is taken for a usual one."""
OVER_DB = (2.0, 3.5, 5.0, 8.0)
"""A stretch is looked for that is so much louder, or softer, than the film usually is."""
LONG_S = 3.0
"""Longer windows are no more certain."""
COMMON = 0.4
"""Those that take a larger share of the film are its own way, and less so."""
BY_EDGES = (0.35, -0.45, 3.0, -0.07, 3.0, 5.5, -9.9)
BY_STRETCH = (-0.4, -0.12, 3.8, 6.1, -8.2)
"""Weights of `Window.features`, for windows found by their edges, and by their loud moments."""
NEAR = 10
"""Rows within which two edges are the same one."""
_SOME_DB = 1.5


@dataclass(frozen=True, eq=False)
class Window:
    first: int
    last: int
    change_db: float
    by_edges: bool
    features: tuple[float, ...]

    @property
    def likely(self) -> float:
        return weighed(self.features, BY_EDGES if self.by_edges else BY_STRETCH)


def find_levels(tracks: FilmTracks) -> list[Finding]:
    """The best window by its edges, and by its loud moments, of each part."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    found = []
    for start, part in parts(sound):
        windows = level_windows(part)
        for by_edges in (True, False):
            some = [window for window in windows if window.by_edges == by_edges]
            if some:
                found.append(_finding(part, start, max(some, key=lambda window: window.likely), len(sound)))
    return found


def level_windows(sound: SoundTrack) -> list[Window]:
    """Windows that may be louder or softer, and what tells whether they are."""
    bands = wide_bands(sound)
    loud = maximum_filter1d(uniform_filter1d(bands, 3, axis=0), rows(AROUND_S) | 1, axis=0)
    level = maximum_filter1d(sound.level_db, rows(AROUND_S) | 1)
    heard = level > float(np.quantile(level[::5], 0.8)) - PAUSE_DB
    steps = _steps(bands, rows(EDGE_S))
    strength = _strength(steps)
    edges = peaks(strength, 0.5, EDGES_A_SECOND)
    pairs = sorted(_pairs(steps, edges), reverse=True)
    usual = float(np.sort(strength[edges])[-min(USUAL, len(edges)) :][0]) if len(edges) else 0.0
    found = []
    for undone, first, last in pairs[:PAIRS]:
        other = next((other for other, a, b in pairs if _apart((first, last), (a, b))), 0.0)
        seldom = min(strength[first], strength[last]) / (usual + 0.5)
        found.append(_by_edges(loud, heard, steps, first, last, (undone, other, float(seldom))))
    found += [_by_stretch(loud, heard, *window) for window in _stretches(bands, loud, heard)]
    return [window for window in found if window is not None]


def _steps(bands: Values, size: int) -> Values:
    """How far each band steps at each row, by the means of so many rows before and after."""
    sums = np.concatenate((np.zeros((1, bands.shape[1])), np.cumsum(bands, axis=0, dtype=np.float64)))
    at = np.arange(size + 1, len(bands) - size - 1)
    steps = np.zeros(bands.shape, np.float32)
    steps[at] = (sums[at + size + 1] - sums[at + 1] - sums[at - 1] + sums[at - 1 - size]) / size
    return steps


def _alike(steps: Values) -> tuple[Values, Values]:
    """How far the bands step, and how differently, by their medians."""
    middle = np.median(steps, axis=-1)
    return middle, 1.4826 * np.median(np.abs(steps - middle[..., None]), axis=-1)


def _strength(steps: Values) -> Values:
    """How far all bands step at each row, against how differently they do so; 0 where they hardly step."""
    strength = np.zeros(len(steps))
    some = np.flatnonzero(np.abs(steps.mean(axis=1)) > LEAST_DB / 2)
    middle, spread = _alike(steps[some])
    strength[some] = np.where(np.abs(middle) > LEAST_DB, np.abs(middle) / (spread + _SOME_DB), 0.0)
    return strength


def _pairs(steps: Values, edges: Rows) -> list[tuple[float, int, int]]:
    """Edges at which all bands step alike and back, and how well they undo each other."""
    first, last = (ends.ravel() for ends in np.meshgrid(edges, edges, indexing="ij"))
    near = (last - first >= rows(SHORTEST_S)) & (last - first <= rows(LONGEST_S))
    first, last = first[near], last[near]
    undone = _undone(steps[first], steps[last])
    return [(float(undone[n]), int(first[n]), int(last[n])) for n in np.flatnonzero(undone > 0.5)]


def _undone(first: Values, last: Values) -> Values:
    """How alike all bands step at one edge and back at others."""
    middle, spread = _alike((first - last) / 2)
    left_db = np.median(first + last, axis=-1)
    size = np.where(np.abs(middle) > LEAST_DB, np.abs(middle), 0.0)
    return np.asarray(size / (spread + _SOME_DB) * np.exp(-((left_db / (2 + 0.4 * size)) ** 2)))


def _apart(ours: tuple[int, int], theirs: tuple[int, int]) -> bool:
    return all(abs(a - b) > NEAR for a in ours for b in theirs)


def _stretches(bands: Values, loud: Values, heard: NDArray[np.bool_]) -> set[tuple[int, int]]:
    """Stretches that are louder, or softer, than the film usually is, by several measures of louder."""
    level = loud.mean(axis=1)
    usual = float(np.median(level[heard]))
    found = set()
    for sign in (1, -1):
        for over_db in OVER_DB:
            _, first, last = best_stretch(np.where(heard, np.clip(sign * (level - usual) - over_db, -6, 6), 0.0))
            if rows(SHORTEST_S) <= last - first <= rows(LONGEST_S):
                found.add(exact_ends(bands, first, last, rows(0.4)))
    return found


@dataclass(frozen=True)
class _Shift:
    """How the loud moments of a window differ from those on both sides of it."""

    change_db: float
    weaker_db: float
    """The smaller one of both changes."""
    spread_db: float
    """How differently bands change."""
    sides_db: float
    """How much the sides differ from each other."""

    @property
    def clear(self) -> float:
        return self.weaker_db / (self.spread_db + self.sides_db / 2 + _SOME_DB)


def _shift(loud: Values, heard: NDArray[np.bool_], first: int, last: int) -> _Shift | None:
    size = rows(BESIDE_S)
    spans = slice(max(0, first - size), max(0, first - 3)), slice(last + 3, last + size), slice(first + 3, last - 3)
    some = [loud[span][heard[span]][::3] for span in spans]
    if 3 * min(map(len, some)) < rows(LEAST_S):
        return None
    before, after, inside = (ranked(part, (0.3, 0.6, 0.9)) for part in some)
    changes = inside - before, inside - after
    middle = float(np.median(sum(changes) / 2))
    sign = 1 if middle >= 0 else -1
    return _Shift(
        middle,
        min(sign * float(np.median(change)) for change in changes),
        float(np.median(np.abs(sum(changes) / 2 - middle))),
        float(np.median(np.abs(after - before))),
    )


def _by_edges(
    loud: Values, heard: NDArray[np.bool_], steps: Values, first: int, last: int, edges: tuple[float, ...]
) -> Window | None:
    shift = _shift(loud, heard, first, last)
    if shift is None:
        return None
    stepped_db = float(np.median(steps[first] - steps[last])) / 2
    unlike_db = min(8.0, abs(stepped_db - shift.change_db))
    features = (*edges, unlike_db, shift.clear, _length(first, last))
    return Window(first, last, shift.change_db, True, features)


def _by_stretch(loud: Values, heard: NDArray[np.bool_], first: int, last: int) -> Window | None:
    shift = _shift(loud, heard, first, last) if last - first >= rows(SHORTEST_S) else None
    if shift is None:
        return None
    features = (shift.spread_db, shift.sides_db, shift.clear, _length(first, last))
    return Window(first, last, shift.change_db, False, features)


def _length(first: int, last: int) -> float:
    return float(np.log(min((last - first) * HOP_S, LONG_S)))


def _finding(part: SoundTrack, start: int, window: Window, total: int) -> Finding:
    rare = min(1.0, COMMON * total / (window.last - window.first))
    return Finding(
        "level",
        (start + window.first) * HOP_S,
        (start + window.last) * HOP_S,
        round(rare * window.likely, 3),
        {"change_db": round(window.change_db, 1)},
        Curve("level, dB", (start + np.arange(len(part))) * HOP_S, np.maximum(part.level_db, -90)),
    )
