"""Edges of a picture defect: two neighbouring frames that show the same scene and differ in one respect, all over the
picture and for good. A window begins by one and ends by the opposite one. Pure."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from primitives._defects.common import Values, likely
from primitives._defects.scenes import ALIKE, likeness
from primitives._tracks import PictureTrack

SIDE, LONG = 4, 20
"""Frames on each side of an edge that must agree on it, and after which it must still be there."""
AROUND_S = 1.5
SHORTEST_S, LONGEST_S = 0.4, 60.0
LEAST_AT_ONCE = 0.25
"""Of a change, what must lie between the two frames."""
SHARP = 0.7
"""How sharp and unusual other edges are that count as rivals, as a share."""
LASTS = 0.5
"""How much of a rival's change must last."""
MOSTLY = 0.85
"""Share of the values around an edge that tell what is usual there."""
MOST = 60
"""Edges of a minute that are tried against each other."""
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
    sides: tuple[Values, Values]
    """What was measured before and after, parts of the picture that move by themselves counting little."""

    @property
    def stands_out(self) -> float:
        return self.size / self.usual * min(1.0, self.at_once)


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
            lit = picture.bright[frame - 1 : frame + 1].min() > _DARKEST
            if beside >= SIDE and lit and likeness(picture, frame) > ALIKE:
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
    return middle(before), middle(after)


def middle(values: Values, axis: int = 0) -> Values:
    """The median: NumPy's own takes longer for as few values as these."""
    ordered, last = np.sort(values, axis=axis), values.shape[axis] - 1
    return np.asarray((ordered.take(last // 2, axis) + ordered.take((last + 1) // 2, axis)) / 2)


def usual(values: Values) -> Values:
    """What most values do not exceed, and hardly anything where there are only a few."""
    if len(values) <= 3:
        return np.zeros(values.shape[1:])
    place = int(MOSTLY * (len(values) - 1))
    return np.asarray(np.partition(values, place, axis=0)[place])


def other_steps(values: Values, place: int) -> Values:
    """The same change, before against after, at those places of a shot that do not see the edge."""
    if len(values) <= 2 * SIDE:
        return np.asarray(np.diff(values, axis=0))
    middles = middle(np.lib.stride_tricks.sliding_window_view(values, SIDE, axis=0), axis=-1)
    steps = middles[SIDE:] - middles[:-SIDE]
    return np.asarray(np.delete(steps, np.s_[max(0, place - 2 * SIDE) : place + 1], axis=0))


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


def pairs(picture: PictureTrack, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge, Values]]:
    """Edges that may undo each other, and what speaks for a defect between them."""
    edges = _strongest(picture, edges)
    times = np.array([picture.times_s[edge.frame] for edge in edges])
    for place, first in enumerate(edges):
        stop = int(np.searchsorted(times, times[place] + LONGEST_S, side="right"))
        lasts = [
            edge
            for edge, time_s in zip(edges[place + 1 : stop], times[place + 1 : stop], strict=True)
            if time_s - times[place] >= SHORTEST_S and first.change @ edge.change < 0
        ]
        near_by = edges[int(np.searchsorted(times, times[place] - LONGEST_S)) : stop]
        if lasts:
            lengths_s = np.array([picture.times_s[edge.frame] for edge in lasts]) - times[place]
            for last, evidence in zip(lasts, _evidence(first, lasts, near_by, lengths_s), strict=True):
                yield first, last, evidence


def alone(edge: Edge, edges: Sequence[Edge]) -> Values:
    """What speaks for an edge by itself, as for a pair of them."""
    return np.asarray(_evidence(edge, [dataclasses.replace(edge, change=-edge.change)], edges, np.zeros(1))[0])


def _strongest(picture: PictureTrack, edges: Sequence[Edge]) -> list[Edge]:
    """The sharpest and most unusual edges of each minute: others need not be tried against each other."""
    kept: list[Edge] = []
    minutes = itertools.groupby(edges, key=lambda edge: int(picture.times_s[edge.frame] // 60))
    for _, group in minutes:
        best = sorted(group, key=lambda edge: -edge.stands_out)[:MOST]
        kept += sorted(best, key=lambda edge: edge.frame)
    return kept


def _evidence(first: Edge, lasts: Sequence[Edge], edges: Sequence[Edge], lengths_s: Values) -> Values:
    """What speaks for a defect, a row for each last edge: size, alone and against what is usual; that one undoes the
    other; sharp ends that last; few others like it."""

    def both(name: str) -> Values:
        """The mean of both ends: one is often hidden by motion, the other seldom."""
        return np.array([(getattr(first, name) + getattr(last, name)) / 2 for last in lasts])

    small, at_once = np.minimum(first.size, [last.size for last in lasts]), np.minimum(1.0, both("at_once"))
    over, most = (
        ends(first.size / first.usual, [last.size / last.usual for last in lasts]) for ends in (np.minimum, np.maximum)
    )
    undone = [
        -float(first.change @ last.change) / (float(np.linalg.norm(first.change) * np.linalg.norm(last.change)) + 1e-9)
        for last in lasts
    ]
    return np.stack(
        [
            np.ones(len(lasts)),
            np.log(small),
            np.log(over),
            np.log(most / over),
            np.array(undone),
            both("agree"),
            at_once**4,
            np.clip(both("lasts"), -0.5, 1.0),
            np.log(1 + _rivals(first, lasts, edges, small, over, at_once)),
            np.log(np.maximum(1.0, lengths_s / 6)),
        ],
        axis=1,
    )


def _rivals(
    first: Edge, lasts: Sequence[Edge], edges: Sequence[Edge], small: Values, over: Values, at_once: Values
) -> Values:
    """Other edges that are at least half as large, and nearly as sharp and unusual."""
    sizes, sharp = np.array([edge.size for edge in edges]), np.array([edge.at_once for edge in edges])
    unusual = sizes / np.array([edge.usual for edge in edges])
    agree, least = np.array([edge.agree for edge in edges]), np.minimum(first.agree, [last.agree for last in lasts])
    frames = np.array([edge.frame for edge in edges])
    like = (sizes > small[:, None] / 2) & (unusual > SHARP * over[:, None]) & (sharp > SHARP * at_once[:, None])
    like &= (agree > SHARP * least[:, None]) & (np.array([edge.lasts for edge in edges]) > LASTS)
    like &= (frames != first.frame) & (frames != np.array([last.frame for last in lasts])[:, None])
    return np.asarray(like.sum(axis=1))
