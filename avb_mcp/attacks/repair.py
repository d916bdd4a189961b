"""Attacks on repair as suites built here score it (Appendix H.1): one task for each of the ten defects.

Broken input in whatever disguise is worth nothing. What the contract and the measured facts behind it leave above
0 is stated: an over-suppressed sound is a poor repair, worth at most 0.30; a shot swap has no gate on length but
a penalty, 0.2 for half of the film.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from avb_mcp.attacks import _tricks as tricks
from avb_mcp.attacks._base import NOTHING, Attack, Target, at_least, at_most, exactly, hand_in_nothing
from avb_mcp.attacks._clips import (
    CAREFUL,
    FRAGMENTED,
    HEVC,
    MASTER,
    NO_EDIT_LIST,
    OTHER_CODECS,
    OTHER_RATE,
    QUICKTIME,
    RATE_HZ,
    Clip,
    Export,
    read_clip,
    write_clip,
)
from avb_mcp.attacks._defects import break_clip, cut_ranges
from avb_mcp.attacks._footage import Footage
from avb_mcp.tasks.answers import repair_answer, save_answer
from verifiers.video_repair.anchors import measure_anchors
from verifiers.video_repair.schema import (
    AUDIO_KINDS,
    TIMELINE_KINDS,
    Expected,
    ExpectedAudio,
    ExpectedVideo,
    Kind,
    ReferenceFile,
    TimeRange,
    Truth,
)

FAMILY = "repair"
MEDIA, REPORT = "fixed.mp4", "report.md"
GOLDEN, BROKEN = "golden.mp4", "broken.mp4"


@dataclass(frozen=True)
class RepairTask:
    answers: Path
    ranges: tuple[TimeRange, ...]
    golden: Clip
    broken: Clip
    other: Clip
    """Another task's film."""


def build(kind: Kind, footage: Footage, answers: Path) -> RepairTask:
    write_clip(answers / GOLDEN, footage.film, MASTER)
    golden = read_clip(answers / GOLDEN)
    damaged = break_clip(golden, kind)
    write_clip(answers / BROKEN, damaged.clip)
    truth = Truth(
        kind=kind,
        golden=_reference(answers / GOLDEN),
        broken=_reference(answers / BROKEN),
        expected=_expected(golden),
        window=damaged.window,
        ranges=list(damaged.ranges),
    )
    truth = truth.model_copy(update={"anchors": measure_anchors(truth, answers)})
    (answers / "truth.json").write_text(truth.model_dump_json(indent=1), encoding="utf-8")
    save_answer(repair_answer(f"attack-{kind}"), answers)
    return RepairTask(answers, damaged.ranges, golden, read_clip(answers / BROKEN), footage.other)


def _reference(path: Path) -> ReferenceFile:
    return ReferenceFile(file=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def _expected(clip: Clip) -> Expected:
    width_px, height_px = clip.size
    return Expected(
        containers=["mp4"],
        duration_s=clip.duration_s,
        video=ExpectedVideo(codecs=["h264", "hevc"], width_px=width_px, height_px=height_px, fps=str(clip.fps)),
        audio=ExpectedAudio(codecs=["aac"], rate_hz=RATE_HZ, channels=1),
    )


# ---- what is handed in

Show = Callable[[RepairTask], Clip]
Say = Callable[[RepairTask], str]
HandIn = Callable[[RepairTask, Path], None]


def report_of(ranges: Sequence[TimeRange]) -> str:
    return _fenced("[" + ", ".join(f"[{item.start_s:.3f}, {item.end_s:.3f}]" for item in ranges) + "]")


def _fenced(text: str) -> str:
    return f"# Report\n\n```json\n{text}\n```\n"


def _right_report(task: RepairTask) -> str:
    return report_of(task.ranges)


def _golden(task: RepairTask) -> Clip:
    return task.golden


def _broken(task: RepairTask) -> Clip:
    return task.broken


def _handed(show: Show, export: Export = CAREFUL, say: Say = _right_report) -> HandIn:
    def hand_in(task: RepairTask, outputs: Path) -> None:
        write_clip(outputs / MEDIA, show(task), export)
        (outputs / REPORT).write_text(say(task), encoding="utf-8")

    return hand_in


def _changed(show: Show, *changes: Callable[[Clip], Clip]) -> Show:
    def changed(task: RepairTask) -> Clip:
        clip = show(task)
        for change in changes:
            clip = change(clip)
        return clip

    return changed


def _empty_file(task: RepairTask, outputs: Path) -> None:
    (outputs / MEDIA).write_bytes(b"")
    (outputs / REPORT).write_text(_right_report(task), encoding="utf-8")


def _verbatim(name: str, place: Callable[[Path, Path], object]) -> HandIn:
    """A file of the answers folder itself, copied or linked."""

    def hand_in(task: RepairTask, outputs: Path) -> None:
        place(task.answers / name, outputs / MEDIA)
        (outputs / REPORT).write_text(_right_report(task), encoding="utf-8")

    return hand_in


def _moved(task: RepairTask) -> list[TimeRange]:
    return [TimeRange(start_s=item.start_s + 0.7, end_s=item.end_s + 0.7) for item in task.ranges]


def _comb(task: RepairTask) -> list[TimeRange]:
    """Half-second cuts everywhere, each of which could be a true one."""
    return [TimeRange(start_s=at / 2 + 0.2, end_s=at / 2 + 0.65) for at in range(int(2 * task.broken.duration_s) - 2)]


def _whole(task: RepairTask) -> str:
    return report_of([TimeRange(start_s=0.0, end_s=task.broken.duration_s)])


# ---- the attacks

_ALWAYS_NOTHING: dict[str, HandIn] = {
    "nothing submitted": hand_in_nothing,
    "empty file": _empty_file,
    "verbatim broken": _verbatim(BROKEN, shutil.copyfile),
    "symlink to the answer": _verbatim(GOLDEN, lambda file, link: link.symlink_to(file)),
    "re-encoded broken": _handed(_broken),
    "re-encoded broken: badly": _handed(_broken, Export(crf=30, audio_bit_rate_bps=48_000)),
    "re-encoded broken: as HEVC": _handed(_broken, HEVC),
    "broken with one changed frame": _handed(_changed(_broken, tricks.one_changed_frame)),
    "silence: over the broken picture": _handed(_changed(_broken, tricks.silent)),
    "silence: over the golden picture": _handed(_changed(_golden, tricks.silent)),
    "black: with the broken sound": _handed(_changed(_broken, tricks.black)),
    "black: with the golden sound": _handed(_changed(_golden, tricks.black)),
    "loud copy": _handed(_changed(_broken, tricks.loud)),
    "golden of another task": _handed(lambda task: task.other),
    "wrong rate or codec: 44.1 kHz": _handed(_golden, OTHER_RATE),
    "wrong rate or codec: MPEG-4 and MP3": _handed(_golden, OTHER_CODECS),
    "wrong rate or codec: Matroska": _handed(_golden, Export(container="matroska")),
    "non-square pixels": _handed(_golden, Export(pixel_aspect=Fraction(4, 3))),
}
_HALF = _handed(_changed(_golden, tricks.first_half))
_OVER_SUPPRESSED = _handed(_changed(_broken, tricks.over_suppressed))
_TIMELINE_NOTHING: dict[str, HandIn] = {
    "all-range claim: the whole file": _handed(_golden, say=_whole),
    "all-range claim: cuts everywhere, honestly rendered": _handed(
        lambda task: cut_ranges(task.broken, _comb(task)), say=lambda task: report_of(_comb(task))
    ),
    "honest ranges, wrong render": _handed(lambda task: cut_ranges(task.broken, _moved(task))),
    "wrong ranges, right render": _handed(_golden, say=lambda task: report_of(_moved(task))),
    "lying manifest": _handed(lambda task: task.broken.part(0.0, task.golden.duration_s)),
    "NaN JSON": _handed(_golden, say=lambda _: _fenced("[[NaN, 1.0]]")),
    "Infinity JSON": _handed(_golden, say=lambda _: _fenced("[[0.0, Infinity]]")),
    "huge JSON: a number beyond all numbers": _handed(_golden, say=lambda _: _fenced("[[0.0, 1e999]]")),
    "huge JSON: 100,000 ranges": _handed(_golden, say=lambda task: report_of([*task.ranges] * 100_000)),
    "duplicate JSON: every range twice": _handed(_golden, say=lambda task: report_of([*task.ranges] * 2)),
    "deep JSON": _handed(_golden, say=lambda _: _fenced("[" * 100_000 + "]" * 100_000)),
}
_CONTROLS: dict[str, HandIn] = {
    "control, honest re-encode": _handed(_golden),
    "control, other codec": _handed(_golden, HEVC),
    "control, other container flavour: fragmented": _handed(_golden, FRAGMENTED),
    "control, other container flavour: fragmented, no edit list": _handed(_golden, NO_EDIT_LIST),
    "control, other container flavour: QuickTime": _handed(_golden, QUICKTIME),
    "control, one-frame drift": _handed(_changed(_golden, tricks.one_frame_late)),
    "control, +20 ms audio": _handed(_changed(_golden, tricks.late_sound)),
}


def attacks_on(kind: Kind) -> tuple[Attack[RepairTask], ...]:
    attacks = [Attack(name, NOTHING, hand_in) for name, hand_in in _ALWAYS_NOTHING.items()]
    if kind in TIMELINE_KINDS:
        attacks += [Attack(name, NOTHING, hand_in) for name, hand_in in _TIMELINE_NOTHING.items()]
        cut = _handed(lambda task: cut_ranges(task.broken, task.ranges))
        attacks.append(Attack("control, golden", exactly(1.0), cut))
    else:
        attacks.append(Attack("control, golden", exactly(1.0), _verbatim(GOLDEN, shutil.copyfile)))
    return (
        *attacks,
        Attack("wrong length", at_most(0.2) if kind is Kind.SHOT_SWAP else NOTHING, _HALF),
        Attack("over-suppressed audio", at_most(0.30) if kind in AUDIO_KINDS else NOTHING, _OVER_SUPPRESSED),
        *(Attack(name, at_least(0.9), hand_in) for name, hand_in in _CONTROLS.items()),
    )


TARGETS = tuple(Target(FAMILY, kind.value, partial(build, kind), attacks_on(kind)) for kind in Kind)
