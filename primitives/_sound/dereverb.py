"""A room taken out of speech: linear prediction of late reverberation, then spectral subtraction of what is left.

The first step (weighted prediction error) predicts each bin's sound from what was heard a little earlier and
subtracts it: the direct sound cannot be predicted, its echoes can. The second takes away what an exponential decay
of the room would still leave.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.signal import lfilter

from primitives._sound.common import Floats, Spectra, erb_bands, fitted, resampled

_RATE_HZ = 16_000
_SPECTRA = Spectra(512, 128)
_TAPS, _DELAY, _ROUNDS = 30, 3, 5
_LATE_S = 0.032
_SMOOTH = 0.2
_SHORTEST_S, _LONGEST_S = 0.3, 2.0


def decay_s(mono: Floats, rate_hz: int) -> float | None:
    """The time in which the room's sound falls by 60 dB, from the free decays after sounds; None without any."""
    low = resampled(mono, rate_hz, _RATE_HZ)
    power = np.abs(_SPECTRA.forward(low)) ** 2 @ erb_bands(_RATE_HZ, _SPECTRA.size, 16, 200.0, 4000.0).T
    levels = uniform_filter1d(10 * np.log10(power + 1e-12), 3, axis=0)
    step_s = _SPECTRA.hop / _RATE_HZ
    reach = round(0.12 / step_s)
    if len(levels) <= 2 * reach:
        return None
    # A free decay falls steadily for a while: the slope over it, of the fastest tenth in each band.
    fall = (levels[reach:] - levels[:-reach]) / (reach * step_s)
    first, second = fall[: -reach or None], fall[reach:]
    steady = (first < -15) & (second < -15) & (np.abs(first - second[: len(first)]) < 0.5 * np.abs(first))
    slopes = first[steady]
    if len(slopes) < 20:
        return None
    return float(np.clip(-60 / np.quantile(slopes, 0.25), _SHORTEST_S, _LONGEST_S))


def predicted_out(mono: Floats, rate_hz: int, check: Callable[[], None] = lambda: None) -> NDArray[np.float64]:
    """Late reverberation predicted and subtracted, up to 8 kHz; what lies above stays."""
    sound = np.asarray(mono, np.float64)
    low = resampled(sound, rate_hz, _RATE_HZ)
    made = _SPECTRA.backward(_predicted_out(_SPECTRA.forward(low).T, check).T, len(low))
    change = resampled(made - low, _RATE_HZ, rate_hz)
    return sound + fitted(change, len(sound))


def _predicted_out(bins: NDArray[np.complex128], check: Callable[[], None]) -> NDArray[np.complex128]:
    """`[bins, frames]` without what the frames `_DELAY` and more before them predict."""
    count = bins.shape[1]
    padded = np.pad(bins, ((0, 0), (_DELAY + _TAPS - 1, 0)))
    past = np.lib.stride_tricks.sliding_window_view(padded, _TAPS, axis=1)[:, :count]
    made = bins
    for _ in range(_ROUNDS):
        check()
        power = np.maximum(np.abs(made) ** 2, 1e-10 * np.abs(bins).max(initial=1e-6) ** 2)
        weighted = past.conj() / power[..., None]
        gram = np.matmul(weighted.transpose(0, 2, 1), past)
        cross = np.matmul(weighted.transpose(0, 2, 1), bins[..., None])
        trace = np.trace(gram, axis1=1, axis2=2).real[:, None, None] / _TAPS
        gram = gram + (1e-6 * trace + 1e-12) * np.eye(_TAPS)
        made = bins - np.matmul(past, np.linalg.solve(gram, cross))[..., 0]
    return made


def late_subtracted(mono: Floats, rate_hz: int, room_s: float, strength: float, floor_db: float) -> NDArray[np.float64]:
    """What an exponential decay leaves of earlier sound, subtracted bin by bin."""
    hop = max(1, round(0.008 * rate_hz))
    spectra = Spectra(4 * hop, hop)
    bins = spectra.forward(mono)
    power = np.abs(bins) ** 2
    smooth = lfilter([_SMOOTH], [1, _SMOOTH - 1], power, axis=0)
    delay = max(1, round(_LATE_S * rate_hz / hop))
    late = np.zeros_like(power)
    late[delay:] = 10 ** (-6 * _LATE_S / room_s) * smooth[:-delay]
    gains = np.sqrt(np.maximum(1 - strength * late / np.maximum(power, 1e-14), 10 ** (floor_db / 10)))
    gains[1:] = (gains[1:] + gains[:-1]) / 2
    return spectra.backward(bins * gains, len(mono))
