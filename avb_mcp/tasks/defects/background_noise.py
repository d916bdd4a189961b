"""A noise under everything that is heard, for a few seconds."""

from __future__ import annotations

from functools import partial

import numpy as np

from avb_mcp.tasks.defects import _places, _sounds
from avb_mcp.tasks.defects._base import Damage, Defect, Drawn, Needs, Rng, Stretch
from avb_mcp.tasks.footage import Sound


class Parameters(Drawn):
    first: int
    last: int
    colour: _sounds.NoiseColour
    snr_db: float
    """The level of what is heard in the window over the noise."""
    noise_seed: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    first, last = _places.draw_heard_window(stretch, rng, 3.0, 8.0)
    colours: tuple[_sounds.NoiseColour, ...] = ("white", "pink", "brown", "babble")
    return Parameters(
        first=first,
        last=last,
        colour=colours[int(rng.integers(len(colours)))],
        snr_db=round(float(rng.uniform(0.0, 8.0)), 2),
        noise_seed=int(rng.integers(1 << 31)),
    )


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    return Damage(
        sound=partial(_add, stretch, drawn),
        window=(drawn.first, drawn.last),
        note=f"{drawn.colour} noise, synthesised",
    )


def _add(stretch: Stretch, drawn: Parameters, track: Sound) -> Sound:
    first, last = stretch.sample(drawn.first), stretch.sample(drawn.last)
    level = _places.active_rms(track[:, first:last]) * 10 ** (-drawn.snr_db / 20)
    rng = np.random.default_rng(drawn.noise_seed)
    added = level * _sounds.noise(rng, drawn.colour, len(track), last - first)
    return _sounds.changed_within(track, first, last, lambda inside: inside + added)


DEFECT = Defect(
    name="background_noise",
    scheme="h1",
    needs=Needs(sound=True),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "Something about the sound bothers me part-way through; before and after it is perfectly fine.",
        "There is a passage where I find it tiring to listen, although the people in it do nothing different.",
        "My assistant wore headphones and asked whether somebody had left a machine running for a while.",
    ),
)
