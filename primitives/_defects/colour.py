"""A colour grade that changes within a shot, and changes back."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, Values, confidence
from primitives._defects.scenes import same_scene, scene_cuts
from primitives._defects.steps import find_steps, pair_steps
from primitives._tracks import FilmTracks, PictureTrack

LEAST = 2.0
"""Grey levels of change, over all measures, from which on a step may be a grade."""
SHORTEST_S, LONGEST_S = 0.4, 60.0
WEIGHTS = np.array([0.6, 1.2, 1.2, 0.4, 0.7, 0.7], np.float32)
"""Light wavers by itself, colours seldom do."""


def colours(picture: PictureTrack) -> Values:
    """Mean of luma and chroma, and their spread, for each frame, weighed by how much they tell."""
    cells = picture.cells.astype(np.float32).reshape(len(picture), 3, -1)
    means, spreads = cells.mean(axis=2), cells.std(axis=2)
    return np.concatenate((means, spreads), axis=1) * WEIGHTS


def find_colour(tracks: FilmTracks) -> list[Finding]:
    """Windows between two opposite steps of colour, where the scene itself stays."""
    picture = tracks.picture
    if picture is None:
        return []
    track = colours(picture)
    steps = [
        step
        for step in find_steps(track, picture.fps, scene_cuts(picture), LEAST)
        if picture.bright[step.frame - 1 : step.frame + 1].min() > 24 and same_scene(picture, step.frame)
    ]
    pairs = pair_steps(steps, round(SHORTEST_S * picture.fps), round(LONGEST_S * picture.fps))
    found = []
    for pair in pairs:
        way = (pair.first.change - pair.last.change) / 2
        change = way / WEIGHTS
        found.append(
            Finding(
                "colour",
                float(picture.times_s[pair.first.frame]),
                float(picture.times_s[pair.last.frame]),
                confidence(1.2 * pair.strength_over(picture.fps)),
                {
                    "luma_change": round(float(change[0]), 1),
                    "blue_change": round(float(change[1]), 1),
                    "red_change": round(float(change[2]), 1),
                    "contrast_change": round(float(change[3]), 1),
                },
                Curve(
                    "mean colour, along the change",
                    picture.times_s[:-1],
                    track @ (way / (np.linalg.norm(way) + 1e-6)),
                ),
            )
        )
    return found
