"""A suite's own repair and repurpose tasks, loaded to be attacked, with what each trick may earn on them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from avb_mcp.attacks import _tricks as tricks
from avb_mcp.attacks import repair
from avb_mcp.attacks._base import NOTHING, Attack, Bound, at_least, at_most, exactly, hand_in_nothing
from avb_mcp.attacks._clips import CAREFUL, Clip, Export, spool_clip, write_clip
from avb_mcp.attacks._v3_copy import copy_at_most
from avb_mcp.attacks.repair import RepairTask
from avb_mcp.attacks.repair_v3 import EDIT, FORMAT, LOCALIZATION
from avb_mcp.tasks.answers import Answer
from avb_mcp.tasks.spec import MATERIALS
from verifiers._files import AnswerError
from verifiers._honesty import CLIP_SUFFIXES
from verifiers._json import load_answer_model
from verifiers.video_repair.schema import Truth
from verifiers.video_repair_v3.schema import Profile
from verifiers.video_repair_v3.truth import truth_windows

OF_SOUND = ("silence", "loud copy", "over-suppressed audio", "wrong rate or codec: 44.1 kHz", "control, +20 ms audio")
UNREPORTED = FORMAT + EDIT
"""The released scheme pays a film without a report at most this."""
ALMOST = 0.999


def repair_target(
    _workspace: Path, answers: Path, answer: Answer, other: Path | None, spool: Path
) -> tuple[RepairTask, Sequence[Attack[RepairTask]]]:
    folder = answers / answer.reference["answers"]
    truth = load_answer_model(folder / "truth.json", Truth)
    golden = spool_clip(folder / truth.golden.file, spool / "golden.yuv")
    broken = spool_clip(folder / truth.broken.file, spool / "broken.yuv")
    film = golden if other is None else spool_clip(other, spool / "other.yuv")
    task = RepairTask(folder, tuple(truth.ranges), golden, broken, film)
    attacks = repair.attacks_on(truth.kind)
    if golden.sound is None:
        attacks = tuple(attack for attack in attacks if not attack.name.startswith(OF_SOUND))
    if truth.expected.video is not None and "hevc" not in truth.expected.video.codecs:
        attacks = tuple(
            Attack(f"wrong rate or codec: {attack.name}", NOTHING, attack.hand_in)
            if "other codec" in attack.name
            else attack
            for attack in attacks
        )
    return task, attacks


# ---- repair by the released scheme


@dataclass(frozen=True)
class V3Own:
    answers: Path
    source_file: Path
    broken_file: Path
    source: Clip
    broken: Clip
    other: Clip
    report: str


V3HandIn = Callable[[V3Own, Path], None]


def repair_v3_target(
    workspace: Path, answers: Path, answer: Answer, other: Path | None, spool: Path
) -> tuple[V3Own, Sequence[Attack[V3Own]]]:
    source_file = answers / answer.reference["source"]
    profile = load_answer_model(answers / answer.reference["profile"], Profile)
    report = "".join(_diagnosis(truth.window.start_s, truth.window.end_s) for truth in truth_windows(profile))
    broken_file = _one_film(workspace)
    copied = copy_at_most(source_file, broken_file, profile, fix_v03=answer.options.get("fix_v03_window", False))
    source = spool_clip(source_file, spool / "source.yuv")
    broken = spool_clip(broken_file, spool / "broken.yuv")
    film = source if other is None else spool_clip(other, spool / "other.yuv")
    attacks = _v3_attacks(source.sound is not None, at_most(copied))
    return V3Own(answers, source_file, broken_file, source, broken, film, report), attacks


def _v3_attacks(heard: bool, copied: Bound) -> list[Attack[V3Own]]:
    """What the scheme pays a film that is not repaired is not ours to choose: stated as its upper bound."""
    silent = [
        Attack("silence", at_most(UNREPORTED), _v3_film(lambda task: tricks.silent(task.broken))),
        Attack("loud copy", at_most(UNREPORTED), _v3_film(lambda task: tricks.loud(task.broken))),
        Attack(
            "over-suppressed audio", at_most(UNREPORTED), _v3_film(lambda task: tricks.over_suppressed(task.broken))
        ),
    ]
    return [
        Attack("nothing submitted", NOTHING, hand_in_nothing),
        Attack("empty file", NOTHING, _v3_empty),
        Attack("verbatim broken", copied, _v3_copy(lambda task: task.broken_file)),
        Attack("re-encoded broken", at_most(UNREPORTED), _v3_film(lambda task: task.broken)),
        *(silent if heard else []),
        Attack("black", at_most(UNREPORTED), _v3_film(lambda task: tricks.black(task.broken))),
        Attack("wrong length", at_most(UNREPORTED), _v3_film(lambda task: tricks.first_half(task.source))),
        Attack("golden of another task", at_most(0.5 * UNREPORTED), _v3_film(lambda task: task.other)),
        Attack("NaN JSON: times that are no numbers", copied, _v3_nan),
        Attack("symlink to the answer", NOTHING, _v3_link),
        Attack("honest ranges, wrong render: no film", exactly(LOCALIZATION), _v3_report),
        Attack("control, golden", exactly(1.0), _v3_copy(lambda task: task.source_file, reported=True)),
        Attack("control, honest re-encode", at_least(0.7), _v3_film(lambda task: task.source, reported=True)),
    ]


def _diagnosis(start: object, end: object) -> str:
    return f"## Diagnosis\n- type: defect\n- start: {start}\n- end: {end}\n"


def _v3_film(show: Callable[[V3Own], Clip], *, reported: bool = False, export: Export = CAREFUL) -> V3HandIn:
    def hand_in(task: V3Own, outputs: Path) -> None:
        write_clip(outputs / repair.MEDIA, show(task), export)
        if reported:
            _v3_report(task, outputs)

    return hand_in


def _v3_copy(choose: Callable[[V3Own], Path], *, reported: bool = False) -> V3HandIn:
    def hand_in(task: V3Own, outputs: Path) -> None:
        shutil.copyfile(choose(task), outputs / repair.MEDIA)
        if reported:
            _v3_report(task, outputs)

    return hand_in


def _v3_report(task: V3Own, outputs: Path) -> None:
    (outputs / repair.REPORT).write_text(task.report, encoding="utf-8")


def _v3_nan(task: V3Own, outputs: Path) -> None:
    shutil.copyfile(task.broken_file, outputs / repair.MEDIA)
    (outputs / repair.REPORT).write_text(_diagnosis("NaN", "Infinity"), encoding="utf-8")


def _v3_empty(_task: V3Own, outputs: Path) -> None:
    (outputs / repair.MEDIA).write_bytes(b"")


def _v3_link(task: V3Own, outputs: Path) -> None:
    (outputs / repair.MEDIA).symlink_to(task.source_file)


def _one_film(workspace: Path) -> Path:
    films = sorted(path for path in (workspace / MATERIALS).rglob("*") if path.suffix.lower() in CLIP_SUFFIXES)
    if not films:
        raise AnswerError(f"{workspace.name} has no film among its materials")
    return films[0]


# ---- repurpose


@dataclass(frozen=True)
class FilmOwn:
    answers: Path
    source_file: Path
    source: Clip
    name: str


def _unchanged(task: FilmOwn, outputs: Path) -> None:
    shutil.copyfile(task.source_file, outputs / task.name)


def repurpose_target(
    workspace: Path, answers: Path, answer: Answer, _other: Path | None, spool: Path
) -> tuple[FilmOwn, Sequence[Attack[FilmOwn]]]:
    """A rubric pays for what holds; only a film that is not there is worth nothing, and no trick everything."""
    source_file = _one_film(workspace)
    task = FilmOwn(answers, source_file, spool_clip(source_file, spool / "source.yuv"), answer.submission["final"])
    less = at_most(ALMOST)

    def shown(change: Callable[[Clip], Clip]) -> Callable[[FilmOwn, Path], None]:
        return lambda task, outputs: write_clip(outputs / task.name, change(task.source))

    attacks: list[Attack[FilmOwn]] = [
        Attack("nothing submitted", NOTHING, hand_in_nothing),
        Attack("empty file", NOTHING, lambda task, outputs: (outputs / task.name).touch()),
        Attack(
            "symlink to the answer", NOTHING, lambda task, outputs: (outputs / task.name).symlink_to(task.source_file)
        ),
        Attack(
            "verbatim broken",
            less,
            _unchanged,
        ),
        Attack("black", less, shown(tricks.black)),
        Attack("wrong length", less, shown(lambda clip: clip.part(0.0, 0.5))),
    ]
    if task.source.sound is not None:
        attacks.append(Attack("silence", less, shown(tricks.silent)))
    return task, attacks
