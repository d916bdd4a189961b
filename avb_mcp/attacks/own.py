"""The attacks on a suite's own tasks: `avb-mcp check suite/ --attacks`, and a few of them in its verifier gate.

What a task is worth to a trick depends on the task: how far the order of the names is right, how much of a film half
of the render shows. Those bounds are worked out from the answers here; the tricks are those of the other files.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import av

from avb_mcp.attacks import assembly, order, own_films
from avb_mcp.attacks._base import Attack, Bound, at_most, exactly
from avb_mcp.attacks._clips import Clip, spool_clip
from avb_mcp.attacks._manifests import MANIFEST, RENDER, ClipsTask, manifest_attacks, partly_right
from avb_mcp.attacks.repair import MEDIA, REPORT
from avb_mcp.attacks.table import Row, try_attack
from avb_mcp.tasks.answers import Answer, load_answer
from avb_mcp.tasks.spec import MATERIALS, Entry, Suite, answers_of, workspace_of
from verifiers._honesty import CLIP_SUFFIXES, PLACES, RANGE_TOLERANCE_S
from verifiers._json import AnswerError, load_answer_model
from verifiers._media import MediaError
from verifiers.video_assembly.schema import AssemblyReference
from verifiers.video_assembly.scoring import AssemblyScore, score_assembly
from verifiers.video_order.schema import OrderReference
from verifiers.video_order.scoring import score_order, true_ranks

WITHOUT_RENDER = frozenset(
    {"nothing submitted", "verbatim broken", "NaN JSON", "Infinity JSON", "huge JSON", "deep JSON", "duplicate JSON"}
    | {"empty file: solution.json", "wrong length: a segment missing", "wrong length: a segment too many"}
    | {"control, golden", "traversal"}
)
"""What can be tried, by trick or name, where the render is not looked at."""
OTHER = "golden of another task"
GATE_TRICKS = frozenset(
    {"nothing submitted", "verbatim broken", "silence", "wrong length", "NaN JSON", "traversal", OTHER}
    | {"symlink to the answer"}
)
"""What the verifier gate of every suite tries; `--attacks` tries the rest as well."""

USUAL = {"submission": MANIFEST, "render": RENDER, "fixed": MEDIA, "report": REPORT}
"""The names under which tricks hand in, by the verifier's argument; an imported task may ask for others."""

Wanted = Callable[[Attack[Any]], bool]


@dataclass(frozen=True)
class Loaded:
    """A task of a suite, ready to be attacked."""

    task: Any
    attacks: Sequence[Attack[Any]]


def in_gate(attack: Attack[Any]) -> bool:
    return attack.trick in GATE_TRICKS


def attack_suite(folder: Path, suite: Suite, entries: Sequence[Entry], wanted: Wanted) -> Iterator[Row]:
    """Everything wanted on every task; tasks without answers have nothing to attack."""
    for entry in entries:
        if not (answers_of(folder, entry.id) / "answer.json").is_file():
            continue
        with tempfile.TemporaryDirectory(prefix="avb-attacks-") as spool:
            verifier = load_answer(answers_of(folder, entry.id)).verifier
            loaded = load_own(folder, suite, entry, Path(spool))
            for attack in loaded.attacks:
                if wanted(attack):
                    workspace = Path(spool) / "workspace"
                    yield try_attack(verifier.removeprefix("video_"), entry.id, attack, loaded.task, workspace)
                    shutil.rmtree(workspace)


def load_own(folder: Path, suite: Suite, entry: Entry, spool: Path) -> Loaded:
    """A task of a suite and every trick that can be tried on it; films are unpacked into `spool`."""
    answer = load_answer(answers_of(folder, entry.id))
    other = other_film(folder, suite, entry)
    try:
        loaded = _LOADERS[answer.verifier](folder, entry, answer, other, spool)
    except (MediaError, av.FFmpegError, LookupError, StopIteration) as error:
        raise AnswerError(f"the films of {entry.id} cannot be read: {type(error).__name__} {error}") from error
    names = {USUAL[argument]: name for argument, name in answer.submission.items() if argument in USUAL and name != "."}
    possible = [attack for attack in loaded.attacks if other is not None or attack.trick != OTHER]
    return Loaded(loaded.task, [_under_own_names(attack, names) for attack in possible])


def _under_own_names(attack: Attack[Any], names: Mapping[str, str]) -> Attack[Any]:
    def hand_in(task: Any, outputs: Path) -> None:
        attack.hand_in(task, outputs)
        for usual, own in names.items():
            if usual != own and os.path.lexists(outputs / usual):
                (outputs / usual).rename(outputs / own)

    return replace(attack, hand_in=hand_in)


def other_film(folder: Path, suite: Suite, entry: Entry) -> Path | None:
    """A film of a task that shares no source with this one, of the same family if there is one."""
    others = [other for other in suite.tasks if not set(other.sources) & set(entry.sources)]
    others.sort(key=lambda other: other.family != entry.family)
    for other in others:
        for place in (answers_of(folder, other.id), workspace_of(folder, other.id) / MATERIALS):
            films = sorted(path for path in place.rglob("*") if path.suffix.lower() in CLIP_SUFFIXES)
            # golden.mp4, source.mp4: what another task's author hands in; else whatever film there is.
            films.sort(key=lambda path: path.stem not in ("golden", "source", "final"))
            if films:
                return films[0]
    return None


# ---- sequencing and assembly


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts clip 10 after clip 9."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def _clips_task(
    folder: Path, entry: Entry, answer: Answer, right: Sequence[str], other: Path | None, spool: Path
) -> ClipsTask:
    answers = answers_of(folder, entry.id)
    place = answers / answer.reference.get("clips", "clips")
    if not place.is_dir():
        place = workspace_of(folder, entry.id) / MATERIALS
    files = sorted(path for path in place.rglob("*") if path.suffix.lower() in CLIP_SUFFIXES)
    clips = {path.stem: spool_clip(path, spool / f"{number}.yuv") for number, path in enumerate(files)}
    first = next(iter(clips.values()))
    film = spool_clip(other, spool / "other.yuv") if other else first
    names = sorted(clips, key=natural)
    silent = {name: Clip(clip.frames, first.fps, None) for name, clip in clips.items()}
    return ClipsTask(answers, silent, tuple(right), tuple(names[: len(right)]), Clip(film.frames, film.fps, None))


def shown_in_half(lengths_s: Sequence[float]) -> tuple[int, int]:
    """How many slots half of a render shows, at least and at most: the last place that is looked at decides."""
    half_s = sum(lengths_s) / 2
    last_looks_s = [sum(lengths_s[:slot]) + PLACES[-1] * length_s for slot, length_s in enumerate(lengths_s)]
    margin_s = 2 * RANGE_TOLERANCE_S
    return (
        sum(look_s < half_s - margin_s for look_s in last_looks_s),
        sum(look_s < half_s + margin_s for look_s in last_looks_s),
    )


def right_by_chance(task: ClipsTask) -> list[bool]:
    """Slots in which the names' order shows the right clip at about the right time."""
    starts = [_starts_s(task, names) for names in (task.right, task.untouched)]
    return [
        right in starts[1] and abs(starts[0][right] - starts[1][right]) < 3 * RANGE_TOLERANCE_S for right in task.right
    ]


def _starts_s(task: ClipsTask, names: Sequence[str]) -> dict[str, float]:
    lengths_s = [task.clips[name].duration_s for name in names]
    return {name: sum(lengths_s[:slot]) for slot, name in enumerate(names)}


def _order(folder: Path, entry: Entry, answer: Answer, other: Path | None, spool: Path) -> Loaded:
    reference = answers_of(folder, entry.id) / answer.reference["reference"]
    right = load_answer_model(reference, OrderReference).correct_order
    task = _clips_task(folder, entry, answer, right, other, spool)
    low, high = shown_in_half([task.clips[name].duration_s for name in right])
    attacks = [
        *manifest_attacks(
            half_render=Bound(low / len(right), high / len(right)),
            untouched=exactly(_order_worth(task.untouched, right)),
            lying=at_most(sum(right_by_chance(task)) / len(right)),
        )
    ]
    if len(right) > 2:
        attacks.append(
            partly_right("one adjacent swap", _order_worth(order.one_swap(task), right), order.one_swap),
        )
    return Loaded(task, _possible(attacks, answer))


def _order_worth(names: Sequence[str], right: Sequence[str]) -> float:
    return score_order(true_ranks(names, right)).headline


def _assembly(folder: Path, entry: Entry, answer: Answer, other: Path | None, spool: Path) -> Loaded:
    reference = load_answer_model(answers_of(folder, entry.id) / answer.reference["reference"], AssemblyReference)
    right, candidates = reference.correct_assembly_in_slot_order, reference.candidates_per_slot
    task = _clips_task(folder, entry, answer, right, other, spool)

    def worth(correct: Sequence[bool]) -> float:
        return AssemblyScore(tuple(correct), candidates).headline

    low, high = shown_in_half([task.clips[name].duration_s for name in right])
    untouched = score_assembly(task.untouched, right, candidates_per_slot=candidates, honest=[True] * len(right))
    wrong = next(name for name in task.clips if name not in right)
    attacks = [
        *manifest_attacks(
            half_render=Bound(*(worth([slot < shown for slot in range(len(right))]) for shown in (low, high))),
            untouched=exactly(untouched.headline),
            lying=at_most(worth(right_by_chance(task))),
        ),
        assembly.EVERY_CANDIDATE,
        partly_right(
            "all but the last slot",
            worth([slot + 1 < len(right) for slot in range(len(right))]),
            lambda task: [*task.right[:-1], wrong],
        ),
    ]
    return Loaded(task, _possible(attacks, answer))


def _possible(attacks: Sequence[Attack[ClipsTask]], answer: Answer) -> list[Attack[ClipsTask]]:
    if "render" in answer.submission:
        return list(attacks)
    return [attack for attack in attacks if {attack.name, attack.trick} & WITHOUT_RENDER]


def _films(load: Callable[..., tuple[Any, Sequence[Attack[Any]]]]) -> Callable[..., Loaded]:
    def loaded(folder: Path, entry: Entry, answer: Answer, other: Path | None, spool: Path) -> Loaded:
        return Loaded(*load(workspace_of(folder, entry.id), answers_of(folder, entry.id), answer, other, spool))

    return loaded


_LOADERS: Mapping[str, Callable[[Path, Entry, Answer, Path | None, Path], Loaded]] = {
    "video_order": _order,
    "video_assembly": _assembly,
    "video_repair": _films(own_films.repair_target),
    "video_repair_v3": _films(own_films.repair_v3_target),
    "video_repurpose": _films(own_films.repurpose_target),
}
