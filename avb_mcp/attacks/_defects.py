"""The paper's ten defects in their plainest form, put into a clip; just enough to have something to attack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from avb_mcp.attacks._clips import RATE_HZ, Clip, Image, Sound, from_bgr, joined, to_bgr
from verifiers.video_repair.schema import Kind, TimeRange

WINDOW = TimeRange(start_s=1.8, end_s=4.2)
ECHO_S = 0.8
FILLER_S, REPEAT_S, SENTENCE_S = 0.5, 0.8, 1.2

Floats = npt.NDArray[np.floating]
Pixels = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Broken:
    clip: Clip
    window: TimeRange | None = None
    ranges: tuple[TimeRange, ...] = ()


def break_clip(clip: Clip, kind: Kind) -> Broken:
    """The clip with one defect."""
    if kind in _SOUND_DAMAGE:
        return Broken(damage_sound(clip, _SOUND_DAMAGE[kind]), window=WINDOW)
    if kind in _PICTURE_DAMAGE:
        return Broken(damage_picture(clip, _PICTURE_DAMAGE[kind]), window=WINDOW)
    if kind is Kind.SHOT_SWAP:
        return Broken(_swap_shots(clip))
    return _insert(clip, _INSERTIONS[kind](clip))


def damage_sound(clip: Clip, damage: Callable[[Sound], Floats], window: TimeRange = WINDOW) -> Clip:
    sound = clip.heard().copy()
    inside = slice(round(window.start_s * RATE_HZ), round(window.end_s * RATE_HZ))
    sound[inside] = damage(sound[inside])
    return clip.with_sound(sound)


def damage_picture(clip: Clip, damage: Callable[[Image], Pixels], window: TimeRange = WINDOW) -> Clip:
    """`damage` is given BGR pixels."""
    frames = list(clip.frames)
    for at in range(round(window.start_s * clip.fps), round(window.end_s * clip.fps)):
        frames[at] = from_bgr(damage(to_bgr(frames[at])))
    return replace(clip, frames=frames)


def add_noise(sound: Sound, snr_db: float) -> Floats:
    noise = np.random.default_rng(5).standard_normal(sound.size)
    return sound + noise * _rms(sound) * 10 ** (-snr_db / 20)


def cut_ranges(clip: Clip, ranges: Sequence[TimeRange]) -> Clip:
    """What an honest editor leaves."""
    kept, position_s = [], 0.0
    for item in ranges:
        kept.append(clip.part(position_s, item.start_s))
        position_s = item.end_s
    return joined([*kept, clip.part(position_s, clip.duration_s)])


def _add_echo(sound: Sound) -> Floats:
    """A decaying random tail, at the level of the dry sound."""
    count = round(ECHO_S * RATE_HZ)
    tail = np.random.default_rng(6).standard_normal(count) * np.logspace(0, -3, count)
    tail /= np.linalg.norm(tail)
    tail[0] = 1.0
    size = 1 << (sound.size + count).bit_length()
    wet = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(tail, size), size)[: sound.size]
    return wet * _rms(sound) / _rms(wet)


def _clip_peaks(sound: Sound) -> Floats:
    limit = 0.12 * float(np.abs(sound).max())
    return np.clip(sound, -limit, limit)


def _shift_colour(pixels: Image) -> Pixels:
    """The released profiles' grade."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)[..., None].astype(np.float32)
    graded = 128.0 + 1.13 * (gray + 0.78 * (pixels - gray) - 128.0)
    return np.asarray(graded * np.array([1.09, 0.98, 0.91]))


def _blur(pixels: Image) -> Pixels:
    return cv2.GaussianBlur(pixels, (0, 0), 2.5)


def _lose_sharpness(pixels: Image) -> Pixels:
    height_px, width_px = pixels.shape[:2]
    small = cv2.resize(pixels, (width_px // 3, height_px // 3), interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width_px, height_px), interpolation=cv2.INTER_LINEAR)


def _swap_shots(clip: Clip) -> Clip:
    """The second and the last quarter change places."""
    a, b, c, d = (clip.part(at * clip.duration_s / 4, (at + 1) * clip.duration_s / 4) for at in range(4))
    return joined([a, d, c, b])


Insertion = tuple[float, Clip]


def _fillers(clip: Clip) -> list[Insertion]:
    """A held vowel over pictures that go back and forth."""
    insertions = []
    for at_s in (1.2, 2.8, 4.6):
        before = clip.part(at_s - FILLER_S, at_s)
        time_s = np.arange(before.heard().size) / RATE_HZ
        vowel = np.sum([np.sin(2 * np.pi * 120 * k * time_s) / k for k in range(1, 9)], axis=0)
        insertions.append((at_s, replace(before, frames=before.frames[::-1]).with_sound(0.05 * vowel)))
    return insertions


def _repeats(clip: Clip) -> list[Insertion]:
    return [(at_s, clip.part(at_s - REPEAT_S, at_s)) for at_s in (2.0, 4.2)]


def _wrong_sentence(clip: Clip) -> list[Insertion]:
    """Something that is said backwards."""
    said = clip.part(0.0, SENTENCE_S)
    return [(4.0, replace(said, frames=said.frames[::-1]).with_sound(said.heard()[::-1]))]


def _insert(clip: Clip, insertions: Sequence[Insertion]) -> Broken:
    parts: list[Clip] = []
    ranges: list[TimeRange] = []
    position_s = length_s = 0.0
    for at_s, addition in insertions:
        before = clip.part(position_s, at_s)
        length_s += before.duration_s
        ranges.append(TimeRange(start_s=length_s, end_s=length_s + addition.duration_s))
        length_s += addition.duration_s
        parts += [before, addition]
        position_s = at_s
    return Broken(joined([*parts, clip.part(position_s, clip.duration_s)]), ranges=tuple(ranges))


def _rms(sound: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(sound)))) + 1e-9


_SOUND_DAMAGE: dict[Kind, Callable[[Sound], Floats]] = {
    Kind.BACKGROUND_NOISE: lambda sound: add_noise(sound, snr_db=5.0),
    Kind.ROOM_ECHO: _add_echo,
    Kind.CLIPPING: _clip_peaks,
}
_PICTURE_DAMAGE: dict[Kind, Callable[[Image], Pixels]] = {
    Kind.COLOUR_SHIFT: _shift_colour,
    Kind.BLUR: _blur,
    Kind.LOST_SHARPNESS: _lose_sharpness,
}
_INSERTIONS: dict[Kind, Callable[[Clip], list[Insertion]]] = {
    Kind.FILLER_WORDS: _fillers,
    Kind.REPEATED_FRAMES: _repeats,
    Kind.WRONG_SENTENCES: _wrong_sentence,
}
