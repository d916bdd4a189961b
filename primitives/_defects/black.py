"""Black frames inside the film: a picture that goes out and comes back at once."""

from __future__ import annotations

import numpy as np

from primitives._cuts import EVEN
from primitives._defects.common import Curve, Finding, confidence, runs
from primitives._tracks import FilmTracks, PictureTrack

DARKEST = 24.0
"""Luma that hardly any part of a black frame exceeds (black is 16 in film, 0 in some)."""
SHORTEST_S = 0.06
SUDDEN = 8.0
"""Black that comes and goes at once is hardly ever a film's own."""
LIT = 20.0
"""Grey levels by which the frames beside a black one must be brighter."""


def find_black(tracks: FilmTracks) -> list[Finding]:
    """Runs of black frames that begin and end at once. Fades and black at the ends of a film are its own."""
    picture = tracks.picture
    if picture is None:
        return []
    found = []
    for first, last in runs(picture.bright < DARKEST):
        length_s = float(picture.times_s[last] - picture.times_s[first])
        if first == 0 or last == len(picture) or length_s < SHORTEST_S:
            continue
        beside = [float(picture.bright[n]) - DARKEST for n in (first - 1, last)]
        faded = any(
            change.kind == "fade" and change.strength >= EVEN and change.start <= last and change.end >= first
            for change in picture.changes
        )
        ratio = SUDDEN * min(1.0, min(beside) / LIT) ** 2 * (0.3 if faded and _gradual(picture, first, last) else 1.0)
        found.append(
            Finding(
                "black",
                float(picture.times_s[first]),
                float(picture.times_s[last]),
                confidence(ratio),
                {
                    "luma_inside": round(float(picture.luma[first:last].mean()), 1),
                    "luma_beside": round(min(beside) + DARKEST, 1),
                },
                Curve("brightest luma", picture.times_s[:-1], picture.bright),
            )
        )
    return found


def _gradual(picture: PictureTrack, first: int, last: int) -> bool:
    """Whether light goes or comes over several frames."""
    before, after = picture.bright[max(0, first - 6) : first], picture.bright[last : last + 6]
    falls = len(before) > 3 and bool(np.all(np.diff(before) <= 1)) and before[0] - before[-1] > LIT
    rises = len(after) > 3 and bool(np.all(np.diff(after) >= -1)) and after[-1] - after[0] > LIT
    return falls or rises
