"""The letters of a text as pixels of one ink: whether they are still there while the film behind them moves. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._reading.pixels import OTHER, PRESENT, Grey, Mask, Mask8, above, blurred, both, either, strokes, without

Floats = NDArray[np.float32]
_INK, _ALIKE = 80, 25
"""Grey levels by which the letters of a text differ from the commonest among them, and how many count as one."""
_STANDS_STILL = 14
_SAME_DIGIT, _SAME_WORD = 0.88, 0.6
"""Correlation below which letters look like others."""
_INK_HELD = 0.4
_LETTER_CHANGED, _FEW = 0.25, 6
"""How much of its ink a letter has to lose or gain, and how many pixels at least."""
_LEAST_LEFT = 0.2
"""Share of the pixels below which they are chosen anew."""


class Letters:
    """The letters of a text in its box as they were when it was read.

    A word becomes another by losing strokes. A digit may become another by a stroke more (3 and 8), so beside digits
    new ink counts, too, once it stands still.
    """

    def __init__(self, crop: Grey, text: str) -> None:
        self.known, self._seen, self._text = crop, crop, text
        self._counts = has_digits(text)
        mask = strokes(crop)
        self._level = _ink_level(crop, mask)
        ink = self.ink(crop)
        self._strokes = both(ink, _inner(mask))
        wide = 2 * (crop.shape[0] // 4) + 1
        near = cv2.dilate(self._strokes, np.ones((wide, wide), np.uint8)) if self._counts else np.zeros_like(crop)
        self._beside = without(_inner(near > 0), ink)
        self._whole = self._sizes()
        letters = sum(not letter.isspace() for letter in text)
        self._least = max(_FEW, _LETTER_CHANGED * self._whole[0] / max(1, letters))
        self._ink_px = _INK_HELD * self._whole[0] / max(1, letters)
        self._letter_px = max(1, round(crop.shape[1] / max(1, len(text))))

    def _sizes(self) -> tuple[int, int]:
        return cv2.countNonZero(self._strokes), cv2.countNonZero(self._beside)

    @property
    def left_share(self) -> float:
        """Of the pixels gone by at first those still gone by: one that changed while the text did not is left out."""
        return min(left / whole if whole else 1.0 for left, whole in zip(self._sizes(), self._whole, strict=True))

    def is_other(self, now: Grey, before: Grey | None) -> bool:
        """Whether the box shows something else than it did."""
        if cv2.countNonZero(above(cv2.absdiff(now, self._seen), OTHER)) <= _FEW:
            return False
        return self.is_much(self.others(now, before)) or (before is not None and self._looks_other(now, before))

    def _looks_other(self, now: Grey, before: Grey) -> bool:
        """Whether a digit looks like another one, or most of the letters of words do, and did in the frame before."""
        known = self._soft(self._seen)
        likeness = np.maximum(self._likeness(known, self._soft(now)), self._likeness(known, self._soft(before)))
        if not likeness.size:
            return False
        return bool(likeness.min() < _SAME_DIGIT if self._counts else np.median(likeness) < _SAME_WORD)

    def _soft(self, crop: Grey) -> Floats:
        """How much of each pixel is ink, without the margin."""
        inner = crop[_inside(crop)].astype(np.float32)
        return np.asarray(np.clip(1 - np.abs(inner - self._level) / _INK, 0, 1), np.float32)

    def _likeness(self, one: Floats, other: Floats) -> Floats:
        """Correlation in every part as wide as a letter that holds ink."""
        wide = np.ones(self._letter_px)
        sums = [np.convolve((a * b).sum(axis=0), wide) for a, b in ((one, other), (one, one), (other, other))]
        held = sums[1] > self._ink_px
        return np.asarray(sums[0][held] / np.sqrt(np.maximum(1e-6, sums[1] * sums[2]))[held], np.float32)

    def is_much(self, others: Mask8) -> bool:
        """Whether in some part of a box as wide as a letter as many pixels are others as a stroke has."""
        columns = np.count_nonzero(others, axis=0)
        return bool(np.convolve(columns, np.ones(self._letter_px)).max() > self._least)

    def kept_share(self, now: Grey) -> float:
        """How much of the letters is there."""
        return 1 - cv2.countNonZero(self._lost(now)) / max(1, cv2.countNonZero(self._strokes))

    def shown_in(self, before: Sequence[Grey]) -> int:
        """How many of the crops before, going back, already show the text without a gap."""
        count, whole = 0, cv2.countNonZero(self._strokes)
        for earlier in reversed(before):
            if cv2.countNonZero(both(self._strokes, self._other(earlier))) >= (1 - PRESENT) * whole:
                break
            count += 1
        return count

    def others(self, now: Grey, before: Grey | None) -> Mask8:
        """Pixels by which the box shows something else than it did; `before` is the frame before."""
        lost = self._lost(now)
        if not self._counts or before is None:
            return lost
        gained = both(both(self.ink(now), self._beside), self._other(now))
        return either(lost, without(gained, above(cv2.absdiff(now, before), _STANDS_STILL)))

    def ignore(self, crops: Iterable[Grey]) -> None:
        """Leave out what differs in crops that show the same text."""
        for crop in crops:
            others = self.others(crop, crop)
            self._strokes, self._beside = without(self._strokes, others), without(self._beside, others)
            self._seen = crop

    def renewed(self, crop: Grey) -> Letters:
        """These, or those of another crop of the same text where too few pixels are left."""
        return self if self.left_share >= _LEAST_LEFT else Letters(crop, self._text)

    def ink(self, crop: Grey) -> Mask8:
        """The pixels of a crop that have the grey of the letters."""
        return np.asarray(cv2.inRange(crop, np.array(self._level - _INK), np.array(self._level + _INK)), np.uint8)

    def _other(self, now: Grey) -> Mask8:
        return above(cv2.absdiff(now, self.known), OTHER)

    def _lost(self, now: Grey) -> Mask8:
        return both(without(self._strokes, self.ink(now)), self._other(now))


def _inner(mask: Mask) -> Mask8:
    """Without the margin of a box."""
    inner, inside = np.zeros(mask.shape, np.uint8), _inside(mask)
    inner[inside] = 255 * mask[inside]
    return inner


def _inside(crop: Grey | Mask) -> tuple[slice, slice]:
    """A box without its margin, where a plate may have ended."""
    high, wide = crop.shape
    down, across = high * 3 // 20, min(high * 3 // 20, wide // 4)
    return slice(down, high - down), slice(across, wide - across)


def _ink_level(crop: Grey, mask: Mask) -> int:
    """The grey level of the letters: of the strokes brighter than what surrounds them and those darker, the ones
    that stand out more. The rows in the middle tell, for above and below them a plate may end."""
    middle = slice(crop.shape[0] // 4, crop.shape[0] - crop.shape[0] // 4)
    inner, ground = crop[middle], blurred(crop)[middle]
    groups = [group for group in (mask[middle] & (inner > ground), mask[middle] & (inner < ground)) if group.any()]
    if not groups:
        return int(np.median(crop))
    off = cv2.absdiff(inner, ground)
    letters = max(groups, key=lambda group: float(np.median(off[group])))
    counts = np.bincount(inner[letters], minlength=256).astype(np.float32)
    return int(np.argmax(cv2.blur(counts[None], (_ALIKE, 1), borderType=cv2.BORDER_CONSTANT)))


def has_digits(text: str) -> bool:
    return any("0" <= letter <= "9" for letter in text)
