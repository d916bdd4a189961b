"""A digit that changes in a text that stays: only it is read, and no further once it is known by its looks."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np

from primitives._reading.pixels import Grey, Mask8

Glyph = Grey
ALIKE = 0.92
"""Correlation from which on two pictures show one digit: the same one has 0.97 or more in a coded film, another one
0.83 or less."""
_LIKELY, _SURE = 0.6, 0.9
"""In the place of a digit another one is likely; it is known from now on where it is sure."""
_SPECK = 0.1
"""Share of the changed pixels that does not count."""
_MOST_DIGITS, _MOST_KNOWN = 2, 40
_EDGE = 0.2
"""Room beside a digit for its reader, as a share of the line's height."""


@dataclass(frozen=True)
class Place:
    """A letter of a text and the columns of its box that are its own."""

    letter: str
    left: int
    right: int


def places(text: str, centres_px: tuple[float, ...], width_px: int) -> list[Place]:
    """The letters of a text between the middles of their gaps; none where the reader gave no centre for each."""
    letters = [letter for letter in text if not letter.isspace()]
    if len(letters) != len(centres_px) or len(letters) < 2:
        return []
    middles = [round((a + b) / 2) for a, b in itertools.pairwise(centres_px)]
    steps = np.diff(centres_px)
    first = max(0, round(centres_px[0] - steps.max()))
    last = min(width_px, round(centres_px[-1] + steps.max()))
    bounds = [first, *middles, last]
    return [Place(letter, *edges) for letter, edges in zip(letters, itertools.pairwise(bounds), strict=True)]


def touched(where: list[Place], others: Mask8) -> list[int]:
    """The letters that changed, by the pixels that are others."""
    columns = np.count_nonzero(others, axis=0)
    counts = [int(columns[place.left : place.right].sum()) for place in where]
    return [n for n, count in enumerate(counts) if count > _SPECK * max(1, int(columns.sum()))]


def glyph(crop: Grey, ink: Mask8, place: Place) -> Glyph | None:
    """The picture of a letter: its ink between the emptiest columns around it."""
    by = crop.shape[0] * 3 // 20
    counts = np.count_nonzero(ink[by : crop.shape[0] - by], axis=0)
    reach = max(2, crop.shape[0] // 7)
    left, right = (_valley(counts, edge, reach) for edge in (place.left, place.right))
    inside = np.flatnonzero(counts[left:right])
    if len(inside) < 2:
        return None
    return crop[:, left + int(inside[0]) : left + int(inside[-1]) + 1]


def _valley(counts: Mask8, edge: int, reach: int) -> int:
    low, high = max(0, edge - reach), min(len(counts), edge + reach + 1)
    near = counts[low:high]
    emptiest = np.flatnonzero(near == near.min()) + low
    return int(emptiest[np.argmin(np.abs(emptiest - edge))])


def likeness(one: Glyph, other: Glyph) -> float:
    """Correlation of two pictures of letters where they fit best."""
    if one.shape[0] != other.shape[0] or abs(one.shape[1] - other.shape[1]) > 2:
        return 0.0
    wide, narrow = sorted((one, other), key=lambda picture: -picture.shape[1])
    room = cv2.copyMakeBorder(wide, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    return float(cv2.matchTemplate(room, narrow, cv2.TM_CCOEFF_NORMED).max())


@dataclass
class Digits:
    """The digits of one counter by their looks, as a reader named them one by one."""

    read: Callable[[Grey], tuple[str, float]]
    known: deque[tuple[str, Glyph]] = field(default_factory=lambda: deque(maxlen=_MOST_KNOWN))

    def name(self, picture: Glyph | None) -> str | None:
        """The digit in a picture; none where it is not clear."""
        if picture is None:
            return None
        alike = max(self.known, key=lambda known: likeness(known[1], picture), default=None)
        if alike is not None and likeness(alike[1], picture) >= ALIKE:
            return alike[0]
        beside = round(_EDGE * picture.shape[0])
        text, score = self.read(np.asarray(cv2.copyMakeBorder(picture, 0, 0, beside, beside, cv2.BORDER_REPLICATE)))
        if score < _LIKELY or len(text) != 1 or not "0" <= text <= "9":
            return None
        if score >= _SURE:
            self.known.append((text, picture))
        return text

    def changed(
        self, where: list[Place], others: Mask8, old: tuple[Grey, Mask8], new: tuple[Grey, Mask8]
    ) -> list[Place] | None:
        """The letters of a text of which digits changed; none where only reading all of it can tell."""
        turned = touched(where, others)
        if not 0 < len(turned) <= _MOST_DIGITS or not all(where[n].letter.isdigit() for n in turned):
            return None
        now = list(where)
        for n in turned:
            place = where[n]
            if self.name(glyph(*old, place)) != place.letter:
                return None  # the columns are not those of that digit
            digit = self.name(glyph(*new, place))
            if digit is None:
                return None
            now[n] = Place(digit, place.left, place.right)
        return now
