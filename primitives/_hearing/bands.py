"""What is read off a spectrum: mel bands, loudness by the K weighting of BS.1770, level. Pure."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

MEL_BANDS = 80
LOWEST_HZ = 40.0
HIGHEST_HZ = 16_000.0
LOUDNESS_OFFSET = -0.691
_K_RATE_HZ = 48_000
_K_SECTIONS = (
    ((1.53512485958697, -2.69169618940638, 1.19839281085285), (1.0, -1.69065929318241, 0.73248077421585)),
    ((1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621)),
)
"""The two filters of BS.1770, numerator and denominator, at 48 kHz."""


def mel(frequency_hz: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return np.asarray(2595 * np.log10(1 + np.asarray(frequency_hz) / 700))


def top_hz(rate_hz: int) -> float:
    return min(HIGHEST_HZ, rate_hz / 2)


def mel_position(frequency_hz: float, highest_hz: float) -> float:
    """Where a frequency stands between the lowest (0) and the highest (1) shown."""
    low, high = mel(LOWEST_HZ), mel(highest_hz)
    return float((mel(frequency_hz) - low) / (high - low))


@lru_cache(maxsize=8)
def weights(size: int, rate_hz: int, highest_hz: float) -> Floats:
    """A matrix that turns the power of a spectrum's bins into mel bands, power without DC and K-weighted power.

    The last two columns give a mean square, for spectra of Hann windows.
    """
    bins_hz = np.arange(size // 2 + 1) * rate_hz / size
    whole = np.full(size // 2 + 1, 2.0) / (size * float((window(size) ** 2).sum()))
    whole[0] = 0
    if size % 2 == 0:
        whole[-1] /= 2
    audible = whole * (bins_hz > 1.5 * rate_hz / size)  # a Hann window spreads DC into the first bin
    columns = [*_mel_bands(bins_hz, highest_hz), audible, whole * _k_power(bins_hz)]
    return np.stack(columns, axis=1).astype(np.float32)


@lru_cache(maxsize=8)
def window(size: int) -> NDArray[np.float64]:
    return np.asarray(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size))


def _mel_bands(bins_hz: NDArray[np.float64], highest_hz: float) -> list[NDArray[np.float64]]:
    """Triangles of equal area; one that lies between two bins takes the nearest."""
    edges = 700 * (10 ** (np.linspace(mel(LOWEST_HZ), mel(highest_hz), MEL_BANDS + 2) / 2595) - 1)
    bands = []
    for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
        rise, fall = (bins_hz - low) / (middle - low), (high - bins_hz) / (high - middle)
        band = np.clip(np.minimum(rise, fall), 0, None)
        if not band.any():
            band[np.argmin(np.abs(bins_hz - middle))] = 1
        bands.append(band / band.sum())
    return bands


def _k_power(bins_hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """The K weighting's gain in power; above 24 kHz as at 24 kHz."""
    turn = np.exp(-2j * np.pi * np.minimum(bins_hz, _K_RATE_HZ / 2) / _K_RATE_HZ)
    gain = np.ones(len(bins_hz))
    for above, below in _K_SECTIONS:
        gain *= np.abs(np.polyval(above[::-1], turn) / np.polyval(below[::-1], turn)) ** 2
    return gain


def decibels(power: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Power in dB, with -120 for nothing."""
    return np.asarray(10 * np.log10(np.maximum(np.asarray(power, np.float64), 1e-12)))
