"""Sequencing scores (contract, "Sequencing"), pure.

An order is given as *true ranks in predicted order*: `ranks[i]` is the true position of the clip that the
submission puts at position `i`, a permutation of `0 … n-1`; `0, 1, 2, …` is the right answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from verifiers._files import SubmissionError

ND_WEIGHT, LIS_WEIGHT, ADJ_WEIGHT = 0.4, 0.3, 0.3


@dataclass(frozen=True)
class OrderScore:
    nd_score: float
    lis_score: float
    adj_score: float
    strict_match: float

    @property
    def headline(self) -> float:
        return self.nd_score * self.lis_score * self.adj_score

    @property
    def weighted(self) -> float:
        return ND_WEIGHT * self.nd_score + LIS_WEIGHT * self.lis_score + ADJ_WEIGHT * self.adj_score

    def components(self) -> dict[str, float]:
        return {
            "nd_score": self.nd_score,
            "lis_score": self.lis_score,
            "adj_score": self.adj_score,
            "weighted": self.weighted,
            "strict_match": self.strict_match,
        }


COMPONENTS = tuple(OrderScore(0, 0, 0, 0).components())


def true_ranks(submission: Sequence[str], reference: Sequence[str]) -> list[int]:
    """True ranks in predicted order; `SubmissionError` when the submission is no permutation of the clips."""
    if len(submission) != len(reference):
        raise SubmissionError(f"{len(submission)} clips were placed, the task has {len(reference)}")
    rank = {clip: position for position, clip in enumerate(reference)}
    unknown = [clip for clip in submission if clip not in rank]
    if unknown:
        raise SubmissionError(f"the clip {unknown[0][:40]!a} is not one of the task's")
    if len(set(submission)) != len(submission):
        repeated = next(clip for i, clip in enumerate(submission) if clip in submission[:i])
        raise SubmissionError(f"the clip {repeated!a} is placed more than once")
    return [rank[clip] for clip in submission]


def score_order(ranks: Sequence[int]) -> OrderScore:
    return OrderScore(
        nd_score=nd_score(ranks),
        lis_score=lis_score(ranks),
        adj_score=adj_score(ranks),
        strict_match=float(list(ranks) == list(range(len(ranks)))),
    )


def nd_score(ranks: Sequence[int]) -> float:
    """1 - footrule / its maximum `n² // 2`; 1 when n < 2."""
    n = len(ranks)
    if n < 2:
        return 1.0
    footrule = sum(abs(predicted - true) for predicted, true in enumerate(ranks))
    return 1 - footrule / (n**2 // 2)


def lis_score(ranks: Sequence[int]) -> float:
    """Length of the longest increasing subsequence over n; 1 when there is no clip."""
    smallest_ends: list[int] = []
    for rank in ranks:
        place = bisect_left(smallest_ends, rank)
        smallest_ends[place : place + 1] = [rank]
    return len(smallest_ends) / len(ranks) if ranks else 1.0


def adj_score(ranks: Sequence[int]) -> float:
    """Share of true neighbours a→b that stand next to each other in the same direction; 1 when n < 2."""
    if len(ranks) < 2:
        return 1.0
    kept = sum(after - before == 1 for before, after in pairwise(ranks))
    return kept / (len(ranks) - 1)
