"""Blur and lost resolution: fine detail that goes within a shot, and comes back."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, Values, confidence
from primitives._defects.steps import find_steps, pair_steps
from primitives._tracks import FilmTracks

LEAST = 0.1
"""Loss of fine against coarse detail, in octaves, from which on a step may be a defect."""
SHORTEST_S, LONGEST_S = 0.4, 60.0
BLUR = 0.45


def find_sharpness(tracks: FilmTracks) -> list[Finding]:
    """Windows that begin with a loss of detail and end with its return."""
    picture = tracks.picture
    if picture is None:
        return []
    track = fineness(picture.detail)
    steps = [
        step
        for step in find_steps(track, picture.fps, picture.cuts, LEAST)
        if picture.bright[step.frame - 1 : step.frame + 1].min() > 24
    ]
    found = []
    for pair in pair_steps(steps, round(SHORTEST_S * picture.fps), round(LONGEST_S * picture.fps)):
        loss = (pair.last.change - pair.first.change) / 2
        if loss[0] <= 0:
            continue
        ratio = float(loss[1] / max(loss[0], 1e-6))
        found.append(
            Finding(
                "blur" if ratio > BLUR else "softness",
                float(picture.times_s[pair.first.frame]),
                float(picture.times_s[pair.last.frame]),
                confidence(0.9 * pair.strength),
                {"detail_lost_octaves": round(float(loss[0]), 2), "coarser_detail_lost_octaves": round(float(loss[1]), 2)},
                Curve("fine against coarse detail, octaves", picture.times_s[:-1], track[:, 0]),
            )
        )
    return found


def fineness(detail: Values) -> Values:
    """Fine detail against coarse: pixels beside each other, and two apart, against eight apart."""
    return np.asarray(detail[:, :2] - detail[:, 3:4])
