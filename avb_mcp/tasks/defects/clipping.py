"""The sound is driven too hard for a few seconds, and its peaks are cut off."""

from __future__ import annotations

from functools import partial

import numpy as np

from avb_mcp.tasks.defects import _places, _sounds
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.footage import Sound

_CEILING = 0.95


class Parameters(Drawn):
    first: int
    last: int
    kept: float
    """Where the peaks are cut, as a share of the loudest one."""
    louder_db: float
    """How much louder it gets, as far as there is room."""


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_heard_window(stretch, rng, 3.0, 8.0)
    return Parameters(
        first=first,
        last=last,
        kept=round(float(rng.uniform(0.08, 0.22)), 3),
        louder_db=round(float(rng.uniform(3.0, 8.0)), 2),
    )


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    return Damage(
        sound=partial(_overdrive, stretch, drawn),
        window=(drawn.first, drawn.last),
        note="peaks cut at a share of the loudest one, then made louder",
    )


def _overdrive(stretch: Stretch, drawn: Parameters, track: Sound) -> Sound:
    first, last = stretch.sample(drawn.first), stretch.sample(drawn.last)

    def change(inside: _sounds.Floats) -> _sounds.Floats:
        limit = drawn.kept * float(np.abs(inside).max())
        cut = np.clip(inside, -limit, limit)
        level = np.sqrt(np.mean(inside**2) / (np.mean(cut**2) + 1e-12))
        return np.asarray(cut * min(level * 10 ** (drawn.louder_db / 20), _CEILING / max(limit, 1e-6)), np.float64)

    return _sounds.changed_within(track, first, last, change)


DEFECT = Defect(
    name="clipping",
    scheme="h1",
    needs=Needs(sound=True),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "There is a place where my speakers seem to give up. They are new, and nothing else does that to them.",
        "Part of it sounds harsh, almost broken, and I reach for the volume every time. Please make it pleasant again.",
        "Something about the sound bothers me part-way through: it grates. The original recording did not.",
    ),
)
