"""The demo film's sound: a voice over music and the sea.

The voice is espeak-ng's when `espeakng-loader` is installed (it is under the GPL, so it is the user's to install);
otherwise syllables without words, which are speech in all that a repair of sound looks at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from avb_mcp.demo.voice import speak

RATE_HZ = 48_000
Sound = npt.NDArray[np.float32]
Wave = npt.NDArray[np.float64]
_CHORDS_HZ = ((220.0, 261.6, 329.6), (174.6, 220.0, 261.6), (196.0, 246.9, 293.7), (164.8, 207.7, 246.9))
BAR_S = 2.0


def soundtrack(lengths_s: Sequence[float], lines: Sequence[str] = ()) -> Sound:
    """`[1, samples]` for shots of these lengths, with a line to be said over each."""
    total = round(sum(lengths_s) * RATE_HZ)
    time_s = np.arange(total) / RATE_HZ
    mixed = 0.20 * _music(time_s) + 0.05 * _sea(total) + 0.60 * _voices(lengths_s, lines, total)
    return np.clip(mixed, -0.95, 0.95).astype(np.float32)[None]


def _music(time_s: Wave) -> Wave:
    """Chords with soft overtones, and one plucked note after another."""
    bar = (time_s // BAR_S).astype(int)
    chords = np.array(_CHORDS_HZ)[bar % len(_CHORDS_HZ)]
    swell = 0.7 + 0.3 * np.sin(2 * np.pi * time_s / (2 * BAR_S))
    edge = np.minimum(1, np.minimum(time_s % BAR_S, BAR_S - time_s % BAR_S) / 0.08)
    pad = sum(np.sin(2 * np.pi * chords[:, note] * time_s) for note in range(3)) / 3
    step_s = BAR_S / 8
    beat = (time_s // step_s).astype(int)
    pitch = chords[np.arange(time_s.size), beat % 3] * 2
    pluck = np.sin(2 * np.pi * pitch * time_s) * np.exp(-7 * (time_s % step_s) / step_s)
    return np.asarray(edge * swell * pad * 0.6 + 0.5 * pluck * np.minimum(1, (time_s % step_s) / 0.006))


def _sea(total: int) -> Wave:
    noise = np.random.default_rng(5).standard_normal(total)
    low = np.convolve(noise, np.ones(24) / 24, "same") * 3
    return np.asarray(low * (0.5 + 0.5 * np.sin(2 * np.pi * np.arange(total) / RATE_HZ / 5.2)))


def _voices(lengths_s: Sequence[float], lines: Sequence[str], total: int) -> Wave:
    """A phrase over every shot, with a pause around each cut."""
    track = np.zeros(total)
    start_s = 0.0
    for number, length_s in enumerate(lengths_s):
        spoken = speak(lines[number], RATE_HZ) if number < len(lines) else None
        phrase = (
            _phrase(number, length_s - 0.9) if spoken is None else 0.9 * spoken[: round((length_s - 0.5) * RATE_HZ)]
        )
        at = round((start_s + 0.45) * RATE_HZ)
        track[at : at + phrase.size] += phrase[: total - at]
        start_s += length_s
    return track


def _phrase(seed: int, length_s: float) -> Wave:
    """Syllables: harmonics of a gliding pitch under moving formants, with breath between them."""
    rng = np.random.default_rng(100 + seed)
    parts: list[Wave] = []
    while sum(part.size for part in parts) < length_s * RATE_HZ:
        size = round(rng.uniform(0.13, 0.26) * RATE_HZ)
        at = np.linspace(0, 1, size)
        pitch_hz = rng.uniform(105, 150) * (1 + 0.12 * (0.5 - at))
        phase = 2 * np.pi * np.cumsum(pitch_hz) / RATE_HZ
        formants_hz = rng.uniform((300, 900, 2200), (800, 2000, 3100))
        numbers = np.arange(1, 30)
        gains = sum(np.exp(-(((numbers * 125 - centre) / 190) ** 2)) / (1 + k) for k, centre in enumerate(formants_hz))
        voiced = np.sin(np.outer(numbers, phase)).T @ (np.asarray(gains) + 0.01)
        breath = rng.standard_normal(size) * 0.06
        parts += [np.sin(np.pi * at) ** 0.8 * (voiced + breath), np.zeros(round(rng.uniform(0.01, 0.06) * RATE_HZ))]
    phrase = np.concatenate(parts)[: round(length_s * RATE_HZ)]
    return np.asarray(0.6 * phrase / np.abs(phrase).max())
