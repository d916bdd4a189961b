"""The planes of a frame as arrays: read, and written into a new frame of the same kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

Plane = NDArray[Any]
"""Samples of one plane: 8 bits, or 16 of which the lower ones are used."""
_LUMA_WEIGHTS = {1: (0.2126, 0.0722), 4: (0.30, 0.11), 7: (0.212, 0.087), 9: (0.2627, 0.0593), 10: (0.2627, 0.0593)}
_SD_WEIGHTS = (0.299, 0.114)
_UNSPECIFIED, _BT709 = 2, 1
_HD_LINES = 720


@dataclass(frozen=True)
class Coding:
    """How a frame's numbers mean colours."""

    bits: int
    full_range: bool
    red_weight: float
    blue_weight: float
    swscale_space: Colorspace

    @property
    def depth_scale(self) -> int:
        """Steps per step of 8 bits."""
        return 1 << (self.bits - 8)


def coding_of(frame: VideoFrame) -> Coding:
    """The matrix and range of a frame; untagged film is BT.709 in HD and BT.601 otherwise, as players assume."""
    space = int(frame.colorspace)
    if space == _UNSPECIFIED or frame.format.is_rgb:
        space = _BT709 if frame.height >= _HD_LINES else 6
    red, blue = _LUMA_WEIGHTS.get(space, _SD_WEIGHTS)
    full = frame.color_range == ColorRange.JPEG or frame.format.name.startswith("yuvj")
    named = Colorspace.ITU709 if space == _BT709 else Colorspace.ITU601
    return Coding(frame.format.components[0].bits, full, red, blue, named)


def is_planar_yuv(video_format: VideoFormat) -> bool:
    """Whether the three planes of a format can be changed as they are (8 to 16 bits, little-endian)."""
    name = video_format.name
    return name.startswith(("yuv420p", "yuv422p", "yuv444p", "yuvj")) and not name.endswith("be")


def read_planes(frame: VideoFrame) -> list[Plane]:
    """Copies of the planes, without the padding of their lines."""
    sample: np.dtype[Any] = np.dtype(np.uint16 if frame.format.components[0].bits > 8 else np.uint8)
    planes = []
    for plane in frame.planes:
        samples = np.frombuffer(memoryview(plane), dtype=sample)
        line = plane.line_size // samples.itemsize
        planes.append(samples[: plane.height * line].reshape(plane.height, line)[:, : plane.width].copy())
    return planes


def with_planes(frame: VideoFrame, planes: list[Plane]) -> VideoFrame:
    """A new frame like `frame` that holds these planes."""
    made = VideoFrame(frame.width, frame.height, frame.format.name)
    for plane, samples in zip(made.planes, planes, strict=True):
        room = np.frombuffer(memoryview(plane), dtype=samples.dtype)
        line = plane.line_size // samples.itemsize
        room[: plane.height * line].reshape(plane.height, line)[:, : plane.width] = samples
    made.colorspace, made.color_range = frame.colorspace, frame.color_range
    made.color_primaries, made.color_trc = frame.color_primaries, frame.color_trc
    made.pts, made.time_base = frame.pts, frame.time_base
    return made
