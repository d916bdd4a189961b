"""Groups of one or two shots that change places, as the released profiles describe it."""

from __future__ import annotations

from typing import Any

from avb_mcp.tasks.defects import _profile, _timeline
from avb_mcp.tasks.defects._base import Damage, Drawn, Rng, Stretch
from avb_mcp.tasks.footage import Shot


class Parameters(Drawn):
    a: int
    a_end: int
    b: int
    b_end: int
    """Shots `[a, a_end)` and `[b, b_end)` by number."""


def draw(stretch: Stretch, rng: Rng, *, gapped: bool) -> Parameters:
    swap = _timeline.draw_swap(stretch, rng, gapped=gapped, longest=2)
    return Parameters(a=swap.a, a_end=swap.a_end, b=swap.b, b_end=swap.b_end)


def damage(stretch: Stretch, drawn: Parameters, *, gapped: bool) -> Damage:
    made = _timeline.swapped(stretch, _timeline.Swap(drawn.a, drawn.a_end, drawn.b, drawn.b_end))
    moved = [("A", *item) for item in made.group_a] + [("B", *item) for item in made.group_b]
    entry: dict[str, Any] = {"variant": _profile.SWAP, "mode": "gapped" if gapped else "adjacent"}
    for number, (group, shot, at) in enumerate(moved, 1):
        entry[f"scene_{number}"] = _scene(stretch, group, shot, at)
    return Damage(parts=made.parts, sound=made.sound, injection=entry)


def _scene(stretch: Stretch, group: str, shot: Shot, at: int) -> dict[str, Any]:
    return {
        "group": group,
        "index": stretch.shots.index(shot),
        "start_s": shot.start_s,
        "end_s": shot.end_s,
        "broken_start_s": _profile.reported_s(stretch, at),
        "broken_end_s": _profile.reported_s(stretch, at + shot.last - shot.first),
    }
