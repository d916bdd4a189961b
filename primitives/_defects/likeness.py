"""How loud each moment is against moments of the same film that have the same colour of sound. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Values
from primitives._defects.sound import pooled
from primitives._tracks import HOP_S, SoundTrack

Rows = NDArray[np.intp]
FLOOR_DB, SILENT_DB = -95.0, -85.0
APART_S = 6.0
"""Moments nearer than that may lie in the same window, and tell nothing about each other."""
PART_S, REACH_S = 60.0, 60.0
"""A film is gone through in parts, each compared with what lies around it: memory stays flat."""
MOST_DB = 20.0
_BANDS, _POOL, _ALIKE = 20, 5, 10


def louder_than_alike(sound: SoundTrack) -> Values:
    """Decibels by which each row is louder than the rows most like it in colour, elsewhere in the film."""
    wide = np.maximum(sound.bands_db, FLOOR_DB).reshape(len(sound), _BANDS, -1).mean(axis=2)
    coarse = pooled(wide, _POOL)
    alive = pooled(sound.level_db, _POOL) > SILENT_DB
    level = coarse.mean(axis=1)
    colour = coarse - level[:, None]
    louder = np.zeros(len(coarse), np.float32)
    part, reach, apart = (max(1, round(seconds / HOP_S / _POOL)) for seconds in (PART_S, REACH_S, APART_S))
    for start in range(0, len(coarse), part):
        here = np.arange(start, min(len(coarse), start + part))
        there = np.arange(max(0, start - reach), min(len(coarse), start + part + reach))
        there = there[alive[there]]
        louder[here] = level[here] - _level_of_alike(colour, level, here, there, apart)
    louder[~alive] = 0
    spread = np.repeat(np.clip(louder, -MOST_DB, MOST_DB), _POOL)
    return np.asarray(np.pad(spread, (0, max(0, len(sound) - len(spread))), mode="edge")[: len(sound)])


def _level_of_alike(colour: Values, level: Values, here: Rows, there: Rows, apart: int) -> Values:
    """The median level of the nearest neighbours by colour; the row's own level where it has too few."""
    if len(there) <= _ALIKE:
        return np.asarray(level[here])
    a, b = colour[here], colour[there]
    gaps = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
    near = np.abs(here[:, None] - there) < apart
    gaps[near] = np.inf
    nearest = np.argpartition(gaps, _ALIKE, axis=1)[:, :_ALIKE]
    found = np.median(level[there[nearest]], axis=1)
    return np.asarray(np.where((~near).sum(axis=1) > _ALIKE, found, level[here]))
