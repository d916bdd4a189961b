"""What is tried on sequencing and assembly alike: a `solution.json`, a render, and lies about either.

The honesty check is on, as in every suite built here. Sound is not scored in these families, and the contract
asks for no codec, rate or pixel shape of the render, so those attacks do not apply.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from avb_mcp.attacks._base import NOTHING, Attack, Bound, at_least, exactly, hand_in_nothing
from avb_mcp.attacks._clips import CAREFUL, FRAGMENTED, HEVC, MASTER, QUICKTIME, Clip, Export, joined, write_clip
from avb_mcp.attacks._tricks import black, first_half, one_frame_late

MANIFEST, RENDER = "solution.json", "solution.mp4"
Json = dict[str, Any]


@dataclass(frozen=True)
class ClipsTask:
    answers: Path
    clips: Mapping[str, Clip]
    right: tuple[str, ...]
    untouched: tuple[str, ...]
    """What handing in the clips as they were given amounts to."""
    other: Clip
    """The right film of another task."""
    rendered: dict[object, bytes] = field(default_factory=dict)
    """Films that were handed in before, by what they show: most lies go with the same film."""

    def render(self, names: Sequence[str]) -> Clip:
        return joined([self.clips[name] for name in names])

    def manifest(self, names: Sequence[str]) -> Json:
        segments, end_s = [], 0.0
        for name in names:
            length_s = self.clips[name].duration_s
            ranges = {"source_range": [0.0, length_s], "output": [end_s, end_s + length_s]}
            segments.append({"source": name, **ranges})
            end_s += length_s
        return {"segments": segments}


def write_answers(task: ClipsTask, reference: Json) -> None:
    """reference.json and the clips."""
    folder = task.answers / "clips"
    folder.mkdir(parents=True)
    for name, clip in task.clips.items():
        write_clip(folder / f"{name}.mp4", clip, MASTER)
    (task.answers / "reference.json").write_text(json.dumps(reference), encoding="utf-8")


Say = Callable[[ClipsTask], str]
Show = Callable[[ClipsTask], Clip]


def _handed(say: Say, show: Show, export: Export = CAREFUL) -> Callable[[ClipsTask, Path], None]:
    def hand_in(task: ClipsTask, outputs: Path) -> None:
        (outputs / MANIFEST).write_text(say(task), encoding="utf-8")
        if (show, export) not in task.rendered:
            write_clip(outputs / RENDER, show(task), export)
            task.rendered[show, export] = (outputs / RENDER).read_bytes()
        (outputs / RENDER).write_bytes(task.rendered[show, export])

    return hand_in


def right_manifest(task: ClipsTask) -> str:
    return json.dumps(task.manifest(task.right))


def right_render(task: ClipsTask) -> Clip:
    return task.render(task.right)


def _untouched_manifest(task: ClipsTask) -> str:
    return json.dumps(task.manifest(task.untouched))


def _untouched_render(task: ClipsTask) -> Clip:
    return task.render(task.untouched)


def _changed(change: Callable[[list[Json]], list[Json]]) -> Say:
    """The right manifest with its segments changed."""
    return lambda task: json.dumps({"segments": change(task.manifest(task.right)["segments"])})


def _all_of_it(segments: list[Json]) -> list[Json]:
    whole = [0.0, segments[-1]["output"][1]]
    return [segment | {"source_range": whole, "output": whole} for segment in segments]


def _next_stretch(segments: list[Json]) -> list[Json]:
    """Every slot claims the stretch of the slot after it; the last one that of the first."""
    stretches = [segment["output"] for segment in segments]
    stretches = [*stretches[1:], stretches[0]]
    return [segment | {"output": stretch} for segment, stretch in zip(segments, stretches, strict=True)]


def _climbing(segments: list[Json]) -> list[Json]:
    """Every source as a way out of the workspace that ends at the right clip."""
    return [segment | {"source": f"../../answers/clips/{segment['source']}"} for segment in segments]


def _with_number(number: str) -> Say:
    """The right manifest and one more field, which nobody reads."""
    return lambda task: right_manifest(task)[:-1] + f', "confidence": {number}}}'


def _twice(task: ClipsTask) -> str:
    return right_manifest(task)[:-1] + ", " + right_manifest(task)[1:]


def _empty(name: str) -> Callable[[ClipsTask, Path], None]:
    def hand_in(task: ClipsTask, outputs: Path) -> None:
        _handed(right_manifest, right_render)(task, outputs)
        (outputs / name).write_bytes(b"")

    return hand_in


def _link(name: str) -> Callable[[ClipsTask, Path], None]:
    def hand_in(task: ClipsTask, outputs: Path) -> None:
        _handed(right_manifest, right_render)(task, outputs)
        elsewhere = outputs.parent / name
        (outputs / name).replace(elsewhere)
        (outputs / name).symlink_to(elsewhere)

    return hand_in


def manifest_attacks(
    *, half_render: Bound, untouched: Bound = NOTHING, lying: Bound = NOTHING
) -> tuple[Attack[ClipsTask], ...]:
    """Every attack on these families.

    `half_render` is what the slots that a cut-off render shows are worth, `untouched` what the order of the names
    is, and `lying` what the slots are in which that order happens to be right.
    """
    said: dict[str, Say] = {
        "wrong length: a segment missing": _changed(lambda segments: segments[:-1]),
        "wrong length: a segment too many": _changed(lambda segments: [*segments, segments[-1]]),
        "all-range claim": _changed(_all_of_it),
        "wrong ranges, right render": _changed(_next_stretch),
        "traversal: sources by their paths": _changed(_climbing),
        "duplicate JSON: one clip for every slot": _changed(lambda segments: [segments[0]] * len(segments)),
        "duplicate JSON: the key twice": _twice,
        "NaN JSON": _with_number("NaN"),
        "Infinity JSON": _with_number("-Infinity"),
        "huge JSON: a number beyond all numbers": _with_number("1e999"),
        "huge JSON: an integer of 5,000 digits": _with_number("9" * 5000),
        "huge JSON: two megabytes": lambda task: right_manifest(task) + " " * (2 << 20),
        "huge JSON: 5,000 segments": _changed(lambda segments: segments * 5000),
        "deep JSON": _with_number("[" * 100_000 + "]" * 100_000),
    }
    shown: dict[str, Show] = {
        "black": lambda task: black(right_render(task)),
        "honest ranges, wrong render": lambda task: task.other,
    }
    return (
        Attack("nothing submitted", NOTHING, hand_in_nothing),
        Attack("empty file: solution.json", NOTHING, _empty(MANIFEST)),
        Attack("empty file: solution.mp4", NOTHING, _empty(RENDER)),
        Attack("verbatim broken", untouched, _handed(_untouched_manifest, _untouched_render)),
        Attack("lying manifest", lying, _handed(right_manifest, _untouched_render)),
        Attack("golden of another task", NOTHING, _handed(_untouched_manifest, lambda task: task.other)),
        *(Attack(name, NOTHING, _handed(say, right_render)) for name, say in said.items()),
        *(Attack(name, NOTHING, _handed(right_manifest, show)) for name, show in shown.items()),
        Attack(
            "wrong length: half of the render",
            half_render,
            _handed(right_manifest, lambda task: first_half(right_render(task))),
        ),
        Attack("symlink to the answer: solution.json", NOTHING, _link(MANIFEST)),
        Attack("symlink to the answer: solution.mp4", NOTHING, _link(RENDER)),
        *_controls(),
    )


def _controls() -> tuple[Attack[ClipsTask], ...]:
    exports = {
        "other codec": HEVC,
        "other container flavour: fragmented": FRAGMENTED,
        "other container flavour: QuickTime": QUICKTIME,
    }
    return (
        Attack("control, golden", exactly(1.0), _handed(right_manifest, right_render)),
        *(
            Attack(f"control, {name}", at_least(0.9), _handed(right_manifest, right_render, export))
            for name, export in exports.items()
        ),
        Attack(
            "control, one-frame drift",
            at_least(0.9),
            _handed(right_manifest, lambda task: one_frame_late(right_render(task))),
        ),
    )


def partly_right(name: str, reward: float, answer: Callable[[ClipsTask], Sequence[str]]) -> Attack[ClipsTask]:
    """An honest answer that is partly right, whose reward the contract states."""
    return Attack(
        f"control, {name}",
        exactly(reward),
        _handed(lambda task: json.dumps(task.manifest(answer(task))), lambda task: task.render(answer(task))),
    )
