"""Hard cuts as PySceneDetect's ContentDetector finds them with its defaults: threshold 27, 15 frames.

Each frame is shrunk to 256 px width (bilinear), turned into HSV, and compared with the frame before: the mean
absolute change of hue, saturation and value, averaged over the three. A frame at or above the threshold
starts a new shot. Changes closer together than the minimum length are merged into the last of them: a run of
flashes gives one cut, once `MIN_SHOT_FRAMES` frames have passed without another change.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

CONTENT_THRESHOLD = 27.0
MIN_SHOT_FRAMES = 15
ANALYSIS_WIDTH_PX = 256

Image = npt.NDArray[np.uint8]


class ContentCuts:
    """Feed it every frame in display order; `cuts` lists the index of each frame that starts a new shot."""

    def __init__(self) -> None:
        self.cuts: list[int] = []
        self._previous: tuple[Image, ...] | None = None
        self._index = 0
        self._merger = _Merger()

    def add(self, bgr: Image) -> float:
        """Take the next frame; returns how much it differs from the one before (0 for the first)."""
        hsv = _planes(cv2.cvtColor(_shrink(bgr), cv2.COLOR_BGR2HSV))
        change = 0.0 if self._previous is None else _change(self._previous, hsv)
        self._previous = hsv
        cut = self._merger.add(self._index, change >= CONTENT_THRESHOLD)
        if cut is not None:
            self.cuts.append(cut)
        self._index += 1
        return change


@dataclass
class _Merger:
    """Turns frames over the threshold into cuts that keep the minimum shot length."""

    last_over: int | None = None
    found_one: bool = False
    """Merging only starts once a first cut stands: changes in the opening frames are dropped."""
    merging_since: int | None = None

    def add(self, index: int, over: bool) -> int | None:
        previous_over = index if self.last_over is None else self.last_over
        long_enough = index - previous_over >= MIN_SHOT_FRAMES
        self.last_over = index if over else previous_over
        if self.merging_since is not None:
            return self._end_of_merge(over, long_enough)
        if not over:
            return None
        if long_enough:
            self.found_one = True
            return index
        if self.found_one:
            self.merging_since = index
        return None

    def _end_of_merge(self, over: bool, long_enough: bool) -> int | None:
        assert self.merging_since is not None
        assert self.last_over is not None
        merged_frames = self.last_over - self.merging_since
        if over or not long_enough or merged_frames < MIN_SHOT_FRAMES:
            return None
        self.merging_since = None
        return self.last_over


def _shrink(bgr: Image) -> Image:
    height, width = bgr.shape[:2]
    factor = max(1.0, width / ANALYSIS_WIDTH_PX)
    size = (max(1, round(width / factor)), max(1, round(height / factor)))
    if size == (width, height):
        return bgr
    return np.asarray(cv2.resize(bgr, size, interpolation=cv2.INTER_LINEAR), np.uint8)


def _planes(image: cv2.typing.MatLike) -> tuple[Image, ...]:
    return tuple(np.asarray(plane, np.uint8) for plane in cv2.split(image))


def _change(before: tuple[Image, ...], after: tuple[Image, ...]) -> float:
    if before[0].shape != after[0].shape:
        return 255.0  # the picture size changed: nothing to compare, certainly another shot
    total = sum(cv2.norm(old, new, cv2.NORM_L1) for old, new in zip(before, after, strict=True))
    return float(total) / len(after) / after[0].size
