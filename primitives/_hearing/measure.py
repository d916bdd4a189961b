"""Measure a sound in one pass and flat memory: its envelope, its spectrum over time, its peaks, its clipping.

Short ranges are measured throughout. In long ones the envelope and the peak still cover every sample, and the spectrum
looks at a twelfth of the sound (21 ms of every 250 ms), which keeps an hour near the cost of decoding it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.fft
import scipy.sparse

from primitives._hearing.bands import Floats, top_hz, weights, window
from primitives._media.sound_read import Samples, sound_blocks, sound_kind

LONG_S = 600.0
"""Longer ranges are sampled."""
SHORT_S = 20.0
"""Shorter ones are looked at in finer steps."""
SAMPLED_HOP_S, SAMPLED_BLOCK_S = 0.25, 20
BIN_S, FINEST_BINS = 0.01, 1500
WINDOW_S = 0.0214
FULL_SCALE = 0.999
FLAT_TOP, BELOW_TOP = 0.97, 0.91
FLAT_SHARE, FLAT_EXCESS = 0.02, 3.0
"""Clipped: so much of a window lies in its top 3 %, and so many times more than in the 6 % below."""
_NEAR_PEAK = 0.8
_PEAK_REACH, _PEAK_TAPS, _PEAKS_A_BLOCK, _OVERSAMPLING = 16, 24, 4, 8


@dataclass(frozen=True, eq=False)
class Sound:
    """A sound over time. Envelope and spectrum have time axes of their own."""

    name: str
    start_s: float
    end_s: float
    rate_hz: int
    channels: int
    sampled: bool
    bin_s: float
    low: Floats
    high: Floats
    """The lowest and highest sample of each bin, over all channels."""
    hop_s: float
    mel: Floats
    """Power by mel band for each step."""
    weighted: Floats
    """K-weighted mean square of each step, channels added."""
    level: Floats
    """Mean square of each step without DC, of the loudest channel."""
    flat: Floats
    """The peak of each step whose top looks cut off; 0 where it does not."""
    dc: float
    true_peak: float

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    @property
    def peak(self) -> float:
        return float(max(np.max(self.high, initial=0), -np.min(self.low, initial=0)))


@dataclass(frozen=True)
class _Steps:
    """How finely a range is measured, in samples."""

    size: int
    hop: int
    bin: int
    block: int


def _steps(rate_hz: int, length_s: float | None) -> _Steps:
    size = 1 << max(4, round(np.log2(WINDOW_S * rate_hz)))
    if length_s is None or length_s > LONG_S:
        hop = max(size, round(SAMPLED_HOP_S * rate_hz))
    else:
        hop = size // (8 if length_s <= SHORT_S else 2)
    finest = rate_hz * (length_s or LONG_S) / FINEST_BINS
    bin_size = max(1, min(round(BIN_S * rate_hz), int(finest)))
    block = rate_hz * (SAMPLED_BLOCK_S if hop >= size else 1)
    return _Steps(size, hop, bin_size, hop * max(1, block // hop))


def measure(
    path: Path,
    name: str,
    start_s: float,
    end_s: float | None,
    length_s: float,
    check: Callable[[], None],
    progress: Callable[[float], None],
) -> Sound:
    """Measure `[start_s, end_s)`, to the end of the sound with None; `length_s` is about how long that is."""
    rate_hz, channels = sound_kind(path, name)
    steps = _steps(rate_hz, length_s)
    gauge = _Gauge(steps, rate_hz, channels)
    blocks = sound_blocks(path, name, start_s, end_s, None, None, steps.block / rate_hz, check)
    for block in blocks:
        gauge.take(block)
        progress(gauge.samples / rate_hz)
    return gauge.sound(name, start_s, length_s > LONG_S)


class _Gauge:
    """Takes a sound block by block."""

    def __init__(self, steps: _Steps, rate_hz: int, channels: int) -> None:
        self._steps, self._rate_hz, self._channels = steps, rate_hz, channels
        # Sparse, and so not by a linear algebra library, whose threads would spin for so small a product.
        self._matrix = scipy.sparse.csr_array(weights(steps.size, rate_hz, top_hz(rate_hz)).T)
        self._window = window(steps.size).astype(np.float32)
        self._loud = np.array(_loudness_weights(channels), np.float32)
        self._carry = np.zeros((channels, max(0, steps.size - steps.hop)), np.float32)
        self._rest = np.zeros((channels, 0), np.float32)
        self._low: list[Floats] = []
        self._high: list[Floats] = []
        self._read: list[Floats] = []
        self._flat: list[Floats] = []
        self._dc: list[float] = []
        self._peaks: list[Samples] = []
        self._highest = 0.0
        self.samples = 0

    def take(self, block: Samples) -> None:
        self.samples += block.shape[1]
        self._envelope(block)
        self._spectrum(block)

    def _envelope(self, block: Samples) -> None:
        size = self._steps.bin
        joined = np.concatenate([self._rest, block], axis=1) if self._rest.size else block
        whole = joined.shape[1] // size * size
        self._rest = joined[:, whole:]
        bins = joined[:, :whole].reshape(self._channels, -1, size)
        low, high = bins.min(axis=2).min(axis=0), bins.max(axis=2).max(axis=0)
        self._low.append(low)
        self._high.append(high)
        peaks = np.maximum(high, -low)
        self._highest = max(self._highest, float(peaks.max(initial=0)))
        for place in np.argsort(peaks)[-_PEAKS_A_BLOCK:].tolist():
            if peaks[place] > _NEAR_PEAK * self._highest:
                self._peaks.append(_around_peak(joined, place * size, size))

    def _spectrum(self, block: Samples) -> None:
        steps = self._steps
        if block.shape[1] % steps.hop:
            block = np.pad(block, ((0, 0), (0, -block.shape[1] % steps.hop)))
        joined = np.concatenate([self._carry, block], axis=1) if self._carry.size else block
        self._carry = joined[:, joined.shape[1] - self._carry.shape[1] :]
        views = np.lib.stride_tricks.sliding_window_view(joined, steps.size, axis=1)[:, :: steps.hop]
        spectra = scipy.fft.rfft(views * self._window, axis=2)
        power = spectra.real**2 + spectra.imag**2
        read = np.stack([(self._matrix @ channel.T).T for channel in power])
        mixed = read.mean(axis=0)
        mixed[:, -2], mixed[:, -1] = read[..., -2].max(axis=0), (read[..., -1].T * self._loud).sum(axis=1)
        self._read.append(mixed)
        self._flat.append(_flat_tops(views))
        self._dc.append(float(spectra[:, :, 0].real.mean() / self._window.sum()))

    def sound(self, name: str, start_s: float, sampled: bool) -> Sound:
        """What was measured."""
        steps, rate_hz = self._steps, self._rate_hz
        if self._rest.size:
            self._low.append(self._rest.min(keepdims=True)[0])
            self._high.append(self._rest.max(keepdims=True)[0])
            self._peaks.append(_around_peak(self._rest, 0, self._rest.shape[1]))
        count = -(-self.samples // steps.hop)
        read = np.concatenate(self._read)[:count] if self._read else np.zeros((0, self._matrix.shape[0]), np.float32)
        return Sound(
            name=name,
            start_s=start_s,
            end_s=start_s + self.samples / rate_hz,
            rate_hz=rate_hz,
            channels=self._channels,
            sampled=sampled,
            bin_s=steps.bin / rate_hz,
            low=np.concatenate(self._low) if self._low else np.zeros(0, np.float32),
            high=np.concatenate(self._high) if self._high else np.zeros(0, np.float32),
            hop_s=steps.hop / rate_hz,
            mel=read[:, :-2],
            level=read[:, -2],
            weighted=read[:, -1],
            flat=np.concatenate(self._flat)[:count] if self._flat else np.zeros(0, np.float32),
            dc=float(np.mean(self._dc)) if self._dc else 0.0,
            true_peak=_true_peak(self._peaks),
        )


def _loudness_weights(channels: int) -> list[float]:
    """BS.1770 leaves the low-frequency channel out and counts those at the sides more; by libav's order of 5.1."""
    return [1, 1, 1, 0, 1.41, 1.41] if channels == 6 else [1.0] * channels


def _flat_tops(views: Samples) -> Floats:
    """The peaks of windows that look clipped in any channel, at full scale or flat at the top; else 0."""
    size = np.abs(views)
    top = size.max(axis=2)
    share = np.count_nonzero(size >= FLAT_TOP * top[..., None], axis=2) / size.shape[2]
    doubtful = (top > 0) & ((share >= FLAT_SHARE) | (top >= FULL_SCALE))  # few, in most sounds
    size, highest, in_top = size[doubtful], top[doubtful], share[doubtful]
    below = (size >= BELOW_TOP * highest[:, None]).mean(axis=1) - in_top
    flat = (in_top >= FLAT_SHARE) & (in_top > FLAT_EXCESS * below)
    full = np.count_nonzero(size >= FULL_SCALE, axis=1) >= 3
    peaks = np.zeros_like(top)
    peaks[doubtful] = np.where(flat | full, highest, 0)
    return np.asarray(peaks.max(axis=0))


def _around_peak(samples: Samples, start: int, size: int) -> Samples:
    """The highest sample of a stretch with its neighbours, for finding the peak between samples."""
    part = samples[:, start : start + size]
    channel, at = np.unravel_index(int(np.argmax(np.abs(part))), part.shape)
    reach = _PEAK_REACH + _PEAK_TAPS
    row = samples[channel]
    places = np.arange(start + int(at) - reach, start + int(at) + reach + 1)
    return np.asarray(row[np.clip(places, 0, len(row) - 1)])  # the last sample goes on: an edge is no step


def _true_peak(peaks: list[Samples]) -> float:
    """The highest value between samples, near the highest samples."""
    if not peaks:
        return 0.0
    rows = np.stack(peaks).astype(np.float64)
    highest = np.argsort(np.abs(rows).max(axis=1))[-400:]
    rows = rows[highest]
    places = np.arange(-_PEAK_REACH * _OVERSAMPLING, _PEAK_REACH * _OVERSAMPLING + 1) / _OVERSAMPLING
    offsets = np.arange(rows.shape[1])[:, None] - rows.shape[1] // 2 - places
    near = np.clip(np.abs(offsets) / _PEAK_TAPS, 0, 1)
    kernel = np.sinc(offsets) * (0.5 + 0.5 * np.cos(np.pi * near))
    return float(max(np.abs(rows @ kernel).max(), np.abs(rows).max()))
