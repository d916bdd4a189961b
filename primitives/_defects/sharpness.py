"""Blur and lost resolution: fine detail that goes within a shot, all over the picture at once, and comes back."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, Values, likely
from primitives._defects.edges import LONG, SIDE, Edge, beside, best_pairs, find_edges, near
from primitives._defects.scenes import scene_cuts
from primitives._tracks import FilmTracks, PictureTrack

LEAST = 0.06
"""Loss of fine against coarse detail, in octaves, from which on a step may be a defect."""
PLAIN = -1.5
"""Regions with less detail than that, as log2 of grey levels, show no loss of it."""
WEIGHTS = np.array([-4.6, -0.3, 2.0, 0.5, 1.2, 0.6, 0.8, 0.6, -2.0, -1.5])
"""Of the evidence for a pair of edges: a logistic regression on 120 films of 15 clips, 30 of them blurred or soft; the
first was raised by 1.1, for most films have no such pair but a few dozen bad ones."""
OUT_OF_FOCUS, LOST, LEFT = -18.5, np.array([-0.3, -0.8, -2.4, -1.5]), np.array([-4.3, -6.6, -7.7])
"""What tells blur from lost resolution: the change of detail at each distance, and how steeply what is left falls off
towards fine detail. A logistic regression on 1300 single frames of 15 clips, blurred by 1.5 to 4.2 px or made smaller
by 1.5 to 5; 86 % right on clips that were left out, 29 of 30 windows in films."""
FADE = 2.0
"""Octaves of coarse detail: a picture that loses more goes out."""
_CODING = 0.03
"""Octaves by which detail changes from frame to frame by coding alone."""
_FINE = np.array([[1, 0, 0, -1], [0, 1, 0, -1], [0, 0, 1, -1]], np.float32)
"""Fine detail against coarse: contrast changes both."""


def find_sharpness(tracks: FilmTracks) -> list[Finding]:
    """Windows that begin with a loss of detail and end with its return."""
    picture = tracks.picture
    if picture is None or len(picture) < 2 * SIDE:
        return []
    return [
        _finding(picture, sure, first, last)
        for sure, first, last in best_pairs(picture, detail_edges(picture), WEIGHTS)
        if first.change[0] < 0
    ]


def detail_edges(picture: PictureTrack) -> list[Edge]:
    """Where detail changes within a shot and stays so."""
    detail = picture.detail.astype(np.float32)
    moves = np.zeros((len(picture), 3), np.float32)
    moves[1:] = np.median(_FINE @ np.diff(detail, axis=0), axis=2)

    def measure(shot: range, frame: int) -> Edge | None:
        return _edge(detail, near(picture, shot, frame), frame)

    return find_edges(picture, np.linalg.norm(moves, axis=1), scene_cuts(picture), LEAST / 2, measure)


def _edge(detail: Values, around: range, frame: int) -> Edge | None:
    moves = np.diff(detail[around.start : around.stop, 0] - detail[around.start : around.stop, 3], axis=0)
    place = frame - around.start
    others = np.delete(moves, np.s_[max(0, place - 2) : place + 1], axis=0)
    noise = np.quantile(np.abs(others), 0.85, axis=0) if len(others) > 3 else 0.0
    before, after = beside(detail, around, frame)
    shares = (noise + _CODING) ** -2.0 * (np.maximum(before[0], after[0]) > PLAIN) + 1e-6
    shares /= shares.sum()
    change = _FINE @ (after - before) @ shares
    far = beside(detail, around, frame, SIDE - 1, LONG)
    if abs((after - before)[3] @ shares) > FADE or np.linalg.norm(change) < LEAST:
        return None
    fine = float(change[0]) or 1e-6
    each = (_FINE @ (after - before))[0]
    return Edge(
        frame,
        change,
        size=float(np.linalg.norm(change)),
        agree=float(shares @ (each * np.sign(fine) > abs(fine) / 2)),
        at_once=float(moves[place - 1] @ shares) / fine,
        lasts=float((_FINE @ (far[1] - far[0]) @ shares)[0]) / fine,
        usual=(float(np.quantile(np.abs(others @ shares), 0.85)) if len(others) > 3 else 0.0) + 0.02,
        sides=(before @ shares, after @ shares),
    )


def _finding(picture: PictureTrack, sure: float, first: Edge, last: Edge) -> Finding:
    detail = picture.detail.astype(np.float32)
    sharp, left = ((first.sides[side] + last.sides[1 - side]) / 2 for side in range(2))
    blur = likely(OUT_OF_FOCUS, *(LOST * (left - sharp)), *(LEFT * -np.diff(left)))
    return Finding(
        "blur" if blur > 0.5 else "softness",
        float(picture.times_s[first.frame]),
        float(picture.times_s[last.frame]),
        sure,
        {
            "detail_lost_octaves": round(-float(first.change[0] - last.change[0]) / 2, 2),
            "in_all_regions": round(min(first.agree, last.agree), 2),
            "out_of_focus": blur,
        },
        Curve(
            "fine against coarse detail, octaves", picture.times_s[:-1], np.median(detail[:, 0] - detail[:, 3], axis=1)
        ),
    )
