"""denoise: less noise inside the range, nothing changed outside it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import exp1

from primitives._base import UserError
from primitives._media.sound_source import open_sound
from primitives._sound import deepfilter
from primitives._sound.logmmse import _raised
from primitives.denoise import DenoiseResult
from tests.media import SHARED_MEDIA, make_film, make_sound, real_clip
from tests.scenery import Picture, psnr_db, write
from tests.sounds import RATE_HZ, coloured_noise, score, speech, voice, with_noise, write_wave

WINDOW = slice(4 * RATE_HZ, 7 * RATE_HZ)
needs_weights = pytest.mark.skipif(deepfilter.weights() is None, reason="install the extra denoise for the weights")


def heard(path: Path, count: int) -> np.ndarray:
    return open_sound(path, path.name, lambda: None).read(0, count, lambda: None).mean(axis=0).astype(np.float64)


def noisy(folder: Path, kind: str = "white", snr_db: float = 5.0) -> tuple[np.ndarray, np.ndarray]:
    clean = voice(11)
    broken = with_noise(clean, WINDOW, coloured_noise(kind, 3 * RATE_HZ, 1), snr_db)
    write_wave(folder / "materials/a.wav", broken)
    return clean, broken


@needs_weights
@pytest.mark.parametrize(("kind", "snr_db"), [("white", 0), ("pink", 10)])
def test_real_speech_comes_nearer_to_the_clean_sound_and_the_rest_stays(run, folder, kind, snr_db) -> None:
    real_clip("speech/ljspeech/LJ001-0001.wav")
    clean = speech(sorted((SHARED_MEDIA / "speech/ljspeech").glob("*.wav")), 11)
    broken = with_noise(clean, WINDOW, coloured_noise(kind, 3 * RATE_HZ, 1), snr_db)
    write_wave(folder / "materials/a.wav", broken)
    result = run("denoise", path="materials/a.wav", start_s=4, end_s=7).result
    made = heard(folder / result.output, len(broken))
    composite, _ = score(clean, broken, made, WINDOW)
    assert composite > 0.25
    assert np.array_equal(made[: WINDOW.start], broken[: WINDOW.start])
    assert np.array_equal(made[WINDOW.stop :], broken[WINDOW.stop :])
    assert result.method == "DeepFilterNet3"


def test_without_the_network_noise_still_falls_and_a_note_names_the_extra(run, folder, monkeypatch) -> None:
    monkeypatch.setenv(deepfilter.WEIGHTS_VARIABLE, str(folder / "absent.tar.gz"))
    clean, broken = noisy(folder)
    result = run("denoise", path="materials/a.wav", start_s=4, end_s=7).result
    made = heard(folder / result.output, len(broken))
    assert any("avb-mcp[denoise]" in note for note in result.notes)
    assert result.figures["floor_after_db"] < result.figures["floor_before_db"] - 6
    before, after = (np.sum((one[WINDOW] - clean[WINDOW]) ** 2) for one in (broken, made))
    assert after < before


def test_the_noisy_stretch_is_found_when_no_range_is_given(run, folder, monkeypatch) -> None:
    monkeypatch.setenv(deepfilter.WEIGHTS_VARIABLE, str(folder / "absent.tar.gz"))
    noisy(folder)
    result = run("denoise", path="materials/a.wav").result
    assert result.range_found
    assert result.start_s == pytest.approx(4, abs=0.4) and result.end_s == pytest.approx(7, abs=0.4)


@needs_weights
def test_a_range_without_a_voice_and_without_film_beside_it_is_not_wiped_out(run, folder) -> None:
    steady = 0.1 * np.sin(2 * np.pi * 440 * np.arange(2 * RATE_HZ) / RATE_HZ)
    write_wave(folder / "materials/a.wav", steady + coloured_noise("white", 2 * RATE_HZ, 1) * 1e-3)
    result = run("denoise", path="materials/a.wav", start_s=0.2, end_s=1.8).result
    assert result.figures["level_after_db"] > result.figures["level_before_db"] - 11  # and not by 60 dB
    assert any("the range is no speech" in note for note in result.notes)


def test_the_table_of_the_spectral_gain_is_the_exponential_integral() -> None:
    places = np.geomspace(1e-6, 60, 1001)
    assert np.allclose(_raised(places), np.exp(exp1(places) / 2), rtol=1e-5)


def test_a_profile_of_the_noise_alone_is_used_in_music_mode(run, folder) -> None:
    chance = coloured_noise("pink", 6 * RATE_HZ, 3) * 0.02
    time_s = np.arange(6 * RATE_HZ) / RATE_HZ
    tone = 0.2 * np.sin(2 * np.pi * 440 * time_s) * (time_s > 2)
    write_wave(folder / "materials/m.wav", tone + chance)
    asked = {"path": "materials/m.wav", "start_s": 1, "end_s": 5, "mode": "music"}
    result = run("denoise", **asked, noise_start_s=0, noise_end_s=2).result
    made = heard(folder / result.output, 6 * RATE_HZ)
    quiet, loud = slice(round(1.2 * RATE_HZ), round(1.8 * RATE_HZ)), slice(3 * RATE_HZ, 4 * RATE_HZ)
    assert np.std(made[quiet]) < 0.5 * np.std(chance[quiet])
    assert np.std(made[loud]) == pytest.approx(np.std(tone[loud]), rel=0.1)


def test_joins_do_not_click(run, folder, monkeypatch) -> None:
    monkeypatch.setenv(deepfilter.WEIGHTS_VARIABLE, str(folder / "absent.tar.gz"))
    _, broken = noisy(folder, "brown", 10)
    made = heard(folder / run("denoise", path="materials/a.wav", start_s=4, end_s=7).result.output, len(broken))
    for edge in (WINDOW.start, WINDOW.stop):
        near = slice(edge - 200, edge + 200)
        assert np.max(np.abs(np.diff(made[near]))) <= 1.5 * np.max(np.abs(np.diff(broken[near]))) + 1e-3


@pytest.mark.parametrize(("layout", "rate_hz"), [(2, 44_100), (6, 48_000), (1, 8_000), (1, 96_000)])
def test_layouts_and_rates_are_kept(run, folder, layout, rate_hz, monkeypatch) -> None:
    monkeypatch.setenv(deepfilter.WEIGHTS_VARIABLE, str(folder / "absent.tar.gz"))
    wave = voice(4, rate_hz) + 0.01 * np.random.default_rng(0).standard_normal(4 * rate_hz)
    write_wave(folder / "materials/a.wav", np.stack([wave] * layout), rate_hz)
    result = run("denoise", path="materials/a.wav", start_s=1, end_s=3).result
    written = open_sound(folder / result.output, "a.wav", lambda: None)
    assert (written.facts.rate_hz, written.facts.channels, written.last) == (rate_hz, layout, 4 * rate_hz)


@pytest.mark.parametrize(
    ("make", "arguments", "sentence"),
    [
        (lambda p: make_film(p, frames=25), {}, "has no sound"),
        (lambda p: write_wave(p, np.zeros(3 * RATE_HZ)), {"start_s": 1, "end_s": 2}, "is silent"),
        (lambda p: write_wave(p, np.full(3 * RATE_HZ, 0.3)), {"start_s": 1, "end_s": 2}, "is silent"),
        (
            lambda p: write_wave(p, np.full(1, 0.3)),
            {"start_s": 0, "end_s": 1},
            "past the end|at least 0.1 s|no complete",
        ),
        (lambda p: write_wave(p, voice(2)), {"start_s": 5}, "past the end of the sound"),
        (lambda p: write_wave(p, voice(2)), {"start_s": 0.5, "end_s": 9}, r"end_s=9\.0 is past the end"),
        (lambda p: write_wave(p, voice(2)), {"start_s": 0.5, "end_s": 0.51}, "at least 0.1 s"),
        (lambda p: write_wave(p, voice(9)), {}, "stands out by noise"),
        (lambda p: p.write_bytes(b"RIFF" + bytes(range(256)) * 8), {}, "not readable media|holds"),
    ],
)
def test_what_cannot_be_cleaned_is_refused_with_a_sentence(run, folder, make, arguments, sentence) -> None:
    path = folder / ("materials/a.mp4" if "sound" in sentence and not arguments else "materials/a.wav")
    make(path)
    with pytest.raises(UserError, match=sentence):
        run("denoise", path=f"materials/{path.name}", **arguments)
    assert list((folder / "work").iterdir()) == []


def test_grain_falls_inside_the_range_and_frames_outside_are_the_same(run, folder) -> None:
    chance, truth = np.random.default_rng(0), list[Picture]()
    still = np.kron(chance.integers(40, 200, (9, 16, 3)), np.ones((20, 20, 1))).astype(np.uint8)
    for number in range(40):
        truth.append(np.roll(still, 2 * number, axis=1))
    grainy = [
        np.clip(one + 8.0 * chance.standard_normal((180, 320, 1)), 0, 255).astype(np.uint8) if 15 <= n < 25 else one
        for n, one in enumerate(truth)
    ]
    source = write(folder / "materials/a.mp4", grainy, crf=8, group=10)
    result = run("denoise", path="materials/a.mp4", target="video", start_s=15 / 25, end_s=25 / 25).result
    assert isinstance(result, DenoiseResult) and result.frames_copied
    from tests.scenery import read

    before, after = read(source), read(folder / result.output)
    assert psnr_db(after[15:25], truth[15:25]) > psnr_db(before[15:25], truth[15:25]) + 2
    assert all(np.array_equal(a, b) for a, b in zip(before[:10], after[:10], strict=True))


def test_a_lone_noise_end_is_refused(run, folder) -> None:
    make_sound(folder / "materials/a.wav")
    with pytest.raises(UserError, match=re.escape("noise_start_s and noise_end_s go together")):
        run("denoise", path="materials/a.wav", noise_start_s=0.1)


@pytest.mark.parametrize("frames", [1, 150, 2_399, 2_400, 3_203, 9_001])
def test_the_network_sees_parts_of_one_length_that_keep_each_frame_once(frames) -> None:
    made = deepfilter.parts(frames)
    assert [frame for part in made for frame in range(frames)[part.kept]] == list(range(frames))
    assert len({part.seen.stop - part.seen.start for part in made}) == 1
    assert all(0 <= part.seen.start <= part.kept.start and part.kept.stop <= part.seen.stop <= frames for part in made)


@needs_weights
def test_channels_cleaned_together_come_out_as_each_by_itself() -> None:
    weights, clean = deepfilter.weights(), voice(3)
    whole = slice(0, len(clean))
    both = np.stack([with_noise(clean, whole, coloured_noise("pink", len(clean), seed), 5) for seed in (1, 2)])
    together = deepfilter.enhance(both, weights)
    assert together == pytest.approx(np.stack([deepfilter.enhance(one, weights) for one in both]), abs=1e-5)


@needs_weights
def test_a_long_sound_comes_out_as_its_beginning_alone() -> None:
    weights, clean = deepfilter.weights(), voice(26)
    noisy = with_noise(clean, slice(0, len(clean)), coloured_noise("pink", len(clean), 1), 5)
    first = slice(0, 20 * RATE_HZ)
    alone, whole = deepfilter.enhance(noisy[first], weights), deepfilter.enhance(noisy, weights)[first]
    inside = slice(0, 19 * RATE_HZ)
    assert np.sum((alone - whole)[inside] ** 2) < 1e-3 * np.sum(alone[inside] ** 2)
