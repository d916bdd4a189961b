"""Fine detail is missing for a few seconds, as from a copy that was made too small."""

from __future__ import annotations

from functools import partial

from avb_mcp.tasks.defects import _pictures, _places
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch


class Parameters(Drawn):
    first: int
    last: int
    factor: float
    """How much smaller the copy was."""


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_window(stretch, rng, 2.5, 6.0)
    return Parameters(first=first, last=last, factor=round(float(rng.uniform(3.0, 5.0)), 2))


def _damage(_stretch: Stretch, drawn: Parameters) -> Damage:
    return Damage(
        picture=partial(_pictures.coarsened, factor=drawn.factor),
        pictures_from=drawn.first,
        pictures_until=drawn.last,
        window=(drawn.first, drawn.last),
    )


DEFECT = Defect(
    name="lost_sharpness",
    scheme="h1",
    needs=Needs(),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "One part looks as though it had been taken off the internet years ago. It comes from the same camera.",
        "Hair, grass, lettering: in one passage all the fine things have gone, and they come back after it.",
        "On the large screen a short stretch looked cheap next to the rest. Please bring it up to the same standard.",
    ),
)
