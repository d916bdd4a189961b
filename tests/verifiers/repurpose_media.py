"""Films whose truth is known by construction: every stretch has a known picture, the sound is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import numpy.typing as npt

Luma = npt.NDArray[np.uint8]
Painter = Callable[[int], Luma]
"""Luma of the n-th frame of a stretch (video range)."""

WIDTH, HEIGHT, FPS, RATE_HZ = 128, 96, 10, 48_000
LOSSLESS = {"qp": "0", "preset": "ultrafast"}


def flat(level: int) -> Painter:
    """One held picture of one luma level."""
    return lambda _: np.full((HEIGHT, WIDTH), level, np.uint8)


def moving(level: int) -> Painter:
    """Stripes of mean luma `level` that wander: never black, never frozen, never a cut."""
    row = level + 20 * np.sign(np.sin(np.arange(WIDTH) * 2 * np.pi / 32))
    return lambda index: np.tile(np.roll(row, 4 * index), (HEIGHT, 1)).astype(np.uint8)


def title(text: str) -> Painter:
    def paint(_: int) -> Luma:
        picture = np.full((HEIGHT * 4, WIDTH * 4), 30, np.uint8)
        cv2.putText(picture, text, (30, 200), cv2.FONT_HERSHEY_SIMPLEX, 1.6, 220, 3)
        return picture

    return paint


def tone(seconds: float, *, amplitude: float = 0.5, hz: float = 1000.0, channels: int = 1) -> npt.NDArray[np.float32]:
    """A sine in every channel, shape (channels, samples)."""
    time_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return np.tile(amplitude * np.sin(2 * np.pi * hz * time_s), (channels, 1)).astype(np.float32)


def write_film(
    path: Path,
    stretches: Sequence[tuple[float, Painter]],
    sounds: Sequence[npt.NDArray[np.float32]] = (),
    *,
    fps: Fraction | int = FPS,
    video_codec: str = "libx264",
    video_options: dict[str, str] = LOSSLESS,
    audio_codec: str = "pcm_s16le",
    full_range: bool = False,
) -> Path:
    """Encode `stretches` of (seconds, painter) and one audio stream per entry of `sounds`."""
    with av.open(str(path), "w") as container:
        frames = [paint(index) for seconds, paint in stretches for index in range(round(seconds * fps))]
        video = None
        if frames:
            video = container.add_stream(video_codec, rate=fps, options=dict(video_options))
            video.height, video.width = frames[0].shape
            video.pix_fmt = "yuvj420p" if full_range else "yuv420p"
        tracks = [_audio_stream(container, audio_codec, samples) for samples in sounds]
        for index, luma in enumerate(frames):
            chroma = np.full((luma.shape[0] // 2, luma.shape[1]), 128, np.uint8)
            frame = av.VideoFrame.from_ndarray(np.vstack([luma, chroma]), format=video.pix_fmt)
            frame.pts, frame.time_base = index, 1 / Fraction(fps)
            container.mux(video.encode(frame))
        if video is not None:
            container.mux(video.encode())
        for track, samples in zip(tracks, sounds, strict=True):
            _encode_audio(container, track, samples)
    return path


def _audio_stream(container, codec: str, samples: npt.NDArray[np.float32]):
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[samples.shape[0]]
    return container.add_stream(codec, rate=RATE_HZ, layout=layout)


def _encode_audio(container, track, samples: npt.NDArray[np.float32]) -> None:
    for start in range(0, samples.shape[1], 1024):
        block = np.ascontiguousarray(samples[:, start : start + 1024])
        frame = av.AudioFrame.from_ndarray(block, format="fltp", layout=track.layout.name)
        frame.rate, frame.pts = RATE_HZ, start
        container.mux(track.encode(frame))
    container.mux(track.encode())
