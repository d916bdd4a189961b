"""Changes of the timeline that several defects share: stretches put in, shots that change places."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from avb_mcp.tasks.defects import _places, _sounds
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Hold, Part, Rng, Run, SoundChange, Stretch, fitted
from avb_mcp.tasks.footage import Shot, Sound

JOINT_S = 0.004
"""Over which an inserted sound comes and goes."""
MIN_SHOT_S = 0.6
_PLACES = 60


@dataclass(frozen=True)
class Insertion:
    """Pictures and sound (None: silence) that are put in before a frame of the unbroken film."""

    frame: int
    parts: tuple[Part, ...]
    sound: Sound | None = None

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)


@dataclass(frozen=True)
class Inserted:
    """A film with insertions: its pictures, what becomes of its sound, and which of its frames are new."""

    parts: tuple[Part, ...]
    sound: SoundChange
    ranges: tuple[tuple[int, int], ...]

    def damage(self, note: str = "") -> Damage:
        """As a timeline defect of h1."""
        return Damage(parts=self.parts, sound=self.sound, ranges=self.ranges, note=note)


def insert(stretch: Stretch, insertions: Sequence[Insertion]) -> Inserted:
    """The film with insertions at ascending frames."""
    parts: list[Part] = []
    ranges: list[tuple[int, int]] = []
    at = added = 0
    for item in insertions:
        parts += [Run(at, item.frame), *item.parts]
        ranges.append((item.frame + added, item.frame + added + len(item)))
        at, added = item.frame, added + len(item)
    parts.append(Run(at, stretch.frame_count))
    return Inserted(tuple(parts), partial(_with_sounds, stretch, tuple(insertions)), tuple(ranges))


def _with_sounds(stretch: Stretch, insertions: Sequence[Insertion], track: Sound) -> Sound:
    pieces, at, added = [], 0, 0
    for item in insertions:
        sample = stretch.sample(item.frame)
        # Counted from the broken film's beginning, so that rounding does not add up.
        count = stretch.sample(item.frame + added + len(item)) - stretch.sample(item.frame + added)
        sound = np.zeros((len(track), count), np.float32) if item.sound is None else fitted(item.sound, count)
        pieces += [track[:, at:sample], sound * _sounds.swell(count, JOINT_S).astype(np.float32)]
        at, added = sample, added + len(item)
    return np.concatenate([*pieces, track[:, at:]], axis=1)


def lingering(stretch: Stretch, frame: int, count: int) -> tuple[Part, ...]:
    """Pictures for a pause before a frame: back and forth within the shot, or held where there is too little of it."""
    back = (count + 1) // 2
    shot = stretch.shots[stretch.shot_at(frame - 1)]
    if frame - back < shot.clean_first:
        return (Hold(frame - 1, count),)
    return Run(frame - back, frame, backwards=True), Run(frame - back, frame - back + count - back)


def draw_places(rng: Rng, candidates: Sequence[int], count: int, apart: int, wanted: str) -> list[int]:
    """So many of the candidate frames, at least so far apart, ascending."""
    for _ in range(_PLACES):
        chosen = sorted(rng.permutation(np.asarray(candidates, np.int64))[:count].tolist())
        if len(chosen) == count and all(b - a >= apart for a, b in itertools.pairwise(chosen)):
            return chosen
    raise CannotPlace(f"fewer than {count} {wanted}")


# ---- shots that change places


@dataclass(frozen=True)
class Swap:
    """Shots `[a, a_end)` and `[b, b_end)` by number, a first."""

    a: int
    a_end: int
    b: int
    b_end: int


def draw_swap(stretch: Stretch, rng: Rng, *, gapped: bool | None, longest: int) -> Swap:
    """Two groups of at most `longest` shots between hard cuts; the film keeps its first and its last shot."""
    shots, found = stretch.shots, []
    inner = range(1, len(shots) - 1)
    for a in inner:
        for a_end in range(a + 1, min(a + longest, len(shots) - 2) + 1):
            for b in range(a_end, len(shots) - 1):
                for b_end in range(b + 1, min(b + longest, len(shots) - 1) + 1):
                    swap = Swap(a, a_end, b, b_end)
                    if (gapped is None or gapped == (b > a_end)) and _swappable(stretch, swap):
                        found.append(swap)
    if not found:
        between = {True: "with shots between them", False: "next to each other", None: ""}[gapped]
        raise CannotPlace(f"no two groups of shots {between} between hard cuts, away from its first and last shot")
    return found[int(rng.integers(len(found)))]


def _swappable(stretch: Stretch, swap: Swap) -> bool:
    shots = stretch.shots
    cuts = all(shots[number].opening == "cut" for number in (swap.a, swap.a_end, swap.b, swap.b_end))
    spans = (shots[swap.a], shots[swap.a_end - 1]), (shots[swap.b], shots[swap.b_end - 1])
    long = all(last.last - first.first >= stretch.frame(MIN_SHOT_S) for first, last in spans)
    edge = min(_places.edge_frames(stretch), stretch.frame(MIN_SHOT_S))
    return cuts and long and edge <= shots[swap.a].first and shots[swap.b_end - 1].last <= stretch.frame_count - edge


@dataclass(frozen=True)
class Swapped:
    parts: tuple[Run, ...]
    sound: SoundChange
    group_a: tuple[tuple[Shot, int], ...]
    group_b: tuple[tuple[Shot, int], ...]
    """Each moved shot and the frame of the broken film at which it now begins."""


def swapped(stretch: Stretch, swap: Swap) -> Swapped:
    """The film with the two groups in each other's place; the sound goes with the pictures."""
    shots = stretch.shots
    a, a_end = shots[swap.a].first, shots[swap.a_end - 1].last
    b, b_end = shots[swap.b].first, shots[swap.b_end - 1].last
    runs = (Run(0, a), Run(b, b_end), Run(a_end, b), Run(a, a_end), Run(b_end, stretch.frame_count))
    group_b = tuple((shot, shot.first - b + a) for shot in shots[swap.b : swap.b_end])
    group_a = tuple((shot, shot.first - a + b_end - (a_end - a)) for shot in shots[swap.a : swap.a_end])
    parts = tuple(run for run in runs if len(run))
    return Swapped(parts, partial(_reordered, stretch, parts), group_a, group_b)


def _reordered(stretch: Stretch, parts: Sequence[Run], track: Sound) -> Sound:
    return np.concatenate([track[:, stretch.sample(p.first) : stretch.sample(p.last)] for p in parts], axis=1)
