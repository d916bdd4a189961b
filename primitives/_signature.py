"""Small pictures of every frame, and how far apart they are. Pure: numbers in, numbers out.

A frame is a thumbnail of three planes (luma and two chroma, 18 x 32 cells). Two thumbnails are compared cell by
cell against the range of values around each cell in the other, so that motion of up to a cell costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

ROWS, COLUMNS, PLANES = 18, 32, 3
Thumbs = NDArray[np.uint8]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

CELL_LIMIT = np.uint8(48)
"""One cell's share in a distance is bounded: a small bright thing that jumps is not a cut."""
QUIET = 1.5
"""Smaller steps are not measured."""
BAR_LUMA = 24
_AT_ONCE = 256
"""Frames that are worked on at a time, so that they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Signature:
    """Thumbnails of consecutive frames, and what is derived from them."""

    thumbs: Thumbs
    fps: float

    def __len__(self) -> int:
        return len(self.thumbs)

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        """Cells that are ever lit: letterbox bars tell nothing, and cells beside them little."""
        lit = self.thumbs[:, 0].max(axis=0) > BAR_LUMA
        whole = np.pad(lit, 1, mode="edge")
        across = whole[1:-1] & whole[:-2] & whole[2:]
        inner = across[:, 1:-1] & across[:, :-2] & across[:, 2:]
        return np.asarray(inner if inner.mean() > 0.2 else np.ones_like(lit))

    def distance(self, left: Ints, right: Ints, cells_forgiven: int = 1) -> Floats:
        """How far pairs of frames lie apart, motion of so many cells forgiven; mean over the active cells."""
        a, b = self.thumbs[left], self.thumbs[right]
        cells = _outside(a, b, cells_forgiven) + _outside(b, a, cells_forgiven)
        return np.asarray(cells[:, self.active].sum(axis=1, dtype=np.uint32) / (2 * self.active.sum()), np.float32)

    @cached_property
    def steps(self) -> Floats:
        """The distance of each frame from the one before it; 0 where it is too small to matter."""
        steps = np.zeros(len(self), np.float32)
        # The distance is never larger than the plain difference, which is cheap: most of a film is left out here.
        large = np.flatnonzero(self.moves > QUIET)
        for some in np.array_split(large, len(large) // _AT_ONCE + 1):
            steps[some] = self.distance(some - 1, some)
        return steps

    @cached_property
    def coarse(self) -> Floats:
        """Each frame as a vector of averaged cells, in which a dissolve is a straight line."""
        wide = self.thumbs.astype(np.uint16)
        high = wide[:, :, ::2] + wide[:, :, 1::2]
        quads = high[..., ::2] + high[..., 1::2]
        return np.asarray(quads.reshape(len(self), -1) / np.float32(4), np.float32)

    @cached_property
    def moves(self) -> Floats:
        """The mean difference of each frame from the one before it."""
        moves = np.zeros(len(self), np.float32)
        for at in range(1, len(self), _AT_ONCE):
            some = self.coarse[at - 1 : at + _AT_ONCE]
            moves[at : at + _AT_ONCE] = PLANES * np.abs(some[1:] - some[:-1]).mean(axis=1)
        return moves

    @cached_property
    def _lit(self) -> Floats:
        active = self.active.reshape(ROWS // 2, 2, COLUMNS // 2, 2).all(axis=(1, 3)).ravel()
        return self.coarse[:, : len(active)][:, active if active.any() else slice(None)]

    @cached_property
    def luma(self) -> Floats:
        """The mean of luma over the active cells."""
        return np.asarray(self._lit.mean(axis=1), np.float32)

    @cached_property
    def contrast(self) -> Floats:
        """The spread of luma over the active cells."""
        return np.asarray(self._lit.std(axis=1), np.float32)

    def likeness(self, left: int, right: int) -> float:
        """Correlation of two frames' structure, light and contrast aside."""
        a, b = (self.coarse[n].reshape(PLANES, -1) for n in (left, right))
        a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
        return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum() + 1))


def _spread(thumbs: Thumbs, choose: np.ufunc) -> Thumbs:
    """The smallest or largest value in the 3 x 3 cells around each cell."""
    across = thumbs.copy()
    choose(across[..., 1:], thumbs[..., :-1], out=across[..., 1:])
    choose(across[..., :-1], thumbs[..., 1:], out=across[..., :-1])
    around = across.copy()
    choose(around[:, :, 1:], across[:, :, :-1], out=around[:, :, 1:])
    choose(around[:, :, :-1], across[:, :, 1:], out=around[:, :, :-1])
    return around


def _outside(values: Thumbs, others: Thumbs, cells_forgiven: int) -> Thumbs:
    """By how much cells lie outside the range around them in other frames, over the planes and bounded."""
    low = high = others
    for _ in range(cells_forgiven):
        low, high = _spread(low, np.minimum), _spread(high, np.maximum)
    off = np.minimum((np.maximum(values, high) - high) + (low - np.minimum(values, low)), CELL_LIMIT)
    return np.asarray(np.minimum(off[:, 0] + off[:, 1] + off[:, 2], CELL_LIMIT), np.uint8)
