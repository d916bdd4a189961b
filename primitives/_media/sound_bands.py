"""The sound of a film as levels over time and frequency, in one pass and flat memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives._base import Call
from primitives._media.film import sound_facts
from primitives._media.scan import Scan
from primitives._media.sound_read import sound_blocks
from primitives._tracks import BANDS, FLOOR_DB, HOP_S, STEP_DB

BLOCK_S = 10.0
CONTEXT_S = 0.2
"""Sound on both sides of a block that its windows reach into."""
LOWEST_HZ, HIGHEST_HZ = 80.0, 16_000.0
_WINDOW_S = 0.02
_LEVELS, _LEVEL_STEP_DB = 200, 0.25
_LONG, _SHORT = 15, 3
"""Half the windows of both crests, in hops."""


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
        mono = samples.mean(axis=0)
        loudest = samples[int(np.argmax((samples**2).sum(axis=1)))]
        numbers = np.arange(rows.start - _LONG, rows.stop + _LONG)
        starts = np.round(numbers * HOP_S * self._rate).astype(np.int64) - first
        hop = max(1, round(HOP_S * self._rate))
        inner = starts[_LONG:-_LONG]
        frames = _cut(mono, inner + hop // 2 - self._size // 2, self._size) * self._window
        power = np.abs(np.fft.rfft(frames, axis=1)).astype(np.float32) ** 2 / (self._window**2).sum()
        bands = 10 * np.log10(power @ self._pool / self._size + 1e-12)
        plain = _cut(mono, inner, hop)
        crest = _Histogram(np.abs(_cut(loudest, starts, hop)))
        return {
            "bands": np.clip(np.rint((bands - FLOOR_DB) / STEP_DB), 0, 255).astype(np.uint8),
            "level_db": (10 * np.log10((plain**2).mean(axis=1) + 1e-11)).astype(np.float32),
            "peak_db": (20 * np.log10(np.abs(_cut(loudest, inner, hop)).max(axis=1) + 1e-6)).astype(np.float32),
            "crest_db": crest.spread_db(_LONG, 0.995, 0.93),
            "crest_short_db": crest.spread_db(_SHORT, 0.98, 0.80),
        }


class _Histogram:
    """How often each level occurs in each hop, for quantiles over any number of hops around one."""

    def __init__(self, loud: NDArray[np.float32]) -> None:
        steps = np.clip(-20 * np.log10(loud + 1e-6) / _LEVEL_STEP_DB, 0, _LEVELS - 1).astype(np.int64)
        flat = steps + _LEVELS * np.arange(len(loud))[:, None]
        counts = np.bincount(flat.ravel(), minlength=_LEVELS * len(loud)).reshape(len(loud), _LEVELS)
        self._sums = np.concatenate((np.zeros((1, _LEVELS), np.int64), np.cumsum(counts, axis=0)))

    def spread_db(self, half: int, high: float, low: float) -> NDArray[np.float32]:
        """The distance of two quantiles around each hop but the outermost ones."""
        inner = np.arange(_LONG, len(self._sums) - 1 - _LONG)
        share = np.cumsum(self._sums[inner + half + 1] - self._sums[inner - half], axis=1)
        share = share / np.maximum(share[:, -1:], 1)
        # Steps count downwards from full scale.
        top, bottom = (share < 1 - high).sum(axis=1), (share < 1 - low).sum(axis=1)
        return np.asarray((bottom - top) * _LEVEL_STEP_DB, np.float32)


def _cut(samples: NDArray[np.float32], starts: NDArray[np.int64], size: int) -> NDArray[np.float32]:
    places = np.clip(starts[:, None] + np.arange(size), 0, len(samples) - 1)
    return np.asarray(samples[places], np.float32)


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
