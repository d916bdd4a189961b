"""Attacks on sequencing: seven shuffled clips, honesty on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from avb_mcp.attacks._base import Target, exactly
from avb_mcp.attacks._clips import joined
from avb_mcp.attacks._footage import Footage
from avb_mcp.attacks._manifests import ClipsTask, manifest_attacks, partly_right, write_answers
from avb_mcp.tasks.answers import order_answer, save_answer

FAMILY = "order"
RIGHT = ("4", "1", "6", "3", "7", "2", "5")
GIVEN = ("1", "2", "3", "4", "5", "6", "7")
"""Alphabetical; no two clips that belong together are neighbours, so the adjacency part is 0."""


def build(footage: Footage, answers: Path) -> ClipsTask:
    count = len(RIGHT)
    task = ClipsTask(
        answers=answers,
        clips=dict(zip(RIGHT, footage.shots[:count], strict=True)),
        right=RIGHT,
        untouched=GIVEN,
        other=joined(footage.shots[count : 2 * count]),
    )
    write_answers(task, {"correct_order": list(RIGHT)})
    save_answer(order_answer("attack-order", honesty=True), answers)
    return task


def one_swap(task: ClipsTask) -> Sequence[str]:
    """Two neighbours inside the order change places."""
    first, a, b, *rest = task.right
    return [first, b, a, *rest]


# A render cut in half shows three of the seven slots; the contract gives one inner swap of seven clips
# (1 - 2/24) * 6/7 * 3/6 = 0.393.
TARGETS = (
    Target(
        FAMILY,
        "seven clips",
        build,
        (
            *manifest_attacks(half_render=exactly(3 / 7)),
            partly_right("one adjacent swap", 22 / 24 * 6 / 7 * 3 / 6, one_swap),
        ),
    ),
)
