"""Films for repair tasks: drawn shots with known cuts, and a voice that speaks in phrases with pauses between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from avb_mcp.tasks.footage import RATE_HZ, write_film

FPS = Fraction(16)
SIZE = (160, 96)
SHOTS = (40, 30, 36, 44, 32, 42)
"""Frames of each shot of the usual film: 14 s."""
PHRASE_S, PAUSE_S = 1.1, 0.3


def spoken_film(
    path: Path, shots: Sequence[int] = SHOTS, *, sound: bool = True, seed: int = 3, size: tuple[int, int] = SIZE
) -> Path:
    """A film of moving shots; with sound, a voice."""
    count = sum(shots)
    heard = voice(np.random.default_rng([seed, 1]), float(count / FPS)) if sound else None
    write_film(path, _pictures(np.random.default_rng([seed, 0]), shots, size), FPS, heard)
    return path


def _pictures(chance: np.random.Generator, shots: Sequence[int], size: tuple[int, int]) -> Iterator[NDArray[np.uint8]]:
    """Coloured, grainy textures that drift by two pixels a frame."""
    width, height = size
    for length in shots:
        wide = width + 2 * length
        colours = chance.integers(20, 236, (4, 8, 3), np.uint8)
        soft = cv2.resize(colours, (wide, height), interpolation=cv2.INTER_CUBIC)
        grain = cv2.GaussianBlur(chance.normal(0.0, 60.0, (height, wide)).astype(np.float32), (0, 0), 1.0)
        texture = np.clip(soft + grain[..., None], 0, 255).astype(np.uint8)
        for at in range(length):
            picture = np.ascontiguousarray(texture[:, 2 * at : 2 * at + width])
            yield np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8)


def voice(chance: np.random.Generator, length_s: float) -> NDArray[np.float32]:
    """Phrases of syllables: harmonics under formants that change, then a pause with a faint room."""
    total = round(length_s * RATE_HZ)
    track = 0.0005 * chance.standard_normal(total)
    at = round(0.1 * RATE_HZ)
    while at < total:
        for _ in range(5):
            syllable = _syllable(chance, round(PHRASE_S / 5 * RATE_HZ))[: max(0, total - at)]
            track[at : at + len(syllable)] += syllable
            at += len(syllable) or total
        at += round(PAUSE_S * RATE_HZ)
    return (0.3 * track / np.abs(track).max()).astype(np.float32)[None]


def _syllable(chance: np.random.Generator, count: int) -> NDArray[np.float64]:
    time_s = np.arange(count) / RATE_HZ
    pitch_hz = chance.uniform(100, 180)
    harmonics_hz = np.arange(pitch_hz, 5000, pitch_hz)
    gains = 0.01 + sum(np.exp(-(((harmonics_hz - centre) / 250) ** 2)) for centre in chance.uniform(300, 3000, 3))
    voiced = gains @ np.sin(2 * np.pi * np.outer(harmonics_hz, time_s))
    return np.asarray(voiced * np.sin(np.pi * np.arange(count) / count) ** 0.5, np.float64)
