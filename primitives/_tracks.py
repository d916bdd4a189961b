"""What a film looks and sounds like over time, in numbers: what the analysis primitives share. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from primitives._cuts import EVEN, Transition

Floats = NDArray[np.float32]
ROWS, COLUMNS, PLANES = 9, 16, 3
SCALES = 5
REGIONS = (3, 4)
"""Rows and columns of the regions in which detail is measured."""
HOP_S = 0.01
BANDS = 40
FLOOR_DB, STEP_DB = -110.0, 0.5
"""A band's level is kept in half decibels above the floor, in one byte."""


@dataclass(frozen=True, eq=False)
class PictureTrack:
    """One row a frame."""

    times_s: NDArray[np.float64]
    """When each frame appears, and when the last one ends: one more than there are frames."""
    cells: NDArray[np.uint8]
    """Luma and two chroma planes of 9 x 16 cells."""
    bright: Floats
    """Luma that one cell in fifty exceeds."""
    moved: Floats
    """How much the most changed parts differ from the frame before, in grey levels; 0 for the first frame."""
    detail: NDArray[np.float16]
    """log2 of the mean difference of places 1, 2, 4 and 8 pixels apart, and of a place from both its neighbours, in
    each region. Blur lowers the first ones most, lost resolution the last."""
    keyframes: NDArray[np.bool_]
    changes: tuple[Transition, ...]
    """The film's transitions, weak ones included."""

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def fps(self) -> float:
        return len(self) / max(float(self.times_s[-1] - self.times_s[0]), 1e-6)

    @cached_property
    def flat(self) -> Floats:
        """Each frame's cells as one vector."""
        return self.cells.reshape(len(self), -1).astype(np.float32)

    @cached_property
    def luma(self) -> Floats:
        return np.asarray(self.cells[:, 0].mean(axis=(1, 2)), np.float32)

    @cached_property
    def cuts(self) -> list[int]:
        """First frames of shots that begin by a likely change."""
        return [change.frame for change in self.changes if change.strength >= EVEN and 0 < change.frame < len(self)]

    def frame_at(self, time_s: float) -> int:
        return int(np.clip(np.searchsorted(self.times_s, time_s + 1e-4, side="right") - 1, 0, len(self) - 1))


@dataclass(frozen=True, eq=False)
class SoundTrack:
    """One row every 10 ms, from time 0 of the film."""

    bands: NDArray[np.uint8]
    """Levels of 40 bands, equally wide to the ear, in steps of 0.5 dB from -110 dB."""
    level_db: Floats
    """Root mean square over all bands."""
    peak_db: Floats
    crest_db: Floats
    """How far the highest samples stand above the high ones within 0.3 s: 99.5 % against 93 %. Small where clipped."""
    flat: Floats
    """Share of the samples within 1.5 dB of the highest one within 0.1 s. Large where clipped."""
    again: Floats
    """How much of the waveform comes again within 16 ms, once, measured every other row. Large where stretched."""

    def __len__(self) -> int:
        return len(self.level_db)

    @cached_property
    def bands_db(self) -> Floats:
        return np.asarray(self.bands.astype(np.float32) * np.float32(STEP_DB) + np.float32(FLOOR_DB), np.float32)


@dataclass(frozen=True, eq=False)
class FilmTracks:
    """A film's picture and sound; either may be missing."""

    picture: PictureTrack | None
    sound: SoundTrack | None
    duration_s: float
