"""How well the last picture of one clip goes on in the first of another. Pure.

Where a take runs on across a cut, the step from picture to picture is one like those before and after it. Where it
does not, likeness still says a little: neighbouring shots share their light and place more often than others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.uint8]
Values = NDArray[np.float64]
WIDTH_PX, HEIGHT_PX = 160, 90
FRAMES = 4
FLOOR = 0.4
"""Grey levels by which coding alone makes pictures differ."""
COLOUR_FLOOR = 2.0
_CELLS = (16, 9)
_CHROMA_WEIGHT = 2.0


@dataclass(frozen=True, eq=False)
class Steps:
    """For each end and each start."""

    step: Values
    """The mean difference of the two pictures, in grey levels."""
    excess: Values
    """The logarithm of that to the largest steps near the ends; 0 where it is no larger."""
    colours: Values
    """How far the colours differ wherever they are in the picture, in levels."""


@dataclass(frozen=True, eq=False)
class Looks:
    """One end of all clips: the luma of its frames, and the outermost picture in colour (planar YUV 4:2:0)."""

    luma: Frames
    outermost: Frames


def steps(ends: Looks, starts: Looks) -> Steps:
    """All ends against all starts."""
    last, first = (ends.luma[:, -1], starts.luma[:, 0])
    step = np.array([[cv2.norm(a, b, cv2.NORM_L1) for b in first] for a in last]) / last[0].size
    own_end, own_start = (np.array([_largest(frames) for frames in side.luma]) for side in (ends, starts))
    usual = np.sqrt((own_end[:, None] + FLOOR) * (own_start[None] + FLOOR))
    tones = [np.stack([_tones(frame) for frame in side.outermost]) for side in (ends, starts)]
    return Steps(
        step=np.asarray(step, np.float64),
        excess=np.asarray(np.maximum(0.0, np.log((step + FLOOR) / usual)), np.float64),
        colours=np.asarray(np.abs(tones[0][:, None] - tones[1][None]).mean(axis=2), np.float64),
    )


def _largest(frames: Frames) -> float:
    """The largest step among consecutive frames."""
    return float(max(cv2.norm(a, b, cv2.NORM_L1) for a, b in pairwise(frames)) / frames[0].size)


def _tones(frame: Frames) -> NDArray[np.float32]:
    """The values of each plane of a tiny picture, sorted."""
    chroma = frame[HEIGHT_PX:].reshape(2, HEIGHT_PX // 2, WIDTH_PX // 2)
    planes = [frame[:HEIGHT_PX], *chroma]
    cells = [cv2.resize(plane, _CELLS, interpolation=cv2.INTER_AREA).astype(np.float32) for plane in planes]
    weights = (1.0, _CHROMA_WEIGHT, _CHROMA_WEIGHT)
    return np.concatenate([weight * np.sort(cell, axis=None) for weight, cell in zip(weights, cells, strict=True)])
