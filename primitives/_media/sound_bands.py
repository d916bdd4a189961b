"""The sound of a film as levels over time and frequency, in one pass and flat memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives._base import Call
from primitives._media.film import sound_facts
from primitives._media.scan import Scan
from primitives._media.sound_again import comes_again
from primitives._media.sound_read import sound_blocks
from primitives._tracks import BANDS, FLOOR_DB, HOP_S, STEP_DB

BLOCK_S = 10.0
CONTEXT_S = 0.2
"""Sound on both sides of a block that its windows reach into."""
LOWEST_HZ, HIGHEST_HZ = 80.0, 16_000.0
_WINDOW_S = 0.02
_AROUND, _NEAR = 15, 5
"""Half the stretches that a hop's highest samples are held against, in hops."""
NEAR = 0.84
"""Samples so near to the highest one, 1.5 dB, count as high as it."""
_LEVELS, _FINE = 288, 18
"""A sample's level is the first bits of its floating point number: 32 steps for each 6 dB, without a logarithm."""
_TOP = int(np.float32(1.0).view(np.int32)) >> _FINE


def measure_sound(call: Call, path: Path, name: str, scan: Scan) -> dict[str, NDArray[Any]]:
    """One row every 10 ms up to the film's end."""
    assert scan.sound is not None
    facts = sound_facts(path, name)
    assert facts is not None
    rate, end_s = facts.rate_hz, float(scan.duration)
    total = max(1, int(end_s / HOP_S))
    meter = Meter(rate)
    pieces: list[dict[str, NDArray[Any]]] = []
    context = round(CONTEXT_S * rate)
    held, first, done = np.zeros((facts.channels, context), np.float32), -context, 0
    blocks = sound_blocks(path, name, 0.0, end_s, None, None, BLOCK_S, call.check)
    for block in blocks:
        held = np.concatenate((held, block), axis=1)
        ready = int((first + held.shape[1] - context) / rate / HOP_S)
        call.progress(min(done, total), total, f"measuring the sound of {name}")
        if ready > done:
            pieces.append(meter.measure(held, first, range(done, min(ready, total))))
            done = min(ready, total)
            gone = max(0, round(done * HOP_S * rate) - context - first)
            held, first = held[:, gone:], first + gone
    if done < total:
        held = np.pad(held, ((0, 0), (0, context + round((total - done + 1) * HOP_S * rate))))
        pieces.append(meter.measure(held, first, range(done, total)))
    return {key: np.concatenate([piece[key] for piece in pieces]) for key in pieces[0]}


class Meter:
    """Measures samples of one rate."""

    def __init__(self, rate_hz: int) -> None:
        self._rate = rate_hz
        self._size = 1 << int(np.ceil(np.log2(max(64, _WINDOW_S * rate_hz))))
        self._window = np.hanning(self._size + 1)[:-1].astype(np.float32)
        self._pool = band_weights(self._size, rate_hz)

    def measure(self, samples: NDArray[np.float32], first: int, rows: range) -> dict[str, NDArray[Any]]:
        """The rows of a stretch; `first` is the place of the first sample."""
        mono = samples.mean(axis=0) if len(samples) > 1 else samples[0]
        loudest = np.abs(samples[int(np.argmax([float(channel @ channel) for channel in samples]))])
        numbers = np.arange(rows.start - _AROUND, rows.stop + _AROUND)
        starts = np.round(numbers * HOP_S * self._rate).astype(np.int64) - first
        hop = max(1, round(HOP_S * self._rate))
        inner = starts[_AROUND:-_AROUND]
        spectrum = np.fft.rfft(_cut(mono, inner + hop // 2 - self._size // 2, self._size) * self._window, axis=1)
        power = (spectrum.real**2 + spectrum.imag**2) @ self._pool / ((self._window**2).sum() * self._size)
        plain = _cut(mono, inner, hop)
        loud = _cut(loudest, starts, hop)
        highest = loud.max(axis=1)
        return {
            "bands": np.clip(np.rint((10 * np.log10(power + 1e-12) - FLOOR_DB) / STEP_DB), 0, 255).astype(np.uint8),
            "level_db": (10 * np.log10(np.einsum("ij,ij->i", plain, plain) / hop + 1e-11)).astype(np.float32),
            "peak_db": (20 * np.log10(highest[_AROUND:-_AROUND] + 1e-6)).astype(np.float32),
            "crest_db": crests(loud, _AROUND, 0.995, 0.93),
            "flat": _near_highest(loud, highest)[_AROUND:-_AROUND],
            "again": np.repeat(comes_again(mono, inner[::2] + hop, self._rate), 2)[: len(inner)],
        }


def crests(loud: NDArray[np.float32], half: int, high: float, low: float) -> NDArray[np.float32]:
    """The distance of two quantiles, in decibels, of so many hops on both sides of each but the outermost ones."""
    steps = np.clip(_TOP - (loud.view(np.int32) >> _FINE), 0, _LEVELS - 1)
    steps += _LEVELS * np.arange(len(loud), dtype=np.int32)[:, None]
    counts = np.bincount(steps.ravel(), minlength=_LEVELS * len(loud)).reshape(len(loud), _LEVELS)
    sums = np.concatenate((np.zeros((1, _LEVELS), np.int32), np.cumsum(counts, axis=0, dtype=np.int32)))
    share = np.cumsum(sums[2 * half + 1 :] - sums[: -2 * half - 1], axis=1)
    # Steps count downwards from full scale.
    top, bottom = ((share < (1 - quantile) * share[:, -1:]).sum(axis=1) for quantile in (high, low))
    return np.asarray(_STEPS_DB[np.minimum(top, _LEVELS - 1)] - _STEPS_DB[np.minimum(bottom, _LEVELS - 1)], np.float32)


def _steps_db() -> NDArray[np.float64]:
    """The level at which each step begins."""
    edges = (np.arange(_TOP, _TOP - _LEVELS, -1, dtype=np.int32) << _FINE).view(np.float32)
    return np.asarray(20 * np.log10(edges.astype(np.float64)))


_STEPS_DB = _steps_db()


def _near_highest(loud: NDArray[np.float32], highest: NDArray[np.float32]) -> NDArray[np.float32]:
    """The share of each hop's samples that are as high as the highest one around it."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(highest, _NEAR, mode="edge"), 2 * _NEAR + 1).max(axis=1)
    return np.asarray((loud > NEAR * around[:, None]).mean(axis=1), np.float32)


def _cut(samples: NDArray[np.float32], starts: NDArray[np.int64], size: int) -> NDArray[np.float32]:
    """Pieces of the samples, which go on as they end."""
    before, after = max(0, -int(starts[0])), max(0, int(starts[-1]) + size - len(samples))
    padded = np.pad(samples, (before, after), mode="edge") if before or after else samples
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, size)[starts + before])


def band_weights(size: int, rate_hz: int) -> NDArray[np.float32]:
    """Which bins of a spectrum belong to which band: bands of equal width on the ear's scale, at least a bin each."""
    top = min(HIGHEST_HZ, 0.46 * rate_hz)
    ear = np.linspace(_ear(LOWEST_HZ), _ear(top), BANDS + 1)
    edges = (10 ** (ear / 21.4) - 1) / 0.00437
    bins = np.fft.rfftfreq(size, 1 / rate_hz)
    weights = np.zeros((len(bins), BANDS), np.float32)
    for band in range(BANDS):
        inside = (bins >= edges[band]) & (bins < edges[band + 1])
        if not inside.any():
            inside[int(np.argmin(np.abs(bins - (edges[band] + edges[band + 1]) / 2)))] = True
        weights[inside, band] = 1
    return weights


def _ear(frequency_hz: float) -> float:
    return float(21.4 * np.log10(1 + 0.00437 * frequency_hz))
