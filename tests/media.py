"""Clips whose truth is known by construction: every frame carries its own number as black and white blocks.

The blocks survive scaling and coding, so a test can read from any picture which frame it shows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from primitives._base import Answer
from primitives._sheet import GAP_PX, Layout
from primitives.frame_grid import FrameGridResult

BITS = 16
SHARED_MEDIA = Path(os.environ.get("AVB_TEST_MEDIA", Path(__file__).resolve().parents[2] / "shared" / "media"))


def real_clip(name: str) -> Path:
    """A real clip; the test skips where there are none."""
    path = SHARED_MEDIA / name
    if not path.is_file():
        pytest.skip(f"real media not found: set AVB_TEST_MEDIA to a folder that holds {name}")
    return path


def numbered_frame(number: int, width: int = 320, height: int = 180) -> NDArray[np.uint8]:
    """A picture that says which frame it is: 16 blocks along the bottom, most significant first."""
    picture = np.full((height, width, 3), 90, dtype=np.uint8)
    picture[: height // 2] = (40 + number * 3 % 120, 110, 160)
    cv2.circle(picture, (20 + number * 7 % (width - 40), height // 3), height // 8, (30, 200, 240), -1)
    for bit in range(BITS):
        on = number >> (BITS - 1 - bit) & 1
        left, right = bit * width // BITS, (bit + 1) * width // BITS
        picture[height * 3 // 4 :, left:right] = 235 if on else 20
    return picture


def read_number(picture: NDArray[np.uint8]) -> int:
    """The frame number that a picture carries."""
    height, width = picture.shape[:2]
    row = picture[height * 7 // 8 - 1 : height * 7 // 8 + 2].mean(axis=(0, 2))
    centres = [int((bit + 0.5) * width / BITS) for bit in range(BITS)]
    return sum(1 << (BITS - 1 - bit) for bit, x in enumerate(centres) if row[x] > 128)


def make_film(
    path: Path,
    frames: int = 50,
    fps: Fraction | int = 25,
    size: tuple[int, int] = (320, 180),
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    options: dict[str, str] | None = None,
    times: Sequence[Fraction] | None = None,
    start: Fraction = Fraction(0),
    audio: str | None = None,
    audio_rate_hz: int = 48_000,
    container_options: dict[str, str] | None = None,
) -> Path:
    """A film of numbered frames; `times` makes it variable frame rate, `start` shifts every timestamp."""
    path.parent.mkdir(parents=True, exist_ok=True)
    base = Fraction(1, 90_000)
    with av.open(str(path), "w", options=container_options or {}) as container:
        video = container.add_stream(codec, rate=fps, options=options or {})
        video.width, video.height, video.pix_fmt = *size, pix_fmt
        video.codec_context.time_base = base if times or start else Fraction(1) / Fraction(fps)
        sound = container.add_stream(audio, rate=audio_rate_hz, layout="mono") if audio else None
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray(numbered_frame(number, *size), format="bgr24")
            moment = (times[number] if times else number / Fraction(fps)) + start
            frame.time_base = video.codec_context.time_base
            frame.pts = round(moment / frame.time_base)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        if sound is not None:
            length_s = float(times[-1]) if times else float(frames / Fraction(fps))
            for chunk in _tone(length_s, audio_rate_hz, float(start)):
                container.mux(sound.encode(chunk))
            container.mux(sound.encode(None))
    return path


def make_sound(path: Path, seconds: float = 1.0, codec: str = "pcm_s16le", rate_hz: int = 48_000) -> Path:
    """A file with sound only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        sound = container.add_stream(codec, rate=rate_hz, layout="mono")
        for chunk in _tone(seconds, rate_hz, 0.0):
            container.mux(sound.encode(chunk))
        container.mux(sound.encode(None))
    return path


def _tone(seconds: float, rate_hz: int, start_s: float) -> list[av.AudioFrame]:
    total = round(seconds * rate_hz)
    chunks = []
    for at in range(0, total, 1024):
        time_s = np.arange(at, min(at + 1024, total)) / rate_hz
        wave = (0.25 * np.sin(2 * np.pi * 440 * time_s) * 32767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(wave[None], format="s16", layout="mono")
        frame.sample_rate, frame.time_base, frame.pts = rate_hz, Fraction(1, rate_hz), at + round(start_s * rate_hz)
        chunks.append(frame)
    return chunks


def cut_cells(answer: Answer) -> list[NDArray[np.uint8]]:
    """The cells of a contact sheet, cut out of its picture by the grid that its text states."""
    assert isinstance(answer.result, FrameGridResult) and answer.image is not None
    picture = cv2.imdecode(np.frombuffer(answer.image.data, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    width, height, columns, rows = (int(number) for number in re.findall(r"\d+", answer.result.sheet))
    assert picture.shape[:2] == (height, width) == (answer.image.height_px, answer.image.width_px)
    layout = Layout(columns, rows, (width - GAP_PX) // columns - GAP_PX, (height - GAP_PX) // rows - GAP_PX)
    cells = []
    for cell in answer.result.cells:
        left, top = layout.corner_px(cell.cell - 1)
        cells.append(picture[top : top + layout.cell_height_px, left : left + layout.cell_width_px])
    return cells


def loop_packets(source: Path, destination: Path, times: int, keyframes: int | None = None) -> Path:
    """A long film in a second: the same packets over and over; with only the first `keyframes` marked as such."""
    with av.open(str(source)) as first, av.open(str(destination), "w") as container:
        stream = first.streams.video[0]
        copy = container.add_stream_from_template(stream)
        packets = [packet for packet in first.demux(stream) if packet.size]
        length = max(packet.pts + packet.duration for packet in packets)
        originals = [(packet.pts, packet.dts) for packet in packets]
        for turn in range(times):
            for packet, (pts, dts) in zip(packets, originals, strict=True):
                packet.stream = copy
                packet.time_base = stream.time_base
                packet.pts, packet.dts = pts + turn * length, dts + turn * length
                packet.is_keyframe = packet.is_keyframe and (keyframes is None or turn < keyframes)
                container.mux(packet)
    return destination
