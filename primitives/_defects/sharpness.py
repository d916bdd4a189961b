"""Blur and lost resolution: fine detail that goes within a shot, all over the picture at once, and comes back."""

from __future__ import annotations

import dataclasses

import numpy as np

from primitives._defects.common import Curve, Finding, Values, likely
from primitives._defects.edges import LONG, SIDE, Edge, beside, best_pairs, find_edges, middle, near, other_steps, usual
from primitives._defects.scenes import scene_cuts
from primitives._tracks import FilmTracks, PictureTrack

LEAST = 0.06
"""Loss of fine against coarse detail, in octaves, from which on a step may be a defect."""
PLAIN = -1.5
"""Regions with less detail than that, as log2 of grey levels, show no loss of it."""
WEIGHTS = np.array([-6.7, 2.4, 3.4, 3.4, 1.5, 3.7, 0.0, 3.0, -2.1, -5.0])
"""Of the evidence for a pair of edges, as logarithms of odds: which pair of a film it is, if any, fitted on 102 films
of 15 clips, 58 of them blurred or soft, most of them weakly. On clips that were left out 48 of 58 are found, and
something in one of the 44 others."""
OUT_OF_FOCUS, LOST, LEFT = -18.25, np.array([-0.3, -0.8, -2.4, -1.5]), np.array([-4.3, -6.6, -7.7])
"""What tells blur from lost resolution: the change of detail at each distance, and how steeply what is left falls off
towards fine detail. A logistic regression on 1300 single frames of 15 clips, blurred by 1.5 to 4.2 px or made smaller
by 1.5 to 5; 86 % right on clips that were left out, 52 of 53 windows in films after the first was raised by 0.25."""
FEWEST, OTHER = 3, 2.0
"""Regions that must tell, where one tells as long as its coarse detail changes by less, in octaves: otherwise it shows
something else, or nothing any more."""
_CODING = 0.03
"""Octaves by which detail changes from frame to frame by coding alone."""
WAYS = np.array([[0, 0, -1, 0, 1], [1, 0, 0, -1, 0]], np.float32)
"""Fine detail against coarse, for contrast changes both. How places differ from both their neighbours against places 4
pixels apart stands out most from what motion and coding change, of all sums of the measures; where the film is soft or
out of focus anyway, only places farther apart have something to lose."""
MORE = 1.5
"""Where the picture changes by so many times more than it mostly does, something else comes into view, and its detail
is another."""
_STILL = 0.3
"""Grey levels by which still pictures change all the same."""
_FINE = np.array([[1, 0, 0, -1, 0], [0, 1, 0, -1, 0], [0, 0, 1, -1, 0], [0, 0, 0, -1, 1]], np.float32)
"""Fine detail against coarse: contrast changes both."""


def find_sharpness(tracks: FilmTracks) -> list[Finding]:
    """Windows that begin with a loss of detail and end with its return."""
    picture = tracks.picture
    if picture is None or len(picture) < 2 * SIDE:
        return []
    return [
        _finding(picture, sure, first, last)
        for sure, first, last in best_pairs(picture, detail_edges(picture), WEIGHTS)
        if first.change[0] < 0 and first.change[-1] < 0
    ]


def detail_edges(picture: PictureTrack) -> list[Edge]:
    """Where detail changes within a shot and stays so."""
    detail = picture.detail.astype(np.float32)
    sizes = np.zeros(len(picture), np.float32)
    sizes[1:] = np.abs(np.median(WAYS @ np.diff(detail, axis=0), axis=2)).max(axis=1)
    stirred = _stirred(picture.flat)

    def measure(shot: range, frame: int) -> Edge | None:
        around = near(picture, shot, frame)
        before, after = beside(picture.flat, around, frame)
        usually = MORE * float(middle(stirred[around.start : around.stop])) + _STILL
        more = max(1.0, float(np.abs(after - before).mean()) / usually)
        seen = [_edge(detail, way, around, frame) for way in WAYS]
        edges = [dataclasses.replace(edge, usual=edge.usual * more) for edge in seen if edge is not None]
        return max(edges, key=lambda edge: edge.stands_out, default=None)

    return find_edges(picture, sizes, scene_cuts(picture), LEAST / 2, measure)


def _stirred(flat: Values) -> Values:
    """How much the picture changes within a few frames, in grey levels."""
    sums = np.cumsum(np.pad(flat, ((1, 0), (0, 0))), axis=0, dtype=np.float64)
    means = (sums[SIDE:] - sums[:-SIDE]) / SIDE
    steps = np.abs(means[SIDE:] - means[:-SIDE]).mean(axis=1)
    return np.asarray(np.pad(steps, (SIDE, len(flat) - len(steps) - SIDE), mode="edge"))


def _edge(detail: Values, way: Values, around: range, frame: int) -> Edge | None:
    fine_detail = way @ detail[around.start : around.stop]
    place = frame - around.start
    others = other_steps(fine_detail, place)
    noise = usual(np.abs(others))
    before, after = beside(detail, around, frame)
    tell = (np.maximum(before[0], after[0]) > PLAIN) & (np.abs((after - before)[3]) < OTHER)
    if tell.sum() < FEWEST:
        return None
    shares = (noise + _CODING) ** -2.0 * tell
    shares /= shares.sum()
    far = beside(detail, around, frame, SIDE - 1, LONG)
    each = way @ (after - before)
    fine = float(each @ shares)
    if abs(fine) < LEAST:
        return None
    return Edge(
        frame,
        _FINE @ (after - before) @ shares,
        size=abs(fine),
        agree=float(shares @ (each * np.sign(fine) > abs(fine) / 2)),
        at_once=float((fine_detail[place : place + 2].mean(axis=0) - fine_detail[place - 1]) @ shares) / fine,
        lasts=float(way @ (far[1] - far[0]) @ shares) / fine,
        usual=float(usual(np.abs(others @ shares))) + 0.02,
        sides=(before @ shares, after @ shares),
    )


def _finding(picture: PictureTrack, sure: float, first: Edge, last: Edge) -> Finding:
    detail = picture.detail.astype(np.float32)
    shares = np.array([first.stands_out, last.stands_out]) / (first.stands_out + last.stands_out)
    sharp, left = (shares @ (first.sides[side], last.sides[1 - side]) for side in range(2))
    blur = likely(OUT_OF_FOCUS, *(LOST * (left - sharp)[:4]), *(LEFT * -np.diff(left[:4])))
    return Finding(
        "blur" if blur > 0.5 else "softness",
        float(picture.times_s[first.frame]),
        float(picture.times_s[last.frame]),
        sure,
        {
            "detail_lost_octaves": round((first.size + last.size) / 2, 2),
            "in_all_regions": round(min(first.agree, last.agree), 2),
            "out_of_focus": blur,
        },
        Curve("fine against coarse detail, octaves", picture.times_s[:-1], np.median(WAYS[0] @ detail, axis=1)),
    )
