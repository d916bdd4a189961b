"""The highest value of a sound between its samples (true peak), from a few short stretches kept on the way."""

from __future__ import annotations

import numpy as np

from primitives._hearing.bands import Floats
from primitives._media.sound_read import Channels, Samples

_NEAR_PEAK = 0.7
"""A peak between samples is at most so many times as high as they: 3 dB, as of a quarter of the rate."""
_MOST_HALFWAY = 1.25
"""What `_halfway` gives is at most so many times as high as the samples."""
_A_BLOCK, _MOST = 4, 100
"""Stretches kept of a block, and at all."""
_REACH, _TAPS, _OVERSAMPLING = 16, 24, 8


class Peaks:
    """Takes a sound block by block, cut into bins of `size` samples."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: list[tuple[float, Channels]] = []
        self._lowest_kept = 0.0
        self.highest = 0.0
        """The highest sample so far."""

    def mark(self, peaks: Floats, block: Channels) -> None:
        """Keep the sound around the bins that may hold the highest peak; `peaks` is the highest sample of each."""
        size, reach = self._size, _REACH + _TAPS
        self.highest = max(self.highest, float(peaks.max(initial=0)))
        near = np.flatnonzero(peaks > max(_NEAR_PEAK * self.highest, self._lowest_kept / _MOST_HALFWAY))
        heights = peaks[near]
        if len(near) > _A_BLOCK and size > 3:
            bins = np.stack([channel[: len(peaks) * size].reshape(-1, size)[near] for channel in block])
            heights = np.maximum(heights, _halfway(bins))
        for number in np.argsort(heights)[-_A_BLOCK:].tolist():
            if heights[number] > self._lowest_kept:
                start = max(0, min(int(near[number]) * size - reach, len(block[0]) - size - 2 * reach))
                around = [channel[start : start + size + 2 * reach].copy() for channel in block]
                self._kept.append((float(heights[number]), around))
        if len(self._kept) > 2 * _MOST:
            self._kept = sorted(self._kept, key=lambda peak: peak[0])[-_MOST:]
            self._lowest_kept = self._kept[0][0]

    def true_peak(self) -> float:
        return _true_peak([around for _, around in self._kept])


def _halfway(bins: Samples) -> Floats:
    """About how high each of `[channels, bins, samples]` reaches between its samples, in any channel.

    All bins as one row, for speed: where one meets the next, what lies between them is made up.
    """
    row = bins.reshape(-1)
    middle = 9 * (row[1:-2] + row[2:-1]) - (row[:-3] + row[3:])
    starts = np.arange(0, row.size, bins.shape[2])
    highest = np.maximum(np.maximum.reduceat(middle, starts), -np.minimum.reduceat(middle, starts))
    return np.asarray(highest.reshape(bins.shape[:2]).max(axis=0) / 16)


def _true_peak(stretches: list[Channels]) -> float:
    """The highest value between samples, near the highest samples."""
    if not stretches:
        return 0.0
    rows = [row for stretch in stretches for row in stretch]
    width = max(map(len, rows))
    # The last sample goes on: an edge is no step.
    level = [row if len(row) == width else np.pad(row, (0, width - len(row)), mode="edge") for row in rows]
    samples = np.stack(level).astype(np.float64)
    reach = _REACH + _TAPS
    inward = 1 - 1e-3 * np.abs(np.linspace(-1, 1, width))  # of equal ones the one that has the most around it
    highest = (np.abs(samples) * inward).argmax(axis=1)[:, None] + np.arange(-reach, reach + 1)
    near = np.take_along_axis(samples, np.clip(highest, 0, width - 1), axis=1)
    places = np.arange(-_REACH * _OVERSAMPLING, _REACH * _OVERSAMPLING + 1) / _OVERSAMPLING
    offsets = np.arange(-reach, reach + 1)[:, None] - places
    kernel = np.sinc(offsets) * (0.5 + 0.5 * np.cos(np.pi * np.clip(np.abs(offsets) / _TAPS, 0, 1)))
    return float(max(np.abs(near @ kernel).max(), np.abs(samples).max()))
