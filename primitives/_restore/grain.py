"""Grain taken out of frames: each is averaged with its neighbours along the motion, where they agree.

The neighbours' share at a point falls with their difference there, measured in units of the grain: a moving edge
that the motion misses keeps the frame's own samples.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from primitives._base import Call, UserError
from primitives._flow import fetched, motion, scaled, targets
from primitives._media.film import Film
from primitives._media.frames import Shown, decode_straight, map_frames
from primitives._media.planes import Plane, is_planar_yuv, read_planes, with_planes
from primitives._media.timeline import spread

REACH = 2
"""Neighbours on each side."""
LEAST_GRAIN = 0.8
"""Grey levels of grain below which there is nothing to remove."""
_FALL = 3.0
"""How fast a neighbour's share falls once its difference is more than grain explains."""
_PICTURES = 6


@dataclass(frozen=True)
class GrainPlan:
    """How strong the grain is, in grey levels of 8 bits, inside and around the range."""

    inside: float
    around: float | None
    wavers: float
    """How far a point differs from frame to frame along the motion, as the deviation of one frame."""
    strength: float
    notes: list[str] = field(default_factory=list)


def grain_of(luma: NDArray[np.uint8]) -> float:
    """The standard deviation of grain: what a Laplacian-like mask leaves in the flattest parts of a picture."""
    mask = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    left = np.abs(cv2.filter2D(luma.astype(np.float32), -1, mask))[1:-1, 1:-1]
    rows, columns = left.shape[0] // 16, left.shape[1] // 16
    if not rows or not columns:
        return 0.0
    tiles = left[: rows * 16, : columns * 16].reshape(rows, 16, columns, 16).mean(axis=(1, 3))
    return float(np.quantile(tiles, 0.3)) * float(np.sqrt(np.pi / 2)) / 6


def plan_grain(film: Film, frames: range, strength: float, call: Call) -> GrainPlan:
    """Measure the grain; refuses a range without any."""
    inside = _measured(film, spread(film.timeline, frames, _PICTURES), call)
    reach = round(float(film.timeline.frame_rate))
    outside = [*range(max(0, frames.start - reach), frames.start), *range(frames.stop, frames.stop + reach)]
    outside = [number for number in outside if number < len(film.timeline)][:: max(1, reach // 3)]
    around = _measured(film, outside, call) if outside else None
    if inside < LEAST_GRAIN:
        raise UserError(
            f"Nothing was written: the picture has no grain there ({inside:.2f} grey levels). Check the range."
        )
    return GrainPlan(inside, around, max(inside, _wavers(film, frames, call)), strength)


def _wavers(film: Film, frames: range, call: Call) -> float:
    """Grain by time: coarse grain hides from a mask over single pixels, but not from the next frame."""

    def grey(shown: Shown) -> NDArray[np.uint8]:
        return np.asarray(read_planes(shown.frame.reformat(format="gray"))[0], np.uint8)

    starts = [n for n in spread(film.timeline, frames, _PICTURES) if n + 1 in frames]
    numbers = sorted({*starts, *(n + 1 for n in starts)})
    pictures = dict(zip(numbers, map_frames(film.path, film.name, film.scan, numbers, grey, call.check), strict=True))
    found = []
    for start in starts:
        a, b = pictures[start], pictures[start + 1]
        flow = motion(*(np.asarray(cv2.GaussianBlur(one, (0, 0), 1.2), np.uint8) for one in (a, b)))
        found.append(float(np.median(np.abs(a.astype(np.int16) - fetched(b, targets(flow))))) * 1.4826 / np.sqrt(2))
    return float(np.median(found)) if found else 0.0


def _measured(film: Film, numbers: list[int], call: Call) -> float:
    def one(shown: Shown) -> float:
        return grain_of(read_planes(shown.frame.reformat(format="gray"))[0])

    return float(np.median(map_frames(film.path, film.name, film.scan, numbers, one, call.check)))


class Grain:
    """The change of a range: frames are asked for in order, neighbours are decoded ahead of them."""

    def __init__(self, film: Film, frames: range, plan: GrainPlan, call: Call) -> None:
        wide = range(max(0, frames.start - REACH), min(len(film.timeline), frames.stop + REACH))
        self._film, self._wide, self._plan, self._call = film, wide, plan, call
        self._shown: Iterator[Shown] | None = None
        self._kept: OrderedDict[int, tuple[list[Plane], NDArray[np.uint8]]] = OrderedDict()
        self._before, self._after = list[float](), list[float]()

    def figures(self) -> dict[str, float]:
        """Grain in grey levels, as measured on the way."""
        made = {"grain_before": self._plan.inside}
        if self._after:
            made["grain_after"] = float(np.median(self._after))
        if self._plan.around is not None:
            made["grain_around"] = self._plan.around
        return {name: round(value, 2) for name, value in made.items()}

    def change(self, frame: VideoFrame, number: int) -> VideoFrame:
        if not is_planar_yuv(frame.format):
            plain = frame.reformat(format="yuv444p")
            return self.change(plain, number).reformat(format=frame.format.name)
        planes, luma = self._at(number, frame)
        scale = 1 << (frame.format.components[0].bits - 8)
        sums = [plane.astype(np.float32) for plane in planes]
        weights = [np.ones(plane.shape, np.float32) for plane in planes]
        sigma = max(self._plan.wavers, LEAST_GRAIN)
        calm = cv2.GaussianBlur(luma, (0, 0), 1.2)
        for near in range(number - REACH, number + REACH + 1):
            if near == number or near not in self._wide:
                continue
            others, other = self._at(near, frame)
            flow = motion(np.asarray(calm, np.uint8), np.asarray(cv2.GaussianBlur(other, (0, 0), 1.2), np.uint8))
            share = self._share(luma, fetched(other, targets(flow)), sigma)
            for plane, (samples, total, weight) in enumerate(zip(others, sums, weights, strict=True)):
                moved = fetched(samples, targets(scaled(flow, samples.shape)), sharp=True).astype(np.float32)
                part = share if plane == 0 else cv2.resize(share, samples.shape[::-1], interpolation=cv2.INTER_AREA)
                total += moved * part
                weight += part
        most = 256 * scale - 1
        strength = self._plan.strength
        made = []
        for own, total, weight in zip(planes, sums, weights, strict=True):
            mean = own + strength * (total / weight - own)
            made.append(np.clip(np.rint(mean), 0, most).astype(own.dtype))
        self._after.append(grain_of((made[0] >> (scale.bit_length() - 1)).astype(np.uint8)))
        return with_planes(frame, made)

    @staticmethod
    def _share(luma: NDArray[np.uint8], moved: NDArray[np.uint8], sigma: float) -> NDArray[np.float32]:
        """How much a neighbour counts at each point."""
        difference = np.abs(luma.astype(np.float32) - moved.astype(np.float32))
        near = cv2.boxFilter(difference, -1, (5, 5)) / (1.13 * sigma)  # 1: nothing but grain in both
        return np.asarray(np.exp(-(np.maximum(near - 1.0, 0.0) ** 2) * _FALL), np.float32)

    def _at(self, number: int, like: VideoFrame) -> tuple[list[Plane], NDArray[np.uint8]]:
        if self._shown is None:
            self._shown = decode_straight(
                self._film.path, self._film.name, self._film.scan, list(self._wide), self._call.check
            )
        while number not in self._kept:
            shown = next(self._shown)
            frame = shown.frame
            if frame.format.name != like.format.name:
                frame = frame.reformat(format=like.format.name)
            planes = read_planes(frame)
            depth = frame.format.components[0].bits - 8
            self._kept[shown.wanted] = (planes, (planes[0] >> depth).astype(np.uint8))
            while len(self._kept) > 2 * REACH + 2:
                self._kept.popitem(last=False)
        return self._kept[number]
