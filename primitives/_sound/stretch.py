"""Sound at another tempo and the same pitch: overlapping pieces laid out anew, each shifted to fit the last one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from primitives._sound.common import Floats, Sound
from primitives._sound.lag import best_match

_PIECE_S = 0.040
_REACH_S = 0.008


def stretched(sound: Sound, count: int, rate_hz: int, where: Callable[[float], float]) -> Sound:
    """`count` samples; sample `n` sounds like `sound` at `where(n)`, within a few milliseconds."""
    half = max(2, round(_PIECE_S * rate_hz / 2))
    reach = max(1, round(_REACH_S * rate_hz))
    pad = 2 * half + reach
    source = np.pad(sound, ((0, 0), (pad, 2 * pad)))
    mono = source.mean(axis=0)
    window = np.hanning(2 * half + 1)[:-1].astype(np.float32)
    made = np.zeros((len(sound), count + 4 * half), np.float32)
    goes_on: Floats | None = None
    for at in range(0, count + half, half):
        wanted = int(np.clip(round(where(at)), -half, sound.shape[1])) + pad - half
        if goes_on is not None:
            wanted = wanted - reach + _fit(goes_on, mono[wanted - reach : wanted + reach + half])
        made[:, at : at + 2 * half] += source[:, wanted : wanted + 2 * half] * window
        goes_on = mono[wanted + half : wanted + 2 * half]
    return made[:, half : half + count]


def _fit(piece: Floats, around: Floats) -> int:
    if not np.any(piece) or len(around) < len(piece):
        return (len(around) - len(piece)) // 2 if len(around) > len(piece) else 0
    return best_match(piece, around)[0]


def room_tone(around: Sound, count: int, rate_hz: int) -> Sound:
    """The background of a film, `count` samples: its quietest moment over and over, forwards and backwards."""
    size = min(around.shape[1], round(0.25 * rate_hz))
    if size < 8 or count <= 0:
        return np.zeros((len(around), max(0, count)), np.float32)
    power = np.concatenate([[0.0], np.cumsum(np.mean(around.astype(np.float64) ** 2, axis=0))])
    energy = power[size:] - power[:-size]
    start = int(np.argmin(np.where(energy > 1e-12, energy, np.inf))) if (energy > 1e-12).any() else 0
    piece = around[:, start : start + size]
    both: NDArray[np.float32] = np.concatenate([piece, piece[:, ::-1]], axis=1)
    return np.tile(both, (1, -(-count // both.shape[1])))[:, :count]
