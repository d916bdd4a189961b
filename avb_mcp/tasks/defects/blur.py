"""The picture is out of focus for a few seconds."""

from __future__ import annotations

from functools import partial

from avb_mcp.tasks.defects import _pictures, _places
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch


class Parameters(Drawn):
    first: int
    last: int
    sigma_px: float


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_window(stretch, rng, 2.5, 6.0)
    sigma_px = max(1.2, rng.uniform(0.004, 0.008) * stretch.footage.height_px)
    return Parameters(first=first, last=last, sigma_px=round(float(sigma_px), 3))


def _damage(_stretch: Stretch, drawn: Parameters) -> Damage:
    return Damage(
        picture=partial(_pictures.blurred, sigma_px=drawn.sigma_px),
        pictures_from=drawn.first,
        pictures_until=drawn.last,
        window=(drawn.first, drawn.last),
    )


DEFECT = Defect(
    name="blur",
    scheme="h1",
    needs=Needs(),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "I thought I needed new glasses, but it is only in one place that I cannot make things out.",
        "For a few moments the picture goes soft on me, as if I were looking through a steamed window.",
        "Faces are crisp nearly everywhere. In one stretch they are not, and nobody touched the camera there.",
    ),
)
