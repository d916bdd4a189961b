"""What speaks for a join, as natural logarithms of how much likelier a true join shows it than two clips of one film.

The constants were fitted once, on true and false joins of real clips that were cut and coded again as the sequencing
builder does; benchmarks/README.md says on which, and how it went on others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from primitives._joins.picture import COLOUR_FLOOR, FLOOR, Looks, Values, steps
from primitives._joins.sound import Waves, seams

RUNS_ON, RUNS_ON_SPREAD = 1000.0, 0.17
"""How much likelier a step no larger than its neighbours is in a take that runs on, and how soon that fades (in
logarithms of the step)."""
STEP_WEIGHT, COLOUR_WEIGHT = 0.5, 0.5
USUAL_STEP, USUAL_COLOURS = 30.0, 20.0
"""Between two shots of one film, in levels."""
MOST_ALIKE = 0.5
"""Likeness speaks for no more than this: where the same view comes again and does not run on, something lay between."""
WAVE_WEIGHT, WAVE_LOW_WEIGHT = 0.186, 0.145
WAVE_LIMITS = (-20.0, 25.0)
"""The sound may be cut together with the picture, and its model is a simple one: no seam decides more than this."""
NEAR_WEIGHT, ROOM_WEIGHT = 0.327, 0.143
USUAL_NEAR_DB, USUAL_ROOM_DB = 9.0, 8.0
ONE_SILENT = -2.0
"""Where sound begins or stops with the picture, which happens: a wave and a spectrum of nothing say no more."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """`[end, start]` for all clips, by cue; a cue that there is nothing of is zero everywhere."""

    picture: Values
    sound: Values
    text: Values
    speech: Values

    @property
    def total(self) -> Values:
        return self.picture + self.sound + self.text + self.speech


def picture_evidence(ends: Looks, starts: Looks) -> Values:
    found = steps(ends, starts)
    runs_on = np.log1p(RUNS_ON * np.exp(-0.5 * (found.excess / RUNS_ON_SPREAD) ** 2))
    alike = STEP_WEIGHT * np.log(USUAL_STEP / (found.step + FLOOR))
    alike += COLOUR_WEIGHT * np.log(USUAL_COLOURS / (found.colours + COLOUR_FLOOR))
    return np.asarray(runs_on + np.minimum(alike, MOST_ALIKE))


def sound_evidence(tails: Waves, heads: Waves) -> Values:
    if not tails.any() and not heads.any():
        return np.zeros((len(tails), len(heads)))
    found = seams(tails, heads)
    wave = WAVE_WEIGHT * np.clip(found.wave, *WAVE_LIMITS) + WAVE_LOW_WEIGHT * np.clip(found.wave_low, *WAVE_LIMITS)
    bands = NEAR_WEIGHT * (USUAL_NEAR_DB - found.near_db) + ROOM_WEIGHT * (USUAL_ROOM_DB - found.room_db)
    return np.choose(found.sides_heard, [np.zeros_like(wave), np.full_like(wave, ONE_SILENT), wave + bands])
