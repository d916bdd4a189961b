"""The whole sound is early or late by a fixed amount."""

from __future__ import annotations

from functools import partial

import numpy as np

from avb_mcp.tasks.defects import _places, _profile
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.footage import RATE_HZ, Sound


class Parameters(Drawn):
    late_s: float
    """How much later the sound comes; negative is early."""


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    if _places.active_seconds(_places.heard(stretch)) < _places.MIN_ACTIVE_S:
        raise CannotPlace(f"less than {_places.MIN_ACTIVE_S:g} s of sound")
    return Parameters(late_s=round(float(rng.choice([-1, 1]) * rng.uniform(0.45, 0.72)), 3))


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    span, more = (0, stretch.frame_count), {"mode": "constant", "offset_ms": round(1000 * drawn.late_s)}
    return Damage(
        sound=partial(moved, late_s=drawn.late_s),
        injection=_profile.injection(stretch, _profile.DESYNC, span, None, more),
        note="what is pushed out at one end is not in the broken film; the other end is filled with silence",
    )


def moved(track: Sound, late_s: float) -> Sound:
    """The sound later (or earlier), of the same length."""
    by, made = round(late_s * RATE_HZ), np.zeros_like(track)
    if by >= 0:
        made[:, by:] = track[:, : track.shape[1] - by]
    else:
        made[:, :by] = track[:, -by:]
    return made


DEFECT = Defect(
    name="desync_constant",
    scheme="v3",
    needs=Needs(sound=True),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "Watching it makes me slightly seasick. I hear it right and I see it right, only not both together.",
        "It feels badly dubbed, and it is not dubbed at all.",
        "Doors close and nothing is heard; then it is. The whole thing wants straightening out.",
    ),
)
