"""A colour grade that changes within a shot, and changes back."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, Values, confidence
from primitives._defects.scenes import same_scene, scene_cuts
from primitives._defects.steps import LONG_S, RIVAL, Step, find_steps, pair_steps
from primitives._tracks import FilmTracks, PictureTrack

LEAST = 2.0
"""Grey levels of change, over all measures, from which on a step may be a grade."""
SHORTEST_S, LONGEST_S = 0.4, 60.0
EASY = 1.5
"""Two steps that undo each other are seldom a film's own: so much they count for more."""
AT_CUT = 0.45
"""How strong a grade is that ends at a cut, where only one of its steps is seen."""
AT_END = 0.27
"""The same where it ends with the film."""
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
    found = [
        _finding(
            picture,
            track,
            (pair.first.frame, pair.last.frame),
            (pair.first.change - pair.last.change) / 2,
            EASY * pair.strength_over(picture.fps),
        )
        for pair in pairs
    ]
    sure = [pair for pair in pairs if EASY * pair.strength_over(picture.fps) > 1]
    paired = {step.frame for pair in sure for step in (pair.first, pair.last)}
    for step in steps:
        if step.frame not in paired:
            window, change = _to_a_cut(picture, track, step)
            length_s = float(picture.times_s[window[1]] - picture.times_s[window[0]])
            if SHORTEST_S <= length_s <= LONG_S:
                share = AT_END if window[0] == 0 or window[1] == len(picture) else AT_CUT
                found.append(_finding(picture, track, window, change, share * step.strength / (1 + RIVAL * len(steps))))
    return found


def _to_a_cut(picture: PictureTrack, track: Values, step: Step) -> tuple[tuple[int, int], Values]:
    """One step in a shot: the grade reaches from it to a cut, on the side whose colours are further from the film's."""
    walls = [0, *scene_cuts(picture), len(picture)]
    place = int(np.searchsorted(walls, step.frame, side="right"))
    before, after = (walls[place - 1], step.frame), (step.frame, walls[place])
    own = np.median(track, axis=0)
    far = [float(np.linalg.norm((track[a:b].mean(axis=0) - own)[1:3])) for a, b in (before, after)]
    return (before, -step.change) if far[0] >= far[1] else (after, step.change)


def _finding(picture: PictureTrack, track: Values, window: tuple[int, int], way: Values, ratio: float) -> Finding:
    change = way / WEIGHTS
    return Finding(
        "colour",
        float(picture.times_s[window[0]]),
        float(picture.times_s[window[1]]),
        confidence(ratio),
        {
            "luma_change": round(float(change[0]), 1),
            "blue_change": round(float(change[1]), 1),
            "red_change": round(float(change[2]), 1),
            "contrast_change": round(float(change[3]), 1),
        },
        Curve("mean colour, along the change", picture.times_s[:-1], track @ (way / (np.linalg.norm(way) + 1e-6))),
    )
