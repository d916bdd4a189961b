"""How two pictures of the same things differ: shift, size, turn, slant and bend, from points found in both.

Coordinates are those of the screen: the middle is the origin, half the height is 1, y points down.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from avb_mcp.agents.autopilot._sheets import Cell

Points = npt.NDArray[np.float64]
MIN_POINTS = 8
RATIO = 0.8
REACH = 0.03
"""How far from where it should be a point may lie, in half heights."""
TURNS = 3


@dataclass(frozen=True, eq=False)
class Marked:
    """The points of a picture by which it can be found again."""

    points: Points
    looks: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Relation:
    """From one picture to another."""

    points: int
    """How many points speak for it."""
    growth: float = 0.0
    """Logarithm of how much larger things are."""
    turn: float = 0.0
    """Radians, clockwise."""
    x: float = 0.0
    y: float = 0.0
    slant: float = 0.0
    """Positive: things above got smaller, things below larger."""
    bend: float = 0.0
    """Negative: things near the edges moved inwards."""


def mark(cell: Cell) -> Marked:
    grey = cv2.cvtColor(cell.picture, cv2.COLOR_BGR2GRAY)
    found, looks = cv2.SIFT.create(nfeatures=900, contrastThreshold=0.015).detectAndCompute(grey, None)
    if looks is None or not len(found):
        return Marked(np.zeros((0, 2)), np.zeros((0, 128), np.float32))
    half_px = (grey.shape[0] + cell.strip_px) / 2
    points = np.array([point.pt for point in found], np.float64) + np.array([0.5, 0.5 + cell.strip_px])
    middle = np.array([grey.shape[1] / 2, half_px])
    return Marked((points - middle) / half_px, np.asarray(looks, np.float32))


def relate(a: Marked, b: Marked) -> Relation:
    """What happened between two pictures; without points where they have too little in common."""
    first, second = _pairs(a, b)
    if len(first) < MIN_POINTS:
        return Relation(0)
    cv2.setRNGSeed(0)
    # Slant and bend move points at the edges off any plain similarity, so that a wide net comes first.
    matrix, inliers = cv2.estimateAffinePartial2D(first, second, ransacReprojThreshold=4 * REACH, maxIters=4000)
    if matrix is None or int(np.sum(inliers)) < MIN_POINTS:
        return Relation(int(np.sum(inliers)) if inliers is not None else 0)
    moved = first @ matrix[:, :2].T + matrix[:, 2]
    kept = np.linalg.norm(second - moved, axis=1) < 10 * REACH
    fine = np.zeros(7)
    for _ in range(TURNS):
        fine = _fit(moved[kept] - matrix[:, 2], second[kept] - matrix[:, 2])
        kept = np.linalg.norm(second - matrix[:, 2] - _moved(moved - matrix[:, 2], fine), axis=1) < REACH
        if kept.sum() < MIN_POINTS:
            return Relation(int(kept.sum()))
    growth = float(np.log(np.hypot(matrix[0, 0], matrix[1, 0])) + fine[0])
    turn = float(np.arctan2(matrix[1, 0], matrix[0, 0]) + fine[1])
    shift = matrix[:, 2] + fine[2:4]
    return Relation(int(kept.sum()), growth, turn, float(shift[0]), float(shift[1]), float(fine[4]), float(fine[6]))


def _pairs(a: Marked, b: Marked) -> tuple[Points, Points]:
    """Points that look alike, each the clear best match of the other."""
    if min(len(a.points), len(b.points)) < MIN_POINTS:
        return np.zeros((0, 2)), np.zeros((0, 2))
    matcher = cv2.BFMatcher(cv2.NORM_L2)
    forth, back = (matcher.knnMatch(one.looks, other.looks, k=2) for one, other in ((a, b), (b, a)))
    best_back = {match[0].queryIdx: match[0].trainIdx for match in back if match}
    chosen = [
        (match[0].queryIdx, match[0].trainIdx)
        for match in forth
        if len(match) == 2
        and match[0].distance < RATIO * match[1].distance
        and best_back.get(match[0].trainIdx) == match[0].queryIdx
    ]
    if not chosen:
        return np.zeros((0, 2)), np.zeros((0, 2))
    one, other = np.array(chosen).T
    return a.points[one], b.points[other]


def _basis(points: Points) -> npt.NDArray[np.float64]:
    """What growth, turn, shift, slant down, slant sideways and bend each do to points: `[7, points, 2]`."""
    x, y = points.T
    zero, one = np.zeros_like(x), np.ones_like(x)
    square = x * x + y * y
    parts = ((x, y), (-y, x), (one, zero), (zero, one), (y * x, y * y), (x * x, x * y), (square * x, square * y))
    return np.array([np.stack(part, axis=1) for part in parts])


def _fit(first: Points, second: Points) -> npt.NDArray[np.float64]:
    basis = _basis(first)
    solution, *_ = np.linalg.lstsq(basis.reshape(7, -1).T, (second - first).ravel(), rcond=None)
    return np.asarray(solution, np.float64)


def _moved(points: Points, fine: npt.NDArray[np.float64]) -> Points:
    return np.asarray(points + np.tensordot(fine, _basis(points), axes=1))
