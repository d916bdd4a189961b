"""Clipped sound: the highest samples no longer stand out from the high ones, because they were cut off; and the peaks
of many moments are alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import percentile_filter

from primitives._defects.common import Curve, Finding, Values, confidence, step_window
from primitives._defects.sound import active, exact_ends, pooled, rows
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

SHORTEST_S, LONGEST_S = 0.8, 60.0
EVEN_DB = 1.5
"""By how much less the highest samples stand out than in the rest of the film."""
FLAT_DB = 1.8
"""Unclipped sound stands out by more than this."""
ALIKE_DB, AROUND_S = 1.0, 3.0
"""Peaks so near to the highest ones within this time count as alike."""
EVEN_SHARE = 0.15
"""How much larger the share of moments with such peaks is than in the rest of the film."""
LONG_S = 3.0
"""Steady sound has peaks alike for a moment: shorter windows count less."""
SURE = 0.5
_POOL = 5
_SCALE = 4.0
"""Decibels of crest that count like one decibel of level when the ends are looked for."""


def find_clipping(tracks: FilmTracks) -> list[Finding]:
    """The stretches whose crests are lowest, and whose peaks are most alike, against the rest of the film."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(4 * SHORTEST_S):
        return []
    loud = active(sound)
    if loud.sum() < rows(1.0):
        return []
    usual = float(np.median(sound.crest_db[loud]))
    flat = np.where(loud, np.clip(usual - sound.crest_db, -2, 4), 0.0)
    highest = percentile_filter(sound.peak_db, 98, size=rows(AROUND_S) | 1)
    alike = np.where(loud, sound.peak_db > highest - ALIKE_DB, 0.0)
    alike = np.where(loud, alike - float(alike[loud].mean()), 0.0)
    found = _judged(sound, loud, alike, *_window(sound, flat, 0.4))
    if found and found[0].confidence > SURE:
        return found
    return [*found, *_judged(sound, loud, alike, *_window(sound, alike, 1.0))]


def _window(sound: SoundTrack, track: Values, reach_s: float) -> tuple[int, int]:
    """Where a track stands highest, with exact ends."""
    first, last, _ = step_window(pooled(track, _POOL), rows(SHORTEST_S) // _POOL, rows(LONGEST_S) // _POOL)
    shapes = np.column_stack((_SCALE * sound.crest_short_db - 60, _SCALE * sound.crest_db - 60, 2 * sound.peak_db - 10))
    measures = np.column_stack((shapes, shapes[:, 2:], sound.bands_db[:, ::2]))
    return exact_ends(measures, first * _POOL, last * _POOL, rows(reach_s), shares=6)


def _judged(sound: SoundTrack, loud: NDArray[np.bool_], alike: Values, first: int, last: int) -> list[Finding]:
    inside = np.zeros(len(sound), bool)
    inside[first:last] = True
    if (loud & inside).sum() < rows(SHORTEST_S) // 2 or (loud & ~inside).sum() < 10:
        return []
    low, high = (float(np.median(sound.crest_db[loud & part])) for part in (inside, ~inside))
    many, few = (float(np.mean(alike[loud & part])) for part in (inside, ~inside))
    by_crest = (high - low) / EVEN_DB * min(1.0, FLAT_DB / max(low, 0.1)) ** 2
    by_peaks = (many - few) / EVEN_SHARE * min(1.0, (last - first) * HOP_S / LONG_S)
    return [
        Finding(
            "clipping",
            first * HOP_S,
            last * HOP_S,
            confidence(max(by_crest, by_peaks)),
            {
                "crest_inside_db": round(low, 2),
                "crest_outside_db": round(high, 2),
                "more_peaks_alike": round(many - few, 2),
            },
            Curve("how far peaks stand out, dB", np.arange(len(sound)) * HOP_S, sound.crest_db),
        )
    ]
