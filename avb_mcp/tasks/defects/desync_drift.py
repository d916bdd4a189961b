"""The sound slows down, falls behind, then hurries to catch up."""

from __future__ import annotations

from functools import partial

import numpy as np

from avb_mcp.tasks.defects import _places, _profile, _sounds
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch, fitted
from avb_mcp.tasks.footage import Sound

SLOW, FAST = 0.67, 1.55
_SLOW_SHARE = (1 - 1 / FAST) / (1 / SLOW - 1 / FAST)
"""How much of the window is played slowly, so that both parts together fill it again."""


class Parameters(Drawn):
    first: int
    last: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_heard_window(stretch, rng, 4.0, 9.0)
    return Parameters(first=first, last=last)


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    span, more = (drawn.first, drawn.last), {"mode": "drift", "tempos": [SLOW, FAST]}
    return Damage(
        sound=partial(_drift, stretch, drawn),
        injection=_profile.injection(stretch, _profile.DESYNC, span, None, more),
    )


def _drift(stretch: Stretch, drawn: Parameters, track: Sound) -> Sound:
    first, last = stretch.sample(drawn.first), stretch.sample(drawn.last)
    middle = first + round(_SLOW_SHARE * (last - first))
    slow, fast = (
        _sounds.at_tempo(track[:, a:b], tempo) for a, b, tempo in ((first, middle, SLOW), (middle, last, FAST))
    )
    played = fitted(np.concatenate([slow, fast], axis=1), last - first).astype(np.float64)
    return _sounds.changed_within(track, first, last, lambda _inside: played)


DEFECT = Defect(
    name="desync_drift",
    scheme="v3",
    needs=Needs(sound=True, min_s=12.0),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "In one passage they all sound drowsy and then in a great hurry. Nobody was.",
        "The rhythm goes wrong for a while: what I hear wanders off from what I see and comes running back.",
        "It is as if the tape had been held by a finger for a moment. The rest runs true.",
    ),
)
