"""The best order of things where each pair has a cost: the shortest path through all, in a fixed direction. Pure."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

Costs = npt.NDArray[np.float64]
EXACT_UP_TO = 14


def best_order(costs: Costs) -> list[int]:
    """The order with the smallest sum of `costs[a, b]` over neighbours a, b."""
    count = len(costs)
    if count <= 1:
        return list(range(count))
    return _exact(costs) if count <= EXACT_UP_TO else _improved(_greedy(costs), costs)


def cost_of(order: list[int], costs: Costs) -> float:
    return float(sum(costs[a, b] for a, b in itertools.pairwise(order)))


def _exact(costs: Costs) -> list[int]:
    """Dynamic programming over the set of things placed and the last of them."""
    count = len(costs)
    best = np.full((1 << count, count), np.inf)
    before = np.full((1 << count, count), -1, np.int8)
    for start in range(count):
        best[1 << start, start] = 0.0
    for placed in range(1, 1 << count):
        row = best[placed]
        ends = np.flatnonzero(np.isfinite(row))
        for new in range(count):
            if placed >> new & 1:
                continue
            totals = row[ends] + costs[ends, new]
            least = int(np.argmin(totals))
            if totals[least] < best[placed | 1 << new, new]:
                best[placed | 1 << new, new] = totals[least]
                before[placed | 1 << new, new] = ends[least]
    placed, at = (1 << count) - 1, int(np.argmin(best[-1]))
    order = [at]
    while (previous := int(before[placed, at])) >= 0:
        placed ^= 1 << at
        at = previous
        order.append(at)
    return order[::-1]


def _greedy(costs: Costs) -> list[int]:
    """From every start always the nearest next; the best of these."""
    orders = []
    for start in range(len(costs)):
        order, left = [start], set(range(len(costs))) - {start}
        while left:
            order.append(min(left, key=lambda new: costs[order[-1], new]))
            left.discard(order[-1])
        orders.append(order)
    return min(orders, key=lambda order: cost_of(order, costs))


def _improved(order: list[int], costs: Costs) -> list[int]:
    """Turn stretches round and move them elsewhere for as long as that helps."""
    total, better = cost_of(order, costs), True
    while better:
        better = False
        for candidate in _neighbours(order):
            new = cost_of(candidate, costs)
            if new < total - 1e-12:
                order, total, better = candidate, new, True
                break
    return order


def _neighbours(order: list[int]) -> list[list[int]]:
    count = len(order)
    found = []
    for first in range(count):
        for last in range(first + 1, count + 1):
            part, rest = order[first:last], order[:first] + order[last:]
            if last - first >= 2:
                found.append(order[:first] + part[::-1] + order[last:])
            if last - first <= 4:
                found += [rest[:at] + part + rest[at:] for at in range(len(rest) + 1) if at != first]
    return found
