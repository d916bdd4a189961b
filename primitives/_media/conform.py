"""Bring decoded frames to the written film's size and format, and blend them."""

from __future__ import annotations

from fractions import Fraction

import av.filter
import cv2
import numpy as np
from av.video.format import VideoFormat
from av.video.frame import VideoFrame, supported_np_pix_fmts
from av.video.reformatter import ColorRange

from primitives._media.film import PictureFacts

_FULL_RANGE = 2
_TURN = {90: "transpose=cclock", 180: "hflip,vflip", 270: "transpose=clock"}
"""Counter-clockwise turns as libavfilter names them."""
_MATRICES = {1: "bt709", 5: "bt601", 6: "bt601", 7: "smpte240m", 9: "bt2020", 10: "bt2020"}


class Conform:
    """Turns frames of one film into frames of the written film: upright alike, fitted, padded with black."""

    def __init__(self, source: PictureFacts, target: PictureFacts) -> None:
        self._target = target
        self._steps = _steps(source, target)
        self._graph: av.filter.Graph | None = None
        self._format: tuple[int, int, VideoFormat] | None = None

    def __call__(self, frame: VideoFrame) -> VideoFrame:
        """The frame as the encoder takes it."""
        wanted = self._target
        made = (frame.width, frame.height, frame.format.name)
        if not self._steps and made == (wanted.width_px, wanted.height_px, wanted.pixel_format):
            return frame
        shape = (frame.width, frame.height, frame.format)
        if self._graph is None or self._format != shape:
            self._graph, self._format = _graph(frame, self._steps, wanted), shape
        self._graph.push(frame)
        conformed = self._graph.pull()
        assert isinstance(conformed, VideoFrame)
        return conformed


def _steps(source: PictureFacts, target: PictureFacts) -> str:
    """The filters that change geometry; empty when only the sample format may differ."""
    turn = (source.rotation_deg - target.rotation_deg) % 360
    width, height, aspect = source.width_px, source.height_px, source.pixel_aspect
    if turn % 180:
        width, height, aspect = height, width, 1 / aspect
    steps = [_TURN[turn]] if turn in _TURN else []
    if (width, height, aspect) != (target.width_px, target.height_px, target.pixel_aspect):
        fitted = fit(Fraction(width, height) * aspect, target)
        steps.append(f"scale={fitted[0]}:{fitted[1]}:flags=bicubic")
        if fitted != (target.width_px, target.height_px):
            steps.append(f"pad={target.width_px}:{target.height_px}:(ow-iw)/2:(oh-ih)/2")
    return ",".join(steps)


def fit(ratio: Fraction, target: PictureFacts) -> tuple[int, int]:
    """The largest even size of a picture's shape (width to height on screen) inside the target."""
    room = Fraction(target.width_px, target.height_px) * target.pixel_aspect
    if abs(ratio / room - 1) < Fraction(1, 100):
        return target.width_px, target.height_px
    if ratio > room:
        return target.width_px, max(2, round(target.height_px * room / ratio / 2) * 2)
    return max(2, round(target.width_px * ratio / room / 2) * 2), target.height_px


def _graph(frame: VideoFrame, steps: str, target: PictureFacts) -> av.filter.Graph:
    graph = av.filter.Graph()
    source = graph.add_buffer(
        width=frame.width, height=frame.height, format=frame.format, time_base=frame.time_base or Fraction(1, 90_000)
    )
    last = source
    for step in (s for s in steps.split(",") if s):
        name, _, arguments = step.partition("=")
        node = graph.add(name, arguments or None)
        last.link_to(node)
        last = node
    matrix = _MATRICES.get(target.colour.space)
    levels = "full" if target.colour.range == _FULL_RANGE else "limited"
    scale = graph.add("scale", f"out_range={levels}" + (f":out_color_matrix={matrix}" if matrix else ""))
    tail = graph.add("format", f"pix_fmts={target.pixel_format}")
    sink = graph.add("buffersink")
    last.link_to(scale)
    scale.link_to(tail)
    tail.link_to(sink)
    graph.configure()
    return graph


def blend(frame: VideoFrame, other: VideoFrame | None, share: float) -> VideoFrame:
    """`share` of another frame (None: black) over a frame of the same size and format."""
    if frame.format.name not in supported_np_pix_fmts or not frame.format.name.startswith(("yuv", "gray")):
        plain = frame.reformat(format="yuv444p")
        over = other.reformat(format="yuv444p") if other is not None else None
        return blend(plain, over, share).reformat(format=frame.format.name)
    base = frame.to_ndarray()
    second = (other if other is not None else _black(frame)).to_ndarray()
    mixed = cv2.addWeighted(base, 1 - share, second, share, 0)
    deep = base.dtype != np.uint8
    samples = np.asarray(mixed, dtype=np.uint16) if deep else np.asarray(mixed, dtype=np.uint8)
    return VideoFrame.from_ndarray(samples, format=frame.format.name)


def _black(frame: VideoFrame) -> VideoFrame:
    full = frame.color_range == ColorRange.JPEG or frame.format.name.startswith("yuvj")
    black = VideoFrame.from_ndarray(np.zeros((frame.height, frame.width, 3), np.uint8), format="bgr24")
    levels = ColorRange.JPEG if full else ColorRange.MPEG
    return black.reformat(format=frame.format.name, dst_color_range=levels)
