"""Motion between two pictures, and pictures moved along it."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Flow = NDArray[np.float32]
"""For each point of a picture, how far right and down the same point lies in another, in pixels."""


def motion(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> Flow:
    """Where the points of grey picture `a` are in `b`."""
    create = cv2.DISOpticalFlow_create  # type: ignore[attr-defined]
    found = create(cv2.DISOPTICAL_FLOW_PRESET_FAST).calc(a, b, None)
    return np.asarray(found, dtype=np.float32)


def targets(flow: Flow) -> Flow:
    """The positions in the other picture."""
    height, width = flow.shape[:2]
    columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return np.dstack([columns, rows]) + flow


def fetched(picture: NDArray[Any], positions: Flow) -> NDArray[Any]:
    """A picture's values at positions, interpolated."""
    x, y = np.ascontiguousarray(positions[..., 0]), np.ascontiguousarray(positions[..., 1])
    return np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
