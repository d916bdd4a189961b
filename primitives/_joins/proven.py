"""The best order of more clips than can be gone through set by set, as an integer programme. Pure.

A path through all clips is a round trip with one more stop, the nothing before the first and after the last clip: every
stop is entered once and left once. A solution may fall into several round trips; those are forbidden then, until one
is left. That order is the best there is.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.sparse import csr_array

LONGEST_S = 30.0
"""For one step of the search. Only clips that are all alike come near it."""
LOOK_S = 0.1
"""How often it is asked whether anybody still waits."""


def _unless_stopped(solve: Callable[[], OptimizeResult], check: Callable[[], None]) -> OptimizeResult:
    """What the solver finds. It cannot be stopped, so one that nobody waits for any more is left to its time limit."""
    found: queue.SimpleQueue[OptimizeResult | BaseException] = queue.SimpleQueue()

    def work() -> None:
        try:
            found.put(solve())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            found.put(error)

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            result = found.get(timeout=LOOK_S)
        except queue.Empty:
            check()
            continue
        if isinstance(result, BaseException):
            raise result
        return result


class Search:
    """Searches among the same clips. What one has learnt to be no order, the next knows."""

    def __init__(self, scores: NDArray[np.float64], check: Callable[[], None]) -> None:
        self._check = check
        self._stop = len(scores)
        self._arcs = [(a, b) for a in range(self._stop + 1) for b in range(self._stop + 1) if a != b]
        self._number = {arc: number for number, arc in enumerate(self._arcs)}
        self._gain = np.array([0.0 if self._stop in arc else scores[arc] for arc in self._arcs])
        self._limits: list[tuple[NDArray[np.int64], int]] = []
        """Joins of which at most so many may be there at once."""

    def best(self) -> list[int] | None:
        """The best order; None where it cannot be proven in time."""
        while True:
            self._check()
            found = _unless_stopped(self._solve, self._check)
            if found.status != 0:
                return None
            trips = self._trips(found.x)
            if len(trips) == 1:
                return trips[0][1:]
            for trip in trips:
                if self._stop not in trip:
                    self._limit([(a, b) for a in trip for b in trip if a != b], len(trip) - 1)

    def _solve(self) -> OptimizeResult:
        return milp(
            -self._gain,
            integrality=np.ones(len(self._arcs)),
            bounds=Bounds(0, 1),
            constraints=self._constraints(),
            options={"mip_rel_gap": 0, "time_limit": LONGEST_S},
        )

    def leave_out(self, order: Sequence[int]) -> None:
        """Search for other orders than this one."""
        joins = list(pairwise(order))
        self._limit(joins, len(joins) - 1)

    def _limit(self, joins: Sequence[tuple[int, int]], most: int) -> None:
        self._limits.append((np.array([self._number[join] for join in joins]), most))

    def _constraints(self) -> list[LinearConstraint]:
        ends, numbers = np.array(self._arcs), np.arange(len(self._arcs))
        left_and_entered = np.r_[ends[:, 0], self._stop + 1 + ends[:, 1]]
        once = csr_array((np.ones(2 * len(numbers)), (left_and_entered, np.r_[numbers, numbers])))
        made = [LinearConstraint(once, 1, 1)]
        if self._limits:
            rows = np.concatenate([np.full(len(joins), row) for row, (joins, _) in enumerate(self._limits)])
            columns = np.concatenate([joins for joins, _ in self._limits])
            shape = len(self._limits), len(numbers)
            most = [most for _, most in self._limits]
            made.append(LinearConstraint(csr_array((np.ones(len(rows)), (rows, columns)), shape=shape), -np.inf, most))
        return made

    def _trips(self, chosen: NDArray[np.float64]) -> list[list[int]]:
        """The round trips of a solution, first the one through the stop, which begins there."""
        after = {a: b for (a, b), used in zip(self._arcs, chosen, strict=True) if used > 0.5}
        trips: list[list[int]] = []
        while after:
            trip = [max(after)]
            while (following := after.pop(trip[-1])) != trip[0]:
                trip.append(following)
            trips.append(trip)
        return trips
