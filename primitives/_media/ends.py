"""How a clip begins and ends: a few small frames and a third of a second of sound at either end, kept beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from av.video.reformatter import Interpolation
from numpy.typing import NDArray
from scipy.signal import resample_poly

from primitives._base import Call
from primitives._joins.picture import FRAMES, HEIGHT_PX, WIDTH_PX
from primitives._joins.sound import RATE_HZ, REACH
from primitives._media.frames import decode_frames
from primitives._media.kept import keep_arrays, load_arrays
from primitives._media.scan import Scan
from primitives._media.sound_read import sound_blocks, sound_kind
from primitives._media.tracks import luma_of

VERSION = 1
LATE_S = 0.1
"""Sound that begins or ends so much inside the picture is taken from where it does: coders cut it at packets."""


@dataclass(frozen=True, eq=False)
class Ends:
    """The first and last frames of a stretch of film and the sound there."""

    first: NDArray[np.uint8]
    """The luma of `FRAMES` small pictures; one repeats where there are fewer."""
    last: NDArray[np.uint8]
    opening: NDArray[np.uint8]
    """The very first picture in colour, as planar YUV 4:2:0."""
    closing: NDArray[np.uint8]
    head: NDArray[np.float32]
    """`2 * REACH` samples with the beginning in the middle, silence before it."""
    tail: NDArray[np.float32]
    """The same with the end in the middle, silence after it."""
    size_px: NDArray[np.int64]
    """Width and height of the coded picture."""


def read_ends(call: Call, path: Path, name: str, scan: Scan, frames: range) -> Ends:
    """The ends of a range of frames."""
    store = call.workspace.derived(path, f"ends-{VERSION}-{frames.start}-{frames.stop}")
    kept = load_arrays(store, ("first", "last", "opening", "closing", "head", "tail", "size_px"))
    if kept is None:
        kept = {**_pictures(call, path, name, scan, frames), **_sounds(call, path, name, scan, frames)}
        keep_arrays(call, store, kept, packed=False)
    return Ends(**kept)


def _pictures(call: Call, path: Path, name: str, scan: Scan, frames: range) -> dict[str, NDArray[Any]]:
    wanted = sorted({*frames[:FRAMES], *frames[-FRAMES:]})
    luma: dict[int, NDArray[np.uint8]] = {}
    colour: dict[int, NDArray[np.uint8]] = {}
    size = WIDTH_PX, HEIGHT_PX
    for shown in decode_frames(path, name, scan, wanted, call.check):
        luma[shown.wanted] = np.asarray(
            cv2.resize(luma_of(shown.frame), (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_AREA)
        )
        size = shown.frame.width, shown.frame.height
        if shown.wanted in (frames[0], frames[-1]):
            small = shown.frame.reformat(WIDTH_PX, HEIGHT_PX, "yuv420p", interpolation=Interpolation.AREA)
            colour[shown.wanted] = np.asarray(small.to_ndarray(), np.uint8)
    nothing = np.zeros((HEIGHT_PX * 3 // 2, WIDTH_PX), np.uint8)
    heads, tails = (
        [luma[n] for n in part if n in luma] or [nothing[:HEIGHT_PX]] for part in (frames[:FRAMES], frames[-FRAMES:])
    )
    return {
        "first": np.stack((heads + heads[-1:] * FRAMES)[:FRAMES]),
        "last": np.stack((tails[:1] * FRAMES + tails)[-FRAMES:]),
        "opening": colour.get(frames[0], nothing),
        "closing": colour.get(frames[-1], nothing),
        "size_px": np.array(size),
    }


def _sounds(call: Call, path: Path, name: str, scan: Scan, frames: range) -> dict[str, NDArray[np.float32]]:
    silence = np.zeros(2 * REACH, np.float32)
    if scan.sound is None or scan.video is None:
        return {"head": silence, "tail": silence}
    timeline = scan.video
    begin = timeline.time_of(frames.start)
    end = timeline.time_of(frames.stop) if frames.stop < len(timeline) else timeline.duration
    start_s, end_s = float(begin), float(end)
    if start_s < float(scan.sound.start) < start_s + LATE_S:
        start_s = float(scan.sound.start)
    if end_s - LATE_S < float(scan.sound.end) < end_s:
        end_s = float(scan.sound.end)
    rate_hz, _ = sound_kind(path, name)
    reach = round(REACH / RATE_HZ * rate_hz)
    reach_s = min(reach / rate_hz, end_s - start_s)
    head = _samples(call, path, name, start_s, start_s + reach_s)[:reach]
    tail = _samples(call, path, name, end_s - reach_s, end_s)[-reach:]
    wide = np.zeros((2, 2 * reach), np.float32)
    wide[0, reach : reach + len(head)] = head
    wide[1, reach - len(tail) : reach] = tail
    # Resampled with the silence beyond, and not cut: a tail and a head then add up to what the joined sound would be.
    common = math.gcd(RATE_HZ, rate_hz)
    made = resample_poly(wide, RATE_HZ // common, rate_hz // common, axis=1)[:, : 2 * REACH].astype(np.float32)
    padded = np.pad(made, ((0, 0), (0, 2 * REACH - made.shape[1])))
    return {"head": padded[0], "tail": padded[1]}


def _samples(call: Call, path: Path, name: str, start_s: float, end_s: float) -> NDArray[np.float32]:
    blocks = list(sound_blocks(path, name, start_s, end_s, None, 1, 10.0, call.check))
    return np.nan_to_num(np.concatenate(blocks, axis=1)[0]) if blocks else np.zeros(0, np.float32)
