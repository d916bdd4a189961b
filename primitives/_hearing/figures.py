"""A measured sound in figures: loudness, noise floor, silences, clipped stretches. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primitives._hearing.bands import LOUDNESS_OFFSET, decibels
from primitives._hearing.measure import CLIPPED_PEAK, CLIPPED_SHARE, FULL_SCALE, WINDOW_S, Sound
from primitives._speech.vad import Span, joined

BLOCK_S = 0.4
FEWEST_STEPS = 4
"""A block of fewer would be gated by chance."""
ABSOLUTE_GATE_LUFS, RELATIVE_GATE_LU = -70.0, -10.0
FLOOR_SHARE = 10.0
"""The noise floor is the level that the quietest tenth of the sound stays below."""
SILENCE_OVER_FLOOR_DB = 5.0
SILENCE_DBFS = (-70.0, -50.0)
"""Silence is what stays near the noise floor, and is between these levels at the most."""
LEVEL_S = 0.05
NOISE_CREST = 9.0
"""How far the peak of noise within 10 ms lies above its mean, in power."""


def loudness_lufs(sound: Sound) -> float | None:
    """Integrated loudness with both gates of BS.1770; None where nothing is loud enough to count."""
    block = max(BLOCK_S / sound.hop_s, FEWEST_STEPS)
    blocks = _smoothed(sound.weighted, block)[:: max(1, round(block / 4))]
    loud = blocks[LOUDNESS_OFFSET + decibels(blocks) > ABSOLUTE_GATE_LUFS]
    if loud.size == 0:
        return None
    gate = LOUDNESS_OFFSET + decibels(loud.mean()) + RELATIVE_GATE_LU
    kept = loud[LOUDNESS_OFFSET + decibels(loud) > gate]
    return round(float(LOUDNESS_OFFSET + decibels(kept.mean())), 1)


def loudness_curve(sound: Sound, over_s: float) -> NDArray[np.float64]:
    """Loudness around each step."""
    return LOUDNESS_OFFSET + decibels(_smoothed(sound.weighted, over_s / sound.hop_s, same=True))


def levels_dbfs(sound: Sound) -> NDArray[np.float64]:
    """The level over 50 ms, around each of the steps of `level_step_s`."""
    if not sound.sampled:
        return decibels(_smoothed(sound.level, LEVEL_S / sound.hop_s, same=True))
    # The spectrum saw too little; the envelope saw every sample.
    return decibels(_smoothed(((sound.high - sound.low) / 2) ** 2 / NOISE_CREST, LEVEL_S / sound.bin_s, same=True))


def level_step_s(sound: Sound) -> float:
    return sound.bin_s if sound.sampled else sound.hop_s


def noise_floor_dbfs(sound: Sound) -> float | None:
    """The level of the quietest tenth, digital silence left out."""
    return _floor_db(levels_dbfs(sound))


def _floor_db(levels: NDArray[np.float64]) -> float | None:
    heard = levels[levels > -119]
    return round(float(np.percentile(heard, FLOOR_SHARE)), 1) if heard.size else None


def silences(sound: Sound, shortest_s: float) -> list[Span]:
    """Stretches that stay near the noise floor."""
    levels = levels_dbfs(sound)
    floor = _floor_db(levels)
    below = float(np.clip((floor if floor is not None else -120) + SILENCE_OVER_FLOOR_DB, *SILENCE_DBFS))
    return _spans(levels < below, level_step_s(sound), sound, shortest_s)


def clipped(sound: Sound) -> list[Span]:
    """Stretches in which the wave is cut off at the top: longer than one window, unless at full scale."""
    flat = sound.flat >= max(CLIPPED_SHARE * sound.peak, CLIPPED_PEAK)
    found = joined(_spans(flat, sound.hop_s, sound), max(0.25, 2 * sound.hop_s))
    shortest_s = 1.5 * max(sound.hop_s, WINDOW_S)
    return [span for span in found if span.length_s > shortest_s or sound.peak >= FULL_SCALE]


def _spans(marked: NDArray[np.bool_], step_s: float, sound: Sound, shortest_s: float = 0.0) -> list[Span]:
    """Runs of marked steps, in seconds of the film, but for those that are too short."""
    bounds = np.flatnonzero(np.diff(marked, prepend=False, append=False)).reshape(-1, 2)
    bounds = bounds[(bounds[:, 1] - bounds[:, 0]) * step_s > shortest_s - 2e-3]  # before thousands become objects
    ends = np.minimum(sound.start_s + bounds * step_s, sound.end_s)
    spans = [Span(round(start_s, 3), round(end_s, 3)) for start_s, end_s in ends.tolist() if end_s > start_s]
    return [span for span in spans if span.length_s >= shortest_s]


def _smoothed(power: NDArray[np.floating], steps: float, same: bool = False) -> NDArray[np.float64]:
    """Means over a number of steps; `same` keeps one for each step, else only whole stretches count."""
    width = max(1, min(round(steps), power.size))
    if power.size == 0:
        return np.zeros(0)
    total = np.concatenate([[0.0], np.cumsum(power, dtype=np.float64)])
    if not same:
        return np.asarray(np.maximum(total[width:] - total[:-width], 0) / width)
    at = np.arange(power.size)
    first, last = np.maximum(at - width // 2, 0), np.minimum(at - width // 2 + width, power.size)
    return np.asarray(np.maximum(total[last] - total[first], 0) / (last - first))
