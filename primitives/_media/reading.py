"""The frames of a film as text is followed in them: grey for every frame, in colour where it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from primitives._base import Call
from primitives._media.frames import Shown, decode_straight
from primitives._media.moves import pixel_aspect_of
from primitives._media.picture import Look, Pixels, bgr, look_of
from primitives._media.scan import Scan
from primitives._media.tracks import luma_of
from primitives._reading.follow import TextWatch

Region = tuple[float, float, float, float]
WHOLE: Region = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class Shape:
    """The size of what was looked at, and of the picture that it is a part of."""

    left_px: int
    top_px: int
    width_px: int
    height_px: int


def watch_text(call: Call, path: Path, name: str, scan: Scan, frames: range, region: Region, watch: TextWatch) -> Shape:
    """Shows a range of frames to `watch`; boxes count from the region's corner, in the picture's own pixels."""
    pixel_aspect = pixel_aspect_of(path, name)
    shape = Shape(0, 0, 1, 1)
    for shown in decode_straight(path, name, scan, frames, call.check):
        look = Look(look_of(shown.frame, pixel_aspect).quarter_turns)
        width, height = look.size_px(shown.frame.width, shown.frame.height)
        left, top, right, bottom = _part(region, width, height)
        shape = Shape(left, top, width, height)
        part = (slice(top, bottom), slice(left, right))
        luma = luma_of(shown.frame)
        upright = np.rot90(luma, -look.quarter_turns)[part].copy()
        watch.see(shown.wanted, upright, _colour(shown, look, width, height, part))
        call.progress(shown.wanted - frames.start + 1, len(frames), f"reading {name}")
    return shape


def _colour(shown: Shown, look: Look, width: int, height: int, part: tuple[slice, slice]) -> Callable[[], Pixels]:
    made: list[Pixels] = []

    def colour() -> Pixels:
        if not made:
            made.append(np.ascontiguousarray(bgr(shown.frame, look, width, height)[part]))
        return made[0]

    return colour


def _part(region: Region, width: int, height: int) -> tuple[int, int, int, int]:
    x, y, w, h = region
    left, top = min(int(x * width), width - 1), min(int(y * height), height - 1)
    return left, top, max(left + 1, round((x + w) * width)), max(top + 1, round((y + h) * height))
