"""What the pixels of a text's box tell between two readings: is it still there, when did it come or go. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._reading.engine import Box

Grey = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Mask8 = NDArray[np.uint8]

OTHER = 30
"""Grey levels from which on a pixel counts as another."""
_STROKE = 16
_STROKE_SHARE = 0.45
"""How far a stroke differs from the mean around it: some grey levels, and some of what the clearest one does."""
PRESENT = 0.6
_FEW = 12
"""Pixels that are too few to tell two texts apart."""
_EDGE, _WEAK_EDGE = 55, 28
"""Grey levels between pixels two apart, across: letters stand side by side, their strokes mostly upright."""
_SAME = 13
"""Grey levels by which a pixel that stands still may differ in a coded film."""
_BLOCK_PX = 4
_BLOCK_SHARE = 0.12
_BLOCKS_ACROSS = 3
EDGES_WIDE_PX = 320
"""How wide a picture is at most for its edges."""


def above(grey: Any, level: int) -> Mask8:
    """Pixels brighter than a level."""
    return np.asarray(cv2.threshold(grey, level, 255, cv2.THRESH_BINARY)[1], np.uint8)


def both(one: Any, other: Any) -> Mask8:
    return np.asarray(cv2.bitwise_and(one, other), np.uint8)


def either(one: Any, other: Any) -> Mask8:
    return np.asarray(cv2.bitwise_or(one, other), np.uint8)


def without(one: Any, other: Any) -> Mask8:
    return both(one, cv2.bitwise_not(other))


def strokes(crop: Grey) -> Mask:
    """Pixels of letters: those that stand out most of what surrounds them."""
    off = cv2.absdiff(crop, blurred(crop))
    return np.asarray(off > max(_STROKE, _STROKE_SHARE * float(np.quantile(off, 0.98))))


def blurred(crop: Grey) -> Grey:
    return np.asarray(cv2.blur(crop, (max(3, crop.shape[0] // 2 * 2 + 1),) * 2), np.uint8)


def turned_at(crops: Sequence[Grey], old: Grey, new: Grey, watched: Mask8) -> int:
    """The first of the crops that looks more like the new content of the box than like the old."""
    other = cv2.absdiff(old, new) > OTHER
    letters = other & (strokes(old) ^ strokes(new))
    watch = watched > 0
    choices = (letters & watch, letters, other & (watch | strokes(new)))
    differ = next((mask for mask in choices if mask.sum() >= _FEW), choices[-1])
    if not differ.any():
        return len(crops)
    for place, crop in enumerate(crops):
        nearer = cv2.absdiff(crop, new)[differ] < cv2.absdiff(crop, old)[differ]
        if float(nearer.mean()) > 0.5:
            return place
    return len(crops)


class EdgeWatch:
    """Tells when edges that stand still have come that were not there at the last search: perhaps a text.

    Burned-in text stands still while the film moves; where the film stands still too, nothing is new.
    """

    def __init__(self) -> None:
        self._last: list[tuple[Grey, Mask8]] = []
        """The pictures of the last two looks, and their edges."""
        self._scale = 1.0
        self._known: Mask8 | None = None
        self._still: Mask8 | None = None
        self._searched_first = False
        """Whether the first picture was searched: what has stood still since then needs no other search."""

    def see(self, luma: Grey) -> Box | None:
        """The part of the picture in which it is worth searching for text now."""
        small = _small(luma)
        self._scale = luma.shape[1] / small.shape[1]
        high, wide = small.shape[0] // _BLOCK_PX * _BLOCK_PX, (small.shape[1] - 2) // _BLOCK_PX * _BLOCK_PX
        if not high or wide <= 0:
            return None
        strength = cv2.absdiff(small[:high, 2 : wide + 2], small[:high, :wide])
        small = small[:high, 1 : wide + 1]
        if self._known is None:
            self._known = np.zeros(small.shape, np.uint8)
        # What went away may come back as something else.
        self._known = both(self._known, _grown(above(strength, _WEAK_EDGE)))
        still = edges = above(strength, _EDGE)
        before, self._last = self._last, [*self._last[-1:], (small, edges)]
        if len(before) < 2:
            return None
        for picture, its_edges in before:
            still = without(both(still, its_edges), above(cv2.absdiff(small, picture), _SAME))
        if self._still is None and self._searched_first:
            self._known = either(self._known, still)
        self._still = still
        return _like_text(without(still, _grown(self._known)), self._scale)

    def searched(self, part: Box) -> None:
        """Whatever stands still now in a part of the picture has been looked at."""
        if self._known is not None and self._still is not None:
            inside = self._small_part(part)
            self._known[inside] |= self._still[inside]
        self._searched_first |= len(self._last) == 1

    def forget(self, part: Box) -> None:
        """A part of the picture in which a text ended: the next one there is new."""
        if self._known is not None:
            self._known[self._small_part(part)] = 0

    def _small_part(self, part: Box) -> tuple[slice, slice]:
        rows = slice(int(part.top / self._scale), int(part.bottom / self._scale) + 1)
        return rows, slice(int(part.left / self._scale), int(part.right / self._scale) + 1)


def _grown(mask: Mask8) -> Mask8:
    return np.asarray(cv2.dilate(mask, np.ones((3, 3), np.uint8)), np.uint8)


def _small(luma: Grey) -> Grey:
    while luma.shape[1] > EDGES_WIDE_PX:
        height, width = luma.shape[0] // 2, luma.shape[1] // 2
        luma = np.asarray(cv2.resize(luma[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA))
    return luma


def _like_text(edges: Mask8, scale: float) -> Box | None:
    """Around the blocks full of edges of which some lie in a row."""
    if cv2.countNonZero(edges) < _BLOCKS_ACROSS * _BLOCK_SHARE * _BLOCK_PX**2:
        return None
    size = edges.shape[1] // _BLOCK_PX, edges.shape[0] // _BLOCK_PX
    shares = cv2.resize(edges, size, interpolation=cv2.INTER_AREA)
    blocks = above(shares, int(255 * _BLOCK_SHARE))
    row = np.ones((1, _BLOCKS_ACROSS), np.uint8)
    eroded = cv2.erode(blocks, row, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    rows, columns = np.flatnonzero(eroded.any(axis=1)), np.flatnonzero(eroded.any(axis=0))
    if not len(rows):
        return None
    block = _BLOCK_PX * scale
    left, top = int((columns[0] - 1) * block), int(rows[0] * block)
    return Box(max(0, left), top, int((columns[-1] + 2) * block), int((rows[-1] + 1) * block))
