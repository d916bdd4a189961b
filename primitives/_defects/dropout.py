"""Dropped sound: nothing at all for a moment, where there was sound right before and after."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding
from primitives._defects.gaps import LONG_S, Gap, find_gaps
from primitives._tracks import HOP_S, FilmTracks, SoundTrack

OFTEN = -4.0
"""A film that is often silent makes each gap less certain."""
DOUBT = 0.5


def find_dropouts(tracks: FilmTracks) -> list[Finding]:
    """Gaps that cut sound off. Where it goes on as if nothing had been lost, it is late rather than lost."""
    if tracks.sound is None:
        return []
    late = tracks.picture is not None
    return [_finding(tracks.sound, gap, late) for gap in find_gaps(tracks.sound)]


def _finding(sound: SoundTrack, gap: Gap, late: bool) -> Finding:
    lost = (1 - gap.goes_on) ** DOUBT if late else 1.0
    lost *= min(1.0, LONG_S / ((gap.last - gap.first) * HOP_S))
    return Finding(
        "dropout",
        gap.first * HOP_S,
        gap.last * HOP_S,
        round(gap.cut * lost * float(np.exp(OFTEN * gap.elsewhere)), 3),
        {"level_beside_db": round(gap.beside_db, 1), "silent_elsewhere": round(gap.elsewhere, 3)},
        Curve("level, dB", np.arange(len(sound)) * HOP_S, np.maximum(sound.level_db, -100)),
    )
