"""Clips whose truth is known by construction, and where the shared real footage lies."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import numpy.typing as npt
import pytest

Picture = npt.NDArray[np.uint8]
Sound = npt.NDArray[np.float64]

RATE_HZ = 48_000
_PROJECT = Path(__file__).resolve().parents[2]


def shared_media(name: str) -> Path:
    """A real clip of the shared media folder; the test is skipped where the folder is not there."""
    folder = Path(os.environ.get("AVB_TEST_MEDIA", _PROJECT / ".." / "shared" / "media"))
    path = folder / name
    if not path.exists():
        pytest.skip(f"the shared clip {name} is not here (set AVB_TEST_MEDIA to its folder)")
    return path


def drifting_picture(number: int, *, seed: int = 0, width: int = 160, height: int = 96) -> Picture:
    """Coloured blobs with fine grain that drift two pixels a frame: no two frames alike."""
    rng = np.random.default_rng(seed)
    blobs = cv2.resize(rng.integers(30, 226, (8, 24, 3), np.uint8), (width * 3, height))
    grain = rng.integers(-20, 21, blobs.shape)
    field = np.clip(blobs.astype(int) + grain, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(np.roll(field, -2 * number, axis=1)[:, :width])


def drifting_pictures(count: int, *, seed: int = 0, width: int = 160, height: int = 96) -> list[Picture]:
    return [drifting_picture(number, seed=seed, width=width, height=height) for number in range(count)]


def warble(seconds: float, *, seed: int = 0) -> Sound:
    """A sweeping tone in noise: correlates with itself at no lag but zero."""
    rng = np.random.default_rng(seed)
    time_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    tone = np.sin(2 * np.pi * (200 + 40 * seed) * time_s * (1 + 0.3 * time_s))
    noise = np.convolve(rng.standard_normal(time_s.size), np.ones(8) / 8, mode="same")
    return 0.2 * tone + 0.2 * noise


def write_clip(
    path: Path,
    pictures: Iterable[Picture],
    sound: Sound | None = None,
    *,
    fps: Fraction | int = 24,
    crf: int = 10,
    video_codec: str = "libx264",
    audio_codec: str = "aac",
    rate_hz: int = RATE_HZ,
) -> Path:
    """Encode pictures (BGR) and mono sound; the container follows from the suffix."""
    with av.open(str(path), "w") as container:
        video = container.add_stream(video_codec, rate=Fraction(fps))
        video.pix_fmt = "yuv420p"
        if video_codec == "libx264":
            video.options = {"crf": str(crf), "preset": "veryfast"}
        audio = container.add_stream(audio_codec, rate=rate_hz, layout="mono") if sound is not None else None
        for number, picture in enumerate(pictures):
            if number == 0:
                video.height, video.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = number, 1 / Fraction(fps)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        if audio is not None and sound is not None:
            samples = av.AudioFrame.from_ndarray(sound.astype(np.float32)[None], format="fltp", layout="mono")
            samples.sample_rate, samples.time_base, samples.pts = rate_hz, Fraction(1, rate_hz), 0
            container.mux(audio.encode(samples))
            container.mux(audio.encode(None))
    return path
