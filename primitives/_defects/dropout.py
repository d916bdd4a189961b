"""Dropped sound: nothing at all for a moment, where there was sound right before and after."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, confidence, runs
from primitives._defects.sound import GONE_DB, rows
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

SHORTEST_S = 0.05
BESIDE_S = 0.15
BEFORE = 0.5
QUIET_DB, EVEN_DB = 28.0, 7.0
"""Sound so far below the film's loud parts may end by itself; what is cut off stands above that by EVEN_DB."""


def find_dropouts(tracks: FilmTracks) -> list[Finding]:
    """Runs of digital silence with abrupt ends. A film that is often silent makes each less certain."""
    sound = tracks.sound
    if sound is None:
        return []
    gone = sound.level_db < GONE_DB
    found = []
    for first, last in runs(gone):
        if first == 0 or last >= len(sound) - 1 or last - first < rows(SHORTEST_S):
            continue
        beside = beside_db(sound, first, last)
        elsewhere = np.delete(gone, np.s_[first:last])
        often = float(elsewhere.mean()) if len(elsewhere) else 0.0
        # Sound may well set in at once, but seldom breaks off so: the side before a gap tells more.
        over_db = max(beside - quiet_db(sound), BEFORE * (side_db(sound, first) - quiet_db(sound)))
        ratio = min(4.0, over_db / EVEN_DB) * float(np.exp(-4 * often))
        found.append(
            Finding(
                "dropout",
                first * HOP_S,
                last * HOP_S,
                confidence(ratio),
                {"level_beside_db": round(beside, 1), "silent_elsewhere": round(often, 3)},
                Curve("level, dB", np.arange(len(sound)) * HOP_S, np.maximum(sound.level_db, -100)),
            )
        )
    return found


def quiet_db(sound: SoundTrack) -> float:
    """The level at which the film's sound may end by itself."""
    return float(np.quantile(sound.level_db, 0.9)) - QUIET_DB


def beside_db(sound: SoundTrack, first: int, last: int) -> float:
    """The level right beside a gap, on its quieter side."""
    return min(side_db(sound, first), side_db(sound, last + rows(BESIDE_S)))


def side_db(sound: SoundTrack, row: int) -> float:
    """The level right before a row. The coder smears an edge: the loudest rows tell."""
    return float(np.quantile(sound.level_db[max(0, row - rows(BESIDE_S)) : row], 0.8))
