"""A film's tracks from one pass over its picture and one over its sound; kept beside it for whoever asks next.

The picture pass also finds the shots, so that `scene_cuts` after it is free.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from primitives._base import Call
from primitives._media.kept import keep_arrays, load_arrays
from primitives._media.scan import Scan
from primitives._media.shots import changes_in, film_changes, keep_changes
from primitives._media.sound_bands import measure_sound
from primitives._media.thumbs import ThumbGather, film_runs
from primitives._signature import Ints, Thumbs
from primitives._tracks import REGIONS, SCALES, FilmTracks, Floats, PictureTrack, SoundTrack

PICTURE_VERSION, SOUND_VERSION = 4, 3
LAGS_PX = (1, 2, 4, 8)
DETAIL_PX = 40_000
"""Pixels of the picture that detail is measured in, at least: as many rows as that takes."""
SMALL_PX = 240
BLOCK_PX = 8
_MOST_CHANGED = 4
"""Blocks of a picture that may change while the rest stands still before it counts as moving."""
_BRIGHT = 0.98


def film_tracks(call: Call, path: Path, name: str, scan: Scan, picture: bool = True, sound: bool = True) -> FilmTracks:
    """The tracks of a whole film, as far as it has them and they are wanted."""
    return FilmTracks(
        _kept_picture(call, path, name, scan) if picture and scan.video is not None else None,
        _kept_sound(call, path, name, scan) if sound and scan.sound is not None else None,
        float(scan.duration),
    )


@dataclass(frozen=True, eq=False)
class _Looks:
    """What one run of frames looks like."""

    thumbs: Thumbs
    moved: Floats
    detail: NDArray[np.float16]
    first: NDArray[np.uint8]
    last: NDArray[np.uint8]


class _LookGather:
    def __init__(self) -> None:
        self._thumbs = ThumbGather()
        self._moved: list[float] = []
        self._detail: list[Floats] = []
        self._first = self._last = np.zeros((BLOCK_PX, BLOCK_PX), np.uint8)

    def see(self, frame: VideoFrame) -> None:
        self._thumbs.see(frame)
        luma = luma_of(frame)
        small = small_of(luma)
        if not self._moved:
            self._first = small
        self._moved.append(moved_by(small, self._last) if self._moved else 0.0)
        self._detail.append(details(luma))
        self._last = small

    def made(self, shown: Ints) -> _Looks:
        thumbs = self._thumbs.made(shown)
        if not self._moved:
            return _Looks(
                thumbs,
                np.zeros(len(shown), np.float32),
                np.zeros((len(shown), SCALES, REGIONS[0] * REGIONS[1]), np.float16),
                self._first,
                self._last,
            )
        moved = np.array(self._moved, np.float32)[shown]
        moved[1:][shown[1:] == shown[:-1]] = 0
        return _Looks(thumbs, moved, np.array(self._detail, np.float16)[shown], self._first, self._last)


def luma_of(frame: VideoFrame) -> NDArray[np.uint8]:
    """The luma plane with 8 bits, not copied where it is already there."""
    if not frame.format.name.startswith(("yuv4", "yuvj4", "yuva4", "gray", "nv12")) or frame.format.is_big_endian:
        frame = frame.reformat(format="gray8" if frame.format.name == "gray8" else "gray")
    plane = frame.planes[0]
    if frame.format.components[0].bits > 8:
        wide = np.frombuffer(memoryview(plane), np.uint16).reshape(-1, plane.line_size // 2)
        shift = frame.format.components[0].bits - 8
        return (wide[: plane.height, : plane.width] >> shift).astype(np.uint8)
    return np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)[: plane.height, : plane.width]


def details(luma: NDArray[np.uint8]) -> Floats:
    """How much places differ that lie 1, 2, 4 and 8 pixels apart, and each place from the middle of its neighbours,
    across and down, in each region, as log2 of grey levels."""
    high, wide = (side - LAGS_PX[-1] for side in luma.shape)
    if high < REGIONS[0] or wide < REGIONS[1]:
        return np.zeros((SCALES, REGIONS[0] * REGIONS[1]), np.float32)
    every = max(1, min(high // REGIONS[0], high * wide // DETAIL_PX))

    def moved(down: int, right: int = 0) -> NDArray[np.uint8]:
        return luma[down : high + down : every, right : wide + right]

    rows = moved(0)
    steps = [(cv2.absdiff(moved(0, lag), rows), cv2.absdiff(moved(lag), rows)) for lag in LAGS_PX]
    across, down = steps[0]
    steps.append(
        (
            cv2.max(across, cv2.absdiff(moved(0, 2), moved(0, 1))),
            cv2.max(down, cv2.absdiff(moved(2), moved(1))),
        )
    )
    both = np.empty((len(rows), SCALES, wide), np.uint8)  # in one piece, for sums take long to call
    for number, step in enumerate(steps):
        cv2.add(*step, both[:, number])
    sums = _summed(both)
    # Twice the larger of two steps in a row, less both together, is how much they differ.
    sums[-1] = 2 * sums[-1] - sums[1]
    return np.asarray(np.log2(sums * REGIONS[0] * REGIONS[1] / (2 * rows.size) + 0.01), np.float32)


def _summed(values: NDArray[np.uint8]) -> Floats:
    """Sums of `[rows, scales, columns]` over each region, `[scales, regions]`."""
    high, scales, wide = values.shape
    flat = values.reshape(high, -1)
    bands = [high * band // REGIONS[0] for band in range(REGIONS[0] + 1)]
    sums = [cv2.reduce(flat[a:b], 0, cv2.REDUCE_SUM, dtype=cv2.CV_32F) for a, b in itertools.pairwise(bands)]
    columns = [wide * column // REGIONS[1] for column in range(REGIONS[1])]
    by_band = np.stack(sums).reshape(REGIONS[0], scales, wide).swapaxes(0, 1)
    return np.add.reduceat(by_band, columns, axis=2).reshape(scales, -1)


def small_of(luma: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture, halved until it is small, in whole blocks."""
    while luma.shape[1] > SMALL_PX and min(luma.shape) >= 4 * BLOCK_PX:
        height, width = luma.shape[0] // 2, luma.shape[1] // 2
        luma = np.asarray(cv2.resize(luma[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA))
    height, width = (max(1, side // BLOCK_PX) * BLOCK_PX for side in luma.shape)
    return np.array(luma[:height, :width])


def moved_by(now: NDArray[np.uint8], before: NDArray[np.uint8]) -> float:
    """How much the most changed blocks of two small pictures differ, in grey levels."""
    if now.shape != before.shape:
        return 255.0
    gap = cv2.absdiff(now, before)
    size = max(1, gap.shape[1] // BLOCK_PX), max(1, gap.shape[0] // BLOCK_PX)
    blocks = np.sort(cv2.resize(gap, size, interpolation=cv2.INTER_AREA), axis=None)
    # Blocks are whole numbers; the mean tells the stillest frames apart.
    return float(blocks[-min(_MOST_CHANGED, len(blocks))]) + float(cv2.mean(gap)[0])


def _kept_picture(call: Call, path: Path, name: str, scan: Scan) -> PictureTrack:
    assert scan.video is not None
    store = call.workspace.derived(path, f"picture-{PICTURE_VERSION}")
    kept = load_arrays(store, ("cells", "bright", "moved", "detail"), len(scan.video))
    if kept is None:
        kept = _see(call, path, name, scan)
        keep_arrays(call, store, kept)
    timeline = scan.video
    ticks = np.append(timeline.pts, timeline.end_pts) - timeline.pts[0]
    return PictureTrack(
        times_s=ticks * float(timeline.time_base),
        keyframes=timeline.decode_from == timeline.pts,
        changes=film_changes(call, path, name, scan).transitions,
        **kept,
    )


def _see(call: Call, path: Path, name: str, scan: Scan) -> dict[str, NDArray[Any]]:
    """The pass over the picture."""
    assert scan.video is not None
    total, done = len(scan.video), 0
    runs: list[_Looks] = []
    cells: list[NDArray[np.uint8]] = []
    bright: list[Floats] = []

    def report(frames: int) -> None:
        nonlocal done
        done += frames
        call.progress(min(done, total), total, f"measuring the picture of {name}")

    def thumbs() -> Iterator[Thumbs]:
        for looks in film_runs(path, name, scan, range(total), report, _LookGather):
            if runs and len(looks.moved):
                looks.moved[0] = moved_by(looks.first, runs[-1].last)
            cells.append(_cells(looks.thumbs))
            bright.append(
                np.quantile(looks.thumbs[:, 0].reshape(len(looks.thumbs), -1), _BRIGHT, axis=1).astype(np.float32)
            )
            runs.append(_Looks(looks.thumbs[:0], looks.moved, looks.detail, looks.first, looks.last))
            yield looks.thumbs

    keep_changes(call, path, changes_in(thumbs(), float(scan.video.frame_rate)))
    return {
        "cells": np.concatenate(cells),
        "bright": np.concatenate(bright),
        "moved": np.concatenate([run.moved for run in runs]),
        "detail": np.concatenate([run.detail for run in runs]),
    }


def _cells(thumbs: Thumbs) -> NDArray[np.uint8]:
    """Thumbnails at half their size."""
    wide = thumbs.astype(np.uint16)
    high = wide[:, :, ::2] + wide[:, :, 1::2]
    return np.asarray((high[..., ::2] + high[..., 1::2] + 2) >> 2, np.uint8)


def _kept_sound(call: Call, path: Path, name: str, scan: Scan) -> SoundTrack:
    store = call.workspace.derived(path, f"sound-{SOUND_VERSION}")
    kept = load_arrays(store, ("bands", "level_db", "peak_db", "crest_db", "flat", "again"))
    if kept is None:
        kept = measure_sound(call, path, name, scan)
        keep_arrays(call, store, kept)
    return SoundTrack(**kept)
