"""Shots in words: colours where they are, and different words for different shots."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from avb_mcp.tasks.builders._describe import describe

GREEN, BLUE, RED, WHITE = (60, 160, 60), (200, 90, 40), (30, 30, 220), (250, 250, 250)


def _scene(left: tuple[int, int, int], right: tuple[int, int, int], dot_x: int | None = None) -> NDArray[np.uint8]:
    picture = np.zeros((180, 320, 3), np.uint8)
    picture[:, :160], picture[:, 160:] = left, right
    if dot_x is not None:
        cv2.circle(picture, (dot_x, 60), 16, RED, -1)
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8)


def test_colours_are_named_where_they_are() -> None:
    words = describe(*[_scene(GREEN, BLUE)] * 3)
    assert (words.left, words.right) == ("green", "light blue")
    assert words.moving == ""
    assert "Little moves in the scene." in words.text


def test_an_accent_and_a_movement_are_placed() -> None:
    words = describe(_scene(WHITE, WHITE, 90), _scene(WHITE, WHITE, 90), _scene(WHITE, WHITE, 220))
    assert words.accent == "red at the upper left"
    assert words.moving.startswith("upper")


def test_two_shots_differ_when_their_words_do() -> None:
    one, other = (describe(*[_scene(*colours)] * 3) for colours in ((GREEN, BLUE), (BLUE, GREEN)))
    assert one.differs_from(other)
    assert not one.differs_from(describe(*[_scene(GREEN, BLUE)] * 3))
