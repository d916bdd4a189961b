"""Whether the beat of one clip goes on in another: music keeps its time across a cut. Pure.

How alike the onsets of a sound are to themselves some time later shows its beat. Across a true seam the onsets of the
start follow those of the end at the same distances; where the beat stumbles, at others. Speech has no beat, and gives
next to nothing either way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from primitives._joins.picture import Values
from primitives._tracks import HOP_S

Lags = NDArray[np.int64]
SIDE_S, LEAST_S = 8.0, 2.0
"""Sound on either side that is compared, and how much there must be of it."""
NEAREST_S, FURTHEST_S = 0.25, 3.0
"""From quick beats to a slow bar."""
WEIGHT, LIMITS = 1.6, (-1.5, 1.5)
"""Fitted on the beat of four films' and a string orchestra's sound."""
MOST_DB = 10.0
"""Rises within 10 ms that count alike."""
SILENT_DB = -90.0
_SMOOTH = np.hanning(7) / np.hanning(7).sum()


def onsets(bands_db: Values) -> Values:
    """How much the bands of a sound rise at each moment, against the rest of it."""
    if not len(bands_db):
        return np.zeros(0)
    heard = np.maximum(bands_db, SILENT_DB)
    rises = np.diff(heard, axis=0, prepend=heard[:1])
    strength = np.convolve(np.clip(rises, 0.0, MOST_DB).mean(axis=1), _SMOOTH, "same")
    return _standard(strength)


def beat_evidence(tails: Sequence[Values], heads: Sequence[Values]) -> Values:
    """The onsets of all ends against those of all starts. Sounds that are too short say nothing."""
    told = np.zeros((len(tails), len(heads)))
    lags = np.arange(round(NEAREST_S / HOP_S), round(FURTHEST_S / HOP_S), dtype=np.int64)
    own = [[_alike(side, side, lags) for side in sides] for sides in (tails, heads)]
    for a, tail in enumerate(tails):
        for b, head in enumerate(heads):
            if min(len(tail), len(head)) >= LEAST_S / HOP_S:
                across = _alike(np.pad(tail, (0, len(head))), np.pad(head, (len(tail), 0)), lags)
                told[a, b] = _agree(own[0][a] / len(tail) + own[1][b] / len(head), across, lags)
    return np.clip(WEIGHT * told, *LIMITS)


def _agree(within: Values, across: Values, lags: Lags) -> float:
    """How alike two courses over the lags are; longer lags have more of the seam in them, and count more."""
    shares = np.sqrt(lags) / np.sqrt(lags).sum()
    return float(shares @ (_standard(within) * _standard(across / lags)))


def _alike(one: Values, later: Values, lags: Lags) -> Values:
    """The sum of one times the other so much later."""
    if not len(one):
        return np.zeros(len(lags))
    size = 1 << (2 * max(len(one), int(lags[-1]) + 1) - 1).bit_length()
    product = np.conj(np.fft.rfft(one, size)) * np.fft.rfft(later, size)
    return np.asarray(np.fft.irfft(product, size)[lags])


def _standard(values: Values) -> Values:
    return np.asarray((values - values.mean()) / (values.std() + 1e-6)) if len(values) else values
