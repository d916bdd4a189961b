"""Edges of a picture defect: two neighbouring frames that show the same scene and differ in one respect, all over the
picture and for good. A window begins by one and ends by the opposite one. Pure."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from primitives._defects.common import Values, likely
from primitives._tracks import PictureTrack

SIDE, LONG = 4, 20
"""Frames on each side of an edge that must agree on it, and after which it must still be there."""
AROUND_S = 1.5
SHORTEST_S, LONGEST_S = 0.4, 60.0
LEAST_AT_ONCE = 0.25
"""Of a change, what must lie between the two frames."""
SHARP = 0.7
"""Other edges count as rivals that are at least half as large, and so nearly as sharp and unusual."""
_DARKEST = 24


@dataclass(frozen=True, eq=False)
class Edge:
    """A change between two frames."""

    frame: int
    change: Values
    size: float
    agree: float
    """Share of the picture that changes so."""
    at_once: float
    """How much of the change lies between the two frames; 1 is all."""
    lasts: float
    """How much of the change is still there a while before and after; 1 is all."""
    usual: float
    """How much the same changes there from frame to frame otherwise."""
    shares: Values
    """What each part of the picture counts: those that move by themselves count little."""


Measure = Callable[[range, int], Edge | None]
"""The edge within a shot at a frame, if there is one."""


def find_edges(picture: PictureTrack, sizes: Values, cuts: Sequence[int], least: float, measure: Measure) -> list[Edge]:
    """Edges at those frames that differ from the one before by more than those beside them."""
    found = []
    for start, stop in itertools.pairwise(sorted({0, len(picture), *cuts})):
        inside = sizes[start:stop].copy()
        inside[0] = 0
        for place in _peaks(inside, least):
            frame = start + place
            beside = min(frame - start, stop - frame)
            if beside >= 2 and picture.bright[frame - 1 : frame + 1].min() > _DARKEST:
                edge = measure(range(start, stop), frame)
                if edge is not None and edge.at_once > LEAST_AT_ONCE:
                    found.append(edge)
    return found


def _peaks(sizes: Values, least: float) -> list[int]:
    """Places where a size is the largest within two frames."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(sizes, 2), 5).max(axis=1)
    return [int(place) for place in np.flatnonzero((sizes >= around) & (sizes > least))]


def near(picture: PictureTrack, shot: range, frame: int) -> range:
    """The frames around an edge that tell what is usual there."""
    reach = round(AROUND_S * picture.fps)
    return range(max(shot.start, frame - reach), min(shot.stop, frame + reach))


def beside(values: Values, around: range, frame: int, start: int = 0, stop: int = SIDE) -> tuple[Values, Values]:
    """The middle values right before and after an edge, or some frames away from it."""
    before = values[max(around.start, frame - stop) : max(around.start + 1, frame - start)]
    after = values[min(around.stop - 1, frame + start) : min(around.stop, frame + stop)]
    return np.median(before, axis=0), np.median(after, axis=0)


def pairs(picture: PictureTrack, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge, Values]]:
    """Edges that may undo each other, and what speaks for a defect between them."""
    for first, last in itertools.combinations(edges, 2):
        length_s = float(picture.times_s[last.frame] - picture.times_s[first.frame])
        if SHORTEST_S <= length_s <= LONGEST_S and first.change @ last.change < 0:
            yield first, last, _evidence(first, last, edges, length_s)


def _evidence(first: Edge, last: Edge, edges: Sequence[Edge], length_s: float) -> Values:
    """What speaks for a defect: size, alone and against what is usual; that one undoes the other; sharp ends that last;
    few others like it."""
    small, at_once = min(first.size, last.size), min(1.0, first.at_once, last.at_once)
    own = {first.frame, last.frame}
    over = min(first.size / first.usual, last.size / last.usual)
    rivals = sum(
        e.size > small / 2 and e.size / e.usual > SHARP * over and e.at_once > SHARP * at_once
        for e in edges
        if e.frame not in own
    )
    lengths = float(np.linalg.norm(first.change) * np.linalg.norm(last.change))
    return np.array(
        [
            1.0,
            np.log(small),
            np.log(over),
            -float(first.change @ last.change) / (lengths + 1e-9),
            min(first.agree, last.agree),
            at_once,
            at_once**4,
            min(1.0, first.lasts, last.lasts),
            np.log(1 + rivals),
            np.log(max(1.0, length_s / 6)),
        ]
    )


def best_pairs(picture: PictureTrack, edges: Sequence[Edge], weights: Values) -> list[tuple[float, Edge, Edge]]:
    """The likeliest windows, no edge used twice."""
    chosen: list[tuple[float, Edge, Edge]] = []
    used: set[int] = set()
    found = [(likely(*(weights * evidence)), first, last) for first, last, evidence in pairs(picture, edges)]
    for sure, first, last in sorted(found, key=lambda pair: -pair[0]):
        if used.isdisjoint((first.frame, last.frame)):
            used |= {first.frame, last.frame}
            chosen.append((sure, first, last))
    return chosen


def alone(edge: Edge, edges: Sequence[Edge]) -> Values:
    """What speaks for an edge by itself, as for a pair of them."""
    return _evidence(edge, dataclasses.replace(edge, change=-edge.change), edges, 0.0)
