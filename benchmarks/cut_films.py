"""Films whose transitions are known by construction, for `scene_cuts.py`: from real footage, and drawn.

A film is a row of shots joined by hard cuts, dissolves and fades through black or white. Shots carry what misleads
detectors: photographic flashes, whip pans, letterboxes, exposure changes. The same seed gives the same film.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
WIDTH_PX, HEIGHT_PX, FPS = 640, 360, 24
FLASHES, PANS, EXPOSURES = 0.12, 0.12, 0.08
"""Shares of shots with a flash, a fast pan, a change of light."""


@dataclass(frozen=True)
class Transition:
    """A change of shot: kind, and the frames `[start, end)` that belong to neither shot alone."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class Shot:
    """A stretch of a clip that holds no cut."""

    clip: Path
    start: int
    end: int


def real_shots(media: Path) -> list[Shot]:
    """The known cut-free stretches of the shared clips."""
    known = {
        "film/bbb_480p_30s.mp4": [(60, 284), (286, 377), (379, 552), (554, 719)],
        "film/bikes.mp4": [(0, 29), (31, 75), (77, 136), (138, 186), (188, 241)],
        "film/nasa_13013.mp4": [(0, 125), (203, 324)],
        "film/oa4_launch.webm": [(0, 73), (75, 193)],
        "footage/intel_bottle-detection.mp4": [(0, 300), (500, 800)],
        "footage/intel_car-detection.mp4": [(0, 370)],
        "odd/prores_like_mjpeg_diver.mov": [(0, 340)],
        "odd/cockatoo_yuv444_mp3.mp4": [(0, 150)],
        "odd/mp_video_with_failing_audio.mp4": [(0, 270)],
        "talking_head/man-on-green-screen.mp4": [(0, 300), (400, 700)],
        "talking_head/movie-hello_webcam_screencast.mp4": [(0, 240)],
        "talking_head/single_face.mp4": [(0, 70)],
        "talking_head/jwpIntro.mp4": [(0, 170)],
        "talking_head/grid_bbaf2n.mpg": [(0, 74)],
        "vlog/balle-jbart.mp4": [(0, 250)],
    }
    return [Shot(media / name, *stretch) for name, stretches in known.items() for stretch in stretches]


def read_shot(shot: Shot, frames: int, chance: random.Random) -> list[Pixels]:
    """A random piece of a shot, filling the film's picture."""
    frames = min(frames, shot.end - shot.start)
    first = chance.randint(shot.start, shot.end - frames)
    pictures = []
    with av.open(str(shot.clip)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number >= first + frames:
                break
            if number >= first:
                pictures.append(_filled(frame.to_ndarray(format="bgr24")))
    return pictures


def drawn_shot(frames: int, chance: random.Random) -> list[Pixels]:
    """Coloured blobs over a gradient: each moves in its own way, the ground slowly slides."""
    noise = np.random.default_rng(chance.getrandbits(32))
    coarse = noise.integers(0, 256, (chance.choice((4, 8, 16)), chance.choice((6, 12, 24)), 3), dtype=np.uint8)
    ground = cv2.resize(coarse, (WIDTH_PX + 400, HEIGHT_PX), interpolation=cv2.INTER_CUBIC)
    gain = chance.uniform(0.3, 1.0)
    blobs = [
        (noise.uniform(0, WIDTH_PX), noise.uniform(0, HEIGHT_PX), *noise.normal(0, 2, 2), int(noise.integers(10, 90)),
         tuple(int(c) for c in noise.integers(0, 256, 3)))
        for _ in range(chance.randint(2, 7))
    ]  # fmt: skip
    slide = chance.uniform(0, 3)
    pictures = []
    for number in range(frames):
        left = int(slide * number)
        picture = (ground[:, left : left + WIDTH_PX] * gain).astype(np.uint8)
        for x, y, dx, dy, radius, colour in blobs:
            cv2.circle(picture, (int(x + dx * number), int(y + dy * number)), radius, colour, -1)
        pictures.append(picture)
    return pictures


def make_cut_film(path: Path, seed: int, shots: int, media: Path | None = None) -> list[Transition]:
    """Write a film and return its transitions; from the clips below `media`, or drawn where that is None."""
    chance = random.Random(seed)
    sources = real_shots(media) if media else []
    letterbox = chance.random() < 0.3
    found: list[Transition] = []
    with _Writer(path) as film:
        before, last = _next_shot(chance, sources, None)
        for _ in range(shots - 1):
            after, last = _next_shot(chance, sources, last)
            kind, middle, cut_before, cut_after = _join(before, after, chance)
            for picture in before[: len(before) - cut_before]:
                film.add(picture, letterbox)
            start = film.count
            for picture in middle:
                film.add(picture, letterbox)
            found.append(Transition(kind, start, film.count))
            before = after[cut_after:]
        for picture in before:
            film.add(picture, letterbox)
    return found


def _next_shot(chance: random.Random, sources: list[Shot], last: Shot | None) -> tuple[list[Pixels], Shot | None]:
    frames = round(FPS * chance.choice((0.8, 1.2, 1.5, 2, 2.5, 3, 4, 5)))
    if not sources:
        return _troubled(drawn_shot(frames, chance), chance), None
    # Two pieces of one clip in a row would be a jump cut inside a shot, whose truth is a matter of taste.
    shot = chance.choice([source for source in sources if last is None or source.clip != last.clip])
    return _troubled(read_shot(shot, frames, chance), chance), shot


def _join(before: list[Pixels], after: list[Pixels], chance: random.Random) -> tuple[str, list[Pixels], int, int]:
    """Kind, the frames of the transition, and how many frames of both shots it uses up."""
    room = min(len(before), len(after)) // 2
    length = min(chance.choice((8, 12, 16, 24, 36)), room)
    roll = chance.random()
    if roll < 0.6 or length < 6:
        return "cut", [], 0, 0
    if roll < 0.8:
        weights = [(n + 1) / (length + 1) for n in range(length)]
        pairs = zip(before[-length:], after[:length], weights, strict=True)
        return "dissolve", [_mix(a, b, w) for a, b, w in pairs], length, length
    level = 255 if roll > 0.93 else 0
    flat = np.full_like(before[0], level)
    weights = [(n + 1) / length for n in range(length)]
    out = [_mix(a, flat, w) for a, w in zip(before[-length:], weights, strict=True)]
    held = [flat] * chance.choice((0, 2, 6, 12))
    back = [_mix(flat, b, w) for b, w in zip(after[:length], weights, strict=True)]
    return "fade", out + held + back, length, length


def _troubled(pictures: list[Pixels], chance: random.Random) -> list[Pixels]:
    """A shot with a flash, a whip pan or a change of light, or as it is. Never near its ends."""
    roll, count = chance.random(), len(pictures)
    if count < 24:
        return pictures
    if roll < FLASHES:
        at = chance.randint(8, count - 12)
        for n, strength in enumerate(chance.choice(([0.9], [1.0, 0.8], [0.7, 1.0, 0.5], [1.0, 0.6, 0.3, 0.1]))):
            pictures[at + n] = _mix(pictures[at + n], np.full_like(pictures[0], 255), strength)
    elif roll < FLASHES + PANS:
        at, length = chance.randint(4, count - 14), chance.randint(6, 10)
        for n in range(count):
            share = min(1.0, max(0.0, (n - at) / length))
            left = int((WIDTH_PX * 2 // 5) * share)
            view = pictures[n][:, left : left + WIDTH_PX * 3 // 5]
            pictures[n] = cv2.resize(view, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_LINEAR)
    elif roll < FLASHES + PANS + EXPOSURES:
        at, gain = chance.randint(8, count - 8), chance.choice((0.55, 0.7, 1.4))
        for n in range(at, count):
            pictures[n] = cv2.convertScaleAbs(pictures[n], alpha=1 + (gain - 1) * min(1.0, (n - at + 1) / 5))
    return pictures


def _mix(before: Pixels, after: Pixels, weight: float) -> Pixels:
    return np.asarray(cv2.addWeighted(before, 1 - weight, after, weight, 0), np.uint8)


def _filled(picture: Pixels) -> Pixels:
    scale = max(WIDTH_PX / picture.shape[1], HEIGHT_PX / picture.shape[0])
    grown = cv2.resize(picture, None, fx=scale + 1e-3, fy=scale + 1e-3, interpolation=cv2.INTER_AREA)
    top, left = (grown.shape[0] - HEIGHT_PX) // 2, (grown.shape[1] - WIDTH_PX) // 2
    return np.ascontiguousarray(grown[top : top + HEIGHT_PX, left : left + WIDTH_PX])


class _Writer:
    def __init__(self, path: Path) -> None:
        self.count = 0
        self._container = av.open(str(path), "w")
        self._stream = self._container.add_stream("libx264", rate=FPS, options={"preset": "veryfast", "crf": "23"})
        self._stream.width, self._stream.height, self._stream.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def add(self, picture: Pixels, letterbox: bool) -> None:
        if letterbox:
            picture = picture.copy()
            picture[: HEIGHT_PX // 8] = picture[-(HEIGHT_PX // 8) :] = 0
        frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
        frame.pts, frame.time_base = self.count, Fraction(1, FPS)
        self._container.mux(self._stream.encode(frame))
        self.count += 1
