"""Repair tasks whose truth is known because the defect is put in here.

`golden_task` writes a task's answer folder for one of the ten
kinds: golden.mp4, broken.mp4 (the decoded golden with the defect put in) and truth.json.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np

from tests.verifiers.repair_clips import RATE_HZ, Clip, Export, Image, Sound, read_clip, write_clip
from verifiers.video_repair.anchors import measure_anchors
from verifiers.video_repair.schema import (
    TIMELINE_KINDS,
    Deliverables,
    Expected,
    ExpectedAudio,
    ExpectedVideo,
    Kind,
    ReferenceFile,
    TimeRange,
    Truth,
)

# --- defects -----------------------------------------------------------------------------------------------


def change_sound(clip: Clip, window: TimeRange, change: Callable[[Sound], Sound]) -> Clip:
    assert clip.sound is not None
    sound = clip.sound.copy()
    first, last = round(window.start_s * RATE_HZ), round(window.end_s * RATE_HZ)
    sound[first:last] = change(sound[first:last])
    return replace(clip, sound=sound)


def change_frames(clip: Clip, window: TimeRange, change: Callable[[Image], Image]) -> Clip:
    frames = [
        change(frame) if window.start_s <= index / clip.fps < window.end_s else frame
        for index, frame in enumerate(clip.frames)
    ]
    return replace(clip, frames=frames)


def add_noise(sound: Sound, snr_db: float = 5.0) -> Sound:
    """Pink noise."""
    spectrum = np.fft.rfft(np.random.default_rng(1).standard_normal(len(sound)))
    noise = np.fft.irfft(spectrum / np.sqrt(np.maximum(1, np.arange(len(spectrum)))), len(sound))
    gain = np.sqrt(np.mean(sound**2) / np.mean(noise**2)) * 10 ** (-snr_db / 20)
    return (sound + gain * noise).astype(np.float32)


def add_echo(sound: Sound, rt60_s: float = 0.8) -> Sound:
    """A decaying random tail, at the level of the dry sound."""
    count = round(rt60_s * RATE_HZ)
    tail = np.random.default_rng(2).standard_normal(count) * 10 ** (-3 * np.arange(count) / count)
    tail /= np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    size = 1 << (len(sound) + count).bit_length()
    wet = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(tail, size), size)[: len(sound)]
    return (wet * np.sqrt(np.mean(sound**2) / np.mean(wet**2))).astype(np.float32)


def clip_peaks(sound: Sound, share: float = 0.12) -> Sound:
    limit = share * float(np.max(np.abs(sound)))
    return np.clip(sound, -limit, limit)


def shift_colour(frame: Image) -> Image:
    gains = np.array([1.09, 0.98, 0.91], np.float32)
    gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)[..., None].astype(np.float32)
    shifted = (gray + 0.78 * (frame - gray) - 128.0) * 1.13 + 128.0
    return np.clip(shifted * gains, 0, 255).astype(np.uint8)


def blur(frame: Image) -> Image:
    return cv2.GaussianBlur(frame, (0, 0), 2.5)


def lose_sharpness(frame: Image) -> Image:
    height_px, width_px = frame.shape[:2]
    small = cv2.resize(frame, (width_px // 3, height_px // 3), interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width_px, height_px), interpolation=cv2.INTER_LINEAR)


WINDOW_CHANGES: dict[Kind, Callable[[Clip, TimeRange], Clip]] = {
    Kind.BACKGROUND_NOISE: lambda clip, window: change_sound(clip, window, add_noise),
    Kind.ROOM_ECHO: lambda clip, window: change_sound(clip, window, add_echo),
    Kind.CLIPPING: lambda clip, window: change_sound(clip, window, clip_peaks),
    Kind.COLOUR_SHIFT: lambda clip, window: change_frames(clip, window, shift_colour),
    Kind.BLUR: lambda clip, window: change_frames(clip, window, blur),
    Kind.LOST_SHARPNESS: lambda clip, window: change_frames(clip, window, lose_sharpness),
}


def pieces(clip: Clip, cuts: list[int]) -> list[Clip]:
    """The clip cut before each of these frames."""
    bounds = [0, *cuts, len(clip.frames)]
    parts = []
    for first, last in pairwise(bounds):
        sound = None
        if clip.sound is not None:
            start, stop = (round(frame / clip.fps * RATE_HZ) for frame in (first, last))
            sound = clip.sound[start:stop]
        parts.append(Clip(clip.frames[first:last], clip.fps, sound))
    return parts


def joined(parts: list[Clip]) -> Clip:
    frames = [frame for part in parts for frame in part.frames]
    sounds = [part.sound for part in parts if part.sound is not None]
    return Clip(frames, parts[0].fps, np.concatenate(sounds) if sounds else None)


def swap_shots(clip: Clip) -> Clip:
    """The second and the last quarter change places."""
    quarter = len(clip.frames) // 4
    a, b, c, d = pieces(clip, [quarter, 2 * quarter, 3 * quarter])
    return joined([a, d, c, b])


def insert(clip: Clip, extra: list[tuple[float, Clip]]) -> tuple[Clip, list[TimeRange]]:
    """The clip with other clips inserted at these times, and where they are in the result."""
    parts = pieces(clip, [round(time_s * clip.fps) for time_s, _ in extra])
    result = [parts[0]]
    ranges = []
    for (_, addition), part in zip(extra, parts[1:], strict=True):
        start_s = joined(result).duration_s
        ranges.append(TimeRange(start_s=start_s, end_s=start_s + addition.duration_s))
        result += [addition, part]
    return joined(result), ranges


def without(clip: Clip, ranges: list[TimeRange]) -> Clip:
    """What an honest editor leaves after cutting these ranges."""
    cuts = [round(end * clip.fps) for item in ranges for end in (item.start_s, item.end_s)]
    return joined(pieces(clip, cuts)[::2])


def _filler(clip: Clip, at_s: float, length_s: float) -> Clip:
    """A held vowel over pictures that go back and forth."""
    count, first = round(length_s * clip.fps), round(at_s * clip.fps)
    frames = [clip.frames[max(0, first - 1 - index % 12)] for index in range(count)]
    time_s = np.arange(round(count / clip.fps * RATE_HZ)) / RATE_HZ
    tone = sum(np.sin(2 * np.pi * 120 * k * time_s) / k for k in range(1, 9))
    return Clip(frames, clip.fps, None if clip.sound is None else (0.05 * tone).astype(np.float32))


def _cut_out(clip: Clip, start_s: float, end_s: float) -> Clip:
    return pieces(clip, [round(start_s * clip.fps), round(end_s * clip.fps)])[1]


def insert_defect(kind: Kind, clip: Clip) -> tuple[Clip, list[TimeRange]]:
    third = clip.duration_s / 3
    if kind is Kind.FILLER_WORDS:
        return insert(clip, [(at, _filler(clip, at, 0.5)) for at in (0.6 * third, 1.3 * third, 2.2 * third)])
    if kind is Kind.REPEATED_FRAMES:
        return insert(clip, [(at, _cut_out(clip, at - 0.8, at)) for at in (third, 2 * third)])
    wrong = pieces(clip, [round(1.2 * clip.fps)])[0]
    backwards = Clip(wrong.frames[::-1], wrong.fps, None if wrong.sound is None else wrong.sound[::-1])
    return insert(clip, [(2 * third, backwards)])


# --- tasks -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """An answer folder on disk and the same clips in memory, as decoded from it."""

    answers: Path
    truth: Truth
    golden: Clip
    broken: Clip


def golden_task(folder: Path, clip: Clip, kind: Kind, *, accepted: Expected | None = None) -> Task:
    """Write the answer folder of a task that puts `kind` into `clip`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_clip(folder / "golden.mp4", clip, Export(crf="14", audio_bit_rate=192_000))
    golden = read_clip(folder / "golden.mp4")
    window, ranges = None, []
    if kind in WINDOW_CHANGES:
        window = TimeRange(start_s=golden.duration_s * 0.3, end_s=golden.duration_s * 0.3 + 3.0)
        broken = WINDOW_CHANGES[kind](golden, window)
    elif kind in TIMELINE_KINDS:
        broken, ranges = insert_defect(kind, golden)
    else:
        broken = swap_shots(golden)
    write_clip(folder / "broken.mp4", broken)
    truth = Truth(
        kind=kind,
        golden=ReferenceFile(file="golden.mp4", sha256=digest(folder / "golden.mp4")),
        broken=ReferenceFile(file="broken.mp4", sha256=digest(folder / "broken.mp4")),
        deliverables=Deliverables(),
        expected=accepted or expected_of(golden),
        window=window,
        ranges=ranges,
    )
    truth = truth.model_copy(update={"anchors": measure_anchors(truth, folder)})
    (folder / "truth.json").write_text(truth.model_dump_json(indent=1), encoding="utf-8")
    return Task(folder, truth, golden, read_clip(folder / "broken.mp4"))


def expected_of(clip: Clip) -> Expected:
    height_px, width_px = clip.frames[0].shape[:2]
    return Expected(
        containers=["mp4"],
        duration_s=clip.duration_s,
        video=ExpectedVideo(codecs=["h264"], width_px=width_px, height_px=height_px, fps=str(clip.fps)),
        audio=None if clip.sound is None else ExpectedAudio(codecs=["aac"], rate_hz=RATE_HZ, channels=1),
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def report_of(ranges: list[TimeRange]) -> str:
    rows = ", ".join(f"[{item.start_s:.3f}, {item.end_s:.3f}]" for item in ranges)
    return f"# Report\n\nWhat I cut:\n\n```json\n[{rows}]\n```\n"
