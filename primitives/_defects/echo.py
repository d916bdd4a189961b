"""Room echo: loud sound no longer breaks off, for a room dies away slowly. For voices; music hides it.

A voice falls by 15 dB within 60 ms time and again, in every band. A room of half a second or more lets nothing fall so
fast. So each loud moment of each band speaks for a room or against it, and the stretch that speaks for it most is it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

from primitives._defects.common import Curve, Finding, Values, best_stretch
from primitives._defects.sound import parts, rows, weighed
from primitives._tracks import FLOOR_DB, HOP_S, STEP_DB, FilmTracks, SoundTrack

FALL_S, FALL_DB = 0.06, 15.0
LOUD_DB, LOWEST_DB = 20.0, -85.0
"""A band is loud so near to its loud moments, if there is anything at all."""
FEWER = 0.15
"""The share of such falls that is left in a room."""
SHORTEST_S, LONGEST_S, BESIDE_S = 0.8, 30.0, 4.0
LEAST_LOUD = 200
"""Loud moments, of all bands, without which the sound beside a window tells nothing."""
FILLED = 0.4
"""Noise fills all bands, a room does not: the logarithm of how many more are loud, from which on it counts against."""
WEIGHTS = (1.34, 2.3, -11.8, -17.2)
"""Of `Window.features`."""


@dataclass(frozen=True, eq=False)
class Window:
    first: int
    last: int
    inside: float
    """Share of loud moments that are followed by a fall."""
    beside: float
    """The same on the side where there are fewer."""
    features: tuple[float, ...]


def find_echo(tracks: FilmTracks) -> list[Finding]:
    """The stretches in which falls are missing."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    found = [(start, part, echo_window(part)) for start, part in parts(sound)]
    return [_finding(part, start, window) for start, part, window in found if window is not None]


def echo_window(sound: SoundTrack) -> Window | None:
    """The best stretch, and what tells whether it is a room."""
    falls, loud = _falls(sound)
    around = min(len(sound), rows(40.0)) | 1
    usual = uniform_filter1d(falls, around) / np.maximum(uniform_filter1d(loud, around), 1e-3)
    usual = np.clip(usual, 1e-4, 0.5)
    speaks = falls * np.log(FEWER) + (loud - falls) * np.log((1 - FEWER * usual) / (1 - usual))
    _, first, last = best_stretch(speaks)
    if not rows(SHORTEST_S) <= last - first <= rows(LONGEST_S):
        return None
    beside = [slice(max(0, first - rows(BESIDE_S)), first), slice(last, last + rows(BESIDE_S))]
    if min(loud[side].sum() for side in beside) < LEAST_LOUD:
        return None
    # The end itself is a fall: there the room breaks off.
    within = slice(first, last - rows(FALL_S))
    inside = float((falls[within].sum() + 5) / (loud[within].sum() + 100))
    fewest = min(float(falls[side].sum() / loud[side].sum()) for side in beside)
    filled = float(np.log(loud[within].mean() / np.concatenate([loud[side] for side in beside]).mean()))
    missing = fewest * float(loud[within].sum())
    features = (float(np.log(fewest / inside + 0.01)), float(np.log(missing + 1)), max(0.0, filled - FILLED))
    return Window(first, last, inside, fewest, features)


def _falls(sound: SoundTrack) -> tuple[Values, Values]:
    """How many bands fall fast from each row on, and how many are loud."""
    bands, hop = sound.bands.astype(np.int16), rows(FALL_S)
    top = np.quantile(sound.bands[::5], 0.95, axis=0)
    loud = bands > np.maximum(top - LOUD_DB / STEP_DB, (LOWEST_DB - FLOOR_DB) / STEP_DB)
    falls = np.zeros(len(sound))
    falls[:-hop] = (loud[:-hop] & (bands[:-hop] - bands[hop:] > FALL_DB / STEP_DB)).sum(axis=1)
    return falls, loud.sum(axis=1).astype(np.float64)


def _finding(part: SoundTrack, start: int, window: Window) -> Finding:
    falls, loud = _falls(part)
    size = rows(0.5)
    share = uniform_filter1d(falls, size) / np.maximum(uniform_filter1d(loud, size), 1)
    return Finding(
        "echo",
        (start + window.first) * HOP_S,
        (start + window.last) * HOP_S,
        weighed(window.features, WEIGHTS),
        {"falls_inside": round(window.inside, 3), "falls_outside": round(window.beside, 3)},
        Curve("loud moments that break off, share", (start + np.arange(len(part))) * HOP_S, share),
    )
