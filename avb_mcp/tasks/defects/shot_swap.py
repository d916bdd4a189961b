"""Two shots stand in each other's place."""

from __future__ import annotations

from avb_mcp.tasks.defects import _timeline
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch


class Parameters(Drawn):
    a: int
    b: int
    """The shots by number."""


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    swap = _timeline.draw_swap(stretch, rng, gapped=None, longest=1)
    return Parameters(a=swap.a, b=swap.b)


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    made = _timeline.swapped(stretch, _timeline.Swap(drawn.a, drawn.a + 1, drawn.b, drawn.b + 1))
    return Damage(parts=made.parts, sound=made.sound)


DEFECT = Defect(
    name="shot_swap",
    scheme="h1",
    needs=Needs(shots=4),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "I know this film well, and watching this copy I lost the thread. All of it seems to be there, though.",
        "It does not quite tell the story any more. Nothing is missing as far as I can see, and yet it makes no sense.",
        "Our editor says the cut she handed over was not like this. She could not say at a glance what happened to it.",
    ),
)
