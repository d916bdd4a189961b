"""The same scene just outside and just inside a range: pairs of pictures laid over each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._colour.fit import LEAST_ROWS, Evidence, Samples, belonging, joined
from primitives._flow import correlation, fetched, motion, targets
from primitives._media.picture import Pixels, resize

WIDTH_PX = 320
THUMB_PX = (64, 36)
SAME_SCENE = 0.8
"""Correlation of equalised thumbnails from which two pictures show the same scene."""
DRIFT = 1 / 255
"""Change of light from frame to frame that hardly disturbs a fit."""
NO_STEP = 0.35
"""Share of the other end's step below which an end has none: the range ends before the defect does."""
_FLAT = 0.06
_CONSISTENT_PX = 1.0


def likeness(a: Pixels, b: Pixels) -> float:
    """How much two pictures show the same things, whatever their colours: 1 is the same, around 0 unrelated."""
    return correlation(_thumb(a), _thumb(b))


def _thumb(picture: Pixels) -> NDArray[np.float32]:
    small = cv2.cvtColor(resize(picture, *THUMB_PX), cv2.COLOR_BGR2GRAY)
    return cv2.equalizeHist(small).astype(np.float32)


def align(inside: Pixels, outside: Pixels) -> Evidence:
    """Samples of two pictures of one scene: moved over each other, sharp edges left out."""
    a, b = _even(inside), _even(outside)
    there, back = motion(a, b), motion(b, a)
    height, width = a.shape
    where = targets(there)
    moved = fetched(outside, where)
    returned = there + fetched(back, where)
    in_view = (where >= 0).all(axis=2) & (where[..., 0] < width) & (where[..., 1] < height)
    keep = in_view & (np.linalg.norm(returned, axis=2) < _CONSISTENT_PX) & _flat(inside) & _flat(moved)
    rows = Evidence(_rgb(inside)[keep.ravel()], _rgb(moved)[keep.ravel()], aligned=True)
    return belonging(rows) if len(rows.x) >= LEAST_ROWS else rows


@dataclass(frozen=True, eq=False)
class Edge:
    """What one end of a range shows: pairs across it, and how much the scene's own light drifts there."""

    frame: int
    """The first frame after the end."""
    pairs: list[Evidence]
    drift: float
    step: float
    """How far the colours jump across it."""


def edge(frame: int, inside: list[Pixels], outside: list[Pixels], check: Callable[[], None]) -> Edge:
    """Pictures on both sides of an end, the nearest first."""
    pairs, drifts = [], []
    for a, b in zip(inside, outside, strict=False):
        check()
        pairs.append(align(a, b))
    pairs = [pair for pair in pairs if len(pair.x) >= LEAST_ROWS]
    for side in (side for side in (inside, outside) if len(side) > 1):
        check()
        drifts.append(_drift(side[0], side[-1]))
    step = float(np.sqrt(np.mean((pairs[0].x - pairs[0].y) ** 2))) if pairs else 0.0
    return Edge(frame, pairs, max(drifts, default=0.0), step)


def _drift(a: Pixels, b: Pixels) -> float:
    rows = align(a, b)
    return float(np.abs((rows.y - rows.x).mean(axis=0)).max()) if len(rows.x) >= LEAST_ROWS else 1.0


def telling(edges: list[Edge]) -> list[Edge]:
    """The ends to fit on: not those where the light itself drifts, nor those without a step where another has one."""
    least = min((end.drift for end in edges), default=0.0)
    calm = [end for end in edges if end.drift <= 2 * least + DRIFT]
    most = max((end.step for end in calm), default=0.0)
    return [end for end in calm if end.step >= NO_STEP * most]


def parts_of(edges: list[Edge]) -> list[Evidence]:
    """The pairs as parts that can be held out: by end, or by picture where one end is all there is."""
    return edges[0].pairs if len(edges) == 1 else [joined(end.pairs) for end in edges]


def samples(picture: Pixels) -> Samples:
    """All of a picture as RGB rows."""
    return _rgb(picture)


def _even(picture: Pixels) -> NDArray[np.uint8]:
    """Brightness with the grade taken out, so that motion is found under any grade."""
    return np.asarray(cv2.equalizeHist(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)), dtype=np.uint8)


def _flat(picture: Pixels) -> NDArray[np.bool_]:
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32) / 255
    mean = cv2.blur(grey, (3, 3))
    deviation = np.sqrt(np.maximum(cv2.blur(grey * grey, (3, 3)) - mean * mean, 0))
    return np.asarray(deviation < _FLAT)


def _rgb(picture: Pixels) -> Samples:
    return np.asarray(picture[..., ::-1].reshape(-1, 3), dtype=np.float32) / np.float32(255)
