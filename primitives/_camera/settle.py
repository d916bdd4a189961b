"""Steps that a later picture proves wrong: a camera which is where it was has not moved, whatever passed before it.

Something large that crosses the picture looks like a moving camera while it does. Once it is gone, the picture is the
one from before: so pictures some time apart are compared where they are and where the steps say they should be.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._camera.steps import LOOK_PX, Steps
from primitives._camera.track import Floats

Look = NDArray[np.float32]
"""A tiny picture without its light."""

FURTHEST = 30
"""How many looks apart are compared: a dozen seconds."""
LEAST_WAY = 0.1
"""Picture heights that the steps must claim for a comparison to tell."""
LIKE, LIKER = 0.8, 0.1
"""How alike two pictures must be where they are, and by how much more than where the steps put them."""
FOLLOWED = 0.5
"""From this likeness on, the pictures in between lie where the steps put them: the camera went and came back."""
_BELIEVED = 0.5
_LEAST_SHARED = 0.2
_FLAT = 2.0


def settled(steps: Steps) -> Steps:
    """The steps, still wherever the pictures before and after are in the same place."""
    if len(steps.look_frames) < 2 or not len(steps.frames):
        return steps
    path = _path(steps)
    moves, support = steps.moves.copy(), steps.support.copy()
    looks = [_without_light(look) for look in steps.looks]
    first = 0
    while first < len(looks):
        last = _back_at(looks, path, first, steps.aspect)
        if last > first:
            starts, ends = steps.frames.T
            between = (starts >= steps.look_frames[first]) & (ends <= steps.look_frames[last])
            moves[between] = 0.0
            support[between] = np.maximum(support[between], _BELIEVED)
        first = max(last, first + 1)
    return replace(steps, moves=moves, support=support)


def _back_at(looks: list[Look], path: list[Floats], first: int, aspect: float) -> int:
    """The last look that shows the camera where it was at `first`, against what the steps say; else `first`."""
    home = np.linalg.inv(path[first])
    ways = {
        last: path[last] @ home
        for last in range(first + 1, min(first + FURTHEST, len(looks) - 1) + 1)
        if _length(path[last] @ home, aspect) >= LEAST_WAY
    }
    for last in sorted(ways, reverse=True):
        stayed = _alike(looks[first].ravel(), looks[last].ravel())
        if stayed < LIKE or stayed < _alike_moved(looks[first], looks[last], ways[last], aspect) + LIKER:
            continue
        followed = [_alike_moved(looks[first], looks[n], ways[n], aspect) for n in ways if n < last]
        if not followed or float(np.median(followed)) < FOLLOWED:
            return last
    return first


def _path(steps: Steps) -> list[Floats]:
    """Of each look, how its picture lies to the first step's: 3 x 3 matrices over points in heights."""
    found, at, place = [], np.eye(3), 0
    for frame in steps.look_frames:
        while place < len(steps.frames) and steps.frames[place, 1] <= frame:
            x, y, growth, turn = steps.moves[place]
            cosine, sine = np.exp(growth) * np.cos(turn), np.exp(growth) * np.sin(turn)
            at = np.array([[cosine, -sine, x], [sine, cosine, y], [0, 0, 1]]) @ at
            place += 1
        found.append(at)
    return found


def _length(way: Floats, aspect: float) -> float:
    """How far the points of a picture go, on the whole."""
    points = np.array([[x * aspect, y, 1] for x in (-0.3, 0.3) for y in (-0.3, 0.3)]).T
    return float(np.linalg.norm((way @ points - points)[:2], axis=0).mean())


def _without_light(look: NDArray[np.uint8]) -> Look:
    grey = look.reshape(LOOK_PX[1], LOOK_PX[0]).astype(np.float32)
    return np.asarray(grey - cv2.GaussianBlur(grey, (0, 0), 4), np.float32)


def _alike_moved(before: Look, after: Look, way: Floats, aspect: float) -> float:
    """How alike two looks are where the first, moved, shows the same part; 0 where it hardly does."""
    width, height = LOOK_PX
    to_pixels = np.array([[width / aspect, 0, width / 2 - 0.5], [0, height, height / 2 - 0.5], [0, 0, 1]])
    matrix = (to_pixels @ way @ np.linalg.inv(to_pixels))[:2]
    moved = np.asarray(cv2.warpAffine(before, matrix, LOOK_PX, flags=cv2.INTER_LINEAR), np.float32)
    seen = cv2.warpAffine(np.ones_like(before), matrix, LOOK_PX, flags=cv2.INTER_NEAREST) > 0.5
    return _alike(moved[seen], after[seen]) if seen.mean() >= _LEAST_SHARED else 0.0


def _alike(a: Look, b: Look) -> float:
    if min(float(a.std()), float(b.std())) < _FLAT:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
