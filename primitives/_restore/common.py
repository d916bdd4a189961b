"""What repairs have in common: their figures, and a change of planes inside a region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from av.video.frame import VideoFrame

from primitives._edit import Change
from primitives._media.planes import Plane, coding_of, is_planar_yuv, read_planes, with_planes
from primitives._restore.repeats import Run

SAME_SHOT = 0.7
"""Correlation of small pictures from which two frames belong to one shot."""
Region = tuple[float, float, float, float]
"""x, y, width and height as shares of the picture."""


@dataclass(frozen=True, eq=False)
class Repair:
    """What a repair does and what it is worth by its own measure."""

    measure: str
    before: float
    after: float
    around: float | None
    """The same of the clean film around the range, where that says something."""
    how: str
    better: bool
    change: Change | None = None
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def on_planes(
    frame: VideoFrame, region: Region | None, change: Callable[[list[Plane], int], list[Plane]]
) -> VideoFrame:
    if not is_planar_yuv(frame.format):
        space = coding_of(frame).swscale_space
        plain = frame.reformat(format="yuv444p", dst_colorspace=space)
        return on_planes(plain, region, change).reformat(format=frame.format.name, src_colorspace=space)
    old = read_planes(frame)
    new = change(old, frame.format.components[0].bits)
    if region is not None:
        new = [_inside(a, b, region) for a, b in zip(old, new, strict=True)]
    return with_planes(frame, new)


def _inside(old: Plane, new: Plane, region: Region) -> Plane:
    """The new plane inside a region (shares of the picture), the old one elsewhere."""
    height, width = old.shape
    x, y, w, h = region
    rows, columns = slice(int(y * height), round((y + h) * height)), slice(int(x * width), round((x + w) * width))
    made = old.copy()
    made[rows, columns] = new[rows, columns]
    return made
