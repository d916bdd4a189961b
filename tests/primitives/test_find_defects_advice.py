"""Shots out of order: how `find_defects` hears them, and what it says to call next."""

from __future__ import annotations

import json

import numpy as np

from primitives._cuts import Transition
from primitives._defects.advice import advice
from primitives._defects.common import Finding
from primitives._defects.order_heard import heard_ratio
from primitives._tracks import BANDS, FLOOR_DB, STEP_DB, PictureTrack, SoundTrack

FPS, FRAMES = 25, 500


def test_two_stretches_that_trade_places_are_put_back_by_one_call() -> None:
    swapped = Finding(
        "out_of_order", 2.0, 4.0, 0.9, {"trades_places_with_s": 6.0, "trades_places_until_s": 9.0, "healed": 2.0}
    )
    tool, arguments = advice(swapped, "a.mp4", True).split(" ", 1)
    assert tool == "trim_concat"
    spans = [(part["start_s"], part.get("end_s")) for part in json.loads(arguments)["segments"]]
    assert spans == [(0.0, 2.0), (6.0, 9.0), (4.0, 6.0), (2.0, 4.0), (9.0, None)]


def shots(cuts: tuple[int, ...], order: tuple[tuple[int, int], ...]) -> tuple[PictureTrack, SoundTrack]:
    """Pictures that tell nothing, over sound that wanders slowly, in stretches of frames in another order."""
    chance = np.random.default_rng(6)
    levels = -45 + np.cumsum(chance.normal(0, 0.5, (FRAMES * 4, BANDS)), axis=0)
    levels = np.concatenate([levels[4 * first : 4 * last] for first, last in order])
    picture = PictureTrack(
        times_s=np.arange(FRAMES + 1) / FPS,
        cells=np.full((FRAMES, 3, 9, 16), 120, np.uint8),
        bright=np.full(FRAMES, 180, np.float32),
        moved=np.full(FRAMES, 3, np.float32),
        detail=np.zeros((FRAMES, 4), np.float32),
        keyframes=np.zeros(FRAMES, bool),
        changes=tuple(Transition("cut", n, n, n, 0.9) for n in cuts),
    )
    nothing = np.zeros(len(levels), np.float32)
    bands = np.clip(np.rint((levels - FLOOR_DB) / STEP_DB), 0, 255).astype(np.uint8)
    return picture, SoundTrack(bands, *[nothing] * 5)


def test_shots_that_changed_places_are_told_by_their_sound() -> None:
    picture, sound = shots((100, 180, 240, 400), ((0, 100), (160, 240), (100, 160), (240, 500)))
    ratio, joins = heard_ratio(picture, sound, picture.cuts, (1, 2, 0))
    assert ratio > 1 and joins == [100, 180, 240]


def test_cuts_over_sound_that_goes_on_are_in_order() -> None:
    picture, sound = shots((100, 180, 240, 400), ((0, 500),))
    assert heard_ratio(picture, sound, picture.cuts, (1, 2, 0))[0] < 1
