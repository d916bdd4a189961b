"""What the sound searches of `find_defects` stand on: the measures of a hop, gaps, and parts of a long film."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from primitives._defects.drift import find_drift
from primitives._defects.gaps import find_gaps
from primitives._defects.level import find_levels
from primitives._defects.sound import PART_S, parts, peaks, ranked, rows, weighed
from primitives._media.sound_bands import Meter
from primitives._tracks import BANDS, FLOOR_DB, STEP_DB, FilmTracks, SoundTrack

RATE_HZ = 48_000


def track(levels_db: np.ndarray) -> SoundTrack:
    level = 10 * np.log10((10 ** (levels_db / 10)).sum(axis=1)).astype(np.float32)
    return SoundTrack(
        bands=np.clip(np.rint((levels_db - FLOOR_DB) / STEP_DB), 0, 255).astype(np.uint8),
        level_db=level,
        peak_db=level + 10,
        crest_db=np.full(len(level), 5, np.float32),
        flat=np.full(len(level), 0.03, np.float32),
        again=np.full(len(level), 0.1, np.float32),
    )


def music(count: int, seed: int = 1) -> np.ndarray:
    """Sound that never stops, and wanders slowly."""
    chance = np.random.default_rng(seed)
    return np.asarray(-35 + np.cumsum(chance.normal(0, 0.25, (count, BANDS)), axis=0).clip(-8, 8))


def measured(samples: np.ndarray) -> dict[str, np.ndarray]:
    return Meter(RATE_HZ).measure(samples.astype(np.float32), 0, range(20, 80))


def test_clipped_samples_are_flat_and_have_no_crest() -> None:
    voice = np.random.default_rng(1).laplace(0, 0.05, (1, RATE_HZ))
    free, clipped = measured(voice), measured(np.clip(voice, -0.04, 0.04))
    assert free["crest_db"].min() > 3 and clipped["crest_db"].max() < 0.3
    assert free["flat"].max() < 0.03 and clipped["flat"].min() > 0.3


def test_a_crest_is_the_distance_of_two_quantiles_whatever_the_level() -> None:
    noise = np.random.default_rng(2).normal(0, 0.1, (1, RATE_HZ))
    expected = 20 * np.log10(np.quantile(np.abs(noise), 0.995) / np.quantile(np.abs(noise), 0.93))
    for gain in (1.0, 0.05):
        assert np.median(measured(gain * noise)["crest_db"]) == pytest.approx(expected, abs=0.25)


def test_a_tone_lies_in_its_band_at_its_level() -> None:
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(RATE_HZ) / RATE_HZ)[None]
    found = measured(tone)
    assert found["level_db"] == pytest.approx(np.full(60, 20 * np.log10(0.5 / np.sqrt(2))), abs=0.1)
    loudest = found["bands"].argmax(axis=1)
    assert len(set(loudest.tolist())) == 1
    total = (10 ** ((found["bands"] * STEP_DB + FLOOR_DB) / 10)).sum(axis=1)
    assert 10 * np.log10(total.mean()) == pytest.approx(-9.0, abs=3.1)


def grains(wave: np.ndarray, tempo: float, size: int = 2048) -> np.ndarray:
    """The wave slower or faster at its own pitch, by grains that overlap by half."""
    shape, hop = np.hanning(size + 1)[:-1], size // 2
    made = np.zeros(int((len(wave) - size) / tempo) // hop * hop)
    for at in range(0, len(made) - size, hop):
        start = int(at * tempo)
        made[at : at + size] += shape * wave[start : start + size]
    return made


def test_noise_that_was_slowed_down_comes_again_and_tones_do_not() -> None:
    noise = np.random.default_rng(3).normal(0, 0.1, 2 * RATE_HZ)
    tones = sum(0.1 * np.sin(2 * np.pi * 110 * n * np.arange(RATE_HZ) / RATE_HZ) for n in range(1, 70))
    plain, tone, slow = (
        float(np.median(measured(wave[None, :RATE_HZ])["again"])) for wave in (noise, tones, grains(noise, 0.67))
    )
    assert slow > 4 * plain and slow > 1.5 * tone


def test_sound_that_is_slow_and_then_fast_drifts() -> None:
    chance = np.random.default_rng(4)
    held = np.repeat(chance.normal(0, 8, (600, BANDS)), 6, axis=0)[:3000]
    held[1400:1700] = np.repeat(chance.normal(0, 8, (100, BANDS)), 3, axis=0)
    sound = track(-40 + held)
    sound.again[:] = chance.normal(0.1, 0.04, 3000)
    assert find_drift(sound).likely < 0.3
    sound.again[1100:1400] += 0.08
    found = find_drift(sound)
    assert found.likely > 0.9
    assert (found.first, found.middle, found.last) == pytest.approx((1100, 1400, 1700), abs=40)


def test_a_gap_in_loud_sound_was_cut_and_what_is_late_goes_on() -> None:
    levels = music(1200)
    late = np.concatenate((levels[:600], np.full((50, BANDS), FLOOR_DB), levels[600:]))
    lost = np.concatenate((levels[:600], np.full((50, BANDS), FLOOR_DB), music(1200, seed=2)[600:] - 6))
    (one,), (other,) = find_gaps(track(late)), find_gaps(track(lost))
    assert (one.first, one.last) == (other.first, other.last) == (600, 650)
    assert min(one.cut, other.cut) > 0.7
    assert one.goes_on > 0.6 > 0.4 > other.goes_on


def test_a_pause_between_quiet_ends_was_not_cut() -> None:
    levels = music(1200)
    levels[500:700] -= 35
    levels[590:620] = FLOOR_DB
    (gap,) = find_gaps(track(levels))
    assert gap.cut < 0.3


def test_a_long_film_is_gone_through_in_parts_that_overlap() -> None:
    sound = track(np.full((rows(150.0), BANDS), -40.0))
    found = [(start, start + len(part)) for start, part in parts(sound)]
    assert found[0][0] == 0 and found[-1][1] == len(sound)
    assert all(after[0] < before[1] for before, after in itertools.pairwise(found))
    assert all(last - first <= rows(PART_S) + rows(20.0) for first, last in found)


def test_a_jump_of_level_late_in_a_long_film_has_its_own_time() -> None:
    levels = music(rows(150.0))
    first, last = rows(121.0), rows(125.0)
    levels[first:last] -= 14
    best = max(find_levels(FilmTracks(None, track(levels), 150.0)), key=lambda finding: finding.confidence)
    assert best.start_s == pytest.approx(121.0, abs=0.05) and best.end_s == pytest.approx(125.0, abs=0.05)
    assert best.confidence > 0.5 and best.evidence["change_db"] == pytest.approx(-14, abs=2)


def test_weights_end_with_the_one_that_needs_no_feature() -> None:
    assert weighed((1.0, 2.0), (1.0, -0.5, 0.0)) == 0.5
    assert weighed((), (2.0,)) == pytest.approx(0.881, abs=1e-3)


def test_quantiles_are_values_that_occur() -> None:
    assert ranked(np.array([[3.0], [1.0], [2.0], [9.0], [4.0]]), (0.0, 0.5, 1.0)).ravel().tolist() == [1.0, 3.0, 9.0]


def test_peaks_are_the_highest_of_a_tenth_of_a_second() -> None:
    strength = np.zeros(200)
    strength[[50, 54, 120]] = (2.0, 3.0, 1.0)
    assert peaks(strength, 0.5, 1.0).tolist() == [54, 120]
    assert peaks(strength, 1.5, 1.0).tolist() == [54]
