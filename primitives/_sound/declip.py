"""Sound cut off at a ceiling, rebuilt: A-SPADE, the sparsest spectrum that agrees with what was not cut.

Samples below the ceiling stay as they are, samples at it may only grow beyond it. Frame by frame the number of
spectral lines is raised until both agree. The ceiling is read from the histogram of levels: cut samples pile up
there, after lossy coding smeared into a hump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from primitives._sound.common import Floats

_FRAME, _HOP = 1024, 256
_LINES_FIRST, _LINES_STEP = 4, 2
_ROUNDS = 60
_BATCH = 256
_ENOUGH = 0.02
"""A frame is done when both sides differ by no more than this share of it."""
_BINS = 100
_SHARP_SHARE, _SMEARED_SHARE = 0.97, 0.88
_AROUND, _LEAST_AT_TOP, _STANDS_OUT = 60, 8, 12
_HUMP = 1.4
"""How far a hump stands out over the lowest level below it."""
LEAST_CLIPPED = 2e-4
"""The share of samples at the ceiling below which nothing was cut."""


@dataclass(frozen=True)
class Ceiling:
    """Where sound was cut."""

    level: float
    share: float
    """The share of samples at it."""
    sharp: bool
    """The cut is as it was made, not smeared by a codec."""

    @property
    def from_level(self) -> float:
        """What counts as cut."""
        return self.level * (_SHARP_SHARE if self.sharp else _SMEARED_SHARE)


def find_ceiling(mono: Floats) -> Ceiling | None:
    """The level at which samples pile up; None where they do not."""
    levels = np.abs(np.asarray(mono, np.float64))
    top = float(levels.max(initial=0.0))
    if top < 1e-3:
        return None
    return _sharp_ceiling(levels, top) or _overshot(levels, top) or _hump(levels, top)


def _sharp_ceiling(levels: NDArray[np.float64], top: float) -> Ceiling | None:
    """One value that comes far more often than its neighbours: PCM as it was cut."""
    counts = np.bincount(np.round(levels[levels < 1.05] * 32768).astype(int)).astype(np.float64)
    lowest = max(_AROUND, int(0.08 * top * 32768))
    if len(counts) <= lowest + 1:
        return None
    # Both signs of full scale differ by one: a value counts with its neighbours.
    near = uniform_filter1d(counts, 2 * _AROUND + 1, mode="constant") * (2 * _AROUND + 1)
    own = uniform_filter1d(counts, 3, mode="constant") * 3
    stands_out = np.where(counts >= _LEAST_AT_TOP, counts / np.maximum(0.2, (near - own) / (2 * _AROUND)), 0.0)
    best = lowest + int(np.argmax(stands_out[lowest:]))
    beyond = float((levels > 1.2 * best / 32768).mean())
    share = float(counts[best - 1 : best + 2].sum() / len(levels))
    if stands_out[best] < _STANDS_OUT or beyond > share:
        return None
    return Ceiling(best / 32768, share, True)


def _overshot(levels: NDArray[np.float64], top: float) -> Ceiling | None:
    """Sound cut at full scale and then coded: decoding swings beyond it."""
    share = float((levels > 0.93).mean())
    return Ceiling(1.0, share, False) if top > 1.02 and share > LEAST_CLIPPED else None


def _hump(levels: NDArray[np.float64], top: float) -> Ceiling | None:
    """Sound cut lower down and then coded: levels of uncut sound grow rarer steadily, here they pile up."""
    counts, edges = np.histogram(levels, bins=_BINS, range=(0.0, top * 1.0001))
    smooth = uniform_filter1d(counts.astype(np.float64), 5)[_BINS // 12 :]
    rises = smooth - _HUMP * np.minimum.accumulate(smooth)
    best = _BINS // 12 + int(np.argmax(rises))
    level = float((edges[best] + edges[best + 1]) / 2)
    share = float(((levels > level * 0.93) & (levels < level * 1.07)).mean())
    beyond = float((levels > level * 1.2).mean())
    if rises.max() <= 0 or share < 10 * LEAST_CLIPPED or beyond > 0.25 * share:
        return None
    return Ceiling(level, share, False)


def declip(mono: Floats, ceiling: Ceiling, check: Callable[[], None] = lambda: None) -> NDArray[np.float64]:
    """The sound with what was cut off rebuilt."""
    sound, low = np.asarray(mono, np.float64), ceiling.from_level
    padded = np.pad(sound, (_FRAME, 2 * _FRAME))
    count = (len(padded) - _FRAME) // _HOP + 1
    window = np.sqrt(np.hanning(_FRAME + 1)[:-1])
    view = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP][:count]
    touched = np.flatnonzero((np.abs(view) >= low).any(axis=1))
    change = np.zeros(len(padded))
    for start in range(0, len(touched), _BATCH):
        check()
        numbers = touched[start : start + _BATCH]
        rebuilt = _rebuilt(view[numbers], window, low)
        for number, frame in zip(numbers, (rebuilt - view[numbers] * window) * window, strict=True):
            change[number * _HOP : number * _HOP + _FRAME] += frame
    made = sound + change[_FRAME : _FRAME + len(sound)] / (window**2).reshape(-1, _HOP).sum(axis=0).mean()
    return np.where(np.abs(sound) >= low, made, sound) if ceiling.sharp else made


def _rebuilt(frames: NDArray[np.float64], window: NDArray[np.float64], low: float) -> NDArray[np.float64]:
    """Windowed frames with their cut samples free to grow."""
    known, cut, sign = frames * window, np.abs(frames) >= low, np.sign(frames)
    least = np.where(cut, np.abs(frames) * window, 0.0)
    now, offset = known.copy(), np.zeros((len(frames), _FRAME + 1), np.complex128)
    scale = np.sqrt(np.sum(known**2, axis=1)) + 1e-12
    open_ = np.arange(len(frames))
    lines = _LINES_FIRST
    for _ in range(_ROUNDS):
        spectrum = scipy.fft.rfft(now[open_], 2 * _FRAME, axis=1)
        wanted = spectrum + offset[open_]
        sizes = np.abs(wanted)
        limit = np.partition(sizes, -lines, axis=1)[:, -lines][:, None]
        sparse = np.where(sizes >= limit, wanted, 0)
        guess = scipy.fft.irfft(sparse - offset[open_], 2 * _FRAME, axis=1)[:, :_FRAME]
        grown = np.maximum(sign[open_] * guess, least[open_])
        fresh = np.where(cut[open_], sign[open_] * grown, known[open_])
        new_spectrum = scipy.fft.rfft(fresh, 2 * _FRAME, axis=1)
        offset[open_] += new_spectrum - sparse
        now[open_] = fresh
        gap = np.sqrt(np.sum(np.abs(new_spectrum - sparse) ** 2, axis=1) / _FRAME) / scale[open_]
        open_ = open_[gap > _ENOUGH]
        if not len(open_):
            break
        lines += _LINES_STEP
    return now
