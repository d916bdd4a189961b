"""Films like real ones in what repairs look at: many colours, fine texture, slow motion; truth known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
SIZE_PX = (320, 180)
FPS = 25
_WEIGHTS = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def landscape(seed: int, width_px: int = 480, height_px: int = 220) -> Picture:
    """A large RGB picture of soft coloured patches with texture over them."""
    chance = np.random.default_rng(seed)
    soft = cv2.resize(chance.uniform(20, 235, (6, 10, 3)).astype(np.float32), (width_px, height_px))
    grain = cv2.GaussianBlur(chance.normal(0, 60, (height_px, width_px, 1)).astype(np.float32), (0, 0), 1.0)
    return np.clip(soft + grain[..., None], 0, 255).astype(np.uint8)


def pan(picture: Picture, count: int, step_px: int = 1) -> list[Picture]:
    """Frames that look at the picture while the camera moves to the right."""
    width, height = SIZE_PX
    return [np.ascontiguousarray(picture[10 : 10 + height, n * step_px : n * step_px + width]) for n in range(count)]


def changed(frames: Sequence[Picture], window: range, change: Callable[[Picture], Picture]) -> list[Picture]:
    """The frames, those of the window changed."""
    return [change(frame) if number in window else frame for number, frame in enumerate(frames)]


def grade(shift: str) -> Callable[[Picture], Picture]:
    """A colour defect by name."""

    def apply(picture: Picture) -> Picture:
        rgb = picture.astype(np.float32)
        grey = (rgb @ _WEIGHTS)[..., None]
        shifted = {
            "gain": lambda: rgb * 1.2,
            "dark": lambda: rgb * 0.62,
            "gamma": lambda: 255 * (rgb / 255) ** 0.75,
            "temperature": lambda: rgb * np.array([1.15, 1.0, 0.82], np.float32),
            "saturation": lambda: grey + 0.55 * (rgb - grey),
            "combination": lambda: (
                255
                * (np.clip((grey + 0.8 * (rgb - grey)) * np.array([1.1, 1, 0.88], np.float32), 0, 255) / 255) ** 0.88
            ),
            "contract": lambda: (
                ((grey + 0.78 * (rgb - grey) - 128) * 1.13 + 128) * np.array([0.91, 0.98, 1.09], np.float32)
            ),
        }[shift]()
        return np.clip(np.rint(shifted), 0, 255).astype(np.uint8)

    return apply


def write(path: Path, frames: Sequence[Picture], crf: int = 12, group: int = 10, sound: bool = True) -> Path:
    """An H.264 film of RGB frames, an IDR picture every `group` frames, with a tone."""
    with av.open(str(path), "w") as container:
        options = {"crf": str(crf), "g": str(group), "preset": "veryfast", "x264-params": "scenecut=0"}
        video = container.add_stream("libx264", rate=FPS, options=options)
        video.width, video.height, video.pix_fmt = frames[0].shape[1], frames[0].shape[0], "yuv420p"
        audio = container.add_stream("aac", rate=48_000, layout="mono") if sound else None
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        if audio is not None:
            time_s = np.arange(len(frames) * 48_000 // FPS) / 48_000
            wave = (0.2 * np.sin(2 * np.pi * (300 + 40 * time_s) * time_s)).astype(np.float32)
            chunk = av.AudioFrame.from_ndarray(wave[None], format="fltp", layout="mono")
            chunk.sample_rate, chunk.pts, chunk.time_base = 48_000, 0, Fraction(1, 48_000)
            container.mux(audio.encode(chunk))
            container.mux(audio.encode(None))
    return path


def read(path: Path) -> list[Picture]:
    """All frames as RGB."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def read_coded(path: Path) -> list[NDArray[np.uint8]]:
    """All frames as they are coded, for comparisons bit by bit."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray() for frame in container.decode(video=0)]


def sound_packets(path: Path) -> list[bytes]:
    """The coded sound."""
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(audio=0) if packet.size]


def psnr_db(frames: Sequence[Picture], truth: Sequence[Picture]) -> float:
    error = np.mean([np.mean((a.astype(np.float32) - b) ** 2) for a, b in zip(frames, truth, strict=True)])
    return float(10 * np.log10(255**2 / max(float(error), 1e-9)))
