"""The best order of up to 16 clips by going through all sets of clips, and the best through each join. Pure.

For every set of clips and every clip in it: the best order of the set that ends in the clip, and the best that begins
with it (Held and Karp). An order through a join is one of the first kind, the join, and one of the second kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
"""`scores[a, b]`: what it is worth that b follows a. The diagonal means nothing."""
MOST_CLIPS = 16


@dataclass(frozen=True, eq=False)
class Exact:
    """All that the tables of a set of clips answer."""

    scores: Scores
    ending: Scores
    """For each set (as bits) and clip: the best sum of an order of the set that ends there."""
    beginning: Scores
    through: Scores
    """The best sum of an order of all clips in which a join occurs."""

    def best(self) -> list[int]:
        everything = len(self.ending) - 1
        return _walk(self.scores, self.ending, everything, int(np.argmax(self.ending[everything])))[::-1]

    def without(self, a: int, b: int) -> list[int]:
        """The best order in which b does not follow a: another clip does, or a is the last."""
        everything = len(self.ending) - 1
        row = self.through[a].copy()
        row[b] = -np.inf
        if self.ending[everything, a] >= row.max():
            return _walk(self.scores, self.ending, everything, a)[::-1]
        c = int(np.argmax(row))
        sets = np.arange(everything + 1)
        sums = self.ending[:, a] + self.scores[a, c] + self.beginning[everything - sets, c]
        first = int(np.argmax(sums))
        head = _walk(self.scores, self.ending, first, a)[::-1]
        return head + _walk(self.scores.T, self.beginning, everything - first, c)


def exact(scores: Scores) -> Exact:
    count = len(scores)
    ending, beginning = _table(scores), _table(scores.T)
    everything = len(ending) - 1
    rest = everything - np.arange(everything + 1)
    through = np.full((count, count), -np.inf)
    for a in range(count):
        for b in range(count):
            if a != b:
                through[a, b] = (ending[:, a] + beginning[rest, b]).max() + scores[a, b]
    return Exact(scores, ending, beginning, through)


def _table(scores: Scores) -> Scores:
    """The best sum for each set and last clip, set by set in order of size."""
    count = len(scores)
    best = np.full((1 << count, count), -np.inf)
    sets = np.arange(1 << count)
    sizes = sum(sets >> clip & 1 for clip in range(count))
    for clip in range(count):
        best[1 << clip, clip] = 0.0
    for size in range(1, count):
        these = sets[sizes == size]
        for clip in range(count):
            open_sets = these[these >> clip & 1 == 0]
            best[open_sets | 1 << clip, clip] = (best[open_sets] + scores[:, clip]).max(axis=1)
    return best


def _walk(scores: Scores, best: Scores, left: int, clip: int) -> list[int]:
    """The order behind an entry of a table, from its last clip to its first."""
    order = [clip]
    while left != 1 << clip:
        left ^= 1 << clip
        clip = int(np.argmax(best[left] + scores[:, clip]))
        order.append(clip)
    return order
