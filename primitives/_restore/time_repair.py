"""Repairs in time: flicker, frozen frames, stretches that play twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from av.video.frame import VideoFrame

from primitives._base import Call, UserError
from primitives._media.film import Film
from primitives._media.frames import decode_straight, map_frames
from primitives._media.planes import Plane, is_planar_yuv, read_planes, with_planes
from primitives._restore.between import Between
from primitives._restore.common import SAME_SHOT, Region, Repair, on_planes
from primitives._restore.flicker import course
from primitives._restore.repeats import Found, Run, Small, difference, frozen_runs, repeated_run, small, steps_of

AROUND_S = 1.0
MAX_FRAMES = 1500
LEAST_FLICKER = 0.4
"""Grey levels by which the brightness of any film wavers."""


def _around(film: Film, frames: range) -> range:
    reach = max(3, round(AROUND_S * float(film.timeline.frame_rate)))
    return range(max(0, frames.start - reach), min(len(film.timeline), frames.stop + reach))


def _smalls(film: Film, frames: range, call: Call) -> list[Small]:
    if len(frames) > MAX_FRAMES:
        raise UserError(
            f"The range holds {len(frames)} frames, at most {MAX_FRAMES} for this kind. Give a shorter one."
        )
    shown = decode_straight(film.path, film.name, film.scan, list(frames), call.check)
    made = []
    for one in shown:
        plain = one.frame.reformat(format="gray")
        made.append(small(read_planes(plain)[0]))
    return made


def deflicker(film: Film, frames: range, strength: float, region: Region | None, call: Call) -> Repair:
    """Lead the brightness of each frame along its smooth course."""
    wide = _around(film, frames)
    pictures = _smalls(film, wide, call)
    run = course(pictures, wide.start, float(film.timeline.frame_rate))
    outside = [side for side in (range(wide.start, frames.start), range(frames.stop, wide.stop)) if len(side)]
    around = float(np.mean([run.roughness(side) for side in outside])) if outside else None
    before = run.roughness(frames)

    def change(frame: VideoFrame, number: int) -> VideoFrame:
        def levels(planes: list[Plane], bits: int) -> list[Plane]:
            scale = 1 << (bits - 8)
            curve, gain = run.curve(number, strength), run.gain(number, strength)
            luma = np.interp(np.arange(256 * scale) / scale, np.arange(256), curve) * scale
            made = [np.rint(luma)[planes[0]].astype(planes[0].dtype)]
            for plane in planes[1:]:
                moved = (plane.astype(np.float32) - 128 * scale) * gain + 128 * scale
                made.append(np.clip(np.rint(moved), 0, 256 * scale - 1).astype(plane.dtype))
            return made

        return on_planes(frame, region, levels)

    after = run.roughness_after(pictures, frames, strength)
    measure = "jumps of brightness, grey levels r.m.s."
    flickers = before > max(LEAST_FLICKER, 1.3 * (around or 0.0))
    return Repair(measure, before, after, around, "levels led smoothly", flickers and after < 0.8 * before, change)


@dataclass(frozen=True)
class Repeats:
    """What repeats in a range, and the motion from frame to frame there, around it and in the runs."""

    runs: list[Run]
    inside: float
    around: float
    still: float


def find_repeats(film: Film, frames: range, whole_stretches: bool, call: Call) -> Repeats:
    """Frozen runs in a range, or a stretch that plays twice."""
    wide = _around(film, range(max(0, frames.start - len(frames)), frames.stop))
    pictures = _smalls(film, wide, call)
    steps = steps_of(pictures)
    outside = np.r_[steps[: frames.start - wide.start], steps[frames.stop - wide.start :]]
    moving = outside[np.isfinite(outside)]
    motion = float(np.median(moving)) if len(moving) else 0.0
    inside = steps[frames.start - wide.start : frames.stop - wide.start]
    keyframes = {n for n in frames if film.timeline.has_start(int(film.timeline.pts[n]))}
    found = frozen_runs(pictures, frames, wide.start, keyframes)
    if whole_stretches:
        twice = repeated_run(pictures, frames, wide.start)
        if sum(map(len, twice.runs)) > sum(map(len, found.runs)):
            found = twice
    if found.doubtful:
        raise UserError(_doubt(film, found))
    runs = found.runs
    still = [steps[n - wide.start] for run in runs for n in range(run.first, run.last)]
    return Repeats(
        runs,
        float(np.median(inside[np.isfinite(inside)])) if np.isfinite(inside).any() else 0.0,
        motion,
        float(np.mean(still)) if still else 0.0,
    )


def unfreeze(film: Film, frames: range, call: Call) -> Repair:
    """Frames along the motion in place of frozen ones; the film keeps its length."""
    found = find_repeats(film, frames, False, call)
    runs = [run for run in found.runs if run.first > 0 and run.last < len(film.timeline)]
    if not runs:
        raise UserError(_nothing_frozen(film, frames, found))
    ends = _whole(film, [n for run in runs for n in (run.first - 1, run.last)], call)
    made: dict[int, tuple[Between, float]] = {}
    after = []
    for run in runs:
        call.check()
        (before_planes, bits), (after_planes, _) = ends[run.first - 1], ends[run.last]
        between = Between(before_planes, after_planes, bits)
        if between.likeness < SAME_SHOT:
            raise UserError(
                f"Nothing was written: after the freeze (frame {run.last}) comes another shot, nothing lies between. "
                "Use kind drop_repeats, which cuts the frozen frames out."
            )
        a, b = (small((planes[0] >> (bits - 8)).astype(np.uint8)) for planes in (before_planes, after_planes))
        count = run.last - run.first + 1
        for number in range(run.first, run.last):
            made[number] = (between, (number - run.first + 1) / count)
        after.append(difference(a, b) / count)

    def change(frame: VideoFrame, number: int) -> VideoFrame:
        if number not in made or not is_planar_yuv(frame.format):
            return frame
        between, share = made[number]
        return with_planes(frame, between.at(share))

    measure, moved = "motion from frame to frame in the frozen run, grey levels", float(np.mean(after))
    return Repair(
        measure, found.still, moved, found.around, "frames along the motion", moved > found.still, change, runs
    )


def _whole(film: Film, numbers: Sequence[int], call: Call) -> dict[int, tuple[list[Plane], int]]:
    """Frames as they are coded, by number, with their bits."""
    return dict(
        map_frames(
            film.path,
            film.name,
            film.scan,
            sorted(set(numbers)),
            lambda s: (s.wanted, (read_planes(s.frame), int(s.frame.format.components[0].bits))),
            call.check,
        )
    )


def drop_repeats(film: Film, frames: range, call: Call) -> Repair:
    """Cut out frames that repeat earlier ones."""
    found = find_repeats(film, frames, True, call)
    if not found.runs:
        raise UserError(_nothing_frozen(film, frames, found))
    count = sum(run.last - run.first for run in found.runs)
    return Repair("repeated frames", float(count), 0.0, None, "cut out", True, None, found.runs)


def _doubt(film: Film, found: Found) -> str:
    runs = ", ".join(f"{run.first}-{run.last - 1}" for run in found.runs)
    frames = ", ".join(f"{n} ({float(film.timeline.time_of(n)):.3f} s)" for n in found.doubtful[:6])
    return (
        f"Nothing was written: frames {runs} of {film.name} repeat, but the film hardly moves there and frame {frames} "
        "may or may not belong to them. Look with frame_grid all_frames, then give start_s and end_s exactly around "
        "the repeated frames: the range then decides."
    )


def _nothing_frozen(film: Film, frames: range, found: Repeats) -> str:
    return (
        f"Nothing was written: no frame of {film.name} from {frames.start} to {frames.stop - 1} repeats another "
        f"(motion {found.inside:.2f} there, {found.around:.2f} around it). Look closer with frame_grid all_frames."
    )
