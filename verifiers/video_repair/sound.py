"""A submission's sound against golden: inside the window by the composite's measures, outside by blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verifiers._audio_metrics import (
    Floats,
    LevelRule,
    Samples,
    advanced,
    best_fraction,
    best_lag,
    block_agreement,
    nsim,
    rms_db,
    sdr_db,
    shifted,
    stoi,
)
from verifiers._media import mono_audio
from verifiers.video_repair.schema import TimeRange
from verifiers.video_repair.scoring import LEVEL_FULL_DB, LEVEL_NONE_DB

RATE_HZ = 16000
MAX_LAG_S = 0.025
"""Codec priming moves a track by up to this much; one lag is taken out before measuring."""
BLOCK_S = 1.0
EDGE_S = 0.1
"""Around the window's edges a repair may blend: blocks there are judged neither inside nor outside (ours)."""


@dataclass(frozen=True)
class SoundComparison:
    inside: dict[str, float] = field(default_factory=dict)
    outside: list[float] = field(default_factory=list)
    """Agreement of each block that the window does not touch."""
    progress: float = 0.0
    """Least-squares share of the way from broken to golden, inside the window."""
    sdr_to_broken_db: float = 0.0
    golden_s: float = 0.0
    submission_s: float = 0.0
    """Counted in samples, up to a little more than golden has."""


def read_sound(path: Path, *, max_s: float, rate_hz: int = RATE_HZ) -> Samples:
    """The first `max_s` seconds of the first audio stream, mixed to mono."""
    blocks: list[Samples] = []
    left = round(max_s * rate_hz)
    for block in mono_audio(path, rate_hz=rate_hz):
        blocks.append(block[:left])
        left -= len(block)
        if left <= 0:
            break
    return np.concatenate([np.zeros(0), *blocks], dtype=np.float32)


def compare_sounds(
    golden: Samples, submission: Samples, *, window: TimeRange | None = None, broken: Samples | None = None
) -> SoundComparison:
    """16 kHz mono tracks compared; with a window, its inside is measured and `broken` adds the progress."""
    max_lag = round(MAX_LAG_S * RATE_HZ)
    golden_s, submission_s = len(golden) / RATE_HZ, len(submission) / RATE_HZ
    lag = best_lag(golden, submission, max_lag)
    if window is None:
        outside = _outside(golden, submission, lag, None)
        return SoundComparison(outside=outside, golden_s=golden_s, submission_s=submission_s)
    start, stop = round(window.start_s * RATE_HZ), min(len(golden), round(window.end_s * RATE_HZ))
    clean = np.asarray(golden[start:stop], np.float64)
    inside_lag = best_lag(clean, shifted(submission, 0, start, stop), max_lag)
    repaired = shifted(submission, inside_lag, start, stop)
    repaired = advanced(repaired, best_fraction(clean, repaired))
    damaged = repaired if broken is None else shifted(broken, 0, start, stop)
    return SoundComparison(
        inside=measure_inside(clean, repaired),
        outside=_outside(golden, submission, lag, window),
        progress=_progress(damaged, clean, repaired),
        sdr_to_broken_db=sdr_db(damaged, repaired),
        golden_s=golden_s,
        submission_s=submission_s,
    )


def measure_inside(clean: Floats, repaired: Floats) -> dict[str, float]:
    return {
        "nsim": nsim(clean, repaired),
        "estoi": stoi(clean, repaired, RATE_HZ, extended=True),
        "sdr_db": sdr_db(clean, repaired),
        "stoi": stoi(clean, repaired, RATE_HZ, extended=False),
        "level_error_db": rms_db(repaired) - rms_db(clean),
    }


def _progress(broken: Floats, golden: Floats, submission: Floats) -> float:
    to_golden = golden - broken
    energy = float(to_golden @ to_golden)
    return float(to_golden @ (submission - broken)) / energy if energy > 0.0 else 0.0


def _outside(golden: Samples, submission: Samples, lag: int, window: TimeRange | None) -> list[float]:
    block = round(BLOCK_S * RATE_HZ)
    aligned = shifted(submission, lag, 0, len(golden))
    level = LevelRule(full_db=LEVEL_FULL_DB, none_db=LEVEL_NONE_DB)
    starts = range(0, len(golden) - block + 1, block)
    rows = block_agreement(golden, aligned, block=block, starts=starts, max_lag=1, level=level)
    if window is None:
        return [value for _, value in rows]
    first, last = (window.start_s - EDGE_S) * RATE_HZ, (window.end_s + EDGE_S) * RATE_HZ
    return [value for start, value in rows if start + block <= first or start >= last]
