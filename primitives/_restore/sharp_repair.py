"""Repairs of sharpness: which filter a range needs, by measuring at its ends."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from primitives._base import Call, UserError
from primitives._edit import Change
from primitives._flow import correlation
from primitives._media.film import Film
from primitives._media.frames import map_frames
from primitives._media.planes import Plane, is_planar_yuv, read_planes
from primitives._restore import sharpness
from primitives._restore.common import SAME_SHOT, Region, Repair, on_planes
from primitives._restore.repeats import small
from primitives._restore.sharpness import Lesson

WORTH_DB = 0.1
DEPTH = 2
"""Frames taken on each side of an end."""
TAUGHT = "filter taught by the film"


def _planes_of(film: Film, numbers: Sequence[int], call: Call) -> dict[int, list[NDArray[np.uint8]]]:
    """Frames as planes of 8 bits, by number."""

    def planes(frame: VideoFrame) -> list[NDArray[np.uint8]]:
        plain = frame if is_planar_yuv(frame.format) else frame.reformat(format="yuv444p")
        shift = plain.format.components[0].bits - 8
        return [(plane >> shift).astype(np.uint8) for plane in read_planes(plain)]

    wanted = sorted(set(numbers))
    return dict(map_frames(film.path, film.name, film.scan, wanted, lambda s: (s.wanted, planes(s.frame)), call.check))


def sharpen(film: Film, frames: range, learn: bool, strength: float, region: Region | None, call: Call) -> Repair:
    """Filters for the planes: taught by the film where `learn`, else the best of the classical ones."""
    ends = _ends(film, frames)
    if not ends:
        raise UserError(f"The range is all of {film.name}: nothing sharp is left to learn from. Give a shorter range.")
    planes = _planes_of(film, [n for inside, outside in ends for n in (*inside, *outside)], call)
    lessons = []
    for inside, outside in ends:
        call.check()
        if (found := _lessons(planes, inside, outside)) is not None:
            lessons.append(found)
    if not lessons:
        return _by_spectra(planes, ends, strength, region)
    luma = [lesson[0] for lesson in lessons]
    options = {f"unsharp sigma {s} amount {a}": sharpness.unsharp(s, a) for s, a in sharpness.UNSHARP}
    scores = {}
    for name, kernel in options.items():
        call.check()
        scores[name] = sharpness.gain_db(luma, kernel)
    taught = sharpness.learned(luma) if learn else None
    if taught is not None:
        options[TAUGHT], scores[TAUGHT] = taught, _held_out_db(luma)
    best = max(scores, key=lambda name: scores[name])
    kernels = [options[best], *(_chroma_kernels(lessons) if best == TAUGHT else [])]
    kernels = [_with_strength(kernel, strength) if kernel is not None else None for kernel in kernels]
    before, own = sharpness.gain_db(luma, None), sharpness.gain_db(luma, kernels[0])
    after = min(own, scores[best]) if strength == 1 else own
    measure = "PSNR to the sharp scene next to the range, dB"
    return Repair(measure, before, after, None, best, after > before + WORTH_DB, _filter_change(kernels, region))


def _held_out_db(luma: list[Lesson]) -> float:
    """What the taught filter reaches on the end that did not teach it; with one end only, on that one."""
    if len(luma) < 2:
        return sharpness.gain_db(luma, sharpness.learned(luma))
    scores = []
    for held in luma:
        kernel = sharpness.learned([lesson for lesson in luma if lesson is not held])
        scores.append(sharpness.gain_db([held], kernel))
    baseline = [sharpness.gain_db([lesson], None) for lesson in luma]
    gain = float(np.mean([score - base for score, base in zip(scores, baseline, strict=True)]))
    return sharpness.gain_db(luma, None) + gain


def _chroma_kernels(lessons: list[list[Lesson]]) -> list[sharpness.Grey | None]:
    kernels: list[sharpness.Grey | None] = []
    for plane in (1, 2):
        lesson = [planes[plane] for planes in lessons if len(planes) > plane]
        kernel = sharpness.learned(lesson) if lesson else None
        worth = kernel is not None and sharpness.gain_db(lesson, kernel) > sharpness.gain_db(lesson, None) + WORTH_DB
        kernels.append(kernel if worth else None)
    return kernels


def _with_strength(kernel: sharpness.Grey, strength: float) -> sharpness.Grey:
    point = np.zeros_like(kernel)
    point[kernel.shape[0] // 2, kernel.shape[1] // 2] = 1
    return np.asarray(point + strength * (kernel - point), dtype=np.float32)


def _ends(film: Film, frames: range) -> list[tuple[list[int], list[int]]]:
    """Frames inside and outside each end of a range, the nearest first."""
    depth = min(DEPTH, len(frames))
    before = [n for n in range(frames.start - 1, frames.start - 1 - DEPTH, -1) if n >= 0]
    after = [n for n in range(frames.stop, frames.stop + DEPTH) if n < len(film.timeline)]
    ends = [
        (list(range(frames.start, frames.start + depth)), before),
        (list(range(frames.stop - 1, frames.stop - 1 - depth, -1)), after),
    ]
    return [end for end in ends if end[1]]


def _lessons(planes: dict[int, list[NDArray[np.uint8]]], inside: list[int], outside: list[int]) -> list[Lesson] | None:
    """What an end teaches about each plane; None where it falls on a cut."""
    soft, sharp = planes[inside[0]], planes[outside[0]]
    a, b = (np.asarray(cv2.GaussianBlur(small(side[0]), (0, 0), 3)) for side in (soft, sharp))
    if correlation(a, b) < SAME_SHOT:
        return None
    across = sharpness.overlay(soft, sharp)
    calm = sharpness.overlay(sharp, planes[outside[1]]) if len(outside) > 1 else None
    return [Lesson([pair], calm[number] if calm else None) for number, pair in enumerate(across)]


def _by_spectra(
    planes: dict[int, list[NDArray[np.uint8]]],
    ends: list[tuple[list[int], list[int]]],
    strength: float,
    region: Region | None,
) -> Repair:
    soft = [planes[n][0].astype(np.float32) for inside, _ in ends for n in inside]
    sharp = [planes[n][0].astype(np.float32) for _, outside in ends for n in outside]
    kernel = sharpness.from_spectra(soft, sharp, strength)
    before, after, around = (
        max(float(np.mean([cv2.Laplacian(picture, cv2.CV_32F).var() for picture in pictures])), 1e-6)
        for pictures in (soft, [sharpness.filtered(picture, kernel) for picture in soft], sharp)
    )
    better = abs(np.log(after / around)) < abs(np.log(before / around))
    note = "both ends fall on cuts: the blur was estimated from the spectra of the neighbouring shots, roughly"
    measure, change = "fine detail (variance of the Laplacian)", _filter_change([kernel], region)
    return Repair(measure, before, after, around, "regularised inverse", better, change, notes=[note])


def _filter_change(kernels: Sequence[sharpness.Grey | None], region: Region | None) -> Change:
    def change(frame: VideoFrame, _: int) -> VideoFrame:
        return on_planes(frame, region, lambda planes, bits: _filtered(planes, kernels, bits))

    return change


def _filtered(planes: list[Plane], kernels: Sequence[sharpness.Grey | None], bits: int) -> list[Plane]:
    made = []
    for number, plane in enumerate(planes):
        kernel = kernels[number] if number < len(kernels) else None
        if kernel is not None:
            top = (1 << bits) - 1
            plane = np.clip(np.rint(sharpness.filtered(plane, kernel)), 0, top).astype(plane.dtype)
        made.append(plane)
    return made
