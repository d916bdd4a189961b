"""The film stands still: a held frame and silence are put in."""

from __future__ import annotations

from avb_mcp.tasks.defects import _freeze, _profile, _timeline
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Hold, Needs, Rng, Stretch


class Parameters(Drawn):
    frame: int
    """Before which frame the film stands still."""
    length: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    length = stretch.frame(rng.uniform(0.5, 1.5))
    around = stretch.frame(0.4)
    return Parameters(frame=_freeze.draw_moment(stretch, rng, around, around), length=length)


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    held = _timeline.Insertion(drawn.frame, (Hold(drawn.frame - 1, drawn.length),))
    made = _timeline.insert(stretch, [held])
    scene = stretch.shot_at(drawn.frame)
    entry = _profile.injection(stretch, _profile.FROZEN, made.ranges[0], scene, {"mode": "silent"})
    return Damage(parts=made.parts, sound=made.sound, injection=entry)


DEFECT = Defect(
    name="frozen_scene",
    scheme="v3",
    needs=Needs(),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "Halfway through I thought my connection had dropped. It had not: it happens in the same place every time.",
        "It loses its breath somewhere and then carries on as if nothing had been. The master did not do that.",
        "The copy that came back from the server runs a little long, and I believe I felt where.",
    ),
)
