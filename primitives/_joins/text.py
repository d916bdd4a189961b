"""What is written at the end of one clip and at the start of another: clocks and counters that go on, captions that
stay. Pure.

A number that moves inside a clip has a speed; at the seam it should stand where that speed brings it. What does not
move is a caption: where it is on both sides, that says the more the fewer other clips show it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np

from primitives._joins.picture import Values
from primitives._reading.engine import Box
from primitives._reading.follow import same_text
from primitives._reading.numbers import numbers

SURE = 0.8
"""Lines that were read less surely say nothing: a wrong digit would say the opposite."""
GOES_ON, BACKWARDS = 5.0, -4.0
"""A moving number that stands where it should, and one that would have to run back."""
LATER, SOONEST = 2.0, -2.0
"""One that is ahead: less for every doubling of the time between, for something may have been left out there."""
STEP, STEP_BACK = 0.5, -1.0
"""Numbers that stand still in both clips, such as scores: a little more, and less."""
STAYS = 0.5
"""How often a caption is on both sides of a cut."""
LIMITS = (-4.0, 6.0)
_LEAST_SHARED = 0.5
_MOST_UNLIKE = 3.0


@dataclass(frozen=True)
class Sign:
    """A line of text; the box in thousandths of the picture."""

    text: str
    box: Box
    score: float

    def is_at(self, other: Sign) -> bool:
        return self.box.overlap(other.box) >= _LEAST_SHARED


@dataclass(frozen=True)
class Signs:
    """What is written at one end of a clip, and `apart_s` further in where the end has numbers."""

    outermost: tuple[Sign, ...] = ()
    inside: tuple[Sign, ...] = ()
    apart_s: float = 0.0
    frame_s: float = 0.04


@dataclass(frozen=True)
class Count:
    """A number at an end, and by how much it grows in a second; None where that was not seen."""

    value: float
    unit: float
    speed: float | None


def text_evidence(ends: Sequence[Signs], starts: Sequence[Signs]) -> Values:
    """All ends against all starts."""
    told = np.zeros((len(ends), len(starts)))
    for a, end in enumerate(ends):
        for b, start in enumerate(starts):
            told[a, b] = _counters(end, start)
    told += (_captions(ends, starts) + _captions(starts, ends).T) / 2
    return np.clip(told, *LIMITS)


def _counters(end: Signs, start: Signs) -> float:
    """The strongest of what moving numbers say; else of those that stand still."""
    told = []
    for one in _sure(end):
        for other in _sure(start):
            if one.is_at(other) and _shape(one.text) == _shape(other.text):
                pairs = zip(_counts(one, end, -1), _counts(other, start, 1), strict=False)
                told += [score for a, b in pairs if (score := _goes_on(a, b, end.frame_s))]
    return max(told, key=abs, default=0.0)


def _counts(sign: Sign, signs: Signs, ahead: int) -> list[Count]:
    """The numbers of a line. `ahead`: 1 where the inside comes later, -1 where it came before."""
    values = numbers(sign.text)
    written = re.findall(r"\d[.,](\d+)", sign.text)
    unit = 10.0 ** -max((len(digits) for digits in written if len(digits) < 3), default=0)
    inside = [one for one in signs.inside if one.score >= SURE and one.is_at(sign)]
    known = next((numbers(one.text) for one in inside if _shape(one.text) == _shape(sign.text)), [])
    if len(known) != len(values) or signs.apart_s <= 0:
        return [Count(value, unit, None) for value in values]
    return [
        Count(value, unit, ahead * (other - value) / signs.apart_s) for value, other in zip(values, known, strict=True)
    ]


def _goes_on(end: Count, start: Count, frame_s: float) -> float:
    """What a number at an end and the one at a start in its place say."""
    if not end.speed and not start.speed:
        step = start.value - end.value
        return 0.0 if step == 0 else STEP if 0 < step <= 3 else STEP_BACK if step < 0 else 0.0
    speeds = [speed for speed in (end.speed, start.speed) if speed]
    if len(speeds) == 2 and not 1 / _MOST_UNLIKE <= speeds[0] / speeds[1] <= _MOST_UNLIKE:
        return 0.0  # one of them was misread
    speed = sum(speeds) / len(speeds)
    ahead_s = (start.value - end.value) / speed - frame_s
    spare_s = max(end.unit, start.unit) / abs(speed) + frame_s / 2
    if abs(ahead_s) <= spare_s:
        return GOES_ON
    return BACKWARDS if ahead_s < 0 else max(SOONEST, LATER - log1p(ahead_s))


def _captions(ours: Sequence[Signs], theirs: Sequence[Signs]) -> Values:
    """What each text of ours says by being there, or not, in each of theirs."""
    told = np.zeros((len(ours), len(theirs)))
    for row, signs in enumerate(ours):
        for sign in _sure(signs):
            there = np.array([any(_is_same(sign, other) for other in _sure(one)) for one in theirs])
            if _moves(sign, signs):
                continue
            shared = (there.sum() - there + 0.5) / len(theirs)  # by the others, for what is asked is this one
            told[row] += np.where(there, np.maximum(0.0, np.log(STAYS / shared)), _missing(shared))
    return told


def _missing(shared: Values) -> Values:
    return np.minimum(0.0, np.log(STAYS / np.maximum(1 - shared, 1e-3)))


def _moves(sign: Sign, signs: Signs) -> bool:
    return bool(re.search(r"\d", sign.text)) and any(
        one.is_at(sign) and not same_text(one.text, sign.text) for one in signs.inside
    )


def _is_same(one: Sign, other: Sign) -> bool:
    return one.is_at(other) and same_text(one.text, other.text)


def _sure(signs: Signs) -> list[Sign]:
    return [sign for sign in signs.outermost if sign.score >= SURE]


def _shape(text: str) -> str:
    """A text with every number alike, however many digits it has."""
    return re.sub(r"\d+", "0", re.sub(r"\s+", "", text)).casefold()
