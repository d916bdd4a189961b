"""Films with speech and one damaged window, for the benchmarks of sound."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.media import numbered_frame
from tests.sounds import RATE_HZ, Wave, read_wave, speech, wave_frames

MEDIA = Path(__file__).resolve().parents[2] / "shared" / "media"
FPS = 25
_SPEECH = {
    "lj": ("speech/ljspeech/*.wav", 0, 32),
    "lj2": ("speech/ljspeech/*.wav", 6, 32),
    "libri": ("speech/librispeech/*.ogg", 0, 36),
    "austen": ("speech/librivox/*.wav", 0, 24),
    "jfk": ("speech/jfk.wav", 0, 22),
}


@dataclass(frozen=True)
class Voice:
    """Clean speech, and a window of it that a defect goes into."""

    name: str
    clean: Wave
    window: slice

    @property
    def span_s(self) -> tuple[float, float]:
        return self.window.start / RATE_HZ, self.window.stop / RATE_HZ


def voices(media: Path, count: int) -> Iterator[Voice]:
    """Speakers one after another, each with a window of 3 to 8 s."""
    for number, (name, (pattern, first, seconds)) in enumerate(list(_SPEECH.items())[:count]):
        paths = sorted(media.glob(pattern))[first:]
        clean = speech(paths * (3 if len(paths) == 1 else 1), seconds)
        chance = np.random.default_rng(number)
        length = chance.uniform(3, 8)
        start = chance.uniform(4, len(clean) / RATE_HZ - length - 4)
        yield Voice(name, clean, slice(round(start * RATE_HZ), round((start + length) * RATE_HZ)))


@lru_cache(maxsize=1)
def _prompts(media: Path) -> list[Wave]:
    return [read_wave(path) for path in sorted((media / "speech/asterisk").glob("*.wav"))]


def babble(media: Path, count: int, seed: int) -> Wave:
    """Six other voices at once (studio prompts, which no film here uses)."""
    chance, waves = np.random.default_rng(seed), _prompts(media)
    made = np.zeros(count)
    for _ in range(6):
        order = chance.permutation(len(waves))
        line = np.concatenate([waves[n] / np.sqrt(np.mean(waves[n] ** 2)) for n in order])
        line = np.tile(line, -(-count // len(line)) + 1)
        start = int(chance.integers(0, len(line) - count))
        made += line[start : start + count]
    return made


def write_film(path: Path, wave: Wave, codec: str = "aac", bit_rate_bps: int = 128_000) -> Path:
    """A film of numbered frames with this sound."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=FPS, options={"preset": "ultrafast"})
        video.width, video.height, video.pix_fmt = 320, 180, "yuv420p"
        sound = container.add_stream(codec, rate=RATE_HZ, layout="mono")
        if codec == "aac":
            sound.bit_rate = bit_rate_bps
        for number in range(round(len(wave) / RATE_HZ * FPS)):
            frame = av.VideoFrame.from_ndarray(numbered_frame(number), format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        for frame in wave_frames(np.atleast_2d(wave), RATE_HZ):
            container.mux(sound.encode(frame))
        container.mux(sound.encode(None))
    return path


def decoded(path: Path, count: int) -> Wave:
    """A film's sound, exactly `count` samples from its time 0."""
    from primitives._media.sound_source import open_sound

    source = open_sound(path, path.name, lambda: None)
    return source.read(0, count, lambda: None).mean(axis=0).astype(np.float64)


def decoded_from(path: Path, first: int, count: int) -> Wave:
    """As `decoded`, from a sample on: the decoder starts anew half a second before it."""
    from primitives._media.sound_source import open_sound

    source = open_sound(path, path.name, lambda: None)
    return source.read(first, count, lambda: None).mean(axis=0).astype(np.float64)


def si_sdr_db(reference: Wave, wave: Wave) -> float:
    """Scale-invariant signal-to-distortion ratio."""
    share = float(reference @ wave) / max(1e-12, float(reference @ reference))
    error = wave - share * reference
    return float(10 * np.log10(max(1e-12, share**2 * float(reference @ reference)) / max(1e-20, float(error @ error))))


def same_packets(a: Path, b: Path, kind: str) -> tuple[int, int]:
    """How many packets of a stream are bit-identical and at the same time, of how many."""
    rows = []
    for path in (a, b):
        with av.open(str(path)) as container:
            stream = container.streams.video[0] if kind == "video" else container.streams.audio[0]
            rows.append([(packet.pts, bytes(packet)) for packet in container.demux(stream) if packet.size])
    return sum(one == other for one, other in zip(*rows, strict=False)), len(rows[0])
