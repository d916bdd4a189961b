"""Where one defect of sound lies in a film that is clean otherwise: a track that rises there, and the best stretch.

For each kind a course over time that is high inside the defect; the stretch is the one whose mean stands out most
from the rest, counted with its length. Courses are on a grid of 50 ms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import percentile_filter, uniform_filter1d

from primitives._sound.common import Floats, Spectra, erb_bands, resampled

Kind = Literal["noise", "reverb", "clip", "level"]
RATE_HZ = 16_000
GRID_S = 0.05
_STEP_S = 0.01
_SPECTRA = Spectra(512, 160)
_SHORTEST_S, _LONGEST_S = 1.5, 15.0
_OUTSIDE_S = 1.0
_FULL_SCALE, _LEAST_FULL, _APART_S = 0.999, 4, 2.0
"""Clipped at full scale: so high, in so many places, none further from the next."""
SURE = {"noise": 8.0, "reverb": 2.0, "clip": 2.5, "level": 5.0}
"""How far a stretch must stand out, in the unit of its course (dB; for clip hundredths of a neper)."""


@dataclass(frozen=True)
class Stretch:
    """A stretch that stands out."""

    start_s: float
    end_s: float
    contrast: float
    """Its mean over that of the rest, in the unit of the course."""


class Courses:
    """The courses of a whole track, gathered block by block."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._parts: list[NDArray[np.float64]] = []
        self._full: list[NDArray[np.bool_]] = []

    def add(self, mono: Floats, rate_hz: int) -> None:
        """A block (mono) that follows the last one; whole grid steps."""
        if self._kind == "clip":
            self._parts.append(_tops(mono, rate_hz))
            self._full.append(_at_full_scale(mono, rate_hz))
            return
        low = resampled(mono, rate_hz, RATE_HZ)
        power = np.abs(_SPECTRA.forward(low)[: max(1, round(len(low) / _SPECTRA.hop))]) ** 2
        self._parts.append(10 * np.log10(power @ erb_bands(RATE_HZ, _SPECTRA.size, 32).T + 1e-9))

    def cut_off(self) -> Stretch | None:
        """For clip: the stretch with most places at full scale, which needs no comparing with the rest."""
        places = np.flatnonzero(np.concatenate(self._full)) if self._full else np.zeros(0, np.intp)
        groups = np.split(places, np.flatnonzero(np.diff(places) > _APART_S / GRID_S) + 1)
        best = max(groups, key=len)
        if len(best) < _LEAST_FULL:
            return None
        return Stretch(float(best[0]) * GRID_S, float(best[-1] + 1) * GRID_S, float(len(best)))

    def course(self) -> NDArray[np.float64]:
        """One value for each 50 ms."""
        rows = np.concatenate(self._parts)
        if self._kind == "clip":
            return np.asarray(uniform_filter1d(rows, 7))
        loud = np.quantile(rows, 0.95)
        rows = np.maximum(rows, loud - 75)
        if self._kind == "noise":
            fine = percentile_filter(rows, 15, size=(41, 1)).mean(axis=1)
        elif self._kind == "level":
            fine = percentile_filter(10 * np.log10((10 ** (rows / 10)).sum(axis=1)), 85, size=61)
        else:
            smooth = uniform_filter1d(rows, 3, axis=0)
            falls = np.zeros_like(smooth)
            falls[6:] = smooth[6:] - smooth[:-6]
            fine = percentile_filter(falls, 4, size=(101, 1)).mean(axis=1)
        return _thinned(np.asarray(fine, np.float64), round(GRID_S / _STEP_S))


def _at_full_scale(mono: Floats, rate_hz: int) -> NDArray[np.bool_]:
    """For each 50 ms whether three samples or more are as high as samples can be."""
    step = round(GRID_S * rate_hz)
    whole = np.abs(mono[: len(mono) // step * step]).reshape(-1, step)
    return np.asarray((whole >= _FULL_SCALE).sum(axis=1) >= 3)


def _tops(mono: Floats, rate_hz: int) -> NDArray[np.float64]:
    """For each 50 ms how flat the highest levels of 0.3 s are: cut sound has no peaks above its loud part."""
    step, reach = round(GRID_S * rate_hz), round(0.3 * rate_hz)
    levels = np.abs(np.asarray(mono, np.float32))
    loud = float(np.quantile(levels, 0.98)) if len(levels) else 0.0
    made = []
    for at in range(0, len(levels) - step + 1, step):
        part = levels[max(0, at + step // 2 - reach // 2) : at + step // 2 + reach // 2]
        high, wide = np.quantile(part, (0.995, 0.93))
        made.append(-100 * np.log(max(high, 1e-9) / max(wide, 1e-9)) if wide > 0.1 * loud and wide > 1e-4 else -120.0)
    return np.asarray(np.maximum(made, -120.0), np.float64)


def _thinned(values: NDArray[np.float64], by: int) -> NDArray[np.float64]:
    count = len(values) // by
    return np.asarray(values[: count * by].reshape(count, by).mean(axis=1))


def find_stretch(course: NDArray[np.float64], either_sign: bool = False) -> Stretch | None:
    """The stretch of 1.5 to 15 s whose mean stands out most; with `either_sign` also downwards."""
    best = _best(course)
    if either_sign:
        below = _best(-course)
        if below is not None and (best is None or below[0] > best[0]):
            best = (below[0], below[1], below[2], -below[3])
    return None if best is None else Stretch(best[1] * GRID_S, best[2] * GRID_S, best[3])


def _best(course: NDArray[np.float64]) -> tuple[float, int, int, float] | None:
    count = len(course)
    sums = np.concatenate([[0.0], np.cumsum(course)])
    shortest, longest, outside = (round(s / GRID_S) for s in (_SHORTEST_S, _LONGEST_S, _OUTSIDE_S))
    found: tuple[float, int, int, float] | None = None
    for length in _lengths(shortest, min(longest, count - outside)):
        inside = sums[length:] - sums[:-length]
        contrast = inside / length - (sums[-1] - inside) / (count - length)
        worth = contrast * np.sqrt(length * (count - length) / count)
        place = int(np.argmax(worth))
        if found is None or worth[place] > found[0]:
            found = (float(worth[place]), place, place + length, float(contrast[place]))
    return found


def _lengths(shortest: int, longest: int) -> Iterable[int]:
    return range(shortest, longest + 1)
