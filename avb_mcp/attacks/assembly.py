"""Attacks on assembly: four slots with three candidates each, honesty on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from avb_mcp.attacks._base import NOTHING, Attack, Target, exactly
from avb_mcp.attacks._clips import joined
from avb_mcp.attacks._footage import Footage
from avb_mcp.attacks._manifests import MANIFEST, ClipsTask, manifest_attacks, partly_right, write_answers
from avb_mcp.tasks.answers import assembly_answer, save_answer

FAMILY = "assembly"
CANDIDATES = (("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9"), ("10", "11", "12"))
RIGHT = ("2", "6", "8", "12")
FIRST = ("1", "4", "7", "10")
"""The first candidate of every slot."""


def build(footage: Footage, answers: Path) -> ClipsTask:
    names = [name for slot in CANDIDATES for name in slot]
    task = ClipsTask(
        answers=answers,
        clips=dict(zip(names, footage.shots[: len(names)], strict=True)),
        right=RIGHT,
        untouched=FIRST,
        other=joined(footage.shots[len(names) : len(names) + len(RIGHT)]),
    )
    write_answers(task, {"correct_assembly_in_slot_order": list(RIGHT), "candidates_per_slot": 3})
    save_answer(assembly_answer("attack-assembly", honesty=True), answers)
    return task


def _every_candidate(task: ClipsTask, outputs: Path) -> None:
    (outputs / MANIFEST).write_text(json.dumps(task.manifest(list(task.clips))), encoding="utf-8")


EVERY_CANDIDATE = Attack("all-range claim: every candidate", NOTHING, _every_candidate)


def _three_of_four(task: ClipsTask) -> Sequence[str]:
    return [*task.right[:3], task.untouched[3]]


# A render cut in half shows two of four slots: accuracy 0.5 is 0.25 by the contract; three of four are 0.625.
TARGETS = (
    Target(
        FAMILY,
        "four slots",
        build,
        (
            *manifest_attacks(half_render=exactly(0.25)),
            EVERY_CANDIDATE,
            partly_right("three of four", 0.625, _three_of_four),
        ),
    ),
)
