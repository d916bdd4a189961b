"""Films of drawn shots whose cuts are known: a still camera, many colours, one thing that moves, a sound per shot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from avb_mcp.tasks.footage import RATE_HZ, write_film

Picture = NDArray[np.uint8]
FPS = Fraction(20)


def shot_film(
    path: Path,
    lengths: Sequence[int],
    *,
    seed: int = 0,
    size: tuple[int, int] = (192, 108),
    sound: bool = True,
    drift_px: int = 0,
    glide: bool = False,
) -> Path:
    """A film of shots with these numbers of frames; with `drift_px` the camera moves to the right, with `glide` the
    sound runs on across the cuts."""
    heard = (gliding_sound(sum(lengths), seed) if glide else shot_sounds(lengths, seed)) if sound else None
    write_film(path, _frames(lengths, seed, size, drift_px), FPS, heard)
    return path


def backdrop(chance: np.random.Generator, width_px: int, height_px: int) -> Picture:
    """Coloured patches, texture, and a few hard edges."""
    colours = chance.uniform(20, 235, (4, 6, 3)).astype(np.float32)
    soft = cv2.resize(colours, (width_px, height_px), interpolation=cv2.INTER_CUBIC)
    grain = cv2.GaussianBlur(chance.normal(0, 45, (height_px, width_px)).astype(np.float32), (0, 0), 1.2)
    picture = np.clip(soft + grain[..., None], 0, 255).astype(np.uint8)
    for _ in range(7):
        corner = (int(chance.integers(0, width_px)), int(chance.integers(0, height_px)))
        far = (corner[0] + int(chance.integers(8, width_px // 4)), corner[1] + int(chance.integers(8, height_px // 3)))
        cv2.rectangle(picture, corner, far, [int(value) for value in chance.integers(0, 256, 3)], -1)
    return picture


def shot_sounds(lengths: Sequence[int], seed: int) -> NDArray[np.float32]:
    chance = np.random.default_rng([seed, 1])
    tones = []
    for length in lengths:
        time_s = np.arange(round(length / FPS * RATE_HZ)) / RATE_HZ
        tones.append(0.2 * np.sin(2 * np.pi * chance.uniform(150, 900) * time_s))
    return np.concatenate(tones).astype(np.float32)[None]


def gliding_sound(count: int, seed: int) -> NDArray[np.float32]:
    """Three tones that glide and never stop, for so many frames."""
    chance = np.random.default_rng([seed, 2])
    samples = round(count / FPS * RATE_HZ)
    tones = []
    for _ in range(3):
        marks = np.linspace(0, samples, 2 + count // 12)
        pitch_hz = np.interp(np.arange(samples), marks, chance.uniform(150, 900, len(marks)))
        tones.append(0.1 * np.sin(2 * np.pi * np.cumsum(pitch_hz) / RATE_HZ))
    return np.sum([*tones, chance.normal(0, 0.003, samples)], axis=0).astype(np.float32)[None]


def _frames(lengths: Sequence[int], seed: int, size: tuple[int, int], drift_px: int) -> Iterator[Picture]:
    chance = np.random.default_rng([seed, 0])
    width, height = size
    for length in lengths:
        scene = backdrop(chance, width + drift_px * length, height)
        row, radius = int(chance.integers(height // 4, 3 * height // 4)), max(3, height // 14)
        for number in range(length):
            picture = scene[:, drift_px * number : drift_px * number + width].copy()
            cv2.circle(picture, (width // 3 + 2 * number % (width // 3), row), radius, (250, 250, 250), -1)
            yield np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8)
