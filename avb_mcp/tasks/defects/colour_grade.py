"""The released grade: less saturation, more contrast, cold or warm, over or around a shot."""

from __future__ import annotations

from avb_mcp.tasks.defects import _places, _profile
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.defects._pictures import Grade


class Parameters(Drawn):
    first: int
    last: int
    saturation: float
    contrast: float
    gains: tuple[float, float, float]


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_shot_window(stretch, rng, 3.0, 7.0)
    cold = rng.uniform(0.07, 0.12) * (1 if rng.random() < 0.7 else -1)
    return Parameters(
        first=first,
        last=last,
        saturation=round(float(rng.uniform(0.72, 0.82)), 3),
        contrast=round(float(rng.uniform(1.09, 1.17)), 3),
        gains=(round(float(1 - cold), 3), 0.98, round(float(1 + cold), 3)),
    )


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    scene = _profile.widest_scene(stretch, drawn.first, drawn.last)
    red, green, blue = drawn.gains
    return Damage(
        picture=Grade(drawn.saturation, drawn.contrast, drawn.gains),
        pictures_from=drawn.first,
        pictures_until=drawn.last,
        injection=_profile.injection(
            stretch,
            _profile.GRADE,
            (drawn.first, drawn.last),
            scene,
            {
                "saturation": drawn.saturation,
                "contrast": drawn.contrast,
                "rgb_gains": {"r": red, "g": green, "b": blue},
            },
        ),
    )


DEFECT = Defect(
    name="colour_grade",
    scheme="v3",
    needs=Needs(),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "One scene feels as if the weather had turned, and it had not. Please make it sit with its neighbours.",
        "The look falls apart in one place. We had it all consistent when we left the suite.",
        "Everything looks the way we wanted except for one bit that seems to come from another programme.",
    ),
)
