"""Motion between two pictures, and pictures moved along it."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Flow = NDArray[np.float32]
"""For each point of a picture, how far right and down the same point lies in another, in pixels."""


_SMALLEST_PX = 12
_NOTHING = 1e-3


def correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """How alike two pictures of one size are, whatever their level and contrast; 0 where one shows nothing."""
    if min(float(a.std()), float(b.std())) < _NOTHING:
        return 0.0
    return float(np.corrcoef(a.ravel().astype(np.float64), b.ravel().astype(np.float64))[0, 1])


def motion(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> Flow:
    """Where the points of grey picture `a` are in `b`; pictures too small to tell count as still."""
    if max(a.shape) < _SMALLEST_PX:
        return np.zeros((*a.shape, 2), dtype=np.float32)
    create = cv2.DISOpticalFlow_create  # type: ignore[attr-defined]
    found = create(cv2.DISOPTICAL_FLOW_PRESET_FAST).calc(a, b, None)
    return np.asarray(found, dtype=np.float32)


def targets(flow: Flow) -> Flow:
    """The positions in the other picture."""
    height, width = flow.shape[:2]
    columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return np.dstack([columns, rows]) + flow


def scaled(flow: Flow, shape: tuple[int, ...]) -> Flow:
    """The motion of a plane of another size."""
    if flow.shape[:2] == shape:
        return flow
    share = np.array([shape[1] / flow.shape[1], shape[0] / flow.shape[0]], dtype=np.float32)
    return np.asarray(cv2.resize(flow, shape[::-1]), dtype=np.float32) * share


def fetched(picture: NDArray[Any], positions: Flow, sharp: bool = False) -> NDArray[Any]:
    """A picture's values at positions, interpolated; `sharp` keeps fine detail at some cost."""
    how = cv2.INTER_LANCZOS4 if sharp else cv2.INTER_LINEAR
    x, y = np.ascontiguousarray(positions[..., 0]), np.ascontiguousarray(positions[..., 1])
    return np.asarray(cv2.remap(picture, x, y, how, borderMode=cv2.BORDER_REPLICATE))
