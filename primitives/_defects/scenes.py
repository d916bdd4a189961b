"""Where the scene changes, as against the same scene in other colours. Pure."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Values
from primitives._tracks import PictureTrack

SAME = 2.2
"""Grey levels by which cells of the same scene may differ once its colours are matched, beside its motion."""
MOTION = 1.5
BLANK = 0.4
_NEAR = 12


def unexplained(picture: PictureTrack, frame: int) -> float:
    """How much a frame differs from the one before once the colours of all cells were matched, in grey levels."""
    before, after = (picture.cells[n].astype(np.float64).reshape(3, -1) for n in (frame - 1, frame))
    return float(np.mean([np.abs(y - _matched(x, y)).mean() for x, y in zip(before, after, strict=True)]))


def _matched(x: Values, y: Values) -> Values:
    slope = float(((x - x.mean()) * (y - y.mean())).mean() / (x.var() + 1.0))
    return np.asarray(y.mean() + slope * (x - x.mean()))


def same_scene(picture: PictureTrack, frame: int) -> bool:
    """Whether a frame shows what the one before shows, whatever happened to its colours. A blank one shows nothing."""
    contrasts = sorted(float(picture.cells[n, 0].std()) for n in (frame - 1, frame))
    if contrasts[0] < BLANK * contrasts[1]:
        return False
    low, high = max(1, frame - _NEAR), min(len(picture), frame + _NEAR)
    near = [n for n in range(low, high) if n != frame]
    usual = (
        float(np.median(np.abs(picture.flat[near] - picture.flat[[n - 1 for n in near]]).mean(axis=1))) if near else 0.0
    )
    return unexplained(picture, frame) < SAME + MOTION * usual


def scene_cuts(picture: PictureTrack) -> list[int]:
    """First frames of shots, without the cuts that are only a change of colours."""
    return [frame for frame in picture.cuts if not same_scene(picture, frame)]
