"""The picture stands still while the sound goes on."""

from __future__ import annotations

from avb_mcp.tasks.defects import _freeze, _profile
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Hold, Needs, Rng, Run, Stretch


class Parameters(Drawn):
    frame: int
    """The first frame that is not seen."""
    length: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    length = stretch.frame(rng.uniform(0.5, 1.5))
    return Parameters(frame=_freeze.draw_moment(stretch, rng, 1, length), length=length)


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    last = drawn.frame + drawn.length
    scene = stretch.shot_at(drawn.frame)
    return Damage(
        parts=(Run(0, drawn.frame), Hold(drawn.frame - 1, drawn.length), Run(last, stretch.frame_count)),
        injection=_profile.injection(stretch, _profile.FROZEN, (drawn.frame, last), scene, {"mode": "video_only"}),
        note="the held frame stands in place of the frames that should be there; those are not in the broken film",
    )


DEFECT = Defect(
    name="frozen_picture",
    scheme="v3",
    needs=Needs(),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "For a moment what I hear and what I see part company. I can follow by ear, but my eyes want to know more.",
        "Something happens, or rather does not happen, on screen for a moment. Please make it run smoothly.",
        "It looks as if someone had leaned on a key during the transfer. The sound never noticed.",
    ),
)
