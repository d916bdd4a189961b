"""What can be measured of a shot: does its camera stand still, is there anything to see, how would one describe it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from avb_mcp.tasks.builders._moves import Image

LOOK_WIDTH_PX = 320
"""Shots are judged on pictures of at most this width."""
MAX_DRIFT_PER_S = 0.02
"""A camera that moves the picture by less than this share of its height a second stands still."""
MAX_TURN_DEG_PER_S = 0.8
MIN_CONTRAST = 14.0
"""Standard deviation of the luma below which a picture has too little in it to tell two views apart."""
MIN_DIFFERENCE = 10.0
"""Mean difference of two small pictures from which they count as different shots."""
MIN_POINTS = 12
MIN_NEIGHBOURS = 0.5
"""Share of the points that must follow one common movement for it to be the camera's."""

Points = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Motion:
    """How a camera moves, per second: largest of shift and growth in picture heights, and turn."""

    drift_per_s: float
    turn_deg_per_s: float

    @property
    def is_still(self) -> bool:
        return self.drift_per_s <= MAX_DRIFT_PER_S and self.turn_deg_per_s <= MAX_TURN_DEG_PER_S


MOVING = Motion(float("inf"), float("inf"))
"""Also what cannot be measured: it is not known to stand still."""


def small_luma(frame: Image) -> Image:
    """The luma of a planar frame, small."""
    height_px, width_px = frame.shape[0] * 2 // 3, frame.shape[1]
    luma = frame[:height_px]
    if width_px <= LOOK_WIDTH_PX:
        return luma
    size = (LOOK_WIDTH_PX, max(2, round(height_px * LOOK_WIDTH_PX / width_px)))
    return np.asarray(cv2.resize(luma, size, interpolation=cv2.INTER_AREA), np.uint8)


def camera_motion(pictures: Sequence[Image], step_s: float) -> Motion:
    """The camera's movement over small luma pictures that lie `step_s` apart."""
    steps = [_step(before, after) for before, after in pairwise(pictures)]
    if not steps or any(step is None for step in steps):
        return MOVING
    moves = np.array(steps, np.float64)
    total_s = step_s * len(steps)
    # Jitter cancels over the clip, a movement adds up; a sudden jerk counts by itself.
    travelled = np.abs(moves.sum(axis=0)) / total_s
    jerk = np.abs(moves).max(axis=0) / (4 * step_s)
    shift_x, shift_y, growth, turn_deg = np.maximum(travelled, jerk)
    return Motion(float(max(shift_x, shift_y, growth)), float(turn_deg))


def _step(before: Image, after: Image) -> tuple[float, float, float, float] | None:
    """Shift, growth and turn from one picture to the next; None where nothing can be followed."""
    height_px, width_px = before.shape
    points = cv2.goodFeaturesToTrack(before, maxCorners=200, qualityLevel=0.01, minDistance=6)
    if points is None or len(points) < MIN_POINTS:
        return None
    start = np.asarray(points, np.float32)
    found, status, _ = cv2.calcOpticalFlowPyrLK(before, after, start, start.copy())
    kept = np.asarray(status).ravel() == 1
    if kept.sum() < MIN_POINTS:
        return None
    first, second = start[kept].reshape(-1, 2), np.asarray(found, np.float32)[kept].reshape(-1, 2)
    cv2.setRNGSeed(0)
    middle = np.array([width_px / 2, height_px / 2], np.float32)
    matrix, inliers = cv2.estimateAffinePartial2D(first - middle, second - middle, ransacReprojThreshold=1.0)
    if matrix is None or np.mean(inliers) < MIN_NEIGHBOURS:
        return None
    scale = float(np.hypot(matrix[0, 0], matrix[1, 0]))
    turn_deg = float(np.degrees(np.arctan2(matrix[1, 0], matrix[0, 0])))
    return float(matrix[0, 2]) / height_px, float(matrix[1, 2]) / height_px, scale - 1, turn_deg


def stillest(pictures: Sequence[Image], step_s: float, window: int) -> tuple[int, Motion]:
    """Where `window` neighbouring pictures move least, and how much."""
    starts = range(0, max(1, len(pictures) - window + 1), max(1, window // 2))
    judged = [(start, camera_motion(pictures[start : start + window], step_s)) for start in starts]
    return min(judged, key=lambda item: (item[1].drift_per_s, item[1].turn_deg_per_s))


def contrast(picture: Image) -> float:
    return float(np.std(picture))


def thumbnail(frame: Image) -> npt.NDArray[np.float32]:
    """A tiny picture in BGR, to tell shots apart."""
    bgr = cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_I420)
    return np.asarray(cv2.resize(bgr, (32, 18), interpolation=cv2.INTER_AREA), np.float32)


def is_new(picture: npt.NDArray[np.float32], known: Iterable[npt.NDArray[np.float32]]) -> bool:
    return all(float(np.abs(picture - other).mean()) >= MIN_DIFFERENCE for other in known)


def step_frames(fps: Fraction) -> int:
    """How many frames apart the pictures lie on which a camera's movement is measured."""
    return max(1, round(fps / 5))
