"""Sound that comes again within a few milliseconds: so a time stretcher leaves it, whatever its make.

To play sound slower at the same pitch, short grains of it are laid over each other, some of them twice. The waveform
then resembles itself at the lag of such a pair. A tone or a voice does so too, but also at twice that lag; grains do
not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

BAND_HZ = (2000.0, 8000.0)
"""High enough that a voice's own periods are not alike, low enough that coders keep the waveform."""
LAGS_S = (0.0045, 0.016)
_WINDOW_S = 0.064
_SMOOTH_HZ = 600.0
"""Spectra are made even over so much: the sound's colour must not count."""
_WEAKEST, _LEAST_OVERLAP = 1e-4, 0.15
_NEAR = 2


def comes_again(mono: NDArray[np.float32], centres: NDArray[np.int64], rate_hz: int) -> NDArray[np.float32]:
    """Around each centre, the largest likeness to what lies one lag away over that to what lies two away."""
    wave, wave_hz = _band(mono, rate_hz)
    size = int(_WINDOW_S * wave_hz)
    shape = np.hanning(size + 2)[1:-1].astype(np.float32)
    lags = np.arange(int(LAGS_S[0] * wave_hz), int(LAGS_S[1] * wave_hz) + 1)
    length = scipy.fft.next_fast_len(size + 2 * int(lags[-1]) + _NEAR)
    starts = np.round(centres * wave_hz / rate_hz).astype(np.int64) - size // 2
    padded = np.pad(wave, (size, 2 * size))
    pieces = np.lib.stride_tricks.sliding_window_view(padded, size)[np.clip(starts + size, 0, len(wave) + size)]
    alike = _autocorrelation(_even(_power(pieces * shape, length), int(_SMOOTH_HZ / wave_hz * length) | 1))
    alike /= np.maximum(_autocorrelation(_power(shape[None], length)), _LEAST_OVERLAP)
    twice = maximum_filter1d(alike, 2 * _NEAR + 1, axis=1)[:, 2 * lags]
    return np.asarray((alike[:, lags] - twice).max(axis=1), np.float32)


def _band(mono: NDArray[np.float32], rate_hz: int) -> tuple[NDArray[np.complex64], float]:
    """One band by itself, at a rate as high as it is wide."""
    high_hz = min(BAND_HZ[1], 0.46 * rate_hz)
    low_hz = min(BAND_HZ[0], high_hz / 4)
    size = scipy.fft.next_fast_len(len(mono))
    count = scipy.fft.next_fast_len(int((high_hz - low_hz) * size / rate_hz))
    first = int(low_hz * size / rate_hz)
    return scipy.fft.ifft(scipy.fft.rfft(mono, size)[first : first + count]), count * rate_hz / size


def _power(pieces: NDArray[Any], length: int) -> NDArray[np.float32]:
    spectrum = scipy.fft.fft(pieces, length, axis=1)
    return np.asarray(spectrum.real**2 + spectrum.imag**2, np.float32)


def _even(power: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Each spectrum divided by its own mean over so many bins; what is far below its strongest part stays weak."""
    half = width // 2
    around = np.concatenate((power[:, -half - 1 :], power, power[:, :half]), axis=1)
    sums = np.cumsum(around, axis=1, dtype=np.float64)
    mean = sums[:, width:] - sums[:, :-width]
    return np.asarray(power / (mean + _WEAKEST * mean.max(axis=1, keepdims=True) + 1e-20), np.float32)


def _autocorrelation(power: NDArray[np.float32]) -> NDArray[np.float32]:
    alike = np.abs(scipy.fft.rfft(power, axis=1))
    return np.asarray(alike / (alike[:, :1] + 1e-12), np.float32)
