"""Kinds about what the picture shows: black, frozen, bright, cut, decodable."""

from __future__ import annotations

from statistics import median_high
from typing import Any

from pydantic import Field

from verifiers.video_repurpose.film import Film
from verifiers.video_repurpose.kinds._base import Finding, Kind, KindParams, decide, range_text, within
from verifiers.video_repurpose.measures.decode import DecodeFaults
from verifiers.video_repurpose.measures.picture import BlackRuns, BrightnessAt, FrozenRuns, Run
from verifiers.video_repurpose.measures.shots import ShotDurations

TIME_SLACK_S = 1e-6
"""Sums of frame times carry rounding; a run of exactly the limit is not longer than it."""


class BlackMaxRun(KindParams):
    max_seconds: float
    exclude_last_seconds: float = Field(default=0.0, ge=0)
    pix_th: float = Field(default=0.10, ge=0, le=1)


class FreezeMaxRun(KindParams):
    max_seconds: float
    exclude_last_seconds: float = Field(default=0.0, ge=0)


class BrightnessAtTimes(KindParams):
    times: tuple[float, ...] = Field(min_length=1)
    min_brightness: float
    min_passing: int | None = None


class MedianShot(KindParams):
    min: float | None = None
    max: float | None = None


class MaxShot(KindParams):
    max_seconds: float


class NoParams(KindParams):
    pass


def black_max_run(params: BlackMaxRun, film: Film) -> Finding:
    runs = film[BlackRuns(params.pix_th)]
    return _longest_run("black", runs, params.max_seconds, params.exclude_last_seconds, film)


def freeze_max_run(params: FreezeMaxRun, film: Film) -> Finding:
    return _longest_run("frozen", film[FrozenRuns()], params.max_seconds, params.exclude_last_seconds, film)


def _longest_run(what: str, runs: tuple[Run, ...], max_s: float, exclude_last_s: float, film: Film) -> Finding:
    """Only the part of a run before the cutoff counts: the excluded end may hold what it likes.

    The cutoff is measured from the container's duration; a file that gives none has no excluded end.
    """
    if film.info.video is None:
        return decide(False, "there is no video stream")
    duration_s = film.info.duration_s if exclude_last_s else None
    cutoff_s = float("inf") if duration_s is None else duration_s - exclude_last_s
    longest = max(runs, key=lambda run: min(run.end_s, cutoff_s) - run.start_s, default=None)
    length_s = 0.0 if longest is None else max(0.0, min(longest.end_s, cutoff_s) - longest.start_s)
    where = f" from {longest.start_s:.3f} s" if longest is not None and length_s else ""
    excluded = f", the last {exclude_last_s:g} s aside" if exclude_last_s else ""
    evidence = f"longest {what} run {length_s:.3f} s{where}, at most {max_s:g} s allowed{excluded}"
    return decide(length_s <= max_s + TIME_SLACK_S, evidence, length_s, "s")


def brightness_at_times(params: BrightnessAtTimes, film: Film) -> Finding:
    wanted = len(params.times) if params.min_passing is None else params.min_passing
    levels = [film[BrightnessAt(time_s)] for time_s in params.times]
    bright = sum(level is not None and level > params.min_brightness for level in levels)
    shown = ", ".join("no picture" if level is None else f"{level:.1f}" for level in levels)
    evidence = f"{bright} of {len(levels)} above {params.min_brightness:g} ({shown}), {wanted} wanted"
    return decide(bright >= wanted, evidence, bright)


def median_shot(params: MedianShot, film: Film) -> Finding:
    durations_s = film[ShotDurations()]
    if not durations_s:
        return decide(False, "there are no pictures")
    # With an even count the benchmark takes the upper of the two in the middle.
    median_s = median_high(durations_s)
    allowed = range_text(params.min, params.max)
    evidence = f"median of {len(durations_s)} shots {median_s:.3f} s, allowed {allowed}"
    return decide(within(median_s, params.min, params.max), evidence, median_s, "s")


def max_shot(params: MaxShot, film: Film) -> Finding:
    durations_s = film[ShotDurations()]
    if not durations_s:
        return decide(False, "there are no pictures")
    longest_s = max(durations_s)
    evidence = f"longest of {len(durations_s)} shots {longest_s:.3f} s, at most {params.max_seconds:g} s allowed"
    return decide(longest_s <= params.max_seconds + TIME_SLACK_S, evidence, longest_s, "s")


def decode_no_errors(params: NoParams, film: Film) -> Finding:  # noqa: ARG001
    faults = film[DecodeFaults()]
    return decide(not faults, "; ".join(faults[:3]) or "every audio and video stream decodes to its end")


KINDS: dict[str, Kind[Any]] = {
    "ffmpeg_blackdetect_max_run": Kind(BlackMaxRun, black_max_run, lambda params: (BlackRuns(params.pix_th),)),
    "ffmpeg_freeze_max_run": Kind(FreezeMaxRun, freeze_max_run, lambda _: (FrozenRuns(),)),
    "ffmpeg_brightness_at_times": Kind(
        BrightnessAtTimes,
        brightness_at_times,
        lambda params: tuple(BrightnessAt(time_s) for time_s in params.times),
    ),
    "ffmpeg_decode_no_errors": Kind(NoParams, decode_no_errors, lambda _: (DecodeFaults(),)),
    "scenedetect_median_shot_duration": Kind(MedianShot, median_shot, lambda _: (ShotDurations(),)),
    "scenedetect_max_shot_duration": Kind(MaxShot, max_shot, lambda _: (ShotDurations(),)),
}
