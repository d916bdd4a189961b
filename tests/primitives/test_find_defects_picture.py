"""Picture searches of `find_defects`, over made-up tracks: a film that is clean but for one thing, at a known place."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from primitives._cuts import Transition
from primitives._defects.edges import MOST, Edge, pairs
from primitives._defects.search import find_all
from tests.tracks import FPS, FRAMES, WINDOW, changed, film, first_of, is_the_window, moving_picture, speech


def test_frames_that_stop_and_go_on_at_once_are_a_freeze() -> None:
    picture = moving_picture()
    moved = picture.moved.copy()
    moved[WINDOW] = 0.0
    moved[225] = 3.0  # a keyframe's coding noise
    is_the_window(first_of(film(changed(picture, moved=moved, keyframes=np.arange(FRAMES) == 225), None)), "freeze")


def test_a_picture_that_is_held_while_the_sound_goes_on_leaves_a_jump() -> None:
    picture = moving_picture()
    moved = picture.moved.copy()
    moved[WINDOW] = 0.0
    assert find_all(film(changed(picture, moved=moved), speech()), ["freeze"]) == []
    moved[WINDOW.stop] = 30.0
    is_the_window(first_of(film(changed(picture, moved=moved), speech())), "freeze")


def test_a_film_that_shows_each_frame_twice_may_freeze_too() -> None:
    picture = moving_picture()
    moved = np.where(np.arange(FRAMES) % 2, 0.01, picture.moved).astype(np.float32)
    moved[WINDOW] = 0.0
    is_the_window(first_of(film(changed(picture, moved=moved), None)), "freeze", off_s=1.01 / FPS)


def test_a_film_that_often_holds_still_makes_each_hold_less_sure() -> None:
    picture = moving_picture()
    once, often = picture.moved.copy(), picture.moved.copy()
    once[WINDOW] = 0.0
    for start in range(0, FRAMES - 50, 50):
        often[start + 10 : start + 30] = 0.0
    sure = first_of(film(changed(picture, moved=once), None)).confidence
    assert all(one.confidence < sure - 0.1 for one in find_all(film(changed(picture, moved=often), None), least=0.0))


def test_a_still_shot_between_two_cuts_is_not_a_freeze() -> None:
    picture = moving_picture()
    moved = picture.moved.copy()
    moved[WINDOW] = 0.0
    cuts = tuple(Transition("cut", n, n, n, 0.9) for n in (WINDOW.start, WINDOW.stop))
    assert find_all(film(dataclasses.replace(picture, moved=moved, changes=cuts), None)) == []


def test_a_stretch_that_plays_twice_is_a_repeat_and_the_second_copy_is_marked() -> None:
    picture, length = moving_picture(), len(WINDOW)
    order = np.array([*range(WINDOW.start), *range(WINDOW.start - length, FRAMES - length)])
    found = first_of(film(changed(picture, cells=picture.cells[order]), None))
    is_the_window(found, "repeat")
    assert found.evidence["lag_s"] == pytest.approx(length / FPS)


def test_a_picture_that_comes_again_under_sound_that_does_not_is_a_loop_and_not_sure() -> None:
    picture, length = moving_picture(), len(WINDOW)
    order = np.array([*range(WINDOW.start), *range(WINDOW.start - length, FRAMES - length)])
    looped = changed(picture, cells=picture.cells[order])
    silent, heard = find_all(film(looped, None))[0], find_all(film(looped, speech()))[0]
    assert silent.kind == heard.kind == "repeat" and heard.confidence < 0.6 < 0.95 < silent.confidence


def test_frames_that_go_out_at_once_are_black_and_nothing_else() -> None:
    picture = moving_picture()
    cells, bright, moved = picture.cells.copy(), picture.bright.copy(), picture.moved.copy()
    cells[WINDOW], bright[WINDOW], moved[WINDOW] = 16, 16, 0
    found = find_all(film(changed(picture, cells=cells, bright=bright, moved=moved), None))
    is_the_window(found[0], "black")
    assert len(found) == 1


def test_black_at_the_start_of_a_film_is_its_own() -> None:
    picture = moving_picture()
    bright = picture.bright.copy()
    bright[:40] = 16
    assert find_all(film(changed(picture, bright=bright), None)) == []


def test_colours_that_change_within_a_shot_and_back_are_found_to_the_frame() -> None:
    picture = moving_picture()
    cells = picture.cells.astype(np.float32)
    cells[WINDOW, 1] += 5
    cells[WINDOW, 2] -= 4
    found = first_of(film(changed(picture, cells=np.rint(cells).astype(np.uint8)), None))
    is_the_window(found, "colour")
    assert found.evidence["blue_change"] == pytest.approx(5, abs=0.7)


LOSSES = {"blur": (-1.6, -1.4, -0.95, -0.57, -2.6), "softness": (-0.6, -0.35, -0.15, -0.08, -1.1)}
"""Of detail at four distances, and of bends, in octaves: out of focus by 2 px; made half as large and large again."""


@pytest.mark.parametrize("kind", LOSSES)
def test_detail_that_goes_and_comes_back_is_blur_or_softness(kind: str) -> None:
    picture = moving_picture()
    detail = picture.detail.copy()
    detail[WINDOW] += np.array(LOSSES[kind], np.float16)[:, None]
    is_the_window(first_of(film(changed(picture, detail=detail), None)), kind)


def test_detail_that_goes_in_a_few_regions_only_is_the_film_s_own() -> None:
    picture = moving_picture()
    detail = picture.detail.copy()
    detail[WINDOW, :, :4] += np.array(LOSSES["blur"], np.float16)[:, None]
    assert find_all(film(changed(picture, detail=detail), None)) == []


def test_stretches_that_changed_places_are_out_of_order_and_told_where_they_belong() -> None:
    picture = moving_picture()
    order = np.array([*range(200), *range(260, 340), *range(200, 260), *range(340, FRAMES)])
    moved = picture.moved.copy()
    moved[[200, 280, 340]] = 40
    found = first_of(film(changed(picture, cells=picture.cells[order], moved=moved), None))
    assert (found.kind, found.start_s, found.end_s) == ("out_of_order", 200 / FPS, 280 / FPS)
    assert found.evidence["belongs_at_s"] == 340 / FPS


def test_every_second_copy_is_found() -> None:
    picture = moving_picture()
    order = np.array([*range(150), *range(130, 320), *range(290, FRAMES - 50)])
    found = find_all(film(changed(picture, cells=picture.cells[order]), None), ["repeat"])
    assert sorted((one.start_s, one.end_s) for one in found) == [(6.0, 6.8), (13.6, 14.8)]


def test_a_grade_that_ends_at_a_cut_is_found_by_its_one_step() -> None:
    picture = moving_picture()
    cells = picture.cells.astype(np.float32)
    cells[WINDOW.stop :] = cells[WINDOW.stop :, ::-1]  # another scene
    cells[WINDOW, 1] += 9
    cells[WINDOW, 2] -= 8
    cut = Transition("cut", WINDOW.stop, WINDOW.stop, WINDOW.stop, 0.9)
    graded = np.rint(np.clip(cells, 0, 255)).astype(np.uint8)
    found = find_all(film(dataclasses.replace(picture, cells=graded, changes=(cut,)), None), ["colour"])
    is_the_window(found[0], "colour")


def test_light_that_flickers_is_not_a_grade() -> None:
    picture, chance = moving_picture(), np.random.default_rng(7)
    cells = picture.cells.astype(np.float32)
    cells[:, 0] += chance.normal(0, 6, FRAMES)[:, None, None]
    flickering = np.clip(np.rint(cells), 0, 255).astype(np.uint8)
    assert find_all(film(changed(picture, cells=flickering), None), ["colour"]) == []


def test_edges_without_end_are_tried_in_bounded_time() -> None:
    picture = moving_picture()
    edge = Edge(0, np.ones(3), 1.0, 1.0, 1.0, 1.0, 0.1, (np.zeros(3), np.zeros(3)))
    edges = [dataclasses.replace(edge, frame=n, change=edge.change * (-1) ** n) for n in range(1, FRAMES)]
    assert len({first.frame for first, _, _ in pairs(picture, edges)}) < MOST


def test_a_grade_shows_between_two_frames_however_much_moves_beside_them() -> None:
    picture = moving_picture()
    chance = np.random.default_rng(5)
    cells = picture.cells.astype(np.float32) + np.repeat(chance.normal(0, 12, (FRAMES // 5, 3, 9, 16)), 5, axis=0)
    cells[WINDOW.start + 2 : WINDOW.stop + 2, 1] += 5
    cells[WINDOW.start + 2 : WINDOW.stop + 2, 2] -= 4
    found = first_of(film(changed(picture, cells=np.clip(np.rint(cells), 0, 255).astype(np.uint8)), None))
    assert (found.kind, found.start_s, found.end_s) == ("colour", 202 / FPS, 277 / FPS)


def test_a_loss_of_detail_that_motion_hides_at_one_end_is_found_by_the_other() -> None:
    picture = moving_picture()
    detail = picture.detail.astype(np.float32)
    detail[WINDOW] += np.array(LOSSES["softness"])[:, None]
    hidden = range(WINDOW.start - 4, WINDOW.start + 4)
    detail[hidden] += np.linspace(0.15, -0.15, len(hidden))[:, None, None] * np.array([0, 0, 1, 1, 0])[:, None]
    found = first_of(film(changed(picture, detail=detail.astype(np.float16)), None))
    assert found.kind == "softness" and found.end_s == WINDOW.stop / FPS


def test_a_film_that_holds_every_picture_freezes_where_it_holds_one_much_longer() -> None:
    picture = moving_picture()
    moved = np.where(np.arange(FRAMES) % 8 == 0, 20, 0).astype(np.float32)
    moved[WINDOW.start + 1 : WINDOW.stop] = 0
    moved[WINDOW.stop] = 40
    found = find_all(film(changed(picture, moved=moved), None), ["freeze"])
    assert [(one.start_s, one.end_s) for one in found] == [((WINDOW.start + 1) / FPS, WINDOW.stop / FPS)]


def test_a_cut_between_two_scenes_is_no_grade_and_no_loss_of_detail_however_it_was_missed() -> None:
    picture = moving_picture()
    cells, detail = picture.cells.copy(), picture.detail.copy()
    cells[WINDOW] = 255 - cells[WINDOW][:, :, ::-1, ::-1]
    detail[WINDOW] += np.array(LOSSES["softness"], np.float16)[:, None]
    assert find_all(film(changed(picture, cells=cells, detail=detail), None), ["colour", "blur", "softness"]) == []


def test_a_card_that_faded_in_and_goes_at_a_cut_is_not_a_freeze() -> None:
    picture = moving_picture()
    moved, cells = picture.moved.copy(), picture.cells.copy()
    moved[WINDOW], moved[WINDOW.stop] = 0.0, 60.0
    cells[WINDOW] = cells[WINDOW.start]
    cells[WINDOW.stop :] = cells[WINDOW.stop :, :, ::-1, ::-1]
    fade = Transition("fade", WINDOW.start - 10, WINDOW.start - 20, WINDOW.start - 2, 0.9)
    card = dataclasses.replace(picture, moved=moved, cells=cells, changes=(fade,))
    assert find_all(film(card, speech()), ["freeze"]) == []
