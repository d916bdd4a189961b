"""What the pixels of a text's box tell between two readings: is it still there, when did it come or go. Pure."""

from __future__ import annotations

from collections.abc import Sequence

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
_CELL_CHANGED = 0.045
_PRESENT = 0.6
_FEW = 12
"""Pixels that are too few to tell two texts apart."""
_EDGE, _WEAK_EDGE = 140, 70
_SAME = 14
"""Grey levels by which a pixel that stands still may differ in a coded film."""
_BLOCK_PX = 8
_BLOCK_SHARE = 0.12
_BLOCKS_ACROSS = 3
EDGES_WIDE_PX = 640


def is_changed(now: Grey, known: Grey, watched: Mask) -> bool:
    """Whether in some part of a box half as wide as a letter as many watched pixels changed as a stroke has."""
    other = (cv2.absdiff(now, known) > OTHER) & watched
    cells = max(1, round(now.shape[1] / max(1.0, 0.3 * now.shape[0])))
    shares = cv2.resize(other.astype(np.float32), (cells, 1), interpolation=cv2.INTER_AREA)
    return bool(shares.max() > _CELL_CHANGED)


def strokes(crop: Grey) -> Mask:
    """Pixels of letters: those that stand out most of what surrounds them."""
    around = cv2.blur(crop, (max(3, crop.shape[0] // 2 * 2 + 1),) * 2)
    off = cv2.absdiff(crop, around)
    return np.asarray(off > max(_STROKE, _STROKE_SHARE * float(np.quantile(off, 0.98))))


def around(letters: Mask, by_px: int) -> Mask:
    """The pixels of letters and those beside them."""
    return np.asarray(cv2.dilate(letters.astype(np.uint8), np.ones((2 * by_px + 1,) * 2, np.uint8)), np.bool_)


def first_present(before: Sequence[Grey], crop: Grey) -> int:
    """How many of the crops before one, going back, already show its text without a gap."""
    mask = strokes(crop)
    if not mask.any():
        return 0
    count = 0
    for earlier in reversed(before):
        if float((cv2.absdiff(earlier, crop)[mask] < OTHER).mean()) < _PRESENT:
            break
        count += 1
    return count


def turned_at(crops: Sequence[Grey], old: Grey, new: Grey, watched: Mask) -> int:
    """The first of the crops that looks more like the new content of the box than like the old."""
    other = cv2.absdiff(old, new) > OTHER
    letters = other & (strokes(old) ^ strokes(new))
    choices = (letters & watched, letters, other & (watched | strokes(new)))
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
        self._last: list[tuple[Grey, Mask]] = []
        """The pictures of the last two looks, and their edges."""
        self._known: Mask8 | None = None
        self._still: Mask8 | None = None
        self._searched_first = False
        """Whether the first picture was searched: what has stood still since then needs no other search."""

    def see(self, luma: Grey) -> Box | None:
        """The part of the picture in which it is worth searching for text now."""
        small = _small(luma)
        across, down = cv2.Sobel(small, cv2.CV_16S, 1, 0), cv2.Sobel(small, cv2.CV_16S, 0, 1)
        strength = cv2.add(cv2.convertScaleAbs(across), cv2.convertScaleAbs(down))
        if self._known is None:
            self._known = np.zeros(small.shape, np.uint8)
        # What went away may come back as something else.
        self._known &= _grown(np.asarray(strength > _WEAK_EDGE, np.uint8))
        still = edges = np.asarray(strength > _EDGE)
        before, self._last = self._last, [*self._last[-1:], (small, edges)]
        if len(before) < 2:
            return None
        for picture, its_edges in before:
            still = still & its_edges & (cv2.absdiff(small, picture) < _SAME)
        if self._still is None and self._searched_first:
            self._known |= still.astype(np.uint8)
        self._still = still.astype(np.uint8)
        return _like_text(self._still & (1 - _grown(self._known)), luma.shape[1] / small.shape[1])

    def searched(self, part: Box, width_px: int) -> None:
        """Whatever stands still now in a part of the picture has been looked at."""
        if self._known is not None and self._still is not None:
            inside = self._small_part(part, width_px)
            self._known[inside] |= self._still[inside]
        self._searched_first |= len(self._last) == 1

    def forget(self, part: Box, width_px: int) -> None:
        """A part of the picture in which a text ended: the next one there is new."""
        if self._known is not None:
            self._known[self._small_part(part, width_px)] = 0

    def _small_part(self, part: Box, width_px: int) -> tuple[slice, slice]:
        assert self._known is not None
        scale = self._known.shape[1] / width_px
        rows = slice(int(part.top * scale), int(part.bottom * scale) + 1)
        return rows, slice(int(part.left * scale), int(part.right * scale) + 1)


def _grown(mask: Mask8) -> Mask8:
    return np.asarray(cv2.dilate(mask, np.ones((5, 5), np.uint8)), np.uint8)


def _small(luma: Grey) -> Grey:
    while luma.shape[1] > EDGES_WIDE_PX:
        height, width = luma.shape[0] // 2, luma.shape[1] // 2
        luma = np.asarray(cv2.resize(luma[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA))
    return luma


def _like_text(edges: Mask8, scale: float) -> Box | None:
    """Around the blocks full of edges of which some lie in a row."""
    size = max(1, edges.shape[1] // _BLOCK_PX), max(1, edges.shape[0] // _BLOCK_PX)
    blocks = cv2.resize(edges.astype(np.float32), size, interpolation=cv2.INTER_AREA) > _BLOCK_SHARE
    row = np.ones((1, _BLOCKS_ACROSS), np.uint8)
    eroded = cv2.erode(blocks.astype(np.uint8), row, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    rows, columns = np.flatnonzero(eroded.any(axis=1)), np.flatnonzero(eroded.any(axis=0))
    if not len(rows):
        return None
    block = _BLOCK_PX * scale
    left, top = int((columns[0] - 1) * block), int(rows[0] * block)
    return Box(max(0, left), top, int((columns[-1] + 2) * block), int((rows[-1] + 1) * block))
