"""What is written at the two ends of a stretch of film, read once and kept beside it."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from primitives._base import Call
from primitives._joins.text import Sign, Signs
from primitives._media.frames import decode_frames
from primitives._media.moves import pixel_aspect_of
from primitives._media.picture import Look, Pixels, bgr, look_of
from primitives._media.scan import Scan
from primitives._reading.engine import Box, Reader

VERSION = 2
APART_S = 1.5
"""How far inside a number is read again, so that a clock of whole seconds has moved; half the clip in short ones."""


def read_signs(call: Call, path: Path, name: str, scan: Scan, frames: range, at_end: bool, reader: Reader) -> Signs:
    """What is written in the last frame of a range, or in the first."""
    store = call.workspace.derived(path, f"signs-{VERSION}-{'end' if at_end else 'start'}-{frames.start}-{frames.stop}")
    try:
        return TypeAdapter(Signs).validate_json(store.read_bytes())
    except (OSError, ValidationError):
        signs = _read(call, path, name, scan, frames, at_end, reader)
    with contextlib.suppress(OSError), call.workspace.atomic(store) as kept:
        kept.write_bytes(TypeAdapter(Signs).dump_json(signs))
    return signs


def _read(call: Call, path: Path, name: str, scan: Scan, frames: range, at_end: bool, reader: Reader) -> Signs:
    assert scan.video is not None
    frame_s = float(1 / scan.video.frame_rate)
    picture = _picture(call, path, name, scan, frames[-1 if at_end else 0])
    height, width = picture.shape[:2]
    lines = reader.find(picture) if picture.size else []
    outermost = tuple(Sign(line.text, _thousandths(line.box, width, height), line.score) for line in lines)
    counting = [n for n, line in enumerate(lines) if re.search(r"\d", line.text)]
    apart = min(round(APART_S / frame_s), (len(frames) - 1) // 2)
    if not counting or not apart:
        return Signs(outermost, frame_s=frame_s)
    picture = _picture(call, path, name, scan, frames[-1 - apart if at_end else apart])
    read = [(outermost[n].box, *reader.read(lines[n].box.of(picture))) for n in counting if picture.size]
    inside = tuple(Sign(text, box, score) for box, text, score in read if text)
    return Signs(outermost, inside, apart * frame_s, frame_s)


def _picture(call: Call, path: Path, name: str, scan: Scan, number: int) -> Pixels:
    """One frame, upright; nothing where none decodes."""
    pixel_aspect = pixel_aspect_of(path, name)
    for shown in decode_frames(path, name, scan, [number], call.check):
        look = Look(look_of(shown.frame, pixel_aspect).quarter_turns)
        return bgr(shown.frame, look, *look.size_px(shown.frame.width, shown.frame.height))
    return np.zeros((1, 0, 3), np.uint8)


def _thousandths(box: Box, width: int, height: int) -> Box:
    return Box(
        1000 * box.left // width, 1000 * box.top // height, 1000 * box.right // width, 1000 * box.bottom // height
    )
