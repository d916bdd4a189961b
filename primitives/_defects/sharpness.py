"""Blur and lost resolution: fine detail that goes within a shot, all over the picture at once, and comes back."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from primitives._defects.common import Curve, Finding, Values, likely
from primitives._defects.scenes import scene_cuts
from primitives._defects.steps import SIDE, peaks
from primitives._tracks import FilmTracks, PictureTrack

LEAST = 0.06
"""Loss of fine against coarse detail, in octaves, from which on a step may be a defect."""
SHORTEST_S, LONGEST_S = 0.4, 60.0
PLAIN = -1.5
"""Regions with less detail than that, as log2 of grey levels, show no loss of it."""
WEIGHTS = np.array([-3.0, 0.4, 2.0, 0.3, 1.2, 1.2, 0.7, -1.2, -1.9])
"""Of what `evidence` gives: a logistic regression on 120 films of 15 clips with and without defects, 30 of them blurred
or soft, rounded; the first was set so that 1 in 20 films without either has a window."""
OUT_OF_FOCUS, LOST, LEFT = -18.5, np.array([-0.3, -0.8, -2.4, -1.5]), np.array([-4.3, -6.6, -7.7])
"""What tells blur from lost resolution: the change of detail at each distance, and how steeply what is left falls off
towards fine detail. A logistic regression on 1300 single frames of 15 clips, blurred by 1.5 to 4.2 px or made smaller by
1.5 to 5; 86 % right on clips that were left out, 29 of 30 edges in films."""
FADE = 2.0
"""Octaves of coarse detail: a picture that loses more goes out."""
LEAST_AT_ONCE = 0.25
LONG = 20
"""Frames after which a change must still be there."""
_AROUND_S = 1.5
_CODING = 0.03
"""Octaves by which detail changes from frame to frame by coding alone."""
_DARKEST = 24


@dataclass(frozen=True, eq=False)
class Edge:
    """Detail that changes between two frames."""

    frame: int
    change: Values
    """Of places 1, 2, 4 and 8 pixels apart, in octaves: the middle one of all regions."""
    agree: float
    """Share of the regions that change so."""
    at_once: float
    """How much of the change lies between the two frames; 1 is all."""
    lasts: float
    """How much of the change is still there a while before and after; 1 is all."""
    usual: float
    """How much detail changes there from frame to frame otherwise, in octaves."""
    blurred: Values
    """Detail on the side that has less of it."""

    @property
    def fine(self) -> Values:
        """Fine detail against coarse: contrast changes both."""
        return np.asarray(self.change[:3] - self.change[3])

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.fine))


def find_sharpness(tracks: FilmTracks) -> list[Finding]:
    """Windows that begin with a loss of detail and end with its return."""
    picture = tracks.picture
    if picture is None or len(picture) < 2 * SIDE:
        return []
    edges = find_edges(picture)
    found: list[Finding] = []
    used: set[int] = set()
    for sure, first, last in sorted(_pairs(picture, edges), key=lambda pair: -pair[0]):
        if used.isdisjoint((first.frame, last.frame)):
            used |= {first.frame, last.frame}
            found.append(_finding(picture, sure, first, last))
    return found


def find_edges(picture: PictureTrack) -> list[Edge]:
    """Where detail changes within a shot and stays so for some frames."""
    detail = picture.detail.astype(np.float32)
    moves = np.zeros((len(picture), 3), np.float32)
    moves[1:] = np.median(np.diff(detail[:, :3] - detail[:, 3:], axis=0), axis=2)
    sizes = np.linalg.norm(moves, axis=1)
    found = []
    for start, stop in itertools.pairwise(sorted({0, len(picture), *scene_cuts(picture)})):
        sizes[start] = 0
        for place in peaks(sizes[start:stop], LEAST / 2):
            edge = _edge(picture, detail, range(start, stop), start + place)
            if edge is not None and edge.at_once > LEAST_AT_ONCE:
                found.append(edge)
    return found


def _edge(picture: PictureTrack, detail: Values, shot: range, frame: int) -> Edge | None:
    reach = round(_AROUND_S * picture.fps)
    low, high = max(shot.start, frame - reach), min(shot.stop, frame + reach)
    before, after = detail[max(low, frame - SIDE) : frame], detail[frame : min(high, frame + SIDE)]
    if min(len(before), len(after)) < 2 or picture.bright[frame - 1 : frame + 1].min() <= _DARKEST:
        return None
    ends = np.median(before, axis=0), np.median(after, axis=0)
    moves = np.diff(detail[low:high, 0] - detail[low:high, 3], axis=0)
    others = np.delete(moves, np.s_[max(0, frame - low - 2) : frame - low + 1], axis=0)
    noise = np.quantile(np.abs(others), 0.85, axis=0) if len(others) > 3 else np.zeros(detail.shape[2])
    shares = (noise + _CODING) ** -2.0 * (np.maximum(ends[0][0], ends[1][0]) > PLAIN) + 1e-6
    shares /= shares.sum()
    each = ends[1] - ends[0]
    change = each @ shares
    if abs(change[3]) > FADE or np.linalg.norm(change[:3] - change[3]) < LEAST:
        return None
    fine = float(change[0] - change[3])
    far = (
        np.median(detail[max(low, frame - LONG) : max(low, frame - SIDE) + 1], axis=0),
        np.median(detail[min(high, frame + SIDE) - 1 : min(high, frame + LONG)], axis=0),
    )
    later = (far[1] - far[0]) @ shares
    return Edge(
        frame,
        change,
        agree=float(shares @ ((each[0] - each[3]) * np.sign(fine) > abs(fine) / 2)),
        at_once=float(moves[frame - low - 1] @ shares) / (fine or 1e-6),
        lasts=float(later[0] - later[3]) / (fine or 1e-6),
        usual=float(np.quantile(np.abs(others @ shares), 0.85)) if len(others) > 3 else 0.0,
        blurred=(ends[1] if fine < 0 else ends[0]) @ shares,
    )


def _pairs(picture: PictureTrack, edges: list[Edge]) -> list[tuple[float, Edge, Edge]]:
    """Losses and returns that undo each other, and how likely each pair is a defect."""
    sizes = np.array([edge.size for edge in edges])
    pairs = []
    for first, last in itertools.combinations(edges, 2):
        length_s = float(picture.times_s[last.frame] - picture.times_s[first.frame])
        if first.fine[0] < 0 < last.fine[0] and SHORTEST_S <= length_s <= LONGEST_S:
            rivals = int((sizes > min(first.size, last.size) / 2).sum()) - 2
            pairs.append((likely(*(WEIGHTS * evidence(first, last, rivals, length_s))), first, last))
    return pairs


def evidence(first: Edge, last: Edge, rivals: int, length_s: float) -> Values:
    """What speaks for a defect: size, alone and against what is usual, likeness, sharp ends, few others like it."""
    small, large = sorted((first.size, last.size))
    along = -float(first.fine @ last.fine) / (small * large + 1e-9)
    return np.array(
        [
            1.0,
            np.log(small / 0.3),
            np.log(small / (max(first.usual, last.usual) + 0.02)),
            max(0.0, along),
            min(first.agree, last.agree),
            min(1.0, first.at_once, last.at_once),
            min(1.0, first.lasts, last.lasts),
            np.log(1 + rivals),
            np.log(max(1.0, length_s / 6)),
        ]
    )


def _finding(picture: PictureTrack, sure: float, first: Edge, last: Edge) -> Finding:
    change = (first.change - last.change) / 2
    slopes = -np.diff((first.blurred + last.blurred) / 2)
    blur = likely(OUT_OF_FOCUS, *(LOST * change), *(LEFT * slopes))
    fine = picture.detail[:, :2].astype(np.float32) - picture.detail[:, 3:]
    return Finding(
        "blur" if blur > 0.5 else "softness",
        float(picture.times_s[first.frame]),
        float(picture.times_s[last.frame]),
        sure,
        {
            "detail_lost_octaves": round(float(change[3] - change[0]), 2),
            "in_all_regions": round(min(first.agree, last.agree), 2),
            "out_of_focus": blur,
        },
        Curve("fine against coarse detail, octaves", picture.times_s[:-1], np.median(fine[:, 0], axis=1)),
    )
