"""Attacks on repair by the released scheme: a colour grade, a noise and a desync, each one window of a film.

The scheme pays for what was never broken: 5 points for the format and, where the damaged signal is lost
altogether, 60 points times the share of the other one. With the defects here that floor is exactly
0.05 + 0.60 * 0.1 = 0.11, and it is stated rather than hidden; on top of it a report earns what it earns.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp
from pathlib import Path

import numpy as np

from avb_mcp.attacks import _tricks as tricks
from avb_mcp.attacks._base import NOTHING, Attack, Bound, Target, at_least, at_most, exactly, hand_in_nothing
from avb_mcp.attacks._clips import (
    CAREFUL,
    FRAGMENTED,
    HEVC,
    MASTER,
    NO_EDIT_LIST,
    OTHER_SOUND,
    QUICKTIME,
    RATE_HZ,
    Clip,
    Export,
    Image,
    read_clip,
    write_clip,
)
from avb_mcp.attacks._defects import WINDOW, Pixels, add_noise, damage_picture, damage_sound
from avb_mcp.attacks._footage import FILM_S, Footage
from avb_mcp.tasks.answers import repair_v3_answer, save_answer

FAMILY = "repair_v3"
MEDIA, REPORT, SOURCE, BROKEN = "fixed.mp4", "report.md", "source.mp4", "broken.mp4"
SCENES_S = ((0.0, 1.5), (1.5, 4.5), (4.5, FILM_S))
TARGET_SCENE = 1
DELAY_S = 0.5
GRADE, NOISE, DESYNC = "v04_color_grade_shift", "v05_noise_floor_spike", "v07_audio_video_desync"

FORMAT, LOCALIZATION, EDIT = 0.05, 0.35, 0.60
FLOOR = FORMAT + EDIT * 0.1
"""What the untouched signal and the format pay, whoever hands them in."""
WHOLE_FILM_S, WRONG_S = (0.0, FILM_S), (FILM_S - 0.8, FILM_S - 0.3)


def report_worth(start_s: float, end_s: float, variant: str) -> float:
    """What a report of one window earns by the contract: scene, both ends, overlap within the outer span."""
    target_s = (0.0, FILM_S) if variant == DESYNC else SCENES_S[TARGET_SCENE]
    scene = end_s >= target_s[0] and start_s <= target_s[1]
    ends = exp(-3 * abs(start_s - WINDOW.start_s)) + exp(-3 * abs(end_s - WINDOW.end_s))
    common_s = max(0.0, min(end_s, WINDOW.end_s) - max(start_s, WINDOW.start_s))
    span_s = max(end_s, WINDOW.end_s) - min(start_s, WINDOW.start_s)
    return 0.05 * scene + 0.10 * (ends + common_s / span_s)


@dataclass(frozen=True)
class V3Task:
    answers: Path
    source: Clip
    broken: Clip
    other: Clip


def _grade(pixels: Image) -> Pixels:
    """Far bluer: nothing is left of the frame values inside."""
    return np.asarray(pixels * np.array([1.6, 0.9, 0.3]) + np.array([60, 0, 0]))


def _desync(clip: Clip) -> Clip:
    late = np.roll(clip.heard(), round(DELAY_S * RATE_HZ))
    inside = slice(round(WINDOW.start_s * RATE_HZ), round(WINDOW.end_s * RATE_HZ))
    return damage_sound(clip, lambda _: late[inside])


VARIANTS: dict[str, Callable[[Clip], Clip]] = {
    GRADE: lambda clip: damage_picture(clip, _grade),
    NOISE: lambda clip: damage_sound(clip, lambda sound: add_noise(sound, snr_db=-9.0)),
    DESYNC: _desync,
}


def build(variant: str, footage: Footage, answers: Path) -> V3Task:
    write_clip(answers / SOURCE, footage.film, MASTER)
    source = read_clip(answers / SOURCE)
    write_clip(answers / BROKEN, VARIANTS[variant](source))
    scenes = [{"index": index, "start_s": start, "end_s": end} for index, (start, end) in enumerate(SCENES_S)]
    injection = {"variant": variant, "target_scene_index": TARGET_SCENE, **WINDOW.model_dump()}
    profile = {
        "format": {"duration_s": source.duration_s},
        "narrative": {"scene_list": scenes},
        "injection": injection,
    }
    (answers / "profile.json").write_text(json.dumps(profile), encoding="utf-8")
    (answers / REPORT).write_text(RIGHT_REPORT, encoding="utf-8")
    save_answer(repair_v3_answer(f"attack-{variant}"), answers)
    return V3Task(answers, source, read_clip(answers / BROKEN), footage.other)


# ---- what is handed in


def report_of(start: object, end: object) -> str:
    return f"## Diagnosis\n- type: defect\n- start: {start}\n- end: {end}\n"


RIGHT_REPORT = report_of(WINDOW.start_s, WINDOW.end_s)
WRONG_REPORT = report_of(*WRONG_S)

Show = Callable[[V3Task], Clip]
HandIn = Callable[[V3Task, Path], None]


def _source(task: V3Task) -> Clip:
    return task.source


def _broken(task: V3Task) -> Clip:
    return task.broken


def _changed(change: Callable[[Clip], Clip]) -> Show:
    return lambda task: change(task.source)


def _handed(show: Show, report: str | None = None, export: Export = CAREFUL) -> HandIn:
    def hand_in(task: V3Task, outputs: Path) -> None:
        write_clip(outputs / MEDIA, show(task), export)
        _report(report, outputs)

    return hand_in


def _file(name: str | None, report: str | None = None) -> HandIn:
    """A file of the answers as it is, or an empty one."""

    def hand_in(task: V3Task, outputs: Path) -> None:
        (outputs / MEDIA).write_bytes(b"" if name is None else (task.answers / name).read_bytes())
        _report(report, outputs)

    return hand_in


def _report(text: str | None, outputs: Path) -> None:
    if text is not None:
        (outputs / REPORT).write_text(text, encoding="utf-8")


def _links(task: V3Task, outputs: Path) -> None:
    (outputs / MEDIA).symlink_to(task.answers / SOURCE)
    (outputs / REPORT).symlink_to(task.answers / REPORT)


def _only_report(_task: V3Task, outputs: Path) -> None:
    _report(RIGHT_REPORT, outputs)


# ---- the attacks

_FLOOR: dict[str, HandIn] = {
    "verbatim broken": _file(BROKEN),
    "re-encoded broken": _handed(_broken),
    "broken with one changed frame": _handed(lambda task: tricks.one_changed_frame(task.broken)),
    "silence": _handed(lambda task: tricks.silent(task.broken)),
    "black": _handed(lambda task: tricks.black(task.broken)),
    "loud copy": _handed(lambda task: tricks.loud(task.broken)),
    "non-square pixels": _handed(_broken, export=Export(pixel_aspect=Fraction(4, 3))),
    "NaN JSON: in the report": _handed(_broken, report_of("NaN", "nan")),
    "Infinity JSON: in the report": _handed(_broken, report_of("-inf", "Infinity")),
    "huge JSON: in the report": _handed(_broken, report_of("0." + "0" * 400_000, "9" * 400_000)),
    "huge JSON: a report of two megabytes": _handed(_broken, RIGHT_REPORT + " " * (2 << 20)),
    "deep JSON: in the report": _handed(_broken, "```json\n" + "[" * 100_000 + "]" * 100_000 + "\n```\n"),
}
WRONG_SOUND_FORMAT = Bound(0.85, 1.0 - FORMAT * 2 / 7)
"""The codec and the rate of the sound are two of the seven items of the format; the rest is an honest re-encode."""
_NO_VIDEO: dict[str, HandIn] = {
    "nothing submitted": hand_in_nothing,
    "empty file": _file(None),
    "symlink to the answer": _links,
}


def attacks_on(variant: str) -> tuple[Attack[V3Task], ...]:
    wrong = report_worth(*WRONG_S, variant)
    # The scheme measures correlation alone: noise taken off together with most of the voice is a poor repair.
    suppressed = 0.30 if variant == NOISE else FLOOR
    return (
        *(Attack(name, NOTHING, hand_in) for name, hand_in in _NO_VIDEO.items()),
        *(Attack(name, at_most(FLOOR), hand_in) for name, hand_in in _FLOOR.items()),
        Attack("over-suppressed audio", at_most(suppressed), _handed(lambda task: tricks.over_suppressed(task.broken))),
        Attack("golden of another task", at_most(FORMAT + wrong), _handed(lambda task: task.other, WRONG_REPORT)),
        Attack(
            "wrong length: cut off where the damage starts",
            at_most(FORMAT),
            _handed(lambda task: task.broken.part(0.0, WINDOW.start_s)),
        ),
        Attack(
            "all-range claim",
            at_most(FLOOR + report_worth(*WHOLE_FILM_S, variant)),
            _file(BROKEN, report_of(*WHOLE_FILM_S)),
        ),
        Attack(
            "duplicate JSON: the true times second", at_most(FLOOR + wrong), _file(BROKEN, WRONG_REPORT + RIGHT_REPORT)
        ),
        Attack("honest ranges, wrong render", at_most(FLOOR + LOCALIZATION), _file(BROKEN, RIGHT_REPORT)),
        Attack("honest ranges, wrong render: no film", exactly(LOCALIZATION), _only_report),
        Attack("wrong ranges, right render", exactly(FORMAT + EDIT + wrong), _file(SOURCE, WRONG_REPORT)),
        Attack("wrong rate or codec", WRONG_SOUND_FORMAT, _handed(_source, RIGHT_REPORT, OTHER_SOUND)),
        *_controls(variant),
    )


def _controls(variant: str) -> tuple[Attack[V3Task], ...]:
    """What honest variations cost by the scheme, which weighs every loss 2.5 times inside and once outside.

    Picture defects: 1 % of the frame value is 0.019 of the score, so a careful export costs 0.06 to 0.13 and one
    frame of lag another 0.057. Sound defects: 20 ms of lag are 13 % of the correlation, 0.25 of the score.
    """
    kept = at_least(0.75 if variant == GRADE else 0.9)
    late = at_least(0.75 if variant == GRADE else 0.7)
    exports = {
        "honest re-encode": (kept, CAREFUL),
        "other codec": (kept, HEVC),
        "other container flavour: fragmented": (kept, FRAGMENTED),
        "other container flavour: fragmented, no edit list": (late, NO_EDIT_LIST),
        "other container flavour: QuickTime": (kept, QUICKTIME),
    }
    changes = {"one-frame drift": (kept, tricks.one_frame_late), "+20 ms audio": (late, tricks.late_sound)}
    return (
        Attack("control, golden", exactly(1.0), _file(SOURCE, RIGHT_REPORT)),
        *(
            Attack(f"control, {name}", expected, _handed(_source, RIGHT_REPORT, export))
            for name, (expected, export) in exports.items()
        ),
        *(
            Attack(f"control, {name}", expected, _handed(_changed(change), RIGHT_REPORT))
            for name, (expected, change) in changes.items()
        ),
    )


TARGETS = tuple(Target(FAMILY, variant, partial(build, variant), attacks_on(variant)) for variant in VARIANTS)
