"""Moments at which a film stands still: within a shot, away from its ends."""

from __future__ import annotations

from avb_mcp.tasks.defects import _places
from avb_mcp.tasks.defects._base import Rng, Stretch

_FROM_CUT_S = 0.4


def draw_moment(stretch: Stretch, rng: Rng, before: int, after: int) -> int:
    """A frame with so many moving frames before and after it in its shot, by preference a lively place."""
    quiet = stretch.frame(_FROM_CUT_S)

    def within(first: int, last: int) -> bool:
        shot = stretch.shots[stretch.shot_at(first)]
        clean = shot.clean_first + quiet <= first and last <= shot.clean_last - quiet
        return clean and _places.moves(stretch, first, last)

    length_s = float((before + after) / stretch.fps)
    first, _ = _places.draw_window(stretch, rng, length_s, length_s, within, "movement inside one shot")
    return first + before
