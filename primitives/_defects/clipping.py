"""Clipped sound: the highest samples no longer stand out from the high ones, for all were cut off at one height."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from primitives._defects.common import Curve, Finding, best_stretch
from primitives._defects.sound import exact_ends, loud_rows, parts, rows, weighed
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

SHORTEST_S, LONGEST_S, BESIDE_S = 0.8, 60.0, 4.0
LOUD_DB = 26.0
CREST, FLAT, EVEN = -1.2, 0.5, 4.0
"""How a row speaks for clipping: by decibels of crest, by the logarithm of its flat share, and anyway."""
LEAST, MOST = -0.15, 3.0
"""Only the loudest moments are clipped: the others say little against it."""
FLAT_SHARE = 0.125
"""Unclipped moments hardly ever have so many of their samples at one height."""
REACH_S = 0.3
"""How far off the ends may be: crests are those of 0.3 s."""
EVEN_DB, UNEVEN_DB = 1.5, 5.0
"""How far the highest moments may lie apart, for clipped ones end at one height; and from where on it says no more."""
WEIGHTS = (1.8, 1.8, -2.0, -0.8, 7.7)
"""Of `Window.features`. The one for moments that end at different heights was set by hand, after music that is dense
without being clipped had been taken for it."""


@dataclass(frozen=True, eq=False)
class Window:
    first: int
    last: int
    inside_db: float
    """Crest."""
    beside_db: float
    flat: float
    """Share of loud moments that are flat."""
    features: tuple[float, ...]


def find_clipping(tracks: FilmTracks) -> list[Finding]:
    """The stretches whose crests are low, and whose moments are flat, while those beside them are not."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    found = [(start, part, clipped_window(part)) for start, part in parts(sound)]
    return [_finding(part, start, window) for start, part, window in found if window is not None]


def clipped_window(sound: SoundTrack) -> Window | None:
    """The best stretch, and what tells whether it is clipped."""
    loud = loud_rows(sound, LOUD_DB)
    crest = np.minimum(sound.crest_db, 9.0)
    speaks = np.clip(CREST * crest + FLAT * np.log(sound.flat + 0.01) + EVEN, LEAST, MOST)
    _, first, last = best_stretch(np.where(loud, speaks, 0.0))
    first, last = exact_ends(_shapes(sound), first, last, rows(REACH_S), shares=6)
    if not rows(SHORTEST_S) <= last - first <= rows(LONGEST_S):
        return None
    around = [slice(max(0, first - rows(BESIDE_S)), max(0, first - 10)), slice(last + 10, last + rows(BESIDE_S))]
    beside = [crest[side][loud[side]] for side in around if loud[side].sum() > 20]
    heard = loud[first:last]
    if not beside or heard.sum() < 20:
        return None
    inside_db, beside_db = float(crest[first:last][heard].mean()), min(float(side.mean()) for side in beside)
    flat = float((sound.flat[first:last][heard] > FLAT_SHARE).mean())
    highest_db = np.quantile(sound.peak_db[first:last][heard], (0.75, 0.98))
    uneven_db = float(np.clip(highest_db[1] - highest_db[0] - EVEN_DB, 0.0, UNEVEN_DB))
    features = (float(np.log(flat + 0.02)), float(np.log(heard.sum() * HOP_S)), inside_db, uneven_db)
    return Window(first, last, inside_db, beside_db, flat, features)


def _shapes(sound: SoundTrack) -> np.ndarray:
    """What changes at the ends: shape, height and colour, on one scale."""
    shapes = np.column_stack((60 * sound.flat - 60, 4 * sound.crest_db - 60, 2 * sound.peak_db - 10))
    return np.column_stack((shapes, shapes[:, 2:], sound.bands_db[:, ::2]))


def _finding(part: SoundTrack, start: int, window: Window) -> Finding:
    return Finding(
        "clipping",
        (start + window.first) * HOP_S,
        (start + window.last) * HOP_S,
        weighed(window.features, WEIGHTS),
        {
            "crest_inside_db": round(window.inside_db, 2),
            "crest_outside_db": round(window.beside_db, 2),
            "flat_moments": round(window.flat, 2),
        },
        Curve("how far peaks stand out, dB", (start + np.arange(len(part))) * HOP_S, part.crest_db),
    )
