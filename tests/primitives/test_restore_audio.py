"""restore_audio: each kind mends its defect, leaves the rest alone, and refuses what is not broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from primitives._base import UserError
from primitives._media.sound_source import open_sound
from primitives._sound.retime import bend_of_tempos
from primitives._sound.stretch import stretched
from tests.media import make_film
from tests.sounds import RATE_HZ, decaying_room, score, voice, with_clipping, with_room, with_window, write_wave

WINDOW = slice(4 * RATE_HZ, 8 * RATE_HZ)


def heard(path: Path, count: int) -> np.ndarray:
    return open_sound(path, path.name, lambda: None).read(0, count, lambda: None).mean(axis=0).astype(np.float64)


def mended(run, folder, broken, kind, **arguments):
    write_wave(folder / "materials/a.wav", broken)
    result = run("restore_audio", path="materials/a.wav", kind=kind, **arguments).result
    return heard(folder / result.output, len(broken)), result


def untouched(made: np.ndarray, broken: np.ndarray, window: slice = WINDOW) -> bool:
    same = np.array_equal(made[: window.start], broken[: window.start])
    return same and np.array_equal(made[window.stop :], broken[window.stop :])


@pytest.mark.parametrize("gain_db", [14, 17, 20])
def test_clipped_sound_is_rebuilt_and_brought_to_the_level_of_the_rest(run, folder, gain_db) -> None:
    clean = voice(12)
    broken = with_clipping(clean, WINDOW, gain_db)
    made, result = mended(run, folder, broken, "declip", start_s=4, end_s=8)
    assert score(clean, broken, made, WINDOW)[0] > 0.5
    assert result.figures["gain_db"] == pytest.approx(-gain_db, abs=3)
    assert untouched(made, broken)


def test_a_room_is_taken_out(run, folder) -> None:
    clean = voice(12)
    broken = with_room(clean, WINDOW, decaying_room(0.8, -2, 1))
    made, _ = mended(run, folder, broken, "dereverb", start_s=4, end_s=8)
    assert score(clean, broken, made, WINDOW)[1] > 0.03
    assert untouched(made, broken)


@pytest.mark.parametrize("jump_db", [-12, -6, 6])
def test_a_jump_of_level_is_matched_to_the_rest(run, folder, jump_db) -> None:
    clean = voice(12) * 0.5
    broken = with_window(clean, WINDOW, clean[WINDOW] * 10 ** (jump_db / 20))
    made, result = mended(run, folder, broken, "gain", start_s=4, end_s=8)
    assert result.figures["gain_db"] == pytest.approx(-jump_db, abs=1.5)
    assert untouched(made, broken)


def test_a_given_gain_is_applied_as_it_is(run, folder) -> None:
    clean = voice(6) * 0.5
    made, _ = mended(run, folder, clean, "gain", start_s=2, end_s=4, amount=-6)
    inner = slice(round(2.1 * RATE_HZ), round(3.9 * RATE_HZ))
    assert np.allclose(made[inner], clean[inner] * 10 ** (-6 / 20), atol=1e-4)


def test_piercing_bands_are_held_to_those_of_the_rest(run, folder) -> None:
    clean = voice(12)
    time_s = np.arange(WINDOW.stop - WINDOW.start) / RATE_HZ
    shrill = clean[WINDOW] + 0.15 * np.sin(2 * np.pi * 4000 * time_s) * (np.sin(2 * np.pi * 3 * time_s) > 0)
    broken = with_window(clean, WINDOW, shrill)
    made, result = mended(run, folder, broken, "deharsh", start_s=4, end_s=8)
    assert result.figures["harsh_after_db"] < result.figures["harsh_before_db"] - 6
    assert np.sum((made - clean)[WINDOW] ** 2) < 0.5 * np.sum((broken - clean)[WINDOW] ** 2)


@pytest.mark.parametrize("late_s", [0.45, 0.72, -0.5])
def test_a_constant_offset_is_found_by_the_silence_it_leaves(run, folder, late_s) -> None:
    clean, late = voice(12), round(late_s * RATE_HZ)
    broken = np.roll(clean, late)
    broken[slice(0, late) if late > 0 else slice(late, None)] = 0
    made, result = mended(run, folder, broken, "retime")
    found = result.figures["late_s"]
    assert found == pytest.approx(late_s, abs=0.02)
    first, count = 2 * RATE_HZ + round(found * RATE_HZ), 6 * RATE_HZ
    assert np.max(np.abs(made[2 * RATE_HZ :][:count] - broken[first : first + count])) < 0.05


@pytest.mark.parametrize("late_s", [0.45, 0.6, -0.5])
def test_a_constant_offset_is_found_against_a_reference(run, folder, late_s) -> None:
    clean, late = voice(10), round(late_s * RATE_HZ)
    write_wave(folder / "materials/reference.wav", clean)
    broken = np.roll(clean, late)
    made, result = mended(run, folder, broken, "retime", reference="materials/reference.wav")
    assert result.figures["late_s"] == pytest.approx(late_s, abs=0.02)
    middle = slice(2 * RATE_HZ, 8 * RATE_HZ)
    assert np.allclose(made[middle], clean[middle], atol=1e-3)


@pytest.mark.parametrize("late_s", [0.3, 0.6, -0.5])
def test_a_lagging_range_is_found_by_what_it_repeats(run, folder, late_s) -> None:
    clean, late = voice(12), round(late_s * RATE_HZ)
    broken = clean.copy()
    broken[WINDOW] = clean[WINDOW.start - late : WINDOW.stop - late]
    made, result = mended(run, folder, broken, "retime", start_s=4, end_s=8)
    assert result.figures["late_s"] == pytest.approx(late_s, abs=0.005)
    inner = slice(WINDOW.start + max(0, -late) + 2000, WINDOW.stop - max(0, late) - 2000)
    assert np.allclose(made[inner], clean[inner], atol=1e-3)
    assert untouched(made, broken)


def test_two_wrong_tempos_are_undone_to_within_40_ms(run, folder) -> None:
    clean = voice(12)
    bend, count = bend_of_tempos(0.67, 1.55), WINDOW.stop - WINDOW.start
    assert bend is not None
    inverse = lambda n: np.interp(n / count, [0, bend.ours, 1], [0, bend.theirs, 1]) * count  # noqa: E731
    drifted = stretched(clean[None, WINDOW].astype(np.float32), count, RATE_HZ, inverse)[0]
    broken = with_window(clean, WINDOW, drifted.astype(np.float64))
    made, _ = mended(run, folder, broken, "retime", start_s=4, end_s=8, tempos=[0.67, 1.55])
    assert _worst_lag_s(made[WINDOW], clean[WINDOW]) < 0.04 < _worst_lag_s(broken[WINDOW], clean[WINDOW])


def _worst_lag_s(made: np.ndarray, clean: np.ndarray) -> float:
    """The largest shift between the envelopes of both, second by second."""

    def envelope(wave: np.ndarray) -> np.ndarray:
        return np.sqrt(np.convolve(wave**2, np.ones(480) / 480, "same"))[::48]

    a, b, lags = envelope(clean), envelope(made), []
    for at in range(500, len(a) - 1500, 500):
        piece = a[at : at + 1000] - a[at : at + 1000].mean()
        worth = [piece @ b[at + lag : at + lag + 1000] for lag in range(-400, 401)]
        lags.append(abs(int(np.argmax(worth)) - 400) / 1000)
    return float(np.median(lags))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("declip", "no clipping was found"),
        ("dereverb", "hardly any echo"),
        ("gain", "already as loud"),
        ("deharsh", "not harsher"),
        ("retime", "cannot be told from it alone"),
    ],
)
def test_sound_that_is_not_broken_is_left_alone(run, folder, kind, sentence) -> None:
    write_wave(folder / "materials/a.wav", voice(12))
    with pytest.raises(UserError, match=sentence):
        run("restore_audio", path="materials/a.wav", kind=kind, start_s=4, end_s=8)
    assert list((folder / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kind": "declip", "amount": 3}, "amount goes with kinds gain and retime only"),
        ({"kind": "gain", "tempos": [0.5, 2]}, "tempos and reference go with kind retime only"),
        ({"kind": "retime", "tempos": [0.5]}, "must be two numbers"),
        ({"kind": "retime", "tempos": [0.5, 0.6], "start_s": 1, "end_s": 3}, "one must be below 1"),
        ({"kind": "retime", "amount": 30}, r"amount=30\.0 s is more than"),
        ({"kind": "retime", "amount": 5, "start_s": 1, "end_s": 3}, "shorter than the lag"),
        ({"kind": "gain", "start_s": 3, "end_s": 2}, "must be greater"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_a_sentence(run, folder, arguments, sentence) -> None:
    write_wave(folder / "materials/a.wav", voice(4))
    with pytest.raises(UserError, match=sentence):
        run("restore_audio", path="materials/a.wav", **arguments)


def test_a_film_keeps_its_pictures_when_its_whole_sound_moves(run, folder) -> None:
    make_film(folder / "materials/a.mp4", frames=100, audio="aac")
    result = run("restore_audio", path="materials/a.mp4", kind="retime", amount=0.5).result
    before, after = (
        open_sound(path, "a", lambda: None) for path in (folder / "materials/a.mp4", folder / result.output)
    )
    assert after.scan.video is not None and before.scan.video is not None
    assert np.array_equal(after.scan.video.pts, before.scan.video.pts)
    ours, theirs = after.read(48_000, 96_000, lambda: None), before.read(72_000, 120_000, lambda: None)
    assert np.mean((ours - theirs) ** 2) < 0.01 * np.mean(theirs**2)
