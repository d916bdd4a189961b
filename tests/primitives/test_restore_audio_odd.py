"""restore_audio: finds the damaged range by itself, and handles or refuses any odd sound with a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from primitives._base import UserError
from primitives._media.sound_source import open_sound
from tests.media import make_film
from tests.sounds import RATE_HZ, decaying_room, voice, with_clipping, with_room, with_window, write_wave

pytestmark = pytest.mark.slow

WINDOW = slice(5 * RATE_HZ, 9 * RATE_HZ)


def clipped(clean: np.ndarray) -> np.ndarray:
    return with_clipping(clean, WINDOW, 20)


def echoing(clean: np.ndarray) -> np.ndarray:
    return with_room(clean, WINDOW, decaying_room(0.8, -2, 1))


def quieter(clean: np.ndarray) -> np.ndarray:
    return with_window(clean, WINDOW, clean[WINDOW] * 0.25)


def louder(clean: np.ndarray) -> np.ndarray:
    return with_window(clean * 0.2, WINDOW, clean[WINDOW] * 0.8)


@pytest.mark.parametrize(
    ("kind", "broken"), [("declip", clipped), ("dereverb", echoing), ("gain", quieter), ("gain", louder)]
)
def test_the_damaged_range_is_found_when_none_is_given(run, folder, kind, broken) -> None:
    write_wave(folder / "materials/a.wav", broken(voice(14)))
    result = run("restore_audio", path="materials/a.wav", kind=kind).result
    assert result.range_found
    assert result.start_s == pytest.approx(5, abs=0.6) and result.end_s == pytest.approx(9, abs=0.6)
    assert "bit-identical" in result.sound


@pytest.mark.parametrize(("kind", "word"), [("declip", "clipping"), ("dereverb", "echo"), ("gain", "a jump of level")])
def test_no_range_is_found_in_clean_sound(run, folder, kind, word) -> None:
    write_wave(folder / "materials/a.wav", voice(14))
    with pytest.raises(UserError, match=f"stands out by {word}|Nothing was written"):
        run("restore_audio", path="materials/a.wav", kind=kind)
    assert list((folder / "work").iterdir()) == []


@pytest.mark.parametrize("kind", ["declip", "gain", "retime"])
@pytest.mark.parametrize(("channels", "rate_hz"), [(1, 8_000), (1, 96_000), (2, 44_100), (6, 48_000)])
def test_layouts_and_rates_are_kept(run, folder, kind, channels, rate_hz) -> None:
    wave = voice(4, rate_hz)
    wave[rate_hz : 3 * rate_hz] = np.clip(wave[rate_hz : 3 * rate_hz] * 6, -1, 1)
    write_wave(folder / "materials/a.wav", np.stack([wave] * channels), rate_hz)
    extra = {"amount": {"gain": -6, "retime": 0.3}[kind]} if kind != "declip" else {}
    result = run("restore_audio", path="materials/a.wav", kind=kind, start_s=1, end_s=3, **extra).result
    before, after = (open_sound(folder / path, "a", lambda: None) for path in ("materials/a.wav", result.output))
    assert (after.facts.rate_hz, after.facts.channels, after.last) == (rate_hz, channels, 4 * rate_hz)
    assert after.facts.layout == before.facts.layout
    old, new = (one.read(0, 4 * rate_hz, lambda: None) for one in (before, after))
    inside = slice(rate_hz, 3 * rate_hz)
    assert not np.array_equal(old[:, inside], new[:, inside])
    assert np.array_equal(old[:, :rate_hz], new[:, :rate_hz])
    assert np.array_equal(old[:, 3 * rate_hz :], new[:, 3 * rate_hz :])


KINDS = ("declip", "dereverb", "deharsh", "gain", "retime")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [0.0, 0.3])
def test_silence_and_steady_voltage_are_refused_with_a_sentence(run, folder, kind, level) -> None:
    write_wave(folder / "materials/a.wav", np.full(4 * RATE_HZ, level))
    with pytest.raises(UserError, match=r"is silent|cannot be told from it alone"):
        run("restore_audio", path="materials/a.wav", kind=kind, start_s=1, end_s=3)
    assert list((folder / "work").iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_film_without_sound_is_refused_with_a_sentence(run, folder, kind) -> None:
    make_film(folder / "materials/a.mp4", frames=25)
    with pytest.raises(UserError, match="has no sound"):
        run("restore_audio", path="materials/a.mp4", kind=kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", [{}, {"start_s": 0, "end_s": 1}])
def test_one_sample_is_refused_with_a_sentence(run, folder, kind, given) -> None:
    write_wave(folder / "materials/a.wav", np.full(1, 0.3))
    with pytest.raises(UserError, match=r"past the end|at least 0\.1 s|no complete|no sound"):
        run("restore_audio", path="materials/a.wav", kind=kind, **given)


@pytest.mark.parametrize("kind", KINDS)
def test_rubbish_is_refused_with_a_sentence(run, folder, kind) -> None:
    (folder / "materials/a.wav").write_bytes(b"RIFF" + bytes(range(256)) * 8)
    with pytest.raises(UserError, match=r"not readable media|holds"):
        run("restore_audio", path="materials/a.wav", kind=kind)


def test_a_film_that_breaks_off_is_mended_as_far_as_it_goes(run, folder) -> None:
    write_wave(folder / "whole.flac", voice(8), codec="flac")
    data = (folder / "whole.flac").read_bytes()
    (folder / "materials/a.flac").write_bytes(data[: 3 * len(data) // 4])
    result = run("restore_audio", path="materials/a.flac", kind="gain", amount=-6, start_s=1, end_s=3).result
    before, after = (open_sound(folder / path, "a", lambda: None) for path in ("materials/a.flac", result.output))
    old, new = (one.read(0, 5 * RATE_HZ, lambda: None) for one in (before, after))
    inner = slice(round(1.1 * RATE_HZ), round(2.9 * RATE_HZ))
    assert np.allclose(new[:, inner], old[:, inner] * 10 ** (-6 / 20), atol=1e-4)
    assert np.array_equal(new[:, 3 * RATE_HZ : 4 * RATE_HZ], old[:, 3 * RATE_HZ : 4 * RATE_HZ])
