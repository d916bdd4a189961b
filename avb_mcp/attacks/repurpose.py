"""Attacks on repurpose: a short upright film is asked for, and scored by a rubric of independent items.

A rubric pays for every item that holds, whoever hands the film in: a trick loses the items that it breaks and,
since a person looks at the film, the content item. What is left is stated; no more than that may be paid.
There is no JSON to forge in this family.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from avb_mcp.attacks import _tricks as tricks
from avb_mcp.attacks._base import NOTHING, Attack, Target, at_most, exactly, hand_in_nothing
from avb_mcp.attacks._clips import (
    CAREFUL,
    FRAGMENTED,
    HEVC,
    NO_EDIT_LIST,
    OTHER_CODECS,
    QUICKTIME,
    Clip,
    Export,
    Image,
    from_bgr,
    joined,
    to_bgr,
    write_clip,
)
from avb_mcp.attacks._footage import Footage
from avb_mcp.tasks.answers import repurpose_answer, save_answer

FAMILY = "repurpose"
FINAL = "final.mp4"
UPRIGHT = (90, 160)
LENGTH_S = 3.5
LEVEL_RMS = 0.1
QUIET_GAIN = 0.005
CONTENT = "content"


def _item(item: str, pillar: int, weight: float, kind: str, **params: object) -> dict[str, Any]:
    return {"id": item, "pillar": pillar, "weight": weight, "dispatch": "python", "kind": kind, "params": params}


RUBRIC: tuple[dict[str, Any], ...] = (
    _item("length", 0, 3, "ffprobe_duration_range", min=3.0, max=4.0),
    _item("size", 0, 3, "ffprobe_resolution_eq", width=UPRIGHT[0], height=UPRIGHT[1]),
    _item("picture codec", 0, 1, "ffprobe_video_codec_in", codecs=["h264", "hevc"]),
    _item("sound codec", 0, 1, "ffprobe_audio_codec_in", codecs=["aac"]),
    _item("container", 0, 1, "ffprobe_format_in", substrings=["mp4"]),
    _item("no black", 1, 2, "ffmpeg_blackdetect_max_run", max_seconds=0.5),
    _item("bright", 1, 1, "ffmpeg_brightness_at_times", times=[0.5, 1.5, 2.5], min_brightness=20),
    {"id": CONTENT, "pillar": 2, "weight": 6, "dispatch": "llm", "prompt": "Does it tell the story of the source?"},
    _item("loudness", 3, 2, "ffmpeg_loudness_lufs_range", min=-26, max=-12),
    _item("audible", 3, 1, "ffmpeg_audio_loudness_min", threshold_db=-40),
    _item("no gap", 3, 1, "librosa_silence_max_run", max_seconds=2.0, threshold_db=-50),
    _item("decodes", 0, -4, "ffmpeg_decode_no_errors"),
)
TOTAL = sum(float(item["weight"]) for item in RUBRIC if item["weight"] > 0)


def without(*items: str) -> float:
    """The score of a film that fails these items and passes the rest."""
    lost = sum(abs(float(item["weight"])) for item in RUBRIC if item["id"] in items)
    return 1.0 - lost / TOTAL


@dataclass(frozen=True)
class RepurposeTask:
    answers: Path
    source: Clip
    golden: Clip
    other: Clip
    """Another task's film, made upright."""


def build(content: bool, footage: Footage, answers: Path) -> RepurposeTask:
    """`content` is what a person says about the film that is handed in."""
    (answers / "rubric.json").write_text(json.dumps(RUBRIC), encoding="utf-8")
    (answers / "labels.json").write_text(json.dumps({CONTENT: content}), encoding="utf-8")
    task = RepurposeTask(answers, footage.film, _upright(footage.film), _upright(footage.other))
    write_clip(answers / FINAL, task.golden)
    save_answer(repurpose_answer("attack-repurpose", labels=True), answers)
    return task


def _upright(clip: Clip) -> Clip:
    """The middle of the picture, the middle of the film, at the level that is asked for."""
    middle = clip.part((clip.duration_s - LENGTH_S) / 2, (clip.duration_s + LENGTH_S) / 2)
    width_px, height_px = middle.size
    crop_px = height_px * UPRIGHT[0] // UPRIGHT[1]
    left = (width_px - crop_px) // 2
    frames = [_scaled(to_bgr(frame)[:, left : left + crop_px]) for frame in middle.frames]
    sound = middle.heard()
    return replace(middle, frames=frames).with_sound(sound * LEVEL_RMS / np.sqrt(np.mean(sound**2)))


def _scaled(pixels: Image) -> Image:
    return from_bgr(cv2.resize(pixels, UPRIGHT, interpolation=cv2.INTER_AREA))


# ---- what is handed in

Show = Callable[[RepurposeTask], Clip]
HandIn = Callable[[RepurposeTask, Path], None]


def _golden(task: RepurposeTask) -> Clip:
    return task.golden


def _source(task: RepurposeTask) -> Clip:
    return task.source


def _handed(show: Show, export: Export = CAREFUL) -> HandIn:
    return lambda task, outputs: write_clip(outputs / FINAL, show(task), export)


def _empty(_task: RepurposeTask, outputs: Path) -> None:
    (outputs / FINAL).write_bytes(b"")


def _link(task: RepurposeTask, outputs: Path) -> None:
    (outputs / FINAL).symlink_to(task.answers / FINAL)


def _damaged(task: RepurposeTask, outputs: Path) -> None:
    """Bytes of the picture overwritten here and there."""
    content = bytearray((task.answers / FINAL).read_bytes())
    start = content.index(b"mdat") + len(content) // 8
    for at in range(start, len(content) - 4096, 2000):
        content[at : at + 60] = b"\xff" * 60
    (outputs / FINAL).write_bytes(content)


def _squeezed(task: RepurposeTask) -> Clip:
    """The whole wide picture in the upright number of pixels."""
    middle = task.source.part(0.0, LENGTH_S)
    return replace(middle, frames=[_scaled(to_bgr(frame)) for frame in middle.frames])


def _quiet(clip: Clip) -> Clip:
    return clip.with_sound(QUIET_GAIN * clip.heard())


# ---- the attacks; the first list is what a person rejects, the second what still tells the story

_ASPECT = Fraction(16 * UPRIGHT[1], 9 * UPRIGHT[0])
_NOTHING: dict[str, HandIn] = {
    "nothing submitted": hand_in_nothing,
    "empty file": _empty,
    "symlink to the answer": _link,
}
_REJECTED: Mapping[str, tuple[tuple[str, ...], HandIn]] = {
    "verbatim broken": (("length", "size"), _handed(_source)),
    "re-encoded broken": (("length", "size"), _handed(_source, Export(crf=30, audio_bit_rate_bps=48_000))),
    "broken with one changed frame": (("length", "size"), _handed(lambda task: tricks.one_changed_frame(task.source))),
    "silence": (("loudness", "audible", "no gap"), _handed(lambda task: tricks.silent(task.golden))),
    "black": (("no black", "bright"), _handed(lambda task: tricks.black(task.golden))),
    "over-suppressed audio": (("loudness", "audible", "no gap"), _handed(lambda task: _quiet(task.golden))),
    "golden of another task": ((), _handed(lambda task: task.other)),
    "non-square pixels": ((), _handed(_squeezed, Export(pixel_aspect=_ASPECT))),
}
_FLAWED: Mapping[str, tuple[tuple[str, ...], HandIn]] = {
    "loud copy": (("loudness",), _handed(lambda task: tricks.loud(task.golden))),
    "wrong length": (("length",), _handed(lambda task: joined([task.golden, task.golden]))),
    "wrong rate or codec": (("picture codec", "sound codec"), _handed(_golden, OTHER_CODECS)),
    "wrong rate or codec: Matroska": (("container",), _handed(_golden, Export(container="matroska"))),
    "damaged file": (("decodes",), _damaged),
}
_CONTROLS: dict[str, HandIn] = {
    "golden": _handed(_golden),
    "other codec": _handed(_golden, HEVC),
    "other container flavour: fragmented": _handed(_golden, FRAGMENTED),
    "other container flavour: fragmented, no edit list": _handed(_golden, NO_EDIT_LIST),
    "other container flavour: QuickTime": _handed(_golden, QUICKTIME),
    "one-frame drift": _handed(lambda task: tricks.one_frame_late(task.golden)),
    "+20 ms audio": _handed(lambda task: tricks.late_sound(task.golden)),
}

TARGETS = (
    Target(
        FAMILY,
        "content rejected",
        lambda footage, answers: build(False, footage, answers),
        (
            *(Attack(name, NOTHING, hand_in) for name, hand_in in _NOTHING.items()),
            *(Attack(name, at_most(without(CONTENT, *lost)), hand_in) for name, (lost, hand_in) in _REJECTED.items()),
        ),
    ),
    Target(
        FAMILY,
        "content accepted",
        lambda footage, answers: build(True, footage, answers),
        (
            *(Attack(name, at_most(without(*lost)), hand_in) for name, (lost, hand_in) in _FLAWED.items()),
            *(Attack(f"control, {name}", exactly(1.0), hand_in) for name, hand_in in _CONTROLS.items()),
        ),
    ),
)
