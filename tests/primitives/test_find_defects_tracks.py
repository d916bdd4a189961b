"""The searches of `find_defects`, over made-up tracks: a film that is clean but for one thing, at a known place."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from primitives._cuts import Transition
from primitives._defects.advice import advice
from primitives._defects.common import Finding, best_stretch, confidence
from primitives._defects.edges import MOST, Edge, pairs
from primitives._defects.kinds import KINDS
from primitives._defects.search import SEARCHES, explained, find_all
from primitives._tracks import BANDS, FLOOR_DB, STEP_DB, FilmTracks, PictureTrack, SoundTrack

FPS, FRAMES = 25, 500
WINDOW = range(200, 275)


def moving_picture(seed: int = 1) -> PictureTrack:
    """Soft patches that slide along; fine detail that hardly changes."""
    chance = np.random.default_rng(seed)
    wide = np.cumsum(chance.normal(0, 3, (3, 9, 4 * FRAMES)), axis=2) + 120
    cells = np.stack([wide[:, :, n // 2 : n // 2 + 16] + chance.normal(0, 0.4, (3, 9, 16)) for n in range(FRAMES)])
    return PictureTrack(
        times_s=np.arange(FRAMES + 1) / FPS,
        cells=np.clip(cells, 40, 220).astype(np.uint8),
        bright=np.full(FRAMES, 180, np.float32),
        moved=chance.uniform(2, 5, FRAMES).astype(np.float32),
        detail=(np.array([[1.0], [1.7], [2.4], [3.0], [0.8]]) + chance.normal(0, 0.005, (FRAMES, 5, 12))).astype(
            np.float16
        ),
        keyframes=np.arange(FRAMES) % 50 == 0,
        changes=(),
    )


def speech(seed: int = 1, rows: int = FRAMES * 4) -> SoundTrack:
    """Syllables and pauses over a quiet floor."""
    chance = np.random.default_rng(seed)
    lengths = chance.integers(6, 25, rows // 8)
    loud = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)[:rows]
    shape = -25 - np.linspace(0, 25, BANDS)
    floor = -78 + chance.normal(0, 2, (rows, BANDS))
    levels = np.where(loud[:, None], shape + chance.normal(0, 6, (rows, BANDS)), floor)
    levels[:, -8:] = floor[:, -8:]  # voices do not reach the highest bands
    return sound_of(levels, crest_db=5 + chance.normal(0, 0.7, rows))


def sound_of(levels_db: np.ndarray, crest_db: np.ndarray) -> SoundTrack:
    level = 10 * np.log10((10 ** (levels_db / 10)).sum(axis=1))
    return SoundTrack(
        bands=np.clip(np.rint((levels_db - FLOOR_DB) / STEP_DB), 0, 255).astype(np.uint8),
        level_db=level.astype(np.float32),
        peak_db=(level + 10).astype(np.float32),
        crest_db=crest_db.astype(np.float32),
        flat=np.where(crest_db < 2, 0.3, 0.03).astype(np.float32),
        again=np.full(len(level), 0.1, np.float32),
    )


def film(picture: PictureTrack | None, sound: SoundTrack | None) -> FilmTracks:
    return FilmTracks(picture, sound, FRAMES / FPS)


def first_of(tracks: FilmTracks) -> Finding:
    found = find_all(tracks)
    assert found, "nothing was found"
    return found[0]


def is_the_window(finding: Finding, kind: str, off_s: float = 1e-6) -> None:
    assert finding.kind == kind
    assert abs(finding.start_s - WINDOW.start / FPS) <= off_s and abs(finding.end_s - WINDOW.stop / FPS) <= off_s


def changed(picture: PictureTrack, **fields: np.ndarray) -> PictureTrack:
    return dataclasses.replace(picture, **fields)


@pytest.mark.parametrize("seed", range(4))
def test_a_clean_film_gives_no_windows(seed: int) -> None:
    assert find_all(film(moving_picture(seed), speech(seed))) == []


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


def test_a_film_that_stops_without_sound_freezes_and_drops_nothing() -> None:
    picture, chance = moving_picture(), np.random.default_rng(3)
    moved = picture.moved.copy()
    moved[WINDOW] = 0.0
    levels = -30 + chance.normal(0, 3, (FRAMES * 4, BANDS))
    levels[WINDOW.start * 4 : WINDOW.stop * 4] = FLOOR_DB
    found = find_all(film(changed(picture, moved=moved), sound_of(levels, np.full(FRAMES * 4, 5.0))))
    assert [one.kind for one in found] == ["freeze"] and found[0].evidence["silent_as_long"] == 1


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


def test_a_lifted_floor_between_two_edges_is_noise() -> None:
    sound = speech()
    rows = slice(WINDOW.start * 4, WINDOW.stop * 4)
    levels = sound.bands_db.copy()
    levels[rows] = np.maximum(levels[rows], -60 + np.random.default_rng(2).normal(0, 2, levels[rows].shape))
    is_the_window(first_of(film(None, sound_of(levels, sound.crest_db))), "noise", off_s=0.05)


def test_peaks_that_no_longer_stand_out_are_clipping() -> None:
    sound = speech()
    crest = sound.crest_db.copy()
    crest[WINDOW.start * 4 : WINDOW.stop * 4] = 0.6
    is_the_window(first_of(film(None, sound_of(sound.bands_db, crest))), "clipping", off_s=0.1)


def test_sound_that_is_softer_in_every_band_is_a_jump_of_level() -> None:
    sound = speech()
    levels = sound.bands_db.copy()
    levels[WINDOW.start * 4 : WINDOW.stop * 4] -= 14
    found = first_of(film(None, sound_of(levels, sound.crest_db)))
    is_the_window(found, "level", off_s=0.1)
    assert found.evidence["change_db"] < -8


def test_sound_that_is_cut_off_is_a_dropout() -> None:
    chance = np.random.default_rng(3)
    levels = -30 + chance.normal(0, 3, (FRAMES * 4, BANDS))
    levels[WINDOW.start * 4 : WINDOW.stop * 4] = FLOOR_DB
    is_the_window(first_of(film(None, sound_of(levels, np.full(FRAMES * 4, 5.0)))), "dropout", off_s=0.011)


def test_stretches_that_changed_places_are_out_of_order_and_told_where_they_belong() -> None:
    picture = moving_picture()
    order = np.array([*range(200), *range(260, 340), *range(200, 260), *range(340, FRAMES)])
    moved = picture.moved.copy()
    moved[[200, 280, 340]] = 40
    found = first_of(film(changed(picture, cells=picture.cells[order], moved=moved), None))
    assert (found.kind, found.start_s, found.end_s) == ("out_of_order", 200 / FPS, 280 / FPS)
    assert found.evidence["belongs_at_s"] == 340 / FPS


def test_sound_that_dies_away_slowly_is_echo() -> None:
    sound = speech()
    levels = sound.bands_db.copy()
    for row in range(WINDOW.start * 4, WINDOW.stop * 4):
        levels[row] = np.maximum(levels[row], levels[row - 1] - 1.0)
    # Where pauses are as short as here, sound that never dies away may also be noise: asked for by its name.
    is_the_window(find_all(film(None, sound_of(levels, sound.crest_db)), ["echo"])[0], "echo", off_s=0.3)


def test_silence_before_sound_that_goes_on_where_it_stopped_is_late_sound() -> None:
    chance = np.random.default_rng(5)
    levels = np.repeat(-30 + np.cumsum(chance.normal(0, 0.7, (500, BANDS)), axis=0), 4, axis=0)
    late = np.concatenate((levels[:800], np.full((50, BANDS), FLOOR_DB), levels[800:1500], levels[1550:]))
    found = find_all(film(moving_picture(), sound_of(late, np.full(len(late), 5.0))))
    assert found[0].kind == "desync" and found[0].start_s == pytest.approx(8.0, abs=0.02)
    assert found[0].evidence["sound_late_s"] == pytest.approx(0.5, abs=0.02)


def test_sound_that_breaks_off_before_the_film_ends_is_early() -> None:
    levels = -30 + np.random.default_rng(5).normal(0, 3, (FRAMES * 4, BANDS))
    levels[-60:] = FLOOR_DB
    found = first_of(film(moving_picture(), sound_of(levels, np.full(FRAMES * 4, 5.0))))
    assert (found.kind, found.start_s, found.end_s) == ("desync", 0.0, FRAMES / FPS)
    assert found.evidence["sound_late_s"] == pytest.approx(-0.6, abs=0.02)


def test_late_sound_ends_where_it_clicks() -> None:
    chance = np.random.default_rng(5)
    levels = np.repeat(-30 + np.cumsum(chance.normal(0, 0.7, (500, BANDS)), axis=0), 4, axis=0)
    late = np.concatenate((levels[:800], np.full((50, BANDS), FLOOR_DB), levels[800:1500], levels[1550:]))
    late[:, -4:] = FLOOR_DB
    late[[799, 850, 1550], -4:] = -60
    found = first_of(film(moving_picture(), sound_of(late, np.full(len(late), 5.0))))
    assert found.kind == "desync" and found.end_s == pytest.approx(15.5, abs=0.02)


def test_sound_that_changes_at_the_cuts_is_not_late_whatever_the_silence_at_its_end() -> None:
    chance = np.random.default_rng(5)
    shots = np.repeat(chance.normal(-30, 8, (5, BANDS)), FRAMES * 4 // 5, axis=0)
    levels = shots + chance.normal(0, 2, (FRAMES * 4, BANDS))
    levels[-60:] = FLOOR_DB
    cuts = tuple(Transition("cut", n, n, n, 0.9) for n in range(FRAMES // 5, FRAMES, FRAMES // 5))
    sound = sound_of(levels, np.full(FRAMES * 4, 5.0))
    early = sound_of(np.concatenate((levels[60:], levels[-60:])), np.full(FRAMES * 4, 5.0))
    picture = dataclasses.replace(moving_picture(), changes=cuts)
    assert [one.kind for one in find_all(film(picture, sound), kinds=["desync"])] == []
    assert [one.kind for one in find_all(film(picture, early), kinds=["desync"])] == ["desync"]


def heard_twice(sound: SoundTrack, row: int, lag: int) -> SoundTrack:
    levels = np.concatenate((sound.bands_db[:row], sound.bands_db[row - lag : row], sound.bands_db[row:-lag]))
    return sound_of(levels, sound.crest_db)


def test_sound_that_plays_twice_under_pictures_that_do_not_is_late() -> None:
    found = first_of(film(moving_picture(), heard_twice(speech(), 800, 60)))
    assert found.kind == "desync" and found.start_s == pytest.approx(8.0, abs=0.02)
    assert found.evidence["sound_late_s"] == pytest.approx(0.6, abs=0.011)


def test_sound_and_pictures_that_play_twice_are_a_repeat_and_nothing_is_late() -> None:
    picture = moving_picture()
    order = np.array([*range(200), *range(185, FRAMES - 15)])
    found = find_all(film(changed(picture, cells=picture.cells[order]), heard_twice(speech(), 800, 60)))
    assert [(one.kind, one.start_s) for one in found] == [("repeat", 8.0)]


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


def test_clipping_of_the_loudest_moments_only_is_one_window() -> None:
    sound = speech()
    crest, rows = sound.crest_db.copy(), np.arange(WINDOW.start * 4, WINDOW.stop * 4)
    crest[rows[rows % 40 < 28]] = 0.6  # a crest is that of 0.3 s: a clipped moment lowers those around it
    found = find_all(film(None, sound_of(sound.bands_db, crest)), ["clipping"])
    assert found[0].start_s == pytest.approx(8.0, abs=0.5) and found[0].end_s == pytest.approx(11.0, abs=0.5)


def test_a_short_window_does_not_explain_a_long_one_away() -> None:
    long, short = Finding("echo", 2.0, 9.0, 0.8), Finding("noise", 3.0, 4.0, 0.9)
    assert (long.covered_by(short), short.covered_by(long)) == (pytest.approx(1 / 7), 1.0)


def test_clipping_explains_a_drift_and_no_other_late_sound() -> None:
    clipping = Finding("clipping", 11.7, 17.3, 0.7)
    assert explained(Finding("desync", 7.0, 17.3, 0.9, {"slow_until_s": 11.7}), [clipping])
    assert not explained(Finding("desync", 12.0, 17.3, 0.8, {"sound_late_s": 0.5}), [clipping])


def test_noise_explains_a_level_that_goes_on_behind_it() -> None:
    noise, level = Finding("noise", 7.4, 10.15, 0.99), Finding("level", 7.44, 12.9, 0.8)
    clipping = dataclasses.replace(noise, kind="clipping")
    assert explained(level, [noise, level]) and not explained(level, [clipping, level])


def test_every_kind_has_a_search_and_an_advice() -> None:
    assert {kind for kinds, _ in SEARCHES for kind in kinds} == set(KINDS)
    for kind in KINDS:
        tool, arguments = advice(Finding(kind, 1.0, 2.0, 0.9), "a.mp4", True).split(" ", 1)  # type: ignore[arg-type]
        assert tool and json.loads(arguments)["path"] == "a.mp4"


def test_only_the_kinds_that_are_asked_for_are_given() -> None:
    picture = moving_picture()
    moved = picture.moved.copy()
    moved[WINDOW], moved[WINDOW.stop] = 0.0, 30.0
    tracks = film(changed(picture, moved=moved), speech())
    assert [found.kind for found in find_all(tracks, ["freeze", "noise"])] == ["freeze"]
    assert find_all(tracks, ["noise"]) == []


def test_the_best_stretch_has_the_largest_sum() -> None:
    assert best_stretch(np.array([-1.0, 2.0, -1.0, 3.0, -5.0, 1.0])) == (4.0, 1, 4)


def test_confidence_is_even_at_the_even_point_and_grows() -> None:
    assert [confidence(ratio) for ratio in (-1.0, 0.0, 1.0, 2.0)] == [0.0, 0.0, 0.5, 0.8]


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
