"""Shots out of order by their sound alone: it breaks at their cuts, and goes on across other pairs of them. Pure."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from primitives._defects.common import Values
from primitives._tracks import HOP_S, PictureTrack, SoundTrack

EVEN = 0.15
"""Logarithm of how much better the sound goes on in another order, at which chance is as likely."""
SLOPE = 2.5
MOST_CUTS = 40
SHORTEST_S = 0.5
BREAK_DB = 4.0
"""Sound that goes on differs by less from one moment to the next."""
BREAKS = 2.0
"""How much more it must differ at these cuts than it usually does in the film."""
_NOISE_DB, _FLOOR_DB, _ROWS, _EVERY = 3.0, -80.0, 4, 10


def heard_ratio(
    picture: PictureTrack, sound: SoundTrack, cuts: Sequence[int], order: tuple[int, ...]
) -> tuple[float, list[int]]:
    """The cuts that the order heals best, by which cut's second half continues the first half of each."""
    if not len(order) <= len(cuts) <= MOST_CUTS:
        return 0.0, []
    bands = np.maximum(sound.bands_db, _FLOOR_DB)
    gaps = _gaps(bands, [round(float(picture.times_s[n]) / HOP_S) for n in cuts])
    usual = _gaps(bands, list(range(0, len(bands), _EVERY)), apart=False)
    least = max(BREAK_DB, BREAKS * float(np.median(usual)))
    chosen = np.meshgrid(*[np.arange(len(cuts))] * len(order), indexing="ij", sparse=True)
    own = functools.reduce(np.add, [np.diag(gaps)[place] for place in chosen]) / len(order)
    healed = [gaps[chosen[left], chosen[right]] for left, right in enumerate(order)]
    better = np.log((own + _NOISE_DB) / (functools.reduce(np.add, healed) / len(order) + _NOISE_DB))
    times = picture.times_s[list(cuts)]
    steps = [times[b] - times[a] for a, b in itertools.pairwise(chosen)]
    good = (functools.reduce(np.minimum, steps) >= SHORTEST_S) & (own > least)
    scores = np.where(good, better, -np.inf)
    place = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return max(0.0, 1 + SLOPE * (float(scores[place]) - EVEN)), [cuts[int(n)] for n in place]


def _gaps(bands: Values, rows: list[int], apart: bool = True) -> Values:
    """How much the sound before one row differs from that after another, or after itself, in decibels."""
    rows = [min(max(row, _ROWS + 1), len(bands) - _ROWS - 2) for row in rows]
    last = np.stack([bands[row - _ROWS - 1 : row - 1].mean(axis=0) for row in rows])
    first = np.stack([bands[row + 1 : row + 1 + _ROWS].mean(axis=0) for row in rows])
    return np.asarray(np.abs((last[:, None] - first[None]) if apart else last - first).mean(axis=-1))
