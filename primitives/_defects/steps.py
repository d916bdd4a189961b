"""Steps within a shot, and pairs of them: a window that begins by a step and ends by the opposite one. Pure.

At an edge of a picture defect two neighbouring frames show the same scene, and differ in one respect. So an edge is
looked for between neighbours, where the scene itself hardly changes, and is exact to the frame.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from primitives._defects.common import Values

SIDE = 4
"""Frames on each side of a step that must agree on it."""
STRONGEST = 4.0
LONG_S = 8.0
RIVAL = 0.07
_AROUND_S = 1.5


@dataclass(frozen=True, eq=False)
class Step:
    """A change from frame `frame - 1` to `frame`, and how far it stands above what is usual there."""

    frame: int
    change: Values
    strength: float


@dataclass(frozen=True, eq=False)
class Pair:
    """Two steps that undo each other."""

    first: Step
    last: Step
    alike: float
    """1 where the second undoes the first exactly, 0 where they have nothing to do with each other."""
    rivals: int
    """Other steps of the film that are half as strong or more: where there are many, two are nothing special."""

    @property
    def strength(self) -> float:
        return float(min(self.first.strength, self.last.strength) * self.alike / (1 + RIVAL * self.rivals))

    def strength_over(self, fps: float) -> float:
        """Strength, less for windows so long that their two ends may have nothing to do with each other."""
        length_s = (self.last.frame - self.first.frame) / fps
        return self.strength * float(np.sqrt(min(1.0, LONG_S / length_s)))


def find_steps(track: Values, fps: float, cuts: Sequence[int], least: float) -> list[Step]:
    """Lasting changes of a track `[frames, measures]` within shots, of at least `least` in size.

    Strength is the size against `least` and against the ordinary changes around it.
    """
    count = len(track)
    walls = sorted({0, count, *cuts})
    found: list[Step] = []
    for start, stop in itertools.pairwise(walls):
        if stop - start < 2 * SIDE:
            continue
        shot = track[start:stop]
        raw = np.linalg.norm(np.diff(shot, axis=0), axis=1)
        reach = max(2 * SIDE, round(_AROUND_S * fps))
        for place in peaks(raw, least / 2):
            here = place + 1
            before, after = shot[max(0, here - SIDE) : here], shot[here : here + SIDE]
            if len(before) < 2 or len(after) < 2:
                continue
            change = np.median(after, axis=0) - np.median(before, axis=0)
            size = float(np.linalg.norm(change))
            near = np.concatenate((raw[max(0, place - reach) : max(0, place - 1)], raw[place + 2 : place + reach]))
            usual = float(np.quantile(near, 0.85)) if len(near) > 3 else 0.0
            if size >= least:
                at_once = min(1.0, float(raw[place]) / (0.7 * size))
                strength = min(size / least, 0.5 * size / max(usual, 1e-6), STRONGEST) * at_once
                found.append(Step(start + here, change, strength))
    return found


def peaks(raw: Values, least: float) -> list[int]:
    """Places where a step is the largest within two frames."""
    padded = np.pad(raw, 2)
    around = np.lib.stride_tricks.sliding_window_view(padded, 5).max(axis=1)
    return [int(place) for place in np.flatnonzero((raw >= around) & (raw > least))]


def pair_steps(steps: Sequence[Step], shortest: int, longest: int) -> list[Pair]:
    """Pairs of steps that undo each other, the strongest first, no step used twice."""
    pairs = []
    for number, first in enumerate(steps):
        for last in steps[number + 1 :]:
            if not shortest <= last.frame - first.frame <= longest:
                continue
            a, b = np.linalg.norm(first.change), np.linalg.norm(last.change)
            along = -float(first.change @ last.change) / float(a * b + 1e-9)
            alike = max(0.0, along) * float(min(a, b) / max(a, b)) ** 0.5
            if alike > 0.3:
                strength = 0.5 * min(first.strength, last.strength)
                rivals = sum(step.strength >= strength for step in steps if step not in (first, last))
                pairs.append(Pair(first, last, alike, rivals))
    chosen: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: -pair.strength):
        used = {step.frame for other in chosen for step in (other.first, other.last)}
        if pair.first.frame not in used and pair.last.frame not in used:
            chosen.append(pair)
    return chosen
