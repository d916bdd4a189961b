"""Real film with one defect at a known place, for `find_defects.py`. The same seed gives the same film.

Clips (`defect_clips.py`) are shown at 640 x 360.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import scipy.signal
from numpy.typing import NDArray

from benchmarks.defect_clips import Part, Recipe
from benchmarks.more_media import MORE_MEDIA

MEDIA = Path(os.environ.get("AVB_TEST_MEDIA", Path(__file__).resolve().parents[2] / "shared" / "media"))
WIDTH_PX, HEIGHT_PX, RATE_HZ = 640, 360, 48_000
Pixels = NDArray[np.uint8]
Wave = NDArray[np.float32]
Windows = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class Clip:
    """A film in memory: frames as yuv420p, stereo sound."""

    fps: int
    frames: list[Pixels]
    sound: Wave

    @property
    def duration_s(self) -> float:
        return len(self.frames) / self.fps


@dataclass(frozen=True, eq=False)
class Broken:
    """A clip with a defect. What is None is as in the clip."""

    windows: Windows
    frames: list[Pixels] | None = None
    sound: Wave | None = None
    notes: dict[str, float] = field(default_factory=dict)


def source(name: str) -> Path:
    """A file of the media folder, or one that `more_media.py` fetched."""
    return MORE_MEDIA / name.removeprefix("more/") if name.startswith("more/") else MEDIA / name


def load(recipe: Recipe) -> Clip:
    frames: list[Pixels] = []
    sounds: list[Wave] = []
    for part in recipe.parts:
        taken = _pictures(source(part.file), part, recipe.fps)
        frames += taken
        length = len(taken) * RATE_HZ // recipe.fps
        sounds.append(
            _fit(read_wave(source(part.file), part.start_s), length) if part.own else np.zeros((2, length), np.float32)
        )
    sound = np.concatenate(sounds, axis=1)
    if recipe.speech:
        pause = np.zeros((2, RATE_HZ // 5), np.float32)
        read = np.concatenate([wave for name in recipe.speech for wave in (read_wave(source(name)), pause)], axis=1)
        frames = frames[: read.shape[1] * recipe.fps // RATE_HZ]
        sound = _fit(read, len(frames) * RATE_HZ // recipe.fps)
    return Clip(recipe.fps, frames, _fit(sound, len(frames) * RATE_HZ // recipe.fps))


def _fit(wave: Wave, length: int) -> Wave:
    return np.pad(wave, ((0, 0), (0, max(0, length - wave.shape[1]))))[:, :length]


def _pictures(path: Path, part: Part, fps: int) -> list[Pixels]:
    """Frames at a constant rate, filling 640 x 360."""
    taken: list[Pixels] = []
    reformatter = av.video.reformatter.VideoReformatter()
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        origin: float | None = None
        for frame in container.decode(stream):
            origin = frame.time if origin is None else origin
            time_s = frame.time - origin - part.start_s
            if time_s >= part.end_s - part.start_s:
                break
            while time_s >= 0 and len(taken) <= time_s * fps + 1e-6:
                taken.append(_filled(reformatter.reformat(frame, format="rgb24").to_ndarray()))
    return taken


def _filled(picture: Pixels) -> Pixels:
    scale = max(WIDTH_PX / picture.shape[1], HEIGHT_PX / picture.shape[0])
    size = max(WIDTH_PX, round(picture.shape[1] * scale)), max(HEIGHT_PX, round(picture.shape[0] * scale))
    large = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    top, left = (large.shape[0] - HEIGHT_PX) // 2, (large.shape[1] - WIDTH_PX) // 2
    return to_yuv(np.ascontiguousarray(large[top : top + HEIGHT_PX, left : left + WIDTH_PX]))


def to_yuv(rgb: Pixels) -> Pixels:
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2YUV_I420), np.uint8)


def to_rgb(yuv: Pixels) -> Pixels:
    return np.asarray(cv2.cvtColor(yuv, cv2.COLOR_YUV2RGB_I420), np.uint8)


def read_wave(path: Path, start_s: float = 0.0) -> Wave:
    """A file's sound from a time on, stereo at 48 kHz."""
    resampler = av.AudioResampler(format="fltp", layout="stereo", rate=RATE_HZ)
    pieces: list[Wave] = []
    with av.open(str(path)) as container:
        for frame in itertools.chain.from_iterable(map(_decoded, container.demux(audio=0))):
            frame.pts = None
            pieces += [np.asarray(made.to_ndarray(), np.float32) for made in resampler.resample(frame)]
        pieces += [np.asarray(made.to_ndarray(), np.float32) for made in resampler.resample(None)]
    return np.concatenate(pieces, axis=1)[:, round(start_s * RATE_HZ) :]


def _decoded(packet: av.Packet) -> list[av.AudioFrame]:
    """Nothing for a broken packet, as players do."""
    try:
        return list(packet.decode())
    except av.error.InvalidDataError:
        return []


def write_picture(path: Path, frames: list[Pixels], fps: int) -> Path:
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=fps, options={"crf": "18", "preset": "veryfast", "threads": "1"})
        video.width, video.height, video.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
    return path


def write_sound(path: Path, wave: Wave) -> Path:
    with av.open(str(path), "w") as container:
        sound = container.add_stream("aac", rate=RATE_HZ, layout="stereo")
        sound.bit_rate = 128_000
        data = np.ascontiguousarray(np.clip(wave, -1, 1))
        for at in range(0, data.shape[1], 1024):
            chunk = av.AudioFrame.from_ndarray(np.ascontiguousarray(data[:, at : at + 1024]), "fltp", "stereo")
            chunk.sample_rate, chunk.pts, chunk.time_base = RATE_HZ, at, Fraction(1, RATE_HZ)
            container.mux(sound.encode(chunk))
        container.mux(sound.encode(None))
    return path


Inject = Callable[[Clip, int, np.random.Generator], Broken]
"""A defect of strength 0 to 2 somewhere in a clip."""


def shown(clip: Clip, first: int, last: int) -> bool:
    """Whether a picture defect there can be seen at all: the picture moves, and is not blank."""
    some = [clip.frames[n][:HEIGHT_PX].astype(np.float32) for n in np.linspace(first - 1, last, 6).astype(int)]
    moved = min(float(np.abs(a - b).mean()) for a, b in itertools.pairwise(some))
    return moved > 0.4 and min(float(picture.std()) for picture in some) > 12


def heard(clip: Clip, first: int, last: int) -> bool:
    """Whether there is sound for a defect to be heard in: at the window's start, at its end and on the whole."""
    loud = 0.3 * speech_level(clip.sound)
    edge = max(1, (last - first) // 3)
    parts = ((first, last), (first, first + edge), (last - edge, last))
    return all(float(np.sqrt((clip.sound[:, samples(clip, *part)] ** 2).mean())) > loud for part in parts)


def place(
    clip: Clip, shortest_s: float, longest_s: float, chance: np.random.Generator, good: Callable[[Clip, int, int], bool]
) -> tuple[int, int]:
    """A window where a defect shows; after many tries any."""
    for _ in range(200):
        found = window(clip, shortest_s, longest_s, chance)
        if good(clip, *found):
            break
    return found


def window(clip: Clip, shortest_s: float, longest_s: float, chance: np.random.Generator) -> tuple[int, int]:
    """Frames somewhere in a clip, two seconds away from its ends."""
    length = round(chance.uniform(shortest_s, longest_s) * clip.fps)
    first = int(chance.integers(2 * clip.fps, len(clip.frames) - 2 * clip.fps - length))
    return first, first + length


def span_s(clip: Clip, first: int, last: int) -> Windows:
    return ((first / clip.fps, last / clip.fps),)


def samples(clip: Clip, first: int, last: int) -> slice:
    return slice(first * RATE_HZ // clip.fps, last * RATE_HZ // clip.fps)


def speech_level(wave: Wave) -> float:
    """The level of the loud parts, as a root mean square."""
    power = scipy.signal.lfilter([1 / 2400] * 2400, [1], (wave.mean(axis=0) ** 2))[::2400]
    return float(np.sqrt(np.quantile(power, 0.85) + 1e-9))
