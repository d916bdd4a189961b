"""What random answers earn, computed for the task at hand: the level a score has to be compared with.

Order: the mean headline over all permutations where they can be counted (n ≤ 7), over a fixed pseudo-random
sample beyond. Assembly: exact, from the binomial distribution of correct slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import comb

import numpy as np
import numpy.typing as npt

EXACT_UP_TO = 7
SAMPLE_SEED = 20240501
SAMPLE_CLIPS = 1_000_000
"""Clips drawn in all: 50,000 orders at n = 20, a standard error below 0.0002 everywhere."""

Orders = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OrderChance:
    expected_score: float
    standard_error: float
    """0 where every order was counted."""
    orders_counted: int


@cache
def order_chance(n: int) -> OrderChance:
    """Expected `nd × lis × adj` of a uniformly random order of `n` clips."""
    if n < 2:
        return OrderChance(1.0, 0.0, 1)
    exact = n <= EXACT_UP_TO
    orders = np.array(list(permutations(range(n)))) if exact else _sampled_orders(n)
    nd = 1 - np.abs(orders - np.arange(n)).sum(axis=1) / (n**2 // 2)
    lis = _lis_lengths(orders) / n
    adj = (np.diff(orders, axis=1) == 1).sum(axis=1) / (n - 1)
    scores = nd * lis * adj
    error = 0.0 if exact else float(scores.std(ddof=1) / len(scores) ** 0.5)
    return OrderChance(float(scores.mean()), error, len(scores))


def assembly_chance(slots: int, candidates_per_slot: int) -> float:
    """Expected headline of guessing each slot among its own candidates."""
    return _expected_headline(slots, candidates_per_slot, 1 / candidates_per_slot)


def assembly_pool_chance(slots: int, candidates_per_slot: int) -> float:
    """Expected headline of guessing each slot among the candidates of all slots."""
    return _expected_headline(slots, candidates_per_slot, 1 / (slots * candidates_per_slot))


def _expected_headline(slots: int, candidates_per_slot: int, hit_rate: float) -> float:
    floor = 1 / candidates_per_slot
    total = 0.0
    for hits in range(slots + 1):
        probability = comb(slots, hits) * hit_rate**hits * (1 - hit_rate) ** (slots - hits)
        total += probability * max(0.0, (hits / slots - floor) / (1 - floor))
    return total


def _sampled_orders(n: int) -> Orders:
    count = max(200, SAMPLE_CLIPS // n)
    generator = np.random.Generator(np.random.PCG64(SAMPLE_SEED))
    return np.argsort(generator.random((count, n)), axis=1)


def _lis_lengths(orders: Orders) -> Orders:
    """Longest increasing subsequence of every row: `ends[:, k]` is the smallest end of one of length k+1."""
    rows = np.arange(len(orders))
    n = orders.shape[1]
    ends = np.full((len(orders), n), n)
    for column in orders.T:
        place = (ends < column[:, None]).sum(axis=1)
        ends[rows, place] = column
    return np.asarray((ends < n).sum(axis=1), np.int64)
