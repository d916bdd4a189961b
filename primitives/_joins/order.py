"""The order of clips whose joins add up to the most, and what each of its joins is worth. Pure.

Up to 16 clips every set is gone through. More are ordered by an integer programme, which proves the best order and the
best other one; what a single join is worth at least then follows from a relaxed search without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from primitives._joins.exact import MOST_CLIPS, Scores, exact

Clips = tuple[int, ...]


@dataclass(frozen=True)
class Order:
    clips: Clips
    score: float


@dataclass(frozen=True)
class Ordering:
    """The best order, and for each of its joins the best known order without it."""

    best: Order
    without: tuple[Order, ...]
    proven: bool = True
    """Whether no other order is better."""
    least: tuple[float, ...] = ()
    """What is lost at least without each join, where the orders in `without` need not be the best ones."""

    @property
    def margins(self) -> list[float]:
        """How much is lost where a join may not be: what speaks for it against everything else."""
        return list(self.least) or [self.best.score - other.score for other in self.without]

    @property
    def alternatives(self) -> list[Order]:
        """The orders without one of the joins, each once, the best first. The first is the best of all others."""
        return sorted({other.clips: other for other in self.without}.values(), key=lambda other: -other.score)


def best_ordering(scores: Scores, check: Callable[[], None] = lambda: None) -> Ordering:
    """The best order of at least two clips."""
    if len(scores) > MOST_CLIPS:
        return _proven(scores, check)
    tables = exact(scores)
    best = tables.best()
    others = tuple(_order(tables.without(a, b), scores) for a, b in pairwise(best))
    return Ordering(_order(best, scores), others)


def score_of(clips: Sequence[int], scores: Scores) -> float:
    return float(sum(scores[a, b] for a, b in pairwise(clips)))


def _order(clips: Sequence[int], scores: Scores) -> Order:
    return Order(tuple(clips), score_of(clips, scores))


def _proven(scores: Scores, check: Callable[[], None]) -> Ordering:
    from primitives._joins.proven import Search

    search = Search(scores, check)
    first = search.best()
    best = _improved(_greedy(scores) if first is None else first, scores, check)
    search.leave_out(best)
    second = search.best() if first is not None else None
    without: list[Order | None] = [None] * (len(best) - 1)
    others = [(near.order, near.lost) for near in _near(_order(best, scores), scores)]
    if second is not None:
        kept = set(pairwise(second))
        others.append((_order(second, scores), [n for n, join in enumerate(pairwise(best)) if join not in kept]))
    for order, lost in others:
        for place in lost:
            known = without[place]
            if known is None or order.score > known.score:
                without[place] = order
    found = _order(best, scores)
    others_found = tuple(order for order in without if order)
    lead = found.score - score_of(second, scores) if second is not None else 0.0
    least = tuple(max(lead, found.score - _at_most(scores, *join)) for join in pairwise(best))
    return Ordering(found, others_found, proven=second is not None, least=least)


def _at_most(scores: Scores, a: int, b: int) -> float:
    """What no order without a join can exceed: the best of all ways to let one clip follow each, circles and all."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    count = len(scores)
    never = -1e6
    worth = np.zeros((count + 1, count + 1))  # one more stop: the nothing before the first and after the last
    worth[:count, :count] = scores
    np.fill_diagonal(worth, never)
    worth[a, b] = never
    return float(worth[linear_sum_assignment(worth, maximize=True)].sum())


@dataclass(frozen=True)
class _Near:
    order: Order
    lost: list[int]
    """Places of the joins that it lacks."""


def _near(order: Order, scores: Scores) -> Iterator[_Near]:
    """The orders in which two neighbouring stretches have changed places."""
    clips, count = order.clips, len(order.clips)

    def worth(a: int, b: int) -> float:
        """Of the join between what stands at two places, if both are there."""
        return float(scores[clips[a], clips[b]]) if a >= 0 and b < count else 0.0

    for a in range(count):
        for b in range(a + 1, count):
            for c in range(b + 1, count + 1):
                gained = worth(a - 1, b) + worth(c - 1, a) + worth(b - 1, c)
                given_up = worth(a - 1, a) + worth(b - 1, b) + worth(c - 1, c)
                moved = clips[:a] + clips[b:c] + clips[a:b] + clips[c:]
                lost = [place - 1 for place in (a, b, c) if 0 < place < count]
                yield _Near(Order(moved, order.score + gained - given_up), lost)


def _greedy(scores: Scores) -> Clips:
    """From every start always the best next clip; the best of these."""
    orders = []
    for start in range(len(scores)):
        clips, left = [start], set(range(len(scores))) - {start}
        while left:
            clips.append(max(left, key=lambda clip: float(scores[clips[-1], clip])))
            left.discard(clips[-1])
        orders.append(tuple(clips))
    return max(orders, key=lambda clips: score_of(clips, scores))


def _improved(clips: Sequence[int], scores: Scores, check: Callable[[], None]) -> Clips:
    """The order after every change of two stretches that helps; the best order stays as it is."""
    best = _order(clips, scores)
    while True:
        check()
        other = max((near.order for near in _near(best, scores)), key=lambda order: order.score)
        if other.score <= best.score + 1e-9:
            return best.clips
        best = other
