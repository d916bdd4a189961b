"""The searches of `find_defects`, over made-up tracks: a film that is clean but for one thing, at a known place."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from primitives._cuts import Transition
from primitives._defects.advice import advice
from primitives._defects.common import Finding, best_stretch, confidence
from primitives._defects.kinds import KINDS
from primitives._defects.search import SEARCHES, explained, find_all
from primitives._tracks import BANDS, FLOOR_DB, SoundTrack
from tests.tracks import FPS, FRAMES, WINDOW, changed, film, first_of, is_the_window, moving_picture, sound_of, speech


@pytest.mark.parametrize("seed", range(4))
def test_a_clean_film_gives_no_windows(seed: int) -> None:
    assert find_all(film(moving_picture(seed), speech(seed))) == []


def test_a_film_that_stops_without_sound_freezes_and_drops_nothing() -> None:
    picture, chance = moving_picture(), np.random.default_rng(3)
    moved = picture.moved.copy()
    moved[WINDOW] = 0.0
    levels = -30 + chance.normal(0, 3, (FRAMES * 4, BANDS))
    levels[WINDOW.start * 4 : WINDOW.stop * 4] = FLOOR_DB
    found = find_all(film(changed(picture, moved=moved), sound_of(levels, np.full(FRAMES * 4, 5.0))))
    assert [one.kind for one in found] == ["freeze"] and found[0].evidence["silent_as_long"] == 1


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
