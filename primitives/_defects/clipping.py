"""Clipped sound: the highest samples no longer stand out from the high ones, because they were cut off."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, confidence, step_window
from primitives._defects.sound import active, exact_ends, pooled, rows
from primitives._tracks import HOP_S, FilmTracks

SHORTEST_S, LONGEST_S = 0.8, 60.0
EVEN_DB = 1.5
"""By how much less the highest samples stand out than in the rest of the film."""
FLAT_DB = 1.8
"""Unclipped sound stands out by more than this."""
_POOL = 5
_SCALE = 4.0
"""Decibels of crest that count like one decibel of level when the ends are looked for."""


def find_clipping(tracks: FilmTracks) -> list[Finding]:
    """The stretch whose crests are lowest against the rest of the film."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    loud = active(sound)
    if loud.sum() < rows(1.0):
        return []
    usual = float(np.median(sound.crest_db[loud]))
    flat = np.where(loud, np.clip(usual - sound.crest_db, -2, 4), 0.0)
    first, last, _ = step_window(pooled(flat, _POOL), rows(SHORTEST_S) // _POOL, rows(LONGEST_S) // _POOL)
    first, last = first * _POOL, last * _POOL
    shapes = np.column_stack((_SCALE * sound.crest_short_db - 60, _SCALE * sound.crest_db - 60, 2 * sound.peak_db - 10))
    measures = np.column_stack((shapes, shapes[:, 2:], sound.bands_db[:, ::2]))
    first, last = exact_ends(measures, first, last, rows(0.4), shares=6)
    inside = np.zeros(len(sound), bool)
    inside[first:last] = True
    if (loud & inside).sum() < rows(SHORTEST_S) // 2 or (loud & ~inside).sum() < 10:
        return []
    low, high = (float(np.median(sound.crest_db[loud & part])) for part in (inside, ~inside))
    ratio = (high - low) / EVEN_DB * min(1.0, FLAT_DB / max(low, 0.1)) ** 2
    return [
        Finding(
            "clipping",
            first * HOP_S,
            last * HOP_S,
            confidence(ratio),
            {"crest_inside_db": round(low, 2), "crest_outside_db": round(high, 2)},
            Curve("how far peaks stand out, dB", np.arange(len(sound)) * HOP_S, sound.crest_db),
        )
    ]
