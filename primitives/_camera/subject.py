"""How large the subject is before a camera that stands still: how tall the part of the picture is that moves. Pure.

No detector comes with the packages, so nothing is recognised: of somebody who talks it is head and shoulders, of
something that crosses the picture how tall it is on its way.
"""

from __future__ import annotations

import cv2
import numpy as np

from primitives._camera.steps import LOOK_PX, Steps

LEAST_LOOKS = 4
LEAST_CHANGE, ABOVE_REST = 3.0, 3.0
"""Grey levels by which a place changes over a shot at least, and how many times more than the stillest fifth."""
AREA = (0.02, 0.85)
"""Share of the picture that a subject covers, on its way across; more is light, or everything."""
_GAP = np.ones((5, 5), np.uint8)


def subject_height(steps: Steps, frames: range) -> float | None:
    """The height of the largest part that moves, as a share of the picture's; None where there is none to speak of."""
    inside = (steps.look_frames >= frames.start) & (steps.look_frames < frames.stop)
    looks = steps.looks[inside].reshape(-1, LOOK_PX[1], LOOK_PX[0]).astype(np.float32)
    if len(looks) < LEAST_LOOKS:
        return None
    without_light = looks - np.median(looks, axis=(1, 2), keepdims=True)
    change = without_light.std(axis=0)
    moving = (change > max(LEAST_CHANGE, ABOVE_REST * float(np.quantile(change, 0.2)))).astype(np.uint8)
    _, _, parts, _ = cv2.connectedComponentsWithStats(cv2.morphologyEx(moving, cv2.MORPH_CLOSE, _GAP))
    if len(parts) < 2:
        return None
    largest = parts[1:][parts[1:, cv2.CC_STAT_AREA].argmax()]
    share = float(largest[cv2.CC_STAT_AREA]) / moving.size
    return round(float(largest[cv2.CC_STAT_HEIGHT]) / LOOK_PX[1], 2) if AREA[0] <= share <= AREA[1] else None
