"""The defects that `find_defects.py` injects, three strengths each. See `defect_films.py`."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import scipy.signal

from benchmarks.defect_films import (
    HEIGHT_PX,
    MEDIA,
    RATE_HZ,
    WIDTH_PX,
    Broken,
    Clip,
    Inject,
    Pixels,
    Wave,
    heard,
    place,
    read_wave,
    samples,
    shown,
    span_s,
    speech_level,
    to_rgb,
    to_yuv,
    window,
)

Chance = np.random.Generator
_WEIGHTS = np.array([0.299, 0.587, 0.114], np.float32)


def _in_picture(clip: Clip, first: int, last: int, change: Callable[[Pixels], Pixels]) -> Broken:
    frames = [change(frame) if first <= n < last else frame for n, frame in enumerate(clip.frames)]
    return Broken(span_s(clip, first, last), frames=frames)


def _in_sound(clip: Clip, first: int, last: int, change: Callable[[Wave], Wave]) -> Broken:
    wave, here = clip.sound.copy(), samples(clip, first, last)
    wave[:, here] = change(wave[:, here])
    return Broken(span_s(clip, first, last), sound=wave)


def freeze(clip: Clip, strength: int, chance: Chance) -> Broken:
    """A held frame: in place of others, or put in between with silence."""
    first, last = place(clip, (0.5, 0.9, 1.4)[strength], (0.6, 1.0, 1.5)[strength], chance, shown)
    held = [clip.frames[first - 1]] * (last - first)
    if chance.random() < 0.5:
        return Broken(span_s(clip, first, last), frames=[*clip.frames[:first], *held, *clip.frames[last:]])
    here = samples(clip, first, last)
    silence = np.zeros((2, here.stop - here.start), np.float32)
    sound = np.concatenate((clip.sound[:, : here.start], silence, clip.sound[:, here.start :]), axis=1)
    return Broken(span_s(clip, first, last), frames=[*clip.frames[:first], *held, *clip.frames[first:]], sound=sound)


def repeat(clip: Clip, strength: int, chance: Chance) -> Broken:
    """A stretch plays twice, with its sound."""
    first, last = place(clip, (0.7, 1.2, 2.0)[strength], (0.8, 1.4, 2.5)[strength], chance, shown)
    here = samples(clip, first, last)
    sound = np.concatenate((clip.sound[:, : here.stop], clip.sound[:, here], clip.sound[:, here.stop :]), axis=1)
    frames = [*clip.frames[:last], *clip.frames[first:last], *clip.frames[last:]]
    return Broken(span_s(clip, last, 2 * last - first), frames=frames, sound=sound)


def black(clip: Clip, strength: int, chance: Chance) -> Broken:
    first, last = place(clip, (0.25, 0.6, 1.5)[strength], (0.35, 1.0, 2.0)[strength], chance, shown)
    blank = np.full_like(clip.frames[0], 128)
    blank[:HEIGHT_PX] = 16
    return _in_picture(clip, first, last, lambda _: blank)


def colour(clip: Clip, strength: int, chance: Chance) -> Broken:
    first, last = place(clip, 3, 6, chance, shown)
    share = (0.5, 1.0, 1.6)[strength]
    warm = 1 if chance.random() < 0.5 else -1
    gains = 1 + share * warm * np.array([-0.09, -0.02, 0.09], np.float32)
    saturation, contrast = 1 - 0.22 * share, 1 + 0.13 * share

    def change(frame: Pixels) -> Pixels:
        rgb = to_rgb(frame).astype(np.float32)
        grey = (rgb @ _WEIGHTS)[..., None]
        shifted = ((grey + saturation * (rgb - grey) - 128) * contrast + 128) * gains
        return to_yuv(np.clip(np.rint(shifted), 0, 255).astype(np.uint8))

    return _in_picture(clip, first, last, change)


def _each_plane(change: Callable[[Pixels, float], Pixels]) -> Callable[[Pixels], Pixels]:
    def whole(frame: Pixels) -> Pixels:
        made = frame.copy()
        made[:HEIGHT_PX] = change(frame[:HEIGHT_PX], 1.0)
        for number in range(2):
            rows = slice(HEIGHT_PX + number * HEIGHT_PX // 4, HEIGHT_PX + (number + 1) * HEIGHT_PX // 4)
            plane = frame[rows].reshape(HEIGHT_PX // 2, WIDTH_PX // 2)
            made[rows] = change(plane, 0.5).reshape(HEIGHT_PX // 4, WIDTH_PX)
        return made

    return whole


def blur(clip: Clip, strength: int, chance: Chance) -> Broken:
    first, last = place(clip, 3, 6, chance, shown)
    sigma = (2.0, 3.0, 4.0)[strength]
    return _in_picture(clip, first, last, _each_plane(lambda p, s: np.asarray(cv2.GaussianBlur(p, (0, 0), sigma * s))))


def softness(clip: Clip, strength: int, chance: Chance) -> Broken:
    """Lost resolution: made smaller and larger again."""
    first, last = place(clip, 3, 6, chance, shown)
    times = (1.5, 2.0, 3.0)[strength]

    def change(plane: Pixels, scale: float) -> Pixels:  # noqa: ARG001 - chroma shrinks by the same factor
        size = round(plane.shape[1] / times), round(plane.shape[0] / times)
        small = cv2.resize(plane, size, interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.resize(small, plane.shape[::-1], interpolation=cv2.INTER_LINEAR))

    return _in_picture(clip, first, last, _each_plane(change))


def noise(clip: Clip, strength: int, chance: Chance) -> Broken:
    """White, pink or brown noise, or a recording, at 0.02 to 0.1 of full scale."""
    first, last = window(clip, 3, 6, chance)
    here = samples(clip, first, last)
    length = here.stop - here.start
    sort = int(chance.integers(4))
    if sort == 3:
        recorded = read_wave(MEDIA / "noise" / "noise_doing_the_dishes.wav")[:1]
        made = recorded[:, int(chance.integers(recorded.shape[1] - length)) :][:, :length]
    else:
        spectrum = np.fft.rfft(chance.standard_normal(length))
        spectrum /= np.maximum(np.fft.rfftfreq(length, 1 / RATE_HZ), 20) ** (0.0, 0.5, 1.0)[sort]
        made = np.fft.irfft(spectrum, length)[None]
    made = made / np.sqrt((made**2).mean()) * (0.02, 0.04, 0.1)[strength]
    return _in_sound(clip, first, last, lambda wave: (wave + made).astype(np.float32))


def echo(clip: Clip, strength: int, chance: Chance) -> Broken:
    """A room: measured responses or decaying noise, of 0.5 to 0.9 s."""
    first, last = place(clip, 4, 8, chance, heard)
    decay_s = (0.5, 0.7, 0.9)[strength]
    time_s = np.arange(round(decay_s * RATE_HZ)) / RATE_HZ
    tail = chance.standard_normal(len(time_s)) * 10 ** (-3 * time_s / decay_s)
    tail[: RATE_HZ // 200] = 0
    tail *= 1.2 / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    if chance.random() < 0.4:
        tail = read_wave(MEDIA / "noise" / "rir_sim_rt60_0.79.wav")[0].astype(np.float64)
        tail = tail[int(np.argmax(np.abs(tail))) :]
        tail[RATE_HZ // 500 :] *= (0.7, 1.0, 1.5)[strength]
    here = samples(clip, first, last)
    # The room is heard of what sounds within the window only: a filter switched on, then off.
    wet = scipy.signal.fftconvolve(clip.sound[:, here], tail[None], axes=1)[:, : here.stop - here.start]
    dry = np.sqrt((clip.sound[:, here] ** 2).mean())
    wet *= dry / max(float(np.sqrt((wet**2).mean())), 1e-9)
    return _in_sound(clip, first, last, lambda _: wet.astype(np.float32))


def clipping(clip: Clip, strength: int, chance: Chance) -> Broken:
    """Too much gain against full scale, or the same at a lower ceiling."""
    first, last = place(clip, 3, 6, chance, heard)
    here = samples(clip, first, last)
    peak = float(np.quantile(np.abs(clip.sound[:, here]), 0.9999)) + 1e-6
    ceiling = peak * (0.4, 0.25, 0.12)[strength]
    loud = 1.0 if chance.random() < 0.5 else 0.98 / ceiling
    return _in_sound(clip, first, last, lambda wave: np.clip(wave, -ceiling, ceiling) * np.float32(loud))


def level(clip: Clip, strength: int, chance: Chance) -> Broken:
    first, last = place(clip, 3, 6, chance, heard)
    gain_db = (-6.0, -10.0, -16.0)[strength]
    here = samples(clip, first, last)
    room_db = -20 * np.log10(float(np.abs(clip.sound[:, here]).max()) + 1e-6)
    if chance.random() < 0.4 and room_db > -gain_db:
        gain_db = -gain_db
    return _in_sound(clip, first, last, lambda wave: wave * np.float32(10 ** (gain_db / 20)))


def dropout(clip: Clip, strength: int, chance: Chance) -> Broken:
    """Silence where sound was."""
    for _ in range(50):
        first, last = window(clip, (0.2, 0.45, 1.0)[strength], (0.3, 0.6, 1.4)[strength], chance)
        if np.sqrt((clip.sound[:, samples(clip, first, last)] ** 2).mean()) > 0.2 * speech_level(clip.sound):
            break
    return _in_sound(clip, first, last, np.zeros_like)


def desync(clip: Clip, strength: int, chance: Chance) -> Broken:
    """Late sound: all of it, in a window, or drifting away and back."""
    late = round((0.45, 0.6, 0.72)[strength] * RATE_HZ)
    wave = clip.sound
    sort = int(chance.integers(3))
    if sort == 0:
        shifted = np.pad(wave, ((0, 0), (late, 0)))[:, : wave.shape[1]]
        return Broken(((0.0, clip.duration_s),), sound=shifted)
    first, last = place(clip, 5, 8, chance, heard)
    here = samples(clip, first, last)
    made = wave.copy()
    if sort == 1:
        made[:, here] = np.pad(wave[:, here], ((0, 0), (late, 0)))[:, : here.stop - here.start]
        return Broken(span_s(clip, first, last), sound=made)
    length = here.stop - here.start
    half = length // 2
    slow = wave[:, here.start : here.start + round(half * 0.67)]
    fast = wave[:, here.start + slow.shape[1] : here.stop]
    grown = [_stretched(piece, size) for piece, size in ((slow, half), (fast, length - half))]
    made[:, here] = np.concatenate(grown, axis=1)
    return Broken(span_s(clip, first, last), sound=made)


def _stretched(wave: Wave, length: int) -> Wave:
    """The same pitch over another time, by overlapping grains."""
    size, hop = 2048, 512
    grains = np.arange(0, length, hop)
    made, weight = np.zeros((2, length + size), np.float32), np.full(length + size, 1e-6, np.float32)
    shape = np.hanning(size).astype(np.float32)
    padded = np.pad(wave, ((0, 0), (0, 2 * size)))
    for at in grains:
        start = int(at * wave.shape[1] / length)
        if at:
            search = padded[0, max(0, start - 256) : start + 256 + size]
            tail = made[0, at : at + size] / weight[at : at + size]
            start = max(0, start - 256) + int(np.argmax(np.correlate(search, tail * shape, "valid")))
        made[:, at : at + size] += padded[:, start : start + size] * shape
        weight[at : at + size] += shape
    return (made / weight)[:, :length]


def out_of_order(clip: Clip, strength: int, chance: Chance) -> Broken:
    """Two neighbouring stretches change places, with their sound."""
    longest = (2.5, 3.5, 5.0)[strength]
    first, last = place(clip, 2 * longest - 1, 2 * longest, chance, shown)
    middle = first + round((last - first) * chance.uniform(0.4, 0.6))
    order = [range(first), range(middle, last), range(first, middle), range(last, len(clip.frames))]
    frames = [clip.frames[n] for part in order for n in part]
    sound = np.concatenate([clip.sound[:, samples(clip, part.start, part.stop)] for part in order], axis=1)
    joint = first + last - middle
    windows = (*span_s(clip, first, joint), *span_s(clip, joint, last), *span_s(clip, first, last))
    return Broken(windows, frames=frames, sound=sound)


INJECTIONS: dict[str, Inject] = {
    "freeze": freeze,
    "repeat": repeat,
    "black": black,
    "colour": colour,
    "blur": blur,
    "softness": softness,
    "noise": noise,
    "echo": echo,
    "clipping": clipping,
    "level": level,
    "dropout": dropout,
    "desync": desync,
    "out_of_order": out_of_order,
}
