"""Does the rendered file show the clips that the manifest claims? (contract, "Optional honesty factor")

For every slot, three frames (25, 50 and 75 %) of the claimed stretch of the render are compared with the same
places of the claimed part of the claimed clip: SSIM ≥ 0.95 on pictures of at most 360 px on the long side,
best of ±2 frames on either side. Claimed stretches must follow one another and last as long as the part of
the clip they claim to show **(ours)**: otherwise a manifest could point at the right picture in the wrong
place.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from verifiers._clips import Segment
from verifiers._files import AnswerError, SubmissionError, SubmissionMissing, require_submission_file
from verifiers._media import MediaError, video_frames
from verifiers._ssim import WINDOW_PX, ssim

PLACES = (0.25, 0.50, 0.75)
MIN_SSIM = 0.95
LONG_SIDE_PX = 360
NEIGHBOUR_FRAMES = 2
RANGE_TOLERANCE_S = 0.10
MAX_RENDER_BYTES = 8 << 30
CLIP_SUFFIXES = (".mp4", ".mov", ".mkv", ".webm")

Gray = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Honesty:
    """Which slots the render shows as claimed; all of them when honesty is not checked."""

    slots: tuple[bool, ...]
    checked: bool
    reasons: list[str] = field(default_factory=list)

    @property
    def factor(self) -> float:
        return sum(self.slots) / len(self.slots) if self.slots else 1.0

    def components(self) -> dict[str, float]:
        return {"honesty": self.factor} if self.checked else {}


@dataclass(frozen=True)
class Neighbourhood:
    """The frame shown at one moment and the frames just around it."""

    centre: Gray
    around: tuple[Gray, ...]


def add_honesty_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--render", type=Path, help="the submitted solution.mp4: turns the honesty factor on")
    parser.add_argument("--clips", type=Path, help="the folder of the task's clips, for --render")


def honesty_of(segments: Sequence[Segment], render: Path | None, clips: Path | None) -> Honesty:
    """Check every slot, or none when neither `render` nor `clips` is given."""
    if render is None and clips is None:
        return Honesty(tuple(True for _ in segments), checked=False)
    if render is None or clips is None or not clips.is_dir():
        raise AnswerError("the honesty factor needs both --render and an existing --clips folder")
    found = (file for file in sorted(clips.iterdir()) if file.suffix.lower() in CLIP_SUFFIXES)
    files = {file.stem: file.resolve() for file in found}
    faults = claim_faults(segments)
    slots = [slot for slot in range(len(segments)) if slot not in faults]
    try:
        require_submission_file(render, max_bytes=MAX_RENDER_BYTES)
        shown = _render_frames(render, [segments[slot] for slot in slots])
    except (MediaError, SubmissionMissing) as error:
        raise SubmissionError(f"the render cannot be checked: {error}") from error
    for slot, places in zip(slots, shown, strict=True):
        fault = _slot_fault(segments[slot], places, files)
        if fault:
            faults[slot] = fault
    return Honesty(
        tuple(slot not in faults for slot in range(len(segments))),
        checked=True,
        reasons=[f"slot {slot + 1}: {faults[slot]}" for slot in sorted(faults)],
    )


def claim_faults(segments: Sequence[Segment]) -> dict[int, str]:
    """Slots whose claimed ranges cannot be true, whatever the render shows."""
    faults = {}
    end_s = 0.0
    for slot, segment in enumerate(segments):
        if segment.source_range_s is None or segment.output_range_s is None:
            faults[slot] = "source_range and output must be [start, end] in seconds with start < end"
            continue
        source_s = segment.source_range_s[1] - segment.source_range_s[0]
        output_s = segment.output_range_s[1] - segment.output_range_s[0]
        if abs(source_s - output_s) > RANGE_TOLERANCE_S:
            faults[slot] = f"{source_s:.2f} s of the clip are claimed to fill {output_s:.2f} s"
        elif segment.output_range_s[0] < end_s - RANGE_TOLERANCE_S:
            faults[slot] = "its stretch starts before the one of the slot before it has ended"
        end_s = max(end_s, segment.output_range_s[1])
    return faults


def frames_at(path: Path, times_s: Sequence[float]) -> dict[float, Neighbourhood]:
    """The frame shown at each time with its neighbours, in one decode; times past the end are left out."""
    waiting = sorted(set(times_s))
    found: dict[float, Neighbourhood] = {}
    for window in _windows(path):
        centre, following = window[NEIGHBOUR_FRAMES], window[NEIGHBOUR_FRAMES + 1]
        assert centre is not None
        shown_until_s = centre.time_s + RANGE_TOLERANCE_S if following is None else following.time_s
        around = tuple(frame.gray for frame in window if frame is not None)
        while waiting and waiting[0] < shown_until_s:
            found[waiting.pop(0)] = Neighbourhood(centre.gray, around)
        if not waiting:
            break
    return found


def same_picture(render: Neighbourhood, clip: Neighbourhood) -> bool:
    """One side's centre frame against the other's neighbourhood, both ways."""
    pairs = [(render.centre, picture) for picture in clip.around]
    pairs += [(picture, clip.centre) for picture in render.around]
    return any(_similar(shown, claimed) for shown, claimed in pairs)


def _slot_fault(segment: Segment, shown: Sequence[Neighbourhood | None], clips: dict[str, Path]) -> str:
    path = clips.get(segment.clip)
    if path is None:
        return f"the task has no clip {segment.clip[:40]!a}"
    times_s = _places(segment.source_range_s)
    try:
        claimed = frames_at(path, times_s)
    except MediaError as error:
        raise AnswerError(f"a clip of the task does not decode: {error}") from error
    for place, time_s, picture in zip(PLACES, times_s, shown, strict=True):
        if picture is None:
            return "its stretch lies beyond the end of the render"
        if time_s not in claimed:
            return f"its source_range lies beyond the end of the clip {segment.clip}"
        if not same_picture(picture, claimed[time_s]):
            return f"at {place:.0%} of its stretch the render does not show the clip {segment.clip}"
    return ""


def _render_frames(render: Path, segments: Sequence[Segment]) -> list[list[Neighbourhood | None]]:
    places = [_places(segment.output_range_s) for segment in segments]
    found = frames_at(render, [time_s for times_s in places for time_s in times_s])
    return [[found.get(time_s) for time_s in times_s] for times_s in places]


def _places(range_s: tuple[float, float] | None) -> list[float]:
    if range_s is None:
        raise ValueError("a slot without ranges is a fault before this")
    start_s, end_s = range_s
    return [start_s + place * (end_s - start_s) for place in PLACES]


@dataclass(frozen=True)
class _SmallFrame:
    time_s: float
    gray: Gray


def _windows(path: Path) -> Iterator[tuple[_SmallFrame | None, ...]]:
    """Every frame in the middle of its neighbours; None where the file has none."""
    size = 2 * NEIGHBOUR_FRAMES + 1
    held: deque[_SmallFrame | None] = deque([None] * size, maxlen=size)
    frames = (_SmallFrame(frame.time_s, _small(frame.gray())) for frame in video_frames(path))
    for frame in chain(frames, [None] * NEIGHBOUR_FRAMES):
        held.append(frame)
        if held[NEIGHBOUR_FRAMES] is not None:
            yield tuple(held)


def _small(gray: Gray) -> Gray:
    scale = LONG_SIDE_PX / max(gray.shape)
    if scale >= 1:
        return gray
    height_px, width_px = (max(1, round(side * scale)) for side in gray.shape)
    return np.asarray(cv2.resize(gray, (width_px, height_px), interpolation=cv2.INTER_AREA), np.uint8)


def _similar(shown: Gray, claimed: Gray) -> bool:
    if shown.shape != claimed.shape:
        size = (claimed.shape[1], claimed.shape[0])
        shown = np.asarray(cv2.resize(shown, size, interpolation=cv2.INTER_AREA), np.uint8)
    return min(claimed.shape) >= WINDOW_PX and ssim(claimed, shown) >= MIN_SSIM
