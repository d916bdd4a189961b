"""What somebody could guess who never looks at the pictures: names, sizes, containers, packets at the edges.

`order_leaks` and `assembly_leaks` try every simple guess on many tasks and say how likely chance alone does as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, erfc, sqrt
from pathlib import Path
from typing import Any
from zlib import crc32

import av
import numpy as np
from numpy.typing import NDArray

from verifiers.video_order.scoring import score_order

Seen = dict[str, float]
"""What is known of a clip, by name of the feature."""
EDGE_PACKETS = 3
SIMULATIONS = 100_000
"""Of means over all tasks: many, because the smallest p is multiplied by the number of guesses."""
SAMPLE = 4000
SEI_BYTES = 700
"""An encoder writes its name and settings at the very start."""


@dataclass(frozen=True)
class Guess:
    """How one way of guessing fared over all tasks."""

    name: str
    tasks: int
    score: float
    chance: float
    p: float
    """Two-sided: how often chance is as far from its mean."""


def observe(path: Path) -> Seen:
    """Everything about a file but its pictures and sound."""
    stat = path.stat()
    seen: Seen = {
        "name": float(path.stem) if path.stem.isdigit() else float(crc32(path.stem.encode())),
        "bytes": stat.st_size,
        "written": stat.st_mtime_ns,
        "inode": stat.st_ino,
    }
    with av.open(str(path)) as container:
        seen["container tags"] = crc32(repr(sorted(container.metadata.items())).encode())
        seen["container start"] = container.start_time or 0
        seen["container duration"] = container.duration or 0
        seen["container bit rate"] = container.bit_rate or 0
        streams = [*container.streams.video[:1], *container.streams.audio[:1]]
        for stream in streams:
            seen[f"{stream.type} tags"] = crc32(repr(sorted(stream.metadata.items())).encode())
            seen[f"{stream.type} headers"] = crc32(bytes(stream.codec_context.extradata or b""))
            seen[f"{stream.type} start"] = stream.start_time or 0
            seen[f"{stream.type} duration"] = stream.duration or 0
        packets = [packet for packet in container.demux(streams) if packet.size]
        for kind in [stream.type for stream in streams]:
            seen |= _packet_facts(kind, [packet for packet in packets if packet.stream.type == kind])
    return seen


def _packet_facts(kind: str, packets: Sequence[Any]) -> Seen:
    sizes = [packet.size for packet in packets]
    facts: Seen = {
        f"{kind} packets": len(packets),
        f"{kind} bytes": sum(sizes),
        f"{kind} key packets": sum(packet.is_keyframe for packet in packets),
        f"{kind} first dts": packets[0].dts or 0,
        f"{kind} first bytes": crc32(bytes(packets[0])[:SEI_BYTES]) if kind == "video" else 0,
        f"{kind} mean size": sum(sizes) / len(sizes),
    }
    for place in range(min(EDGE_PACKETS, len(sizes))):
        facts[f"{kind} packet {place + 1} size"] = sizes[place]
        facts[f"{kind} packet -{place + 1} size"] = sizes[-1 - place]
    return facts


# -- order --------------------------------------------------------------------------------------------------


def order_guesses(clips: Sequence[Seen]) -> dict[str, list[int]]:
    """Orders of the clips (by index): sorted by each feature that tells clips apart, and chains of like edges."""
    guesses: dict[str, list[int]] = {}
    for name in _telling(clips):
        guesses[f"{name}, up"] = sorted(range(len(clips)), key=lambda clip: clips[clip][name])
    for kind in ("video", "audio"):
        if f"{kind} packet -1 size" in clips[0]:
            ends = np.array([clip[f"{kind} packet -1 size"] for clip in clips])
            starts = np.array([clip[f"{kind} packet 1 size"] for clip in clips])
            means = np.array([clip[f"{kind} mean size"] for clip in clips])
            guesses[f"{kind} last packet ranks like the next first"] = chain(_ranks(ends), _ranks(starts))
            guesses[f"{kind} last packet like the next first"] = chain(ends, starts)
            guesses[f"{kind} first packet like the next first"] = chain(starts, starts)
            guesses[f"{kind} mean size like the next"] = chain(means, means)
    return guesses


def chain(ends: NDArray[np.float64], starts: NDArray[np.float64]) -> list[int]:
    """The order in which each clip's start is nearest to the end before it: the best of all greedy ones."""
    cost = np.abs(ends[:, None] - starts[None, :])
    orders = [_greedy(cost, first) for first in range(len(ends))]
    return min(orders, key=lambda order: sum(cost[a, b] for a, b in pairwise(order)))


def _greedy(cost: NDArray[np.float64], first: int) -> list[int]:
    order, left = [first], set(range(len(cost))) - {first}
    while left:
        order.append(min(left, key=lambda clip: (cost[order[-1], clip], clip)))
        left.remove(order[-1])
    return order


def order_leaks(tasks: Sequence[tuple[Sequence[Seen], Sequence[int]]]) -> list[Guess]:
    """Every guess over all tasks, each given as its clips and the true position of every clip."""
    chance = _Chance()
    scores: dict[str, list[tuple[int, float, float]]] = {}
    for clips, ranks in tasks:
        for name, order in order_guesses(clips).items():
            found = [ranks[clip] for clip in order]
            n = len(clips)
            backwards = found[::-1]
            scores.setdefault(name, []).append((n, score_order(found).headline, _tau(found)))
            if name.endswith(", up"):
                scores.setdefault(name[:-2] + "down", []).append((n, score_order(backwards).headline, _tau(backwards)))
    return [_order_guess(name, rows, chance) for name, rows in scores.items()]


class _Chance:
    """Mean scores of random orders over a number of tasks."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._scores: dict[int, NDArray[np.float64]] = {}
        self._means: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def means(self, lengths: Sequence[int]) -> NDArray[np.float64]:
        """What tasks with these numbers of clips score by chance, on average, in many tries."""
        key = tuple(sorted(lengths))
        if key not in self._means:
            total = np.zeros(SIMULATIONS)
            for n in key:
                total += self._rng.choice(self._of(n), SIMULATIONS)
            self._means[key] = total / len(key)
        return self._means[key]

    def _of(self, n: int) -> NDArray[np.float64]:
        if n not in self._scores:
            orders = (self._rng.permutation(n).tolist() for _ in range(SAMPLE))
            self._scores[n] = np.array([score_order(order).headline for order in orders])
        return self._scores[n]


def _order_guess(name: str, rows: Sequence[tuple[int, float, float]], chance: _Chance) -> Guess:
    mean = float(np.mean([score for _, score, _ in rows]))
    drawn = chance.means([n for n, _, _ in rows])
    above, below = np.mean(drawn >= mean - 1e-12), np.mean(drawn <= mean + 1e-12)
    p_score = min(1.0, 2 * max(min(float(above), float(below)), 1 / SIMULATIONS))
    # The score is blunt where an order is half right; rank correlation is not, so the smaller of the two counts.
    spread = sqrt(sum(2 * (2 * n + 5) / (9 * n * (n - 1)) for n, _, _ in rows))
    p_tau = erfc(abs(sum(tau for _, _, tau in rows)) / spread / sqrt(2))
    return Guess(name, len(rows), mean, float(drawn.mean()), float(min(1.0, 2 * min(p_score, p_tau))))


def _tau(ranks: Sequence[int]) -> float:
    n = len(ranks)
    concordant = sum(ranks[a] < ranks[b] for a in range(n) for b in range(a + 1, n))
    return 2 * concordant / comb(n, 2) - 1


# -- assembly -----------------------------------------------------------------------------------------------


def _odd_one(values: NDArray[np.float64]) -> int:
    return int(np.argmax([abs(value - np.median(np.delete(values, at))) for at, value in enumerate(values)]))


def _middle(values: NDArray[np.float64]) -> int:
    return int(np.argsort(values)[len(values) // 2])


PICKS: dict[str, Callable[[NDArray[np.float64]], int]] = {
    "smallest": lambda values: int(np.argmin(values)),
    "largest": lambda values: int(np.argmax(values)),
    "middle": _middle,
    "odd one out": _odd_one,
}


def assembly_leaks(slots: Sequence[tuple[Sequence[Seen], int]]) -> list[Guess]:
    """Every guess over all slots, each given as its candidates (which a guesser is told) and the right one."""
    hits: dict[str, list[tuple[bool, int]]] = {}
    for candidates, right in slots:
        for feature in _telling(candidates):
            values = np.array([candidate[feature] for candidate in candidates])
            for how, pick in PICKS.items():
                hits.setdefault(f"{feature}, {how}", []).append((pick(values) == right, len(candidates)))
    return [_assembly_guess(name, rows) for name, rows in hits.items()]


def _assembly_guess(name: str, rows: Sequence[tuple[bool, int]]) -> Guess:
    n, chance = len(rows), 1 / rows[0][1]
    found = sum(hit for hit, _ in rows)
    likely = [comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
    p = sum(value for value in likely if value <= likely[found] * (1 + 1e-9))
    return Guess(name, n, found / n, chance, min(1.0, p))


# -- both ---------------------------------------------------------------------------------------------------


def _telling(clips: Sequence[Seen]) -> list[str]:
    """Features that are known of every clip and not the same for all."""
    names = [name for name in clips[0] if all(name in clip for clip in clips)]
    return [name for name in names if len({clip[name] for clip in clips}) > 1]


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)


def corrected(guesses: Sequence[Guess]) -> list[tuple[Guess, float]]:
    """Guesses from the most to the least telling, each with its p corrected for their number (Holm)."""
    ordered = sorted(guesses, key=lambda guess: guess.p)
    found: list[tuple[Guess, float]] = []
    worst = 0.0
    for place, guess in enumerate(ordered):
        worst = max(worst, min(1.0, guess.p * (len(ordered) - place)))
        found.append((guess, worst))
    return found
