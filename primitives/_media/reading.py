"""The frames of a film as text is followed in them: grey for every frame, in colour where it is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from av.video.frame import VideoFrame

from primitives._base import Call
from primitives._media.frames import decode_straight
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
    views: dict[tuple[int, int, int], View] = {}
    view = View(Look(), (0, 0, 1, 1), 1, 1)
    for shown in decode_straight(path, name, scan, frames, call.check, lean=True):
        frame = shown.frame
        kind = (frame.rotation, frame.width, frame.height)
        view = views.get(kind) or views.setdefault(kind, _view(frame, region))
        watch.see(shown.wanted, view.of(_upright(frame, view)), cache(partial(_colour, frame, view)))
        call.progress(shown.wanted - frames.start + 1, len(frames), f"reading {name}")
    return Shape(view.part[0], view.part[1], view.width_px, view.height_px)


@dataclass(frozen=True)
class View:
    """How frames of one kind are looked at: upright, and which part of them."""

    look: Look
    part: tuple[int, int, int, int]
    """Left, top, right and bottom."""
    width_px: int
    height_px: int

    def of(self, upright: Pixels) -> Pixels:
        left, top, right, bottom = self.part
        return upright[top:bottom, left:right]


def _view(frame: VideoFrame, region: Region) -> View:
    look = Look(look_of(frame, None).quarter_turns)
    width, height = look.size_px(frame.width, frame.height)
    return View(look, _part(region, width, height), width, height)


def _upright(frame: VideoFrame, view: View) -> Pixels:
    """Its luma, not copied where it stands upright already."""
    luma = luma_of(frame)
    return np.ascontiguousarray(np.rot90(luma, -view.look.quarter_turns)) if view.look.quarter_turns else luma


def _colour(frame: VideoFrame, view: View) -> Pixels:
    return np.ascontiguousarray(view.of(bgr(frame, view.look, view.width_px, view.height_px)))


def _part(region: Region, width: int, height: int) -> tuple[int, int, int, int]:
    x, y, w, h = region
    left, top = min(int(x * width), width - 1), min(int(y * height), height - 1)
    return left, top, max(left + 1, round((x + w) * width)), max(top + 1, round((y + h) * height))
