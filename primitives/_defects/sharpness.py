"""Blur and lost resolution: fine detail that goes within a shot, and comes back."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, Values, confidence
from primitives._defects.scenes import same_scene, scene_cuts
from primitives._defects.steps import SIDE, find_steps, pair_steps
from primitives._tracks import FilmTracks

LEAST = 0.09
"""Loss of fine against coarse detail, in octaves, from which on a step may be a defect."""
SHORTEST_S, LONGEST_S = 0.4, 60.0
BLURRED = -1.82
"""Places 1 and 4 pixels apart differ by two octaves where a picture is smooth: so near to that it is blurred. A picture
that was made smaller and larger again keeps more."""


def find_sharpness(tracks: FilmTracks) -> list[Finding]:
    """Windows that begin with a loss of detail and end with its return."""
    picture = tracks.picture
    if picture is None:
        return []
    track = fineness(picture.detail)
    steps = [
        step
        for step in find_steps(track, picture.fps, scene_cuts(picture), LEAST)
        if picture.bright[step.frame - 1 : step.frame + 1].min() > 24 and same_scene(picture, step.frame)
    ]
    found = []
    for pair in pair_steps(steps, round(SHORTEST_S * picture.fps), round(LONGEST_S * picture.fps)):
        loss = (pair.last.change - pair.first.change) / 2
        if loss[0] <= 0:
            continue
        edges = [*range(pair.first.frame, pair.first.frame + SIDE), *range(pair.last.frame - SIDE, pair.last.frame)]
        slope = float(np.mean(picture.detail[edges, 0] - picture.detail[edges, 2]))
        found.append(
            Finding(
                "blur" if slope < BLURRED else "softness",
                float(picture.times_s[pair.first.frame]),
                float(picture.times_s[pair.last.frame]),
                confidence(1.1 * pair.strength_over(picture.fps)),
                {"detail_lost_octaves": round(float(loss[0]), 2), "left_slope_octaves": round(slope, 2)},
                Curve("fine against coarse detail, octaves", picture.times_s[:-1], track[:, 0]),
            )
        )
    return found


def fineness(detail: Values) -> Values:
    """Fine detail against coarse: pixels beside each other, and two apart, against eight apart."""
    return np.asarray(detail[:, :2] - detail[:, 3:4])
