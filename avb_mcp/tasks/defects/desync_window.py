"""For a while the sound lags behind the picture, then it is back in step."""

from __future__ import annotations

from functools import partial

import numpy as np

from avb_mcp.tasks.defects import _places, _profile, _sounds
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.footage import RATE_HZ, Sound


class Parameters(Drawn):
    first: int
    last: int
    late_s: float


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_heard_window(stretch, rng, 4.0, 9.0)
    return Parameters(first=first, last=last, late_s=round(float(rng.uniform(0.45, 0.72)), 3))


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    span, more = (drawn.first, drawn.last), {"mode": "window", "offset_ms": round(1000 * drawn.late_s)}
    return Damage(
        sound=partial(_lag, stretch, drawn),
        injection=_profile.injection(stretch, _profile.DESYNC, span, None, more),
        note="the last moments of the window's sound are not in the broken film",
    )


def _lag(stretch: Stretch, drawn: Parameters, track: Sound) -> Sound:
    first, last, by = stretch.sample(drawn.first), stretch.sample(drawn.last), round(drawn.late_s * RATE_HZ)
    late = np.pad(track, ((0, 0), (by, 0)))[:, first:last].astype(np.float64)
    return _sounds.changed_within(track, first, last, lambda _inside: late)


DEFECT = Defect(
    name="desync_window",
    scheme="v3",
    needs=Needs(sound=True, min_s=12.0),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "For a passage I could not shake the feeling of watching with a bad translator in my ear.",
        "Lips and words part company somewhere, and later all is well again.",
        "Part of it looks dubbed. The beginning and the end are just as we shot them.",
    ),
)
