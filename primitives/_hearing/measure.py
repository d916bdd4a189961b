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
from primitives._hearing.peaks import Peaks
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
_BLOCK = 400_000
"""Samples to measure at once, of all channels: half as many cost more in calls than they save in fast memory."""
_SPECTRA = 128
"""Steps whose spectra are taken at once."""
_OFFSET = 0.002


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
        self._peaks = Peaks(steps.bin)
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
        count = len(joined[0]) // size
        self._rest = [channel[count * size :].copy() for channel in joined]
        if not count:
            return
        starts = np.arange(0, count * size, size)  # by `reduceat`, which is twice as fast as along rows
        bins = [channel[: count * size] for channel in joined]
        low = np.minimum.reduce([np.minimum.reduceat(channel, starts) for channel in bins])
        high = np.maximum.reduce([np.maximum.reduceat(channel, starts) for channel in bins])
        self._low.append(low)
        self._high.append(high)
        self._peaks.mark(np.maximum(high, -low), joined)

    def _cut(self, block: Channels) -> None:
        """The block's stretches that spectra are taken of."""
        size, hop = self._steps.size, self._steps.hop
        missing = -len(block[0]) % hop
        padded = [np.pad(channel, (0, missing)) for channel in block] if missing else block
        if self.samples == len(block[0]):  # before the beginning lies its mirror image: silence would be a step
            before = len(self._carry[0])
            self._carry = [np.pad(channel, (before, 0), mode="symmetric")[:before] for channel in block]
        if hop >= size:
            views = [channel.reshape(-1, hop)[:, :size] for channel in padded]
        else:
            joined = _joined(self._carry, padded)
            self._carry = [channel[len(channel) - len(old) :] for channel, old in zip(joined, self._carry, strict=True)]
            shape, strides = (len(joined[0]) // hop - len(self._carry[0]) // hop, size), (4 * hop, 4)
            views = [np.lib.stride_tricks.as_strided(one, shape, strides) for one in joined]
        self._views.append(np.stack(views))

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
                _flat_tops(views, max(CLIPPED_SHARE * self._peaks.highest, CLIPPED_PEAK)),
            )
        )
        self._dc.append(float(offset.mean()))

    def sound(self, name: str, start_s: float, sampled: bool) -> Sound:
        """What was measured."""
        steps, rate_hz = self._steps, self._rate_hz
        if self._rest[0].size:
            self._low.append(np.min(self._rest, keepdims=True)[0])
            self._high.append(np.max(self._rest, keepdims=True)[0])
            self._peaks.mark(np.abs(self._rest).max(keepdims=True)[0], self._rest)
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
            true_peak=self._peaks.true_peak(),
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
