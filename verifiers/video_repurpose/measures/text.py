"""Text burned into the picture."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from verifiers._media import Image, MediaInfo
from verifiers._ocr import TextReader, open_reader
from verifiers.video_repurpose.film import Collector, Picture

MAX_PICTURES_READ = 1800
SAME_PICTURE_LEVELS = 12
"""A sample whose shrunken luma nowhere differs by more than this shows the same text as the one before."""
COMPARE_WIDTH_PX = 320


@dataclass(frozen=True)
class TextSeen:
    texts: tuple[str, ...] = ()
    """One entry per picture that was read: its lines, joined by spaces."""
    sampled: int = 0
    unavailable: str = ""
    """Why (part of) the film was not read, or empty."""


@dataclass(frozen=True)
class TextOnScreen:
    """What can be read in the first picture at or after each multiple of `1 / sample_fps`."""

    sample_fps: float

    def start(self, info: MediaInfo) -> Collector[TextSeen]:  # noqa: ARG002
        reader = open_reader()
        return _Unavailable(reader) if isinstance(reader, str) else _TextOnScreen(reader, self.sample_fps)


class _Unavailable(Collector[TextSeen]):
    def __init__(self, reason: str) -> None:
        self._reason = reason

    def result(self) -> TextSeen:
        return TextSeen(unavailable=self._reason)


class _TextOnScreen(Collector[TextSeen]):
    needs_pictures = True

    def __init__(self, reader: TextReader, sample_fps: float) -> None:
        self._reader = reader
        self._step_s = 1 / sample_fps
        self._next_sample = 0
        self._sampled = 0
        self._last_read: Image | None = None
        self._texts: list[str] = []
        self._gave_up = False

    def see(self, picture: Picture) -> None:
        if picture.time_s < self._next_sample * self._step_s - 1e-6:
            return
        self._next_sample = int((picture.time_s + 1e-6) / self._step_s) + 1
        self._sampled += 1
        bgr = picture.pixels.bgr()
        small = _small_luma(bgr)
        if self._last_read is not None and _same(self._last_read, small):
            return
        if len(self._texts) >= MAX_PICTURES_READ:
            self._gave_up = True
            return
        self._texts.append(" ".join(self._reader.lines(bgr)))
        self._last_read = small

    def result(self) -> TextSeen:
        reason = f"only the first {MAX_PICTURES_READ} different pictures were read" if self._gave_up else ""
        return TextSeen(tuple(self._texts), self._sampled, reason)


def _small_luma(bgr: Image) -> Image:
    height, width = bgr.shape[:2]
    factor = max(1.0, width / COMPARE_WIDTH_PX)
    size = (max(1, round(width / factor)), max(1, round(height / factor)))
    gray = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(gray, size, interpolation=cv2.INTER_AREA), np.uint8)


def _same(before: Image, after: Image) -> bool:
    return before.shape == after.shape and cv2.norm(before, after, cv2.NORM_INF) <= SAME_PICTURE_LEVELS
