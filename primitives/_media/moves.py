"""The camera's steps of a film: one pass over its picture, which finds the shots too; both are kept beside it."""

from __future__ import annotations

import contextlib
import dataclasses
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from primitives._base import Call
from primitives._camera.settle import settled
from primitives._camera.steps import LOOK_PX, Steps, gathered, joined
from primitives._camera.track import WIDEST_PX, Grey, Step, follow, shrink
from primitives._cuts import Transition
from primitives._media.picture import look_of
from primitives._media.scan import Scan
from primitives._media.shots import Changes, changes_in, keep_changes, kept_changes
from primitives._media.source import open_media, video_stream
from primitives._media.thumbs import ThumbGather, film_runs
from primitives._media.tracks import luma_of
from primitives._signature import Ints, Thumbs

VERSION = 2
"""Raised whenever the same film may give other steps."""
SAMPLES_PER_S = 8
"""So many pictures a second are compared, or a few more or less: a hand shakes a few times a second."""
DEPTH_TRAVEL, DEPTH_GROWTH, DEPTH_SAMPLES = 0.05, 0.06, 30
"""How far the picture must move (in heights) or grow, within how many samples, for depth to be looked at."""
_ARRAYS = ("frames", "moves", "support", "parallax", "cells", "aspect", "looks", "look_frames")
LOOK_EVERY = 4
"""Samples from one look to the next: half a second."""


def sampled_every(frame_rate: Fraction) -> int:
    """How many frames lie between samples."""
    return max(1, round(frame_rate / SAMPLES_PER_S))


def film_moves(call: Call, path: Path, name: str, scan: Scan, frames: range) -> tuple[Steps, Changes]:
    """The steps and the transitions of a range of frames; those of a whole film are kept for the next who asks."""
    assert scan.video is not None
    everything = range(len(scan.video))
    store = call.workspace.derived(path, f"camera-{VERSION}")
    known, steps = kept_changes(call, path), _read(store)
    if known is None or steps is None:
        steps, found = _see(call, path, name, scan, frames)
        if frames == everything:
            _write(call, store, steps)
            if known is None:
                keep_changes(call, path, found)
        known = found if known is None else known
    inside = tuple(change for change in known if frames.start <= change.frame < frames.stop)
    return steps.between(frames), Changes(frames, inside)


def pixel_aspect_of(path: Path, name: str) -> Fraction | None:
    """The shape of a film's pixels, where it says."""
    with open_media(path, name) as container:
        stream = video_stream(container, name)
        return stream.sample_aspect_ratio if stream is not None else None


def upright(frame: VideoFrame, pixel_aspect: Fraction | None, widest_px: int = WIDEST_PX) -> tuple[Grey, float]:
    """A small luma picture of a frame as it is shown, and how wide its pixels are for their height."""
    look = look_of(frame, pixel_aspect)
    small = shrink(luma_of(frame), widest_px)
    wide = float(look.pixel_aspect)
    if look.quarter_turns:
        small = np.ascontiguousarray(np.rot90(small, -look.quarter_turns))
    return small, 1 / wide if look.quarter_turns % 2 else wide


@dataclass(frozen=True, eq=False)
class _Seen:
    """What one run of frames shows: its thumbnails, and the steps between its samples by place in the run."""

    thumbs: Thumbs
    places: list[int]
    """Of the samples."""
    steps: list[Step]
    """From each sample to the next."""
    looks: list[NDArray[np.uint8]]
    """Of every fourth sample."""
    first: Grey
    last: Grey
    pixel_aspect: float


class _MoveGather:
    def __init__(self, every: int, pixel_aspect: Fraction | None) -> None:
        self._every, self._pixel_aspect = every, pixel_aspect
        self._thumbs = ThumbGather()
        self._count = 0
        self._steps: list[Step] = []
        self._looks: list[NDArray[np.uint8]] = []
        self._first = self._last = np.zeros((1, 1), np.uint8)
        self._wide = 1.0
        self._anchor, self._since, self._moved = self._first, 0, (1 + 0j, 0j)
        self._anchor_frame: VideoFrame | None = None

    def see(self, frame: VideoFrame) -> None:
        self._thumbs.see(frame)
        if self._count % self._every == 0:
            small, self._wide = upright(frame, self._pixel_aspect)
            if self._count:
                self._steps.append(self._step(small, frame))
            else:
                self._first = self._anchor = small
                self._anchor_frame = frame
            if self._count // self._every % LOOK_EVERY == 0:
                self._looks.append(np.asarray(cv2.resize(small, LOOK_PX, interpolation=cv2.INTER_AREA), np.uint8))
            self._last = small
        self._count += 1

    def _large(self, frame: VideoFrame) -> Grey:
        """Where a picture grows, depth is a difference of small ways: it is looked for in one twice as large."""
        return upright(frame, self._pixel_aspect, 2 * WIDEST_PX)[0]

    def _step(self, small: Grey, frame: VideoFrame) -> Step:
        """From the last sample to this one; once the picture has moved enough, also from the one that it moved from,
        for depth does not show in short steps."""
        step = follow(self._last, small, self._wide)
        growth, shift = self._moved
        self._moved = (step.growth * growth, step.growth * shift + step.shift)
        self._since += 1
        shifted, grown = abs(self._moved[1]) / DEPTH_TRAVEL, abs(self._moved[0] - 1) / DEPTH_GROWTH
        enough = max(shifted, grown) > 1
        if step.support and not enough and self._since < DEPTH_SAMPLES:
            return step
        if step.support and enough:
            before, after = self._anchor, small
            if grown > shifted and self._anchor_frame is not None:
                before, after = self._large(self._anchor_frame), self._large(frame)
            far = follow(before, after, self._wide, guess=self._moved)
            step = dataclasses.replace(step, parallax=far.parallax)
        self._anchor, self._anchor_frame, self._since, self._moved = small, frame, 0, (1 + 0j, 0j)
        return step

    def made(self, shown: Ints) -> _Seen:
        samples = np.arange(0, self._count, self._every)
        places = np.searchsorted(shown, samples).tolist()
        return _Seen(self._thumbs.made(shown), places, self._steps, self._looks, self._first, self._last, self._wide)


def _see(call: Call, path: Path, name: str, scan: Scan, frames: range) -> tuple[Steps, list[Transition]]:
    """The pass over the picture."""
    assert scan.video is not None
    every, pixel_aspect = sampled_every(scan.video.frame_rate), pixel_aspect_of(path, name)
    total, done = len(frames), 0
    parts: list[Steps] = []

    def report(count: int) -> None:
        nonlocal done
        done += count
        call.progress(min(done, total), total, f"following points in {name}")

    def thumbs() -> Iterator[Thumbs]:
        start, last, last_frame = frames.start, None, 0
        for seen in film_runs(path, name, scan, frames, report, lambda: _MoveGather(every, pixel_aspect)):
            numbers = [start + place for place in seen.places]
            start += len(seen.thumbs)
            if numbers:
                steps = list(zip(numbers, numbers[1:], seen.steps, strict=False))
                if last is not None:
                    steps.insert(0, (last_frame, numbers[0], follow(last, seen.first, seen.pixel_aspect)))
                looks = list(zip(numbers[::LOOK_EVERY], seen.looks, strict=False))
                parts.append(gathered(steps, seen.last.shape[1] / seen.last.shape[0] * seen.pixel_aspect, looks))
                last, last_frame = seen.last, numbers[-1]
            yield seen.thumbs

    changes = changes_in(thumbs(), float(scan.video.frame_rate), frames.start)
    return settled(joined(parts)), changes


def _read(store: Path) -> Steps | None:
    try:
        with store.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            kept = {name: archive[name] for name in _ARRAYS}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return Steps(**{**kept, "aspect": float(kept["aspect"])})


def _write(call: Call, store: Path, steps: Steps) -> None:
    """Keep the steps. A courtesy: a full disk must not cost the answer."""
    with contextlib.suppress(OSError), call.workspace.atomic(store) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **{name: getattr(steps, name) for name in _ARRAYS})
