"""Samples, levels, frames and spectra: what every repair of sound stands on."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

Floats = NDArray[np.float32] | NDArray[np.float64]
Sound = NDArray[np.float32]
"""`[channels, samples]`, full scale at 1."""
SILENCE_DB = -100.0


def resampled(sound: Floats, from_hz: int, to_hz: int) -> NDArray[np.float64]:
    """The same sound at another rate, along the last axis."""
    wide = np.asarray(sound, np.float64)
    if from_hz == to_hz or not wide.shape[-1]:
        return wide
    common = gcd(from_hz, to_hz)
    return np.asarray(resample_poly(wide, to_hz // common, from_hz // common, axis=-1), np.float64)


def fitted(sound: Floats, count: int) -> NDArray[np.float64]:
    """Exactly `count` samples: cut off, or filled up with silence."""
    missing = max(0, count - sound.shape[-1])
    return np.pad(np.asarray(sound, np.float64), [(0, 0)] * (sound.ndim - 1) + [(0, missing)])[..., :count]


def rms_db(sound: Floats) -> float:
    """Level in dBFS."""
    power = float(np.mean(np.square(sound, dtype=np.float64))) if sound.size else 0.0
    return max(SILENCE_DB, 10 * float(np.log10(power + 1e-20)))


def block_levels_db(mono: Floats, rate_hz: int, block_s: float = 0.05) -> NDArray[np.float64]:
    """The level of each block; empty when the sound is shorter than one."""
    size = max(1, round(block_s * rate_hz))
    count = len(mono) // size
    power = np.mean(np.square(mono[: count * size].reshape(count, size), dtype=np.float64), axis=1)
    return np.asarray(np.maximum(SILENCE_DB, 10 * np.log10(power + 1e-20)), np.float64)


def loud_level_db(mono: Floats, rate_hz: int) -> float:
    """The level of the loud part: the 85th percentile of blocks that are not digital silence."""
    levels = block_levels_db(mono, rate_hz)
    levels = levels[levels > SILENCE_DB + 1]
    return float(np.quantile(levels, 0.85)) if len(levels) else SILENCE_DB


def floor_db(mono: Floats, rate_hz: int) -> float:
    """The level of the quiet part: the 10th percentile of blocks that are not digital silence."""
    levels = block_levels_db(mono, rate_hz)
    levels = levels[levels > SILENCE_DB + 1]
    return float(np.quantile(levels, 0.10)) if len(levels) else SILENCE_DB


@dataclass(frozen=True)
class Spectra:
    """Short-time spectra with overlap-add back to samples; a window squared sums to one."""

    size: int
    hop: int

    @property
    def window(self) -> NDArray[np.float64]:
        raised = np.hanning(self.size + 1)[:-1]
        return np.asarray(np.sqrt(raised / (raised.sum() / self.hop)), np.float64)

    def forward(self, mono: Floats) -> NDArray[np.complex128]:
        """`[frames, bins]`; frame `t` is centred on sample `t * hop`."""
        half = self.size // 2
        padded = np.pad(np.asarray(mono, np.float64), (half, half + self.hop))
        frames = np.lib.stride_tricks.sliding_window_view(padded, self.size)[:: self.hop]
        return np.fft.rfft(frames * self.window, axis=1)

    def backward(self, spectra: NDArray[np.complex128], count: int) -> NDArray[np.float64]:
        """`count` samples."""
        frames = np.fft.irfft(spectra, self.size, axis=1) * self.window
        half, total = self.size // 2, len(frames) * self.hop + self.size
        made = np.zeros(total)
        turns = self.size // self.hop
        for turn in range(turns):
            part = frames[:, turn * self.hop : (turn + 1) * self.hop].reshape(-1)
            made[turn * self.hop : turn * self.hop + len(part)] += part
        return made[half : half + count]


def erb_bands(
    rate_hz: int, size: int, count: int, low_hz: float = 80.0, high_hz: float = 7600.0
) -> NDArray[np.float64]:
    """`[count, bins]` triangles with centres evenly spaced on the ERB-rate scale."""
    high_hz = min(high_hz, 0.475 * rate_hz)
    bins_hz = np.linspace(0.0, rate_hz / 2, size // 2 + 1)
    ends = 21.4 * np.log10(1 + 0.00437 * np.array([low_hz, high_hz]))
    edges_hz = (10 ** (np.linspace(ends[0], ends[1], count + 2) / 21.4) - 1) / 0.00437
    left, centre, right = (edges_hz[i : i + count, None] for i in range(3))
    triangles = np.maximum(0.0, np.minimum((bins_hz - left) / (centre - left), (right - bins_hz) / (right - centre)))
    return np.asarray(triangles, np.float64)
