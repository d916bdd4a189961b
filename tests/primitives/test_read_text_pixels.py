"""read_text, between two readings: what the pixels of letters tell. Pictures drawn here, no reader."""

from itertools import pairwise

import cv2
import numpy as np

from primitives._reading.digits import Digits, places
from primitives._reading.engine import Box, search_size
from primitives._reading.ink import Letters
from primitives._reading.pixels import EdgeWatch, turned_at


def lettered(text: str, ground: int) -> np.ndarray:
    crop = np.full((30, 120), ground, np.uint8)
    cv2.putText(crop, text, (4, 24), (250, 250, 250), cv2.FontFace("sans"), 22, 700)
    return crop


def test_pixels_tell_when_a_text_came_and_when_it_became_another() -> None:
    empty, one, other = np.full((30, 120), 60, np.uint8), lettered("12:41", 60), lettered("12:42", 60)
    everywhere = np.full(one.shape, 255, np.uint8)
    letters = Letters(one, "12:41")
    assert not letters.is_other(one, one) and letters.is_other(other, other)
    assert letters.shown_in([empty, empty, one, one]) == 2
    assert turned_at([one, one, other, other], one, other, everywhere) == 2


def test_edges_that_stand_still_and_are_new_are_worth_a_search() -> None:
    watch = EdgeWatch()
    plain = np.full((180, 320), 90, np.uint8)
    written = plain.copy()
    cv2.putText(written, "A caption here", (40, 150), (250, 250, 250), cv2.FontFace("sans"), 24, 700)
    whole = Box(0, 0, 320, 180)
    assert [watch.see(plain) for _ in range(4)] == [None] * 4
    *early, found = [watch.see(written) for _ in range(3)]
    assert early == [None, None] and found is not None
    assert found.overlap(Box(40, 130, 190, 155)) > 0.7 and found.height < 50
    watch.searched(whole)
    assert watch.see(written) is None
    watch.forget(whole)
    assert watch.see(written) == found


def test_a_film_that_moves_behind_a_word_does_not_change_it() -> None:
    crop = np.full((40, 200), 90, np.uint8)
    cv2.putText(crop, "HARBOUR", (10, 30), cv2.FONT_HERSHEY_SIMPLEX, 1.0, 255, 3)
    letters = Letters(crop, "HARBOUR")
    for ground in (20, 60, 130, 200):
        moved = np.where(crop > 200, crop, np.uint8(ground))
        assert not letters.is_other(moved, crop) and letters.kept_share(moved) > 0.95
    gone = np.full_like(crop, 90)
    assert letters.is_other(gone, crop) and letters.kept_share(gone) < 0.1
    cut = crop.copy()
    cut[:, 60:80] = 90
    assert letters.is_other(cut, crop) and letters.kept_share(cut) > 0.6


def test_a_stroke_more_makes_another_digit_once_it_stands_still_and_no_other_word() -> None:
    three, eight = np.full((2, 60, 50), 90, np.uint8)
    for crop, digit in ((three, "3"), (eight, "8")):
        cv2.putText(crop, digit, (8, 46), cv2.FONT_HERSHEY_SIMPLEX, 1.5, 255, 4)
    eight = np.maximum(three, eight)
    assert Letters(three, "3").is_other(eight, eight)
    assert not Letters(three, "3").is_other(eight, three)
    assert not Letters(three, "B").is_other(eight, eight)


def test_pixels_that_changed_while_the_text_did_not_are_left_out() -> None:
    crop = lettered("12:41", 60)
    letters, dim = Letters(crop, "12:41"), crop.copy()
    dim[:, 50:90] = 60
    assert letters.is_other(dim, dim)
    letters.ignore([dim])
    assert not letters.is_other(dim, dim) and letters.left_share < 1
    blank = np.full_like(crop, 60)
    letters.ignore([blank])
    assert letters.left_share == 0 and letters.renewed(crop).left_share == 1


def clock_of(text: str) -> tuple[np.ndarray, tuple[float, ...]]:
    """A line of digits, each in a column of 24 pixels, and the middles of those."""
    crop = np.full((44, 24 * len(text)), 60, np.uint8)
    for place, letter in enumerate(text):
        cv2.putText(crop, letter, (24 * place + 3, 32), cv2.FONT_HERSHEY_SIMPLEX, 0.9, 255, 2)
    return crop, tuple(24.0 * place + 12 for place in range(len(text)))


def test_only_a_digit_that_changed_is_read_and_never_again_once_it_is_known() -> None:
    asked: list[str] = []
    answers = iter("12")

    def read(_: object) -> tuple[str, float]:
        asked.append(next(answers))
        return asked[-1], 0.99

    digits = Digits(read)
    shown = ["401", "402", "401", "402", "412"]
    for old, new in pairwise(shown):
        (before, centres), (after, _) = clock_of(old), clock_of(new)
        letters = Letters(before, old)
        others = letters.others(after, after)
        if new == "412":  # nobody has named the nought that stood there
            answers = iter("0")
        now = digits.changed(
            places(old, centres, before.shape[1]), others, (before, letters.ink(before)), (after, letters.ink(after))
        )
        assert now is not None and "".join(place.letter for place in now) == new
    assert asked == ["1", "2", "0"]


def test_where_another_letter_changed_or_the_digit_is_not_clear_the_line_is_read() -> None:
    def changed(old: str, new: str, answer: tuple[str, float]) -> object:
        (before, centres), (after, _) = clock_of(old), clock_of(new)
        letters = Letters(before, old)
        return Digits(lambda _: answer).changed(
            places(old, centres, before.shape[1]),
            letters.others(after, after),
            (before, letters.ink(before)),
            (after, letters.ink(after)),
        )

    assert changed("4A1", "4B1", ("1", 0.99)) is None
    assert changed("401", "402", ("7", 0.99)) is None  # what stood there is not what the text says
    assert changed("401", "402", ("1", 0.5)) is None
    assert changed("401", "777", ("1", 0.99)) is None
    assert places("401", (1.0, 2.0), 72) == []


def test_a_picture_is_searched_a_little_smaller_and_a_small_one_as_it_is() -> None:
    assert search_size(640, 360) == (480, 256)
    assert search_size(320, 180) == (320, 192)
    assert search_size(1920, 1080) == (960, 544)
    assert search_size(640, 20) == (480, 32)


def test_the_frame_of_a_change_is_told_by_the_letters_and_not_by_the_ground() -> None:
    old, new = (np.full((40, 200), 90, np.uint8) for _ in range(2))
    for picture, digit in ((old, "0"), (new, "1")):
        cv2.putText(picture, f"LAP {digit}", (10, 30), cv2.FONT_HERSHEY_SIMPLEX, 1.0, 255, 3)
    letters = Letters(old, "LAP 0")
    new[:, 150:] = 230  # the film behind changes three frames before the digit does
    early = old.copy()
    early[:, 150:] = 230
    assert turned_at([old, early, early, early, new, new], old, new, letters.others(new, new)) == 4


def test_a_box_higher_than_wide_is_compared_too() -> None:
    crop = np.full((60, 8), 40, np.uint8)
    crop[10:50, 3:5] = 250
    letters = Letters(crop, "1")
    assert not letters.is_other(crop, crop)
    assert letters.is_other(np.full_like(crop, 40), np.full_like(crop, 40))
