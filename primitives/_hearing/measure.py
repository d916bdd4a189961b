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
from primitives._media.sound_read import Channels, Samples, sound_channels, sound_kind

LONG_S = 600.0
"""Longer ranges are sampled."""
SHORT_S = 20.0
"""Shorter ones are looked at in finer steps."""
SAMPLED_HOP_S = 0.25
BIN_S, FINEST_BINS = 0.01, 1500
WINDOW_S = 0.0214
FULL_SCALE = 0.999
FLAT_TOP, BELOW_TOP = 0.97, 0.91
FLAT_SHARE, FLAT_EXCESS = 0.02, 3.0
"""Clipped: so much of a window lies in its top 3 %, and so many times more than in the 6 % below."""
CLIPPED_SHARE, CLIPPED_PEAK = 0.3, 0.02
"""A wave is not cut off far below the peak of the whole, nor where it is hardly heard."""
STEADY_SHARE = 0.05
"""A window that moves by no more than this share of its peak is a steady voltage, and not cut off."""
_BLOCK = 200_000
"""Samples to measure at once, of all channels: what the fast memory of a processor holds."""
_SPECTRA = 128
"""Steps whose spectra are taken at once."""
_OFFSET = 0.002
_NEAR_PEAK = 0.7
"""A peak between samples is at most so many times as high as they: 3 dB, as of a quarter of the rate."""
_PEAK_REACH, _PEAK_TAPS, _PEAKS_A_BLOCK, _MOST_PEAKS, _OVERSAMPLING = 16, 24, 4, 400, 8


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


def _steps(rate_hz: int, channels: int, length_s: float | None) -> _Steps:
    size = 1 << max(4, round(np.log2(WINDOW_S * rate_hz)))
    if length_s is None or length_s > LONG_S:
        hop = max(size, round(SAMPLED_HOP_S * rate_hz))
    else:
        hop = size // (8 if length_s <= SHORT_S else 2)
    finest = rate_hz * (length_s or LONG_S) / FINEST_BINS
    bin_size = max(1, min(round(BIN_S * rate_hz), int(finest)))
    return _Steps(size, hop, bin_size, hop * max(1, _BLOCK // channels // hop))


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
    steps = _steps(rate_hz, channels, length_s)
    gauge = _Gauge(steps, rate_hz, channels)
    for block in sound_channels(path, name, rate_hz, start_s, end_s, steps.block, check):
        gauge.take(block)
        progress(gauge.samples / rate_hz)
    return gauge.sound(name, start_s, length_s > LONG_S)


class _Gauge:
    """Takes a sound block by block."""

    def __init__(self, steps: _Steps, rate_hz: int, channels: int) -> None:
        self._steps, self._rate_hz, self._channels = steps, rate_hz, channels
        columns = weights(steps.size, rate_hz, top_hz(rate_hz))
        # Sparse, and so not by a linear algebra library, whose threads would spin for so small a product.
        self._mel = scipy.sparse.csr_array(columns[:, :-2].T)
        self._level, self._weighted = columns[:, -2].copy(), columns[:, -1].copy()
        self._window = window(steps.size).astype(np.float32)
        self._loud = np.array(_loudness_weights(channels), np.float32)
        self._carry = [np.zeros(max(0, steps.size - steps.hop), np.float32)] * channels
        self._rest = [np.zeros(0, np.float32)] * channels
        self._views: list[Samples] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []
        self._read: list[tuple[Floats, Floats, Floats, Floats]] = []
        self._dc: list[float] = []
        self._peaks: list[tuple[float, Channels]] = []
        self._highest = self._lowest_kept = 0.0
        self.samples = 0

    def take(self, block: Channels) -> None:
        self.samples += len(block[0])
        self._envelope(block)
        self._cut(block)
        if sum(views.shape[1] for views in self._views) >= _SPECTRA:
            self._spectra()

    def _envelope(self, block: Channels) -> None:
        size = self._steps.bin
        joined = _joined(self._rest, block)
        whole = len(joined[0]) // size * size
        self._rest = [channel[whole:].copy() for channel in joined]
        bins = [channel[:whole].reshape(-1, size) for channel in joined]
        low = np.minimum.reduce([one.min(axis=1) for one in bins])
        high = np.maximum.reduce([one.max(axis=1) for one in bins])
        self._low.append(low)
        self._high.append(high)
        self._mark(np.maximum(high, -low), joined)

    def _mark(self, peaks: Floats, block: Channels) -> None:
        """Keep the sound around the bins that may hold the highest peak between samples."""
        self._highest = max(self._highest, float(peaks.max(initial=0)))
        near = np.flatnonzero(peaks > _NEAR_PEAK * self._highest)
        reach, size = _PEAK_REACH + _PEAK_TAPS, self._steps.bin
        heights = peaks[near]
        if len(near) > _PEAKS_A_BLOCK and size > 3:
            bins = [channel[: len(peaks) * size].reshape(-1, size)[near] for channel in block]
            heights = np.maximum.reduce([heights, *(_halfway(one) for one in bins)])
        for number in np.argsort(heights)[-_PEAKS_A_BLOCK:].tolist():
            if heights[number] > self._lowest_kept:
                start = max(0, min(int(near[number]) * size - reach, len(block[0]) - size - 2 * reach))
                around = [channel[start : start + size + 2 * reach].copy() for channel in block]
                self._peaks.append((float(heights[number]), around))
        if len(self._peaks) > 2 * _MOST_PEAKS:
            self._peaks = sorted(self._peaks, key=lambda peak: peak[0])[-_MOST_PEAKS:]
            self._lowest_kept = self._peaks[0][0]

    def _cut(self, block: Channels) -> None:
        """The block's stretches that spectra are taken of."""
        size, hop = self._steps.size, self._steps.hop
        missing = -len(block[0]) % hop
        padded = [np.pad(channel, (0, missing)) for channel in block] if missing else block
        if self.samples == len(block[0]):  # before the beginning lies its mirror image: silence would be a step
            before = len(self._carry[0])
            self._carry = [np.pad(channel, (before, 0), mode="symmetric")[:before] for channel in block]
        joined = _joined(self._carry, padded)
        self._carry = [channel[len(channel) - len(old) :] for channel, old in zip(joined, self._carry, strict=True)]
        shape, strides = (len(joined[0]) // hop - len(self._carry[0]) // hop, size), (4 * hop, 4)
        self._views.append(np.stack([np.lib.stride_tricks.as_strided(one, shape, strides) for one in joined]))

    def _spectra(self) -> None:
        views = np.concatenate(self._views, axis=1)
        self._views.clear()
        offset = views.mean(axis=(1, 2), keepdims=True)  # it would leak into the lowest bins, and be taken for sound
        centred = views - offset if np.abs(offset).max() > _OFFSET else views
        spectra = scipy.fft.rfft(centred * self._window, axis=2)
        squares = np.square(spectra.view(np.float32))
        power = squares[..., ::2] + squares[..., 1::2]
        level, weighted = (np.einsum("csb,b->cs", power, row) for row in (self._level, self._weighted))
        mel = (self._mel @ power.mean(axis=0).T).T
        self._read.append(
            (
                mel,
                level.max(axis=0),
                self._loud @ weighted,
                _flat_tops(views, max(CLIPPED_SHARE * self._highest, CLIPPED_PEAK)),
            )
        )
        self._dc.append(float(offset.mean()))

    def sound(self, name: str, start_s: float, sampled: bool) -> Sound:
        """What was measured."""
        steps, rate_hz = self._steps, self._rate_hz
        if self._rest[0].size:
            self._low.append(np.min(self._rest, keepdims=True)[0])
            self._high.append(np.max(self._rest, keepdims=True)[0])
            self._mark(np.abs(self._rest).max(keepdims=True)[0], self._rest)
        if self._views:
            self._spectra()
        count = -(-self.samples // steps.hop)
        read = [np.concatenate(parts)[:count] for parts in zip(*self._read, strict=True)]
        mel, level, weighted, flat = read or [np.zeros((0, self._mel.shape[0]), np.float32), *[np.zeros(0)] * 3]
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
            mel=mel,
            level=level,
            weighted=weighted,
            flat=flat,
            dc=float(np.mean(self._dc)) if self._dc else 0.0,
            true_peak=_true_peak([around for _, around in self._peaks]),
        )


def _joined(before: Channels, block: Channels) -> Channels:
    if not before[0].size:
        return block
    return [np.concatenate(pair) for pair in zip(before, block, strict=True)]


def _loudness_weights(channels: int) -> list[float]:
    """BS.1770 leaves the low-frequency channel out and counts those at the sides more; by libav's order of 5.1."""
    return [1, 1, 1, 0, 1.41, 1.41] if channels == 6 else [1.0] * channels


def _flat_tops(views: Samples, least: float) -> Floats:
    """The peaks of windows that look clipped in any channel, at full scale or flat at the top; else 0.

    Those whose peak is below `least` are not looked at.
    """
    high, low = views.max(axis=2), views.min(axis=2)
    top = np.maximum(high, -low)
    peaks = np.zeros_like(top)
    loud = (top >= least) & (high - low > STEADY_SHARE * top)
    size, highest = np.abs(views[loud]), top[loud]
    in_top = np.count_nonzero(size >= FLAT_TOP * highest[:, None], axis=1) / views.shape[2]
    doubtful = (in_top >= FLAT_SHARE) | (highest >= FULL_SCALE)  # few, in most sounds
    size, top_of, in_top = size[doubtful], highest[doubtful], in_top[doubtful]
    below = (size >= BELOW_TOP * top_of[:, None]).mean(axis=1) - in_top
    flat = (in_top >= FLAT_SHARE) & (in_top > FLAT_EXCESS * below)
    full = np.count_nonzero(size >= FULL_SCALE, axis=1) >= 3
    highest = np.zeros_like(highest)
    highest[doubtful] = np.where(flat | full, top_of, 0)
    peaks[loud] = highest
    return np.asarray(peaks.max(axis=0))


def _halfway(bins: Samples) -> Floats:
    """About how high each bin reaches between its samples."""
    middle = 9 * (bins[:, 1:-2] + bins[:, 2:-1]) - (bins[:, :-3] + bins[:, 3:])
    return np.asarray(np.maximum(middle.max(axis=1), -middle.min(axis=1)) / 16)


def _true_peak(stretches: list[Channels]) -> float:
    """The highest value between samples, near the highest samples."""
    if not stretches:
        return 0.0
    rows = [row for stretch in stretches for row in stretch]
    width = max(map(len, rows))
    # The last sample goes on: an edge is no step.
    level = [row if len(row) == width else np.pad(row, (0, width - len(row)), mode="edge") for row in rows]
    samples = np.stack(level).astype(np.float64)
    reach = _PEAK_REACH + _PEAK_TAPS
    inward = 1 - 1e-3 * np.abs(np.linspace(-1, 1, width))  # of equal ones the one that has the most around it
    highest = (np.abs(samples) * inward).argmax(axis=1)[:, None] + np.arange(-reach, reach + 1)
    near = np.take_along_axis(samples, np.clip(highest, 0, width - 1), axis=1)
    places = np.arange(-_PEAK_REACH * _OVERSAMPLING, _PEAK_REACH * _OVERSAMPLING + 1) / _OVERSAMPLING
    offsets = np.arange(-reach, reach + 1)[:, None] - places
    kernel = np.sinc(offsets) * (0.5 + 0.5 * np.cos(np.pi * np.clip(np.abs(offsets) / _PEAK_TAPS, 0, 1)))
    return float(max(np.abs(near @ kernel).max(), np.abs(samples).max()))
