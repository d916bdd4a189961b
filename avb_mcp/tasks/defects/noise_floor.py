"""A steady noise for about three seconds, at a level of its own."""

from __future__ import annotations

from functools import partial

import numpy as np

from avb_mcp.tasks.defects import _places, _profile, _sounds
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.footage import Sound


class Parameters(Drawn):
    first: int
    last: int
    colour: _sounds.NoiseColour
    amplitude: float
    """RMS at full scale 1."""
    noise_seed: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_heard_window(stretch, rng, 2.5, 3.5, active_s=1.0)
    colours: tuple[_sounds.NoiseColour, ...] = ("white", "pink", "brown")
    return Parameters(
        first=first,
        last=last,
        colour=colours[int(rng.integers(len(colours)))],
        amplitude=round(float(rng.uniform(0.04, 0.10)), 4),
        noise_seed=int(rng.integers(1 << 31)),
    )


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    scene = _profile.widest_scene(stretch, drawn.first, drawn.last)
    span, more = (drawn.first, drawn.last), {"noise": drawn.colour, "amplitude": drawn.amplitude}
    return Damage(
        sound=partial(_add, stretch, drawn),
        injection=_profile.injection(stretch, _profile.NOISE, span, scene, more),
        note="the noise is synthesised",
    )


def _add(stretch: Stretch, drawn: Parameters, track: Sound) -> Sound:
    first, last = stretch.sample(drawn.first), stretch.sample(drawn.last)
    rng = np.random.default_rng(drawn.noise_seed)
    added = drawn.amplitude * _sounds.noise(rng, drawn.colour, len(track), last - first)
    return _sounds.changed_within(track, first, last, lambda inside: inside + added)


DEFECT = Defect(
    name="noise_floor",
    scheme="v3",
    needs=Needs(sound=True),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "Something about the sound bothers me part-way through. It comes from nowhere and is gone again.",
        "On headphones there is a moment that made me look up. Nothing on screen explains it.",
        "One moment is simply not as clean to the ear as the rest. Can you get it to match?",
    ),
)
