"""The camera's movement over a film or a part of it, step by step, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from primitives._camera.track import CELLS, Floats, Step

FITS, OWN = 1, 2
"""What a cell's point did: moved with the camera, or on its own; 0 is a cell without a point."""
Ints = NDArray[np.int64]
LOOK_PX = (48, 28)
"""Width and height of a look."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Movements between neighbouring samples, in shown order."""

    frames: Ints
    """Of each step the frame it starts from and the one it ends at: `[n, 2]`."""
    moves: Floats
    """Of each step how the picture shifted right and down (in heights), grew (logarithm) and turned (radians,
    clockwise): `[n, 4]`."""
    support: Floats
    parallax: Floats
    cells: NDArray[np.uint8]
    """What the point of each cell did: `[n, rows * columns]`."""
    aspect: float
    looks: NDArray[np.uint8]
    """Tiny pictures of some of the samples."""
    look_frames: Ints

    def between(self, frames: range) -> Steps:
        """The steps that lie within frames `[start, stop)`."""
        inside = (self.frames[:, 0] >= frames.start) & (self.frames[:, 1] < frames.stop)
        return self.only(inside)

    def only(self, some: NDArray[np.bool_]) -> Steps:
        return replace(
            self,
            frames=self.frames[some],
            moves=self.moves[some],
            support=self.support[some],
            parallax=self.parallax[some],
            cells=self.cells[some],
        )


def joined(parts: Sequence[Steps]) -> Steps:
    """The steps of consecutive parts of a film."""
    if not parts:
        return gathered([], 1.0)
    return Steps(
        np.concatenate([part.frames for part in parts]),
        np.concatenate([part.moves for part in parts]),
        np.concatenate([part.support for part in parts]),
        np.concatenate([part.parallax for part in parts]),
        np.concatenate([part.cells for part in parts]),
        parts[-1].aspect,
        np.concatenate([part.looks for part in parts]),
        np.concatenate([part.look_frames for part in parts]),
    )


def gathered(
    steps: Sequence[tuple[int, int, Step]], aspect: float, looks: Sequence[tuple[int, NDArray[np.uint8]]] = ()
) -> Steps:
    """Steps with the frames that they lie between, and looks with the frames that they show."""
    moves = [
        (step.shift.real, step.shift.imag, np.log(max(abs(step.growth), 1e-6)), np.angle(step.growth))
        for _, _, step in steps
    ]
    return Steps(
        np.array([(first, last) for first, last, _ in steps], np.int64).reshape(-1, 2),
        np.array(moves, np.float64).reshape(-1, 4),
        np.array([step.support for _, _, step in steps], np.float64),
        np.array([step.parallax for _, _, step in steps], np.float64),
        np.array([_cells(step, aspect) for _, _, step in steps], np.uint8).reshape(-1, CELLS[0] * CELLS[1]),
        aspect,
        np.array([look.ravel() for _, look in looks], np.uint8).reshape(-1, LOOK_PX[0] * LOOK_PX[1]),
        np.array([frame for frame, _ in looks], np.int64),
    )


def _cells(step: Step, aspect: float) -> NDArray[np.uint8]:
    cells = np.zeros(CELLS[0] * CELLS[1], np.uint8)
    if len(step.points):
        column = np.clip((step.points.real / aspect + 0.5) * CELLS[0], 0, CELLS[0] - 1).astype(np.intp)
        row = np.clip((step.points.imag + 0.5) * CELLS[1], 0, CELLS[1] - 1).astype(np.intp)
        cells[row * CELLS[0] + column] = np.where(step.fits, FITS, OWN)
    return cells
