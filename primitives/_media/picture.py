"""A decoded frame as a viewer sees it: rotated, square pixels, right colours, at the size that is needed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import Colorspace, Interpolation
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
_HD_LINES = 720
_UNSPECIFIED_COLOURSPACE = 2


@dataclass(frozen=True)
class Look:
    """How a film is shown: upright turns (quarter turns clockwise) and the shape of its pixels."""

    quarter_turns: int = 0
    pixel_aspect: Fraction = Fraction(1)

    def size_px(self, width_px: int, height_px: int) -> tuple[int, int]:
        """The size on screen of a coded size."""
        aspect = self.pixel_aspect
        shown = (round(width_px * aspect), height_px) if aspect >= 1 else (width_px, round(height_px / aspect))
        return (shown[1], shown[0]) if self.quarter_turns % 2 else shown


def look_of(frame: VideoFrame, pixel_aspect: Fraction | None) -> Look:
    """How a frame is shown. libav gives the turn counter-clockwise, in degrees."""
    sane = pixel_aspect if pixel_aspect and Fraction(1, 10) <= pixel_aspect <= 10 else Fraction(1)
    return Look(quarter_turns=round(-frame.rotation / 90) % 4, pixel_aspect=sane)


def bgr(frame: VideoFrame, look: Look, width_px: int, height_px: int) -> Pixels:
    """The frame as 8-bit BGR at a size on screen."""
    coded = (height_px, width_px) if look.quarter_turns % 2 else (width_px, height_px)
    smaller = coded[0] <= frame.width
    shown = frame.reformat(
        width=coded[0],
        height=coded[1],
        format="bgr24",
        src_colorspace=_colourspace(frame),
        interpolation=Interpolation.AREA if smaller else Interpolation.BICUBIC,
    )
    picture = np.asarray(shown.to_ndarray(), dtype=np.uint8)
    return np.ascontiguousarray(np.rot90(picture, -look.quarter_turns)) if look.quarter_turns else picture


def region_bgr(frame: VideoFrame, look: Look, region: tuple[float, float, float, float]) -> Pixels:
    """A part of the frame at full resolution; the region is (x, y, width, height) as shares of the picture."""
    width_px, height_px = look.size_px(frame.width, frame.height)
    whole = bgr(frame, look, width_px, height_px)
    x, y, w, h = region
    left, top = min(int(x * width_px), width_px - 1), min(int(y * height_px), height_px - 1)
    right, bottom = max(left + 1, round((x + w) * width_px)), max(top + 1, round((y + h) * height_px))
    return whole[top:bottom, left:right]


def resize(picture: Pixels, width_px: int, height_px: int) -> Pixels:
    """A picture at another size: averaged when smaller, interpolated when larger."""
    method = cv2.INTER_AREA if width_px <= picture.shape[1] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, (width_px, height_px), interpolation=method), dtype=np.uint8)


def _colourspace(frame: VideoFrame) -> Colorspace | None:
    """Untagged film: HD is BT.709 and SD is BT.601, as players assume."""
    if frame.colorspace != _UNSPECIFIED_COLOURSPACE or frame.format.is_rgb:
        return None
    return Colorspace.ITU709 if frame.height >= _HD_LINES else Colorspace.ITU601
