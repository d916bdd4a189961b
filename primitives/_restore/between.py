"""Frames between two frames, made along the motion from one to the other."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._flow import correlation, fetched, motion, scaled, targets


class Between:
    """Two frames (planes of 8-bit samples or deeper) and what lies between them."""

    def __init__(self, before: list[NDArray[Any]], after: list[NDArray[Any]], bits: int) -> None:
        self._before, self._after = before, after
        a, b = ((planes[0] >> (bits - 8)).astype(np.uint8) for planes in (before, after))
        self._there, self._back = motion(a, b), motion(b, a)
        self.likeness = correlation(a, fetched(b, targets(self._there)))
        """How well the motion carries one frame over to the other: 1 fully, around 0 not at all."""

    def at(self, share: float) -> list[NDArray[Any]]:
        """The planes at a share of the way, from 0 (before) to 1 (after)."""
        made = []
        for a, b in zip(self._before, self._after, strict=True):
            # A point that is here at `share` came from a step back along the motion, and goes on along it.
            from_a = fetched(a, targets(-share * scaled(self._there, a.shape)), sharp=True)
            from_b = fetched(b, targets(-(1 - share) * scaled(self._back, b.shape)), sharp=True)
            made.append(np.asarray(cv2.addWeighted(from_a, 1 - share, from_b, share, 0)))
        return made
