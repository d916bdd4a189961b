"""How alike two sound tracks are, chunk by chunk, in flat memory (contract, "Edit", audio).

Mono at 48 kHz in 16-bit steps. The cross-correlation peak within ±150 ms is found first, then multiplied by
`1 - |lag| / 150 ms`. Within a chunk, what lies outside the window is joined before it is correlated.

A fixed file whose sound ends more than 150 ms early is silent from there **(ours)**; the released code skips
what is missing, so that cutting a file off would hide its damage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from verifiers._container import answer_side
from verifiers._media import Samples, mono_audio
from verifiers.video_repair_v3.scoring import AUDIO_RATE_HZ, MAX_AUDIO_LAG_S, Chunk, Sides, weighted_mean
from verifiers.video_repair_v3.truth import Window

MAX_LAG = round(MAX_AUDIO_LAG_S * AUDIO_RATE_HZ)
FULL_SCALE = 32768.0

Signal = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ChunkSound:
    inside: float | None
    outside: float | None
    inside_s: float
    outside_s: float


def compare_sound(fixed: Path | None, source: Path | None, chunks: Sequence[Chunk], window: Window | None) -> Sides:
    """Both sides of the window over all chunks, weighted by duration; None is a file without sound."""
    fixed_sound = _Track(_blocks(fixed))
    source_sound = _Track(answer_side(_blocks(source)))
    results = []
    for chunk in chunks:
        count = round(chunk.duration_s * AUDIO_RATE_HZ)
        results.append(compare_chunk(fixed_sound.take(count), source_sound.take(count), chunk, window))
    return Sides(
        inside=weighted_mean((result.inside, result.inside_s) for result in results),
        outside=weighted_mean((result.outside, result.outside_s) for result in results),
    )


def compare_chunk(fixed: Signal, source: Signal, chunk: Chunk, window: Window | None) -> ChunkSound:
    if source.size - fixed.size > MAX_LAG:
        fixed = np.pad(fixed, (0, source.size - fixed.size))
    count = min(fixed.size, source.size)
    fixed, source = fixed[:count], source[:count]
    if window is None or chunk.end_s <= window.start_s or chunk.start_s >= window.end_s:
        return ChunkSound(None, similarity(fixed, source), 0.0, chunk.duration_s)
    start_s, end_s = max(chunk.start_s, window.start_s), min(chunk.end_s, window.end_s)
    first, last = (min(count, round((time_s - chunk.start_s) * AUDIO_RATE_HZ)) for time_s in (start_s, end_s))
    rest = np.r_[0:first, last:count]
    return ChunkSound(
        inside=similarity(fixed[first:last], source[first:last]),
        outside=similarity(fixed[rest], source[rest]),
        inside_s=end_s - start_s,
        outside_s=chunk.duration_s - (end_s - start_s),
    )


def similarity(fixed: Signal, source: Signal) -> float | None:
    """Peak of the normalised cross-correlation times its lag factor; None for no samples."""
    if fixed.size == 0:
        return None
    loudness = float(np.linalg.norm(fixed)), float(np.linalg.norm(source))
    if not any(loudness):
        return 1.0
    if not all(loudness):
        return 0.0
    products = _lagged_products(fixed, source)
    best = int(np.argmax(products))
    lag = abs(best - products.size // 2)
    peak = float(products[best]) / (loudness[0] * loudness[1])
    return min(1.0, max(0.0, peak * (1.0 - lag / MAX_LAG)))


def _lagged_products(fixed: Signal, source: Signal) -> Signal:
    """Scalar products at every lag from -reach to reach, by FFT; no lag reaches past the signal."""
    reach = min(MAX_LAG, fixed.size - 1)
    size = 1 << (fixed.size + reach - 1).bit_length()
    spectrum = np.fft.rfft(fixed, size)
    spectrum *= np.conj(np.fft.rfft(source, size))
    circular = np.fft.irfft(spectrum, size)
    return np.concatenate((circular[size - reach :], circular[: reach + 1]))


def _blocks(path: Path | None) -> Iterator[Samples]:
    return iter(()) if path is None else mono_audio(path, rate_hz=AUDIO_RATE_HZ, skip_damaged=True)


class _Track:
    """A sound track handed out in pieces, in 16-bit steps so that coded silence is silence."""

    def __init__(self, blocks: Iterator[Samples]) -> None:
        self._blocks = blocks
        self._held = np.zeros(0, np.float32)

    def take(self, count: int) -> Signal:
        """The next `count` samples, or what is left."""
        parts, held = [self._held], self._held.size
        while held < count and (block := next(self._blocks, None)) is not None:
            parts.append(block)
            held += block.size
        joined = np.concatenate(parts)
        self._held = joined[count:].copy()
        steps = np.rint(joined[:count].astype(np.float64) * FULL_SCALE)
        return np.clip(steps, -FULL_SCALE, FULL_SCALE - 1)
