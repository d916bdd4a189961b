"""Timeline defects: the ranges a report claims, and whether the render is the broken file without them."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

from verifiers._audio_metrics import Floats, LevelRule, Samples, block_agreement
from verifiers._json import SubmissionError, parse_json
from verifiers._media import Image
from verifiers.video_repair.picture import GridFrame, answer_frames, on_grid, scaled, ssim_plane
from verifiers.video_repair.schema import TimeRange

MAX_RANGES = 500
ROUNDING_S = 0.001
"""Reports give milliseconds."""

SAMPLES_PER_S = 4
SAMPLE_HEIGHT_PX = 180
MIN_DRIFT_FRAMES = 2

SOUND_RATE_HZ = 8000
SOUND_WINDOW_S, SOUND_STEP_S = 1.0, 0.5
SOUND_LEVEL = LevelRule(full_db=6.0, none_db=12.0)
"""A cut does not change the level (ours)."""

_OPENING_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*(?:json)?\s*", re.IGNORECASE)


def parse_ranges(report: str, broken_s: float, slack_s: float) -> list[TimeRange]:
    """The first fenced JSON list in the report as ranges in time order; `SubmissionError` if malformed.

    Ranges that overlap are malformed (ours): a cut list says each cut once, and guesses cannot be stacked.
    """
    body = next((body for body in _fenced_blocks(report) if body.lstrip().startswith("[")), None)
    if body is None:
        raise SubmissionError("the report has no fenced JSON list of [start_s, end_s] ranges")
    try:
        value = parse_json(body)
    except ValueError as error:
        raise SubmissionError(f"the report's ranges are not acceptable JSON: {error}") from error
    if not isinstance(value, list) or len(value) > MAX_RANGES:
        raise SubmissionError(f"the report's ranges are not a list of at most {MAX_RANGES}")
    ranges = sorted((_range(item, broken_s, slack_s) for item in value), key=lambda item: item.start_s)
    for earlier, later in pairwise(ranges):
        if later.start_s < earlier.end_s - ROUNDING_S:
            raise SubmissionError(f"the ranges that start at {earlier.start_s} and {later.start_s} s overlap")
    return ranges


def _fenced_blocks(report: str) -> Iterator[str]:
    """What stands between a fence, bare or marked as JSON, and the next line that is just the same fence."""
    fence: str | None = None
    body: list[str] = []
    for line in report.splitlines():
        if fence is not None and line.strip() == fence:
            yield "\n".join(body)
            fence = None
        elif fence is not None:
            body.append(line)
        elif opening := _OPENING_FENCE.fullmatch(line):
            fence, body = opening[1], []


def _range(item: object, broken_s: float, slack_s: float) -> TimeRange:
    if not isinstance(item, list) or len(item) != 2 or any(type(end) not in (int, float) for end in item):
        raise SubmissionError(f"{ascii(item)[:60]} is not a range [start_s, end_s]")
    start_s, end_s = float(item[0]), float(item[1])
    if not 0.0 <= start_s < end_s <= broken_s + slack_s:
        raise SubmissionError(f"[{start_s}, {end_s}] is not a range within the {broken_s:.3f} s of the file")
    return TimeRange(start_s=start_s, end_s=end_s)


def is_removed(time_s: float, ranges: Sequence[TimeRange]) -> bool:
    """Whether a frame at that time is cut; ends a rounding error off a frame's time are on it."""
    return any(item.start_s <= time_s + ROUNDING_S < item.end_s for item in ranges)


def removed_s(ranges: Sequence[TimeRange], broken_s: float) -> float:
    """How much the ranges take off a file of that length."""
    return sum(max(0.0, min(item.end_s, broken_s) - item.start_s) for item in ranges)


@dataclass
class RenderComparison:
    """Seconds are counted in frames; `expected` is the broken file without the reported ranges."""

    rate: Fraction
    exact_s: float = 0.0
    """The broken file's length less the ranges' lengths."""
    expected_frames: int = 0
    render_frames: int = 0
    ssims: list[float] = field(default_factory=list)

    @property
    def render_s(self) -> float:
        return self.render_frames / float(self.rate)

    @property
    def nearest_expected_s(self) -> float:
        """The exact length or that of whole frames, whichever is nearer: both are honest cuts."""
        lengths_s = self.exact_s, self.expected_frames / float(self.rate)
        return min(lengths_s, key=lambda length_s: abs(length_s - self.render_s))


def compare_render(
    broken: Path, render: Path, ranges: Sequence[TimeRange], rate: Fraction, drift_s: float
) -> RenderComparison:
    """Four frames a second of the render, each with the best nearby frame of what the cuts should leave.

    Nearby is ±2 frames, or as many as the permitted difference in length (ours: cuts snap to frames).
    """
    result = RenderComparison(rate)
    step = max(1, round(rate / SAMPLES_PER_S))
    expected = _around(_kept_frames(broken, ranges, result), max(MIN_DRIFT_FRAMES, math.ceil(drift_s * rate)))
    for slot, frame in enumerate(on_grid(render, rate)):
        nearby = next(expected)
        result.render_frames += 1
        if result.render_frames > 2 * result.expected_frames:
            break
        if slot % step == step // 2 and nearby:
            shown = small_luma(frame)
            result.ssims.append(max(_ssim(shown, small_luma(candidate)) for candidate in nearby))
    while next(expected):  # count what the render left out
        pass
    return result


def _kept_frames(broken: Path, ranges: Sequence[TimeRange], result: RenderComparison) -> Iterator[GridFrame]:
    slots = 0
    for slot, frame in enumerate(answer_frames(broken, result.rate)):
        slots = slot + 1
        if not is_removed(slot / float(result.rate), ranges):
            result.expected_frames += 1
            yield frame
    broken_s = slots / float(result.rate)
    result.exact_s = broken_s - removed_s(ranges, broken_s)


def _around(frames: Iterator[GridFrame], reach: int) -> Iterator[list[GridFrame]]:
    """The frames within `reach` of each place; empty lists once they are over."""
    held: deque[GridFrame | None] = deque([None] * (2 * reach + 1), maxlen=2 * reach + 1)
    held.extend(next(frames, None) for _ in range(reach))
    while True:
        held.append(next(frames, None))
        yield [frame for frame in held if frame is not None]


def small_luma(frame: GridFrame) -> Image:
    luma = frame.planes[0]
    return luma if luma.shape[0] <= SAMPLE_HEIGHT_PX else scaled(luma, SAMPLE_HEIGHT_PX / luma.shape[0])


def _ssim(a: Image, b: Image) -> float:
    return ssim_plane(a, b) if a.shape == b.shape else 0.0


def without_ranges(sound: Samples, ranges: Sequence[TimeRange]) -> tuple[Floats, list[int]]:
    """The 8 kHz sound with the ranges cut out, and the samples at which pieces meet."""
    kept: list[Samples] = []
    joints: list[int] = []
    position = length = 0
    for item in ranges:
        start, stop = round(item.start_s * SOUND_RATE_HZ), round(item.end_s * SOUND_RATE_HZ)
        kept.append(sound[position : max(position, start)])
        length += len(kept[-1])
        joints.append(length)
        position = max(position, stop)
    kept.append(sound[position:])
    return np.concatenate(kept, dtype=np.float64), joints


@dataclass(frozen=True)
class RenderSound:
    """Peak correlations of 1 s windows of what the cuts should leave with the render."""

    windows: list[float]
    """Every 0.5 s. Windows across a joint are left out where there are others: cuts snap to frames, so the two pieces
    in them may carry different lags."""
    beside_cuts: list[float]
    """Those that end or begin at a joint and have no other in them (ours): there a cut in another place is heard."""


def compare_render_sound(broken: Samples, render: Samples, ranges: Sequence[TimeRange], lag_s: float) -> RenderSound:
    expected, joints = without_ranges(broken, ranges)
    window, step = round(SOUND_WINDOW_S * SOUND_RATE_HZ), round(SOUND_STEP_S * SOUND_RATE_HZ)
    last = len(expected) - window

    def across(start: int) -> bool:
        return any(start < joint < start + window for joint in joints)

    def agreements(starts: Sequence[int]) -> list[tuple[int, float]]:
        max_lag = round(lag_s * SOUND_RATE_HZ)
        return block_agreement(expected, render, block=window, starts=starts, max_lag=max_lag, level=SOUND_LEVEL)

    rows = agreements(range(0, last + 1, step))
    whole = [value for start, value in rows if not across(start)]
    beside = [
        start for joint in joints for start in (joint - window, joint) if 0 <= start <= last and not across(start)
    ]
    return RenderSound(whole or [value for _, value in rows], [value for _, value in agreements(beside)])
