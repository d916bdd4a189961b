"""How late a sound comes against the picture: sudden sounds against sudden motion. Rough, and often not to be told."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._base import Call
from primitives._media.frames import decode_straight
from primitives._media.planes import read_planes
from primitives._media.scan import Scan
from primitives._sound.common import Floats, block_levels_db
from primitives._sound.lag import Lag

_STEP_S = 0.02
_MOST_S = 1.5
_STANDS_OUT = 5.0
"""How many standard deviations the best lag must lie above the others."""
_LEAST_S = 5.0


def lag_by_picture(
    path: Path, name: str, scan: Scan, start_s: float, mono: Floats, rate_hz: int, call: Call
) -> Lag | None:
    """The lag at which sound and motion begin together, where one stands out."""
    timeline, length_s = scan.video, len(mono) / rate_hz
    if timeline is None or length_s < _LEAST_S:
        return None
    frames = list(timeline.frames_in(max(0.0, start_s), min(float(timeline.duration), start_s + length_s)))
    last, times, moved = None, [], []
    for shown in decode_straight(path, name, scan, frames, call.check):
        grey = read_planes(shown.frame.reformat(format="gray", width=160, height=90))[0]
        small = cv2.GaussianBlur(grey, (0, 0), 1.0).astype(np.float32)
        if last is not None:
            times.append(float(timeline.time_of(shown.wanted)) - start_s)
            moved.append(float(np.mean(np.abs(small - last))))
        last = small
    if len(moved) < 3:
        return None
    grid = np.arange(0.0, length_s, _STEP_S)
    seen = _sudden(np.interp(grid, times, np.log(np.array(moved) + 0.1)))
    heard = _sudden(block_levels_db(mono, rate_hz, _STEP_S)[: len(grid)] / 10)
    return _best(seen[: len(heard)], heard)


def _sudden(course: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where a course rises, without its mean and outliers."""
    rise = np.maximum(np.convolve(course, [1, 1, 0, -1, -1], "same"), 0.0)
    rise[:3] = rise[-3:] = 0.0
    rise = np.minimum(rise, np.quantile(rise, 0.98))
    return np.asarray((rise - rise.mean()) / (rise.std() + 1e-9))


def _best(seen: NDArray[np.float64], heard: NDArray[np.float64]) -> Lag | None:
    reach = round(_MOST_S / _STEP_S)
    worth = np.array(
        [
            float(
                np.mean(seen[max(0, -lag) : len(seen) - max(0, lag)] * heard[max(0, lag) : len(heard) - max(0, -lag)])
            )
            for lag in range(-reach, reach + 1)
        ]
    )
    best = int(np.argmax(worth))
    others = np.delete(worth, range(max(0, best - 5), min(len(worth), best + 6)))
    score = (worth[best] - others.mean()) / (others.std() + 1e-9)
    if score < _STANDS_OUT:
        return None
    return Lag((best - reach) * _STEP_S, float(min(1.0, score / 10)), "sudden sounds against sudden motion")
