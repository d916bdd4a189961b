"""Reading what an edit wrote: pictures, times and sound, decoded by libav as any player would."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from tests.media import numbered_frame, read_number


def decoded(path: Path) -> list[tuple[float, NDArray[np.uint8]]]:
    """Every frame's time and samples, as coded."""
    with av.open(str(path)) as container:
        return [(float(f.pts * f.time_base), f.to_ndarray()) for f in container.decode(video=0)]


def numbers(path: Path) -> list[int]:
    """The number that each frame of a film carries."""
    with av.open(str(path)) as container:
        return [read_number(frame.to_ndarray(format="bgr24")) for frame in container.decode(video=0)]


def sound(path: Path) -> NDArray[np.float32]:
    """The sound as one channel, from time 0 on."""
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        resampler = av.AudioResampler(format="fltp", layout="mono", rate=stream.rate)
        parts, first = [], None
        for frame in container.decode(stream):
            first = frame.pts * frame.time_base if first is None else first
            parts += [made.to_ndarray()[0] for made in resampler.resample(frame)]
        parts += [made.to_ndarray()[0] for made in resampler.resample(None)]
    wave = np.concatenate(parts)
    start = round(float(first or 0) * stream.rate)
    return wave[-start:] if start < 0 else np.concatenate([np.zeros(start, np.float32), wave])


def audio_packets(path: Path) -> list[bytes]:
    """The coded sound."""
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(audio=0) if packet.size]


def make_clicking_film(
    path: Path, frames: int, fps: int = 25, every: int = 25, rate_hz: int = 48_000, **options: str
) -> Path:
    """Numbered frames and, exactly with every n-th of them, a short burst of noise in otherwise silent sound."""
    path.parent.mkdir(parents=True, exist_ok=True)
    wave = np.zeros(round(frames / fps * rate_hz), np.float32)
    burst = np.random.default_rng(1).uniform(-0.8, 0.8, 480).astype(np.float32)
    for number in range(0, frames, every):
        at = number * rate_hz // fps
        wave[at : at + len(burst)] = burst[: len(wave) - at]
    with av.open(str(path), "w") as container:
        video = container.add_stream(
            "libx264", rate=fps, options={"g": "12", "bf": "2", "preset": "ultrafast", **options}
        )
        video.width, video.height, video.pix_fmt = 320, 180, "yuv420p"
        audio = container.add_stream("aac", rate=rate_hz, layout="mono")
        audio.bit_rate = 128_000
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray(numbered_frame(number), format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        for at in range(0, len(wave), 1024):
            chunk = av.AudioFrame.from_ndarray(wave[None, at : at + 1024], format="fltp", layout="mono")
            chunk.sample_rate, chunk.time_base, chunk.pts = rate_hz, Fraction(1, rate_hz), at
            container.mux(audio.encode(chunk))
        container.mux(audio.encode(None))
    return path


def burst_starts_s(wave: NDArray[np.float32], rate_hz: int) -> list[float]:
    """When bursts begin in otherwise silent sound."""
    loud = np.abs(wave) > 0.1
    starts = [int(n) for n in np.flatnonzero(loud) if not loud[max(0, n - rate_hz // 50) : n].any()]
    return [start / rate_hz for start in starts]


def opencv_numbers(path: Path) -> list[int]:
    """The number of each frame as OpenCV reads the film."""
    film, found = cv2.VideoCapture(str(path)), []
    while True:
        more, picture = film.read()
        if not more:
            return found
        found.append(read_number(np.asarray(picture, dtype=np.uint8)))
