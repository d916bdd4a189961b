"""Frozen frames: the picture stops at once and goes on at once. A scene that comes to rest by itself does neither."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Curve, Finding, confidence, runs
from primitives._tracks import FilmTracks, PictureTrack

STILL = 0.5
"""A frame that differs by less repeats the one before it. Keyframes, whose coding noise is another, may differ more."""
STILL_AT_KEYFRAME = 5.0
SETTLING = 0.2
"""The first repeats of a frame may still be refined by the coder: by this share of the motion before."""
SHORTEST_S = 0.25
BESIDE = 8
"""Frames on each side in which the film must move."""
AT_CUT = {(False, False): 1.0, (False, True): 0.6, (True, False): 0.28, (True, True): 0.1}
"""What a run counts whose start, or end, falls on a cut. The jump that ends a freeze may itself be taken for a cut."""
_EVEN_MOTION = 0.5
_DARKEST = 24


def still_frames(picture: PictureTrack) -> NDArray[np.bool_]:
    """Frames that repeat the one before."""
    still = picture.moved < STILL
    calm = np.zeros_like(still)
    calm[1:-1] = still[:-2] & still[2:]
    still |= calm & (picture.moved < np.where(picture.keyframes, STILL_AT_KEYFRAME, 3 * STILL))
    still[0] = False
    return still


def find_freezes(tracks: FilmTracks) -> list[Finding]:
    """Runs of repeated frames with motion right before and after. A film that often rests makes each less certain."""
    picture = tracks.picture
    if picture is None or len(picture) < 5:
        return []
    still = still_frames(picture) & (picture.bright >= _DARKEST)
    stretches = [(a, b) for a, b in runs(still) if picture.times_s[b] - picture.times_s[a] >= SHORTEST_S]
    resting = np.zeros(len(picture), bool)
    for first, last in stretches:
        resting[first:last] = True
    return [_finding(picture, resting, first, last) for first, last in stretches]


def _finding(picture: PictureTrack, resting: NDArray[np.bool_], first: int, last: int) -> Finding:
    moved = picture.moved
    before, after = (_motion(picture, range(a, b)) for a, b in ((first - BESIDE, first), (last + 1, last + 1 + BESIDE)))
    if before and moved[first - 1] < min(3.0, SETTLING * before) and first - 1 not in picture.cuts:
        first -= 1
    inside = float(moved[first + 1 : last].mean()) if last - first > 1 else 0.0
    elsewhere = np.delete(resting, np.s_[first:last])
    often = float(elsewhere.mean()) if len(elsewhere) else 0.0
    motion = min(before, after)
    # A still shot between two cuts, or one that a film ends with, is no defect by itself.
    cut = first in picture.cuts or first <= 1, last in picture.cuts or last == len(picture)
    ratio = min(3.5, motion / (_EVEN_MOTION + 10 * inside)) * float(np.exp(-2.5 * often)) * AT_CUT[cut]
    return Finding(
        "freeze",
        float(picture.times_s[first]),
        float(picture.times_s[last]),
        confidence(ratio),
        {
            "motion_inside": round(inside, 2),
            "motion_beside": round(motion, 2),
            "jump_after": round(float(moved[last]) / max(after, 0.1), 1) if last < len(picture) else 0.0,
            "still_elsewhere": round(often, 3),
        },
        Curve("motion, grey levels", picture.times_s[:-1], np.minimum(moved, 4 * max(motion, 1.0))),
    )


def _motion(picture: PictureTrack, frames: range) -> float:
    """How much the film moves there, cuts aside; uneven where frames are doubled."""
    inside = [n for n in frames if 0 < n < len(picture) and n not in picture.cuts]
    return float(np.median(picture.moved[inside])) if len(inside) > 2 else 0.0
