"""A frame with arrows where its points went within a moment: with the camera, or on their own."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from primitives._base import Call, UserError
from primitives._camera.track import follow
from primitives._media.frames import decode_frames
from primitives._media.moves import pixel_aspect_of, sampled_every, upright
from primitives._media.picture import Pixels, bgr, look_of
from primitives._media.scan import Scan

WIDTH_PX = 480
LONGER = 4
"""How many times its length an arrow is drawn: a step is short."""
WITH_CAMERA, ON_ITS_OWN = (90, 230, 90), (60, 60, 240)


def arrows(call: Call, path: Path, name: str, scan: Scan, frames: range) -> Pixels:
    """The middle of a range of frames, and where its points go next."""
    assert scan.video is not None
    first = frames[len(frames) // 2]
    last = min(first + 2 * sampled_every(scan.video.frame_rate), frames[-1])
    pixel_aspect = pixel_aspect_of(path, name)
    taken = list(decode_frames(path, name, scan, [first, last], call.check))
    if not taken:
        raise UserError(f"No frame of {name} decodes there: the file is damaged. Try another range or file.")
    frame = taken[0].frame
    look = look_of(frame, pixel_aspect)
    width, height = look.size_px(frame.width, frame.height)
    picture = bgr(frame, look, min(WIDTH_PX, width), max(1, round(min(WIDTH_PX, width) * height / width)))
    before, wide = upright(frame, pixel_aspect)
    step = follow(before, upright(taken[-1].frame, pixel_aspect)[0], wide)
    scale = picture.shape[0]
    middle = complex(picture.shape[1] / 2, picture.shape[0] / 2)
    for point, end, fits in zip(step.points, step.ends, step.fits, strict=True):
        start, tip = point * scale + middle, (point + LONGER * (end - point)) * scale + middle
        colour = WITH_CAMERA if fits else ON_ITS_OWN
        cv2.arrowedLine(picture, _pixel(start), _pixel(tip), colour, 1, cv2.LINE_AA, 0, 0.25)
    return np.asarray(picture, np.uint8)


def _pixel(place: complex) -> tuple[int, int]:
    return round(place.real), round(place.imag)
