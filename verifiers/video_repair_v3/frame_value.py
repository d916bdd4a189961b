"""The value of one fixed frame against the source frames around it (contract, "Edit", frame value).

`SSIM × sharpness × chroma × lag`, the best of the zero-lag frame and the three nearest by difference hash. No
factor exceeds 1, so a candidate whose cheap factors already fall short of the best value so far is left out:
the result is the same, most SSIMs and most hashes are never computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import pairwise
from math import ceil, floor

import cv2
import numpy as np
import numpy.typing as npt

from verifiers._media import DecodedFrame, Image
from verifiers._ssim import ssim
from verifiers.video_repair_v3.scoring import (
    NEAREST_BY_HASH,
    chroma_factor,
    lag_factor,
    sharpness_factor,
)

HASH_SIZE = 8


class Picture:
    """One frame and what is measured on it, each at most once and only when needed."""

    def __init__(self, frame: DecodedFrame, size_as: Picture | None = None) -> None:
        self._frame = frame
        self._size_as = size_as

    @cached_property
    def bgr(self) -> Image:
        return self._pixels()

    @cached_property
    def gray(self) -> Image:
        return _gray(self.bgr)

    @cached_property
    def lab(self) -> Image:
        """8-bit Lab; the scheme uses its a and b planes."""
        return np.asarray(cv2.cvtColor(self.bgr, cv2.COLOR_BGR2LAB), np.uint8)

    @cached_property
    def sharpness(self) -> float:
        """Variance of the Laplacian."""
        edges = cv2.Laplacian(self.gray, cv2.CV_16S)
        return float(cv2.norm(edges, cv2.NORM_L2SQR)) / edges.size - (cv2.sumElems(edges)[0] / edges.size) ** 2

    @cached_property
    def difference_hash(self) -> int:
        """64 bits: is each cell of a 9x8 grid darker than its right neighbour?"""
        cells = _area_cells(_gray(self._pixels()))  # not kept: most frames are only ever hashed
        return int.from_bytes(np.packbits(cells[:, 1:] > cells[:, :-1]).tobytes())

    def _pixels(self) -> Image:
        pixels = self._frame.bgr()
        if self._size_as is None or pixels.shape == self._size_as.bgr.shape:
            return pixels
        height_px, width_px = self._size_as.bgr.shape[:2]
        return np.asarray(cv2.resize(pixels, (width_px, height_px), interpolation=cv2.INTER_AREA), np.uint8)


def frame_value(fixed: DecodedFrame, candidates: Sequence[tuple[int, Picture]]) -> float:
    """The best value over (lag, source picture) candidates; they come in order of time, at least one."""
    at_zero = next((source for lag, source in candidates if lag == 0), None)
    picture = Picture(fixed, size_as=at_zero or candidates[0][1])
    best = -1.0 if at_zero is None else _value(picture, at_zero, 0, -1.0)
    if best >= lag_factor(1):
        return best
    for lag, source in _nearest(picture, candidates):
        best = max(best, _value(picture, source, lag, best))
    return best


def _nearest(fixed: Picture, candidates: Sequence[tuple[int, Picture]]) -> list[tuple[int, Picture]]:
    """The candidates besides zero lag that are compared, smallest lag first; ties go to the earlier frame."""
    if len(candidates) > NEAREST_BY_HASH + 1:
        own = fixed.difference_hash
        candidates = sorted(candidates, key=lambda item: (own ^ item[1].difference_hash).bit_count())
        candidates = candidates[:NEAREST_BY_HASH]
    return sorted((item for item in candidates if item[0] != 0), key=lambda item: abs(item[0]))


def _value(fixed: Picture, source: Picture, lag: int, to_beat: float) -> float:
    """The frame value of one candidate, or `to_beat` as soon as it cannot be more."""
    value = lag_factor(lag)
    if value <= to_beat:
        return to_beat
    if np.array_equal(fixed.bgr, source.bgr):
        return value
    value *= sharpness_factor(fixed.sharpness, source.sharpness)
    if value <= to_beat:
        return to_beat
    _, a, b, _ = cv2.sumElems(cv2.absdiff(fixed.lab, source.lab))
    value *= chroma_factor((a + b) / (2 * fixed.gray.size))
    if value <= to_beat:
        return to_beat
    return value * ssim(source.gray, fixed.gray)


def _gray(bgr: Image) -> Image:
    return np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY), np.uint8)


def _area_cells(gray: Image) -> Image:
    """`cv2.resize(…, INTER_AREA)` to 9x8 cells, fifty times faster: sum rows first, whole bands at a time."""
    height_px, width_px = gray.shape
    bands = np.array([_row_sum(gray, *edges) for edges in pairwise(_edges(height_px, HASH_SIZE))])
    means = bands @ _column_weights(width_px) * (HASH_SIZE / height_px)
    return np.asarray(np.rint(means), np.uint8)


def _row_sum(gray: Image, top: float, bottom: float) -> npt.NDArray[np.float64]:
    """Sum of the rows from `top` to `bottom`, rows at the edges by the part that lies within."""
    first, last = ceil(top), floor(bottom)
    whole = cv2.reduce(gray[first:last], 0, cv2.REDUCE_SUM, dtype=cv2.CV_32S)
    total = np.array(whole[0], np.float64)
    if first > top:
        total += (first - top) * gray[first - 1]
    if bottom > last:
        total += (bottom - last) * gray[last]
    return total


@cache
def _column_weights(width_px: int) -> npt.NDArray[np.float64]:
    """How much of each column lies in each cell, as a share of the cell."""
    edges = np.array(_edges(width_px, HASH_SIZE + 1))
    columns = np.arange(width_px)[:, None]
    inside = np.minimum(columns + 1, edges[1:]) - np.maximum(columns, edges[:-1])
    return np.asarray(np.maximum(0.0, inside) * ((HASH_SIZE + 1) / width_px))


def _edges(size_px: int, cells: int) -> list[float]:
    return [cell * size_px / cells for cell in range(cells + 1)]
