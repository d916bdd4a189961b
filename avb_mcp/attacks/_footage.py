"""What the attacked tasks are made of: two films with speech-like sound and a pile of short shots.

Generated with a fixed seed, or cut from real films of a folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from avb_mcp.attacks._clips import RATE_HZ, Clip, Image, Sound, from_bgr, read_clip
from primitives._base import UserError

FILM_S, SHOT_S = 6.0, 1.0
SHOT_COUNT = 16
FPS = Fraction(20)
SIZE, REAL_SIZE = (160, 90), (320, 180)
SUFFIXES = frozenset({".mp4", ".mov", ".mkv", ".webm", ".mpg", ".mpeg", ".avi", ".ogv"})
SYLLABLE_S, VOICE_HZ = 0.2, 6000
MIN_RMS, MIN_LOUD_SHARE = 0.005, 0.5
MIN_DIFFERENCE = 12.0
"""Mean difference of two small gray pictures (0-255) from which they count as different shots."""


@dataclass(frozen=True)
class Footage:
    film: Clip
    other: Clip
    """Another task's film."""
    shots: tuple[Clip, ...]
    """Silent, of one length and size, no two alike."""


def generated_footage() -> Footage:
    rng = np.random.default_rng(20)
    shots = tuple(Clip(_shot(rng, round(SHOT_S * FPS)), FPS, None) for _ in range(SHOT_COUNT))
    return Footage(_film(1), _film(2), shots)


def real_footage(folder: Path) -> Footage:
    """From the films below a folder, in the order of their names."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder. Give --media a folder with films.")
    films: list[Clip] = []
    shots: list[Clip] = []
    for clip in _real_clips(folder):
        if len(films) < 2 and clip.sound is not None and clip.duration_s >= FILM_S and _is_heard(clip):
            films.append(clip.part(0.0, FILM_S))
        shots += _different_shots(clip, shots)
        if len(films) == 2 and len(shots) >= SHOT_COUNT:
            return Footage(films[0], films[1], tuple(shots[:SHOT_COUNT]))
    raise UserError(
        f"{folder} holds {len(films)} films of {FILM_S:g} s with sound and {len(shots)} different shots; "
        f"2 and {SHOT_COUNT} are needed. Give another folder, or leave --media out."
    )


def _film(seed: int) -> Clip:
    """Four shots and a voice."""
    rng = np.random.default_rng(seed)
    frames = [frame for _ in range(4) for frame in _shot(rng, round(FILM_S * FPS) // 4)]
    return Clip(frames, FPS, _voice(rng, FILM_S))


def _shot(rng: np.random.Generator, count: int) -> list[Image]:
    """A coloured, grainy texture that drifts by a pixel a frame."""
    width, height = SIZE[0] + count, SIZE[1]
    colours = cv2.resize(rng.integers(20, 236, (6, 10, 3), np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    grain = cv2.GaussianBlur(rng.normal(0.0, 30.0, (height, width)).astype(np.float32), (0, 0), 1.0)
    texture = colours + grain[..., None]
    return [from_bgr(texture[:, at : at + SIZE[0]]) for at in range(count)]


def _voice(rng: np.random.Generator, length_s: float) -> Sound:
    """Syllables: harmonics under moving formants, swelling and fading, some breath, some pauses."""
    time_s = np.arange(round(SYLLABLE_S * RATE_HZ)) / RATE_HZ
    swell = np.sin(np.pi * time_s / SYLLABLE_S) ** 2
    syllables = []
    for _ in range(round(length_s / SYLLABLE_S)):
        pitch_hz, formants_hz = rng.uniform(90, 200), rng.uniform(250, 3600, 3)
        harmonics_hz = np.arange(pitch_hz, VOICE_HZ, pitch_hz)
        gains = 0.01 + sum(np.exp(-(((harmonics_hz - centre_hz) / 220) ** 2)) for centre_hz in formants_hz)
        phases = rng.uniform(0, 2 * np.pi, harmonics_hz.size)
        voice = gains @ np.sin(2 * np.pi * np.outer(harmonics_hz, time_s) + phases[:, None])
        breath = rng.uniform(0.0, 0.4) * rng.standard_normal(time_s.size)
        loudness = rng.choice([0.02, 0.6, 1.0, 1.0])
        syllables.append(loudness * swell * (voice + breath))
    sound = np.concatenate(syllables)
    return np.asarray(0.35 * sound / np.abs(sound).max(), np.float32)


def _real_clips(folder: Path) -> Iterator[Clip]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES:
            try:
                clip = read_clip(path, size=REAL_SIZE, max_s=3 * FILM_S)
            except (av.FFmpegError, IndexError, ValueError):
                continue  # damaged, odd or without pictures: there are others
            if 15 <= clip.fps <= 60 and len(clip.frames) > clip.fps:
                yield clip


def _is_heard(clip: Clip) -> bool:
    """Sound in most half seconds of the film, and in every one of its middle."""
    block = RATE_HZ // 2
    sound = clip.heard()[: round(FILM_S * RATE_HZ)]
    loud = [float(np.sqrt(np.mean(sound[at : at + block] ** 2))) > MIN_RMS for at in range(0, len(sound), block)]
    return float(np.mean(loud)) >= MIN_LOUD_SHARE and all(loud[len(loud) // 3 : 2 * len(loud) // 3])


def _different_shots(clip: Clip, known: Sequence[Clip]) -> list[Clip]:
    """Stretches of a clip that look like none before; all shots have the first one's rate and length."""
    rate = known[0].fps if known else clip.fps
    if clip.fps != rate:
        return []
    found: list[Clip] = []
    for start_s in np.arange(0.0, clip.duration_s - SHOT_S, 2 * SHOT_S):
        shot = Clip(clip.part(float(start_s), float(start_s) + SHOT_S).frames, rate, None)
        if all(_difference(shot, other) >= MIN_DIFFERENCE for other in [*known, *found]):
            found.append(shot)
    return found


def _difference(a: Clip, b: Clip) -> float:
    small = [cv2.resize(_middle_luma(clip), (32, 18)).astype(np.float32) for clip in (a, b)]
    return float(np.abs(small[0] - small[1]).mean())


def _middle_luma(clip: Clip) -> Image:
    return clip.frames[len(clip.frames) // 2][: clip.size[1]]
