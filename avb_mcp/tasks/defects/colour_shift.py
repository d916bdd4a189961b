"""Another colour grade for a few seconds, by preference over a whole shot or from a cut on."""

from __future__ import annotations

from avb_mcp.tasks.defects import _places
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.defects._pictures import Grade


class Parameters(Drawn):
    first: int
    last: int
    saturation: float
    contrast: float
    gains: tuple[float, float, float]


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_shot_window(stretch, rng, 2.5, 7.0)
    warm = 1 if rng.random() < 0.5 else -1
    shift = warm * rng.uniform(0.10, 0.22)
    return Parameters(
        first=first,
        last=last,
        saturation=round(float(rng.choice([rng.uniform(0.45, 0.75), rng.uniform(1.3, 1.6)])), 3),
        contrast=round(float(rng.choice([rng.uniform(0.75, 0.88), rng.uniform(1.12, 1.25)])), 3),
        gains=(round(1 + shift, 3), round(float(rng.uniform(0.94, 1.02)), 3), round(1 - shift, 3)),
    )


def _damage(_stretch: Stretch, drawn: Parameters) -> Damage:
    return Damage(
        picture=Grade(drawn.saturation, drawn.contrast, drawn.gains),
        pictures_from=drawn.first,
        pictures_until=drawn.last,
        window=(drawn.first, drawn.last),
    )


DEFECT = Defect(
    name="colour_shift",
    scheme="h1",
    needs=Needs(),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "One passage looks as if it came from a different day than what is around it. It did not.",
        "Skin and walls do not look right for a while, and then they do again. Can you make it all of a piece?",
        "Something about the picture is off in one place. My eye trips over it each time, going in and coming out.",
    ),
)
