"""Black stretches, frozen stretches and brightness, as ffmpeg's filters define them."""

from __future__ import annotations

from dataclasses import dataclass

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange

from verifiers._media import MediaInfo
from verifiers.video_repurpose.film import Collector, Picture

BLACK_PICTURE_SHARE = 0.98
"""blackdetect's `pic_th`: a picture is black when at least this share of its pixels is."""
FREEZE_NOISE = 0.003
"""freezedetect's `n`: the mean absolute change, as a share of full scale, that still counts as frozen."""
STILL_S = 0.2
"""A picture on screen at least this long (a slide show) is a freeze by itself; shorter is plain motion."""
AT_TIME_SLACK_S = 1e-6

Plane = npt.NDArray[np.uint8]
_PLANAR_8_BIT = frozenset(
    ("yuv420p", "yuv422p", "yuv444p", "yuv440p", "yuvj420p", "yuvj422p", "yuvj444p", "yuvj440p", "gray")
)


@dataclass(frozen=True)
class Run:
    """A stretch `[start_s, end_s)`."""

    start_s: float
    end_s: float


@dataclass(frozen=True)
class BlackRuns:
    """Stretches of black pictures (ffmpeg's blackdetect).

    A pixel is black at or below `pixel_threshold` of the luma range: 16 + 219 x threshold in video range,
    255 x threshold in full range. A run ends where the next brighter picture starts, or with its last frame.
    """

    pixel_threshold: float

    def start(self, info: MediaInfo) -> Collector[tuple[Run, ...]]:  # noqa: ARG002
        return _BlackRuns(self.pixel_threshold)


@dataclass(frozen=True)
class FrozenRuns:
    """Stretches that look like their own first picture (ffmpeg's freezedetect).

    Pictures are compared with the first of the stretch over all planes. Unlike in the filter's log, a stretch
    that lasts to the end of the film is closed there. A single picture counts from `STILL_S` on.
    """

    def start(self, info: MediaInfo) -> Collector[tuple[Run, ...]]:  # noqa: ARG002
        return _FrozenRuns()


@dataclass(frozen=True)
class BrightnessAt:
    """Mean luma, 0-255 (video range is stretched), of the first picture at or after `time_s`; none beyond."""

    time_s: float

    def start(self, info: MediaInfo) -> Collector[float | None]:  # noqa: ARG002
        return _BrightnessAt(self.time_s)


class _BlackRuns(Collector[tuple[Run, ...]]):
    needs_pictures = True

    def __init__(self, pixel_threshold: float) -> None:
        self._threshold = pixel_threshold
        self._runs: list[Run] = []
        self._start_s: float | None = None
        self._end_s = 0.0

    def see(self, picture: Picture) -> None:
        black = _black_share(picture.frame, self._threshold) >= BLACK_PICTURE_SHARE
        if black and self._start_s is None:
            self._start_s = picture.time_s
        elif not black and self._start_s is not None:
            self._runs.append(Run(self._start_s, picture.time_s))
            self._start_s = None
        self._end_s = picture.end_s

    def result(self) -> tuple[Run, ...]:
        last = () if self._start_s is None else (Run(self._start_s, self._end_s),)
        return (*self._runs, *last)


class _FrozenRuns(Collector[tuple[Run, ...]]):
    needs_pictures = True

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._reference: av.VideoFrame | None = None
        self._planes: tuple[Plane, ...] = ()
        self._pictures = 0
        self._start_s = self._end_s = 0.0

    def see(self, picture: Picture) -> None:
        frame = _planar(picture.frame)
        planes = _planes(frame)
        if not (self._planes and _frozen(self._planes, planes)):
            self._close(picture.time_s)
            # The planes are views: the frame that owns their memory is kept with them.
            self._reference, self._planes = frame, planes
            self._start_s, self._pictures = picture.time_s, 0
        self._pictures += 1
        self._end_s = picture.end_s

    def result(self) -> tuple[Run, ...]:
        self._close(self._end_s)
        self._pictures = 0
        return tuple(self._runs)

    def _close(self, end_s: float) -> None:
        if self._pictures > 1 or (self._pictures == 1 and end_s - self._start_s >= STILL_S):
            self._runs.append(Run(self._start_s, end_s))


class _BrightnessAt(Collector[float | None]):
    needs_pictures = True

    def __init__(self, time_s: float) -> None:
        self._time_s = time_s
        self._brightness: float | None = None

    def see(self, picture: Picture) -> None:
        if self._brightness is None and picture.time_s >= self._time_s - AT_TIME_SLACK_S:
            self._brightness = float(picture.pixels.gray().mean())

    def result(self) -> float | None:
        return self._brightness


def _black_share(frame: av.VideoFrame, pixel_threshold: float) -> float:
    planar = _planar(frame)
    full_range = planar.format.name.startswith("yuvj") or frame.color_range == ColorRange.JPEG
    level = pixel_threshold * 255 if full_range else 16 + pixel_threshold * (235 - 16)
    luma = _planes(planar)[0]
    bright = cv2.threshold(luma, int(level), 1, cv2.THRESH_BINARY)[1]
    return 1.0 - cv2.countNonZero(bright) / luma.size


def _planar(frame: av.VideoFrame) -> av.VideoFrame:
    return frame if frame.format.name in _PLANAR_8_BIT else frame.reformat(format="yuv420p")


def _planes(frame: av.VideoFrame) -> tuple[Plane, ...]:
    return tuple(
        np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)[: plane.height, : plane.width]
        for plane in frame.planes
    )


def _frozen(reference: tuple[Plane, ...], planes: tuple[Plane, ...]) -> bool:
    """Whether the mean absolute difference over all planes stays within the noise."""
    if [plane.shape for plane in reference] != [plane.shape for plane in planes]:
        return False
    allowed = FREEZE_NOISE * 256 * sum(plane.size for plane in planes)
    difference = 0.0
    for old, new in zip(reference, planes, strict=True):
        difference += cv2.norm(old, new, cv2.NORM_L1)
        if difference > allowed:  # luma alone usually decides
            return False
    return True
