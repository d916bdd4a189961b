"""Sound measures on signals whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.verifiers.repair_clips import generated_clip
from verifiers._audio_metrics import (
    LevelRule,
    advanced,
    best_fraction,
    best_lag,
    block_agreement,
    nsim,
    rms_db,
    sdr_db,
    shifted,
    stoi,
)

RATE_HZ = 16000
LEVEL = LevelRule(full_db=3.0, none_db=9.0)


@pytest.fixture(scope="module")
def voice() -> np.ndarray:
    sound = generated_clip(seconds=3).sound
    assert sound is not None
    return sound[::3].astype(np.float64)


@pytest.fixture(scope="module")
def noise(voice: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(5).standard_normal(len(voice))
    return noise * np.sqrt(np.mean(voice**2) / np.mean(noise**2))


def test_a_full_scale_sine_has_a_level_of_minus_3_db_and_silence_minus_200():
    assert rms_db(np.sin(np.arange(16000) * 0.3)) == pytest.approx(-3.01, abs=0.01)
    assert rms_db(np.zeros(100)) == -200.0
    assert rms_db(np.zeros(0)) == -200.0


def test_sdr_is_the_ratio_of_reference_to_difference_within_its_bounds(voice, noise):
    assert sdr_db(voice, voice + 0.1 * noise) == pytest.approx(20.0, abs=1e-6)
    assert sdr_db(voice, voice) == 25.0
    assert sdr_db(voice, 10 * voice) == -10.0


def test_every_measure_falls_as_noise_grows(voice, noise):
    rows = [
        (
            nsim(voice, voice + gain * noise),
            stoi(voice, voice + gain * noise, RATE_HZ, extended=False),
            stoi(voice, voice + gain * noise, RATE_HZ, extended=True),
        )
        for gain in (0.0, 0.1, 0.3, 1.0, 3.0)
    ]
    assert rows[0] == pytest.approx((1.0, 1.0, 1.0), abs=1e-3)
    for column in zip(*rows, strict=True):
        assert list(column) == sorted(column, reverse=True)


def test_nsim_ignores_gain_but_not_silence(voice):
    assert nsim(voice, 4 * voice) == pytest.approx(1.0)
    assert nsim(voice, 0 * voice) < 0.3


def test_stoi_leaves_the_random_state_as_it_was_and_repeats_itself(voice, noise):
    np.random.seed(7)
    before = np.random.get_state()[1].copy()
    first = stoi(voice, voice + noise, RATE_HZ, extended=True)
    assert np.array_equal(np.random.get_state()[1], before)
    np.random.seed(99)
    assert stoi(voice, voice + noise, RATE_HZ, extended=True) == first


@pytest.mark.parametrize("extended", [True, False])
def test_stoi_of_too_little_sound_is_next_to_nothing(voice, extended):
    assert stoi(voice[:100], voice[:100], RATE_HZ, extended=extended) < 1e-3
    assert stoi(voice[:4000], np.zeros(4000), RATE_HZ, extended=extended) < 1e-3


@pytest.mark.parametrize("lag", [-320, -1, 0, 7, 400])
def test_the_lag_of_a_delayed_sound_is_found_and_taken_out(voice, lag):
    delayed = shifted(voice, -lag, 0, len(voice))
    assert best_lag(voice, delayed, 400) == lag
    middle = slice(1000, 2000)
    assert np.array_equal(shifted(delayed, lag, 0, len(voice))[middle], voice[middle])


def test_the_lag_of_silence_is_none(voice):
    assert best_lag(voice, np.zeros(len(voice)), 400) == 0
    assert best_lag(np.zeros(0), voice, 400) == 0


def test_a_third_of_a_sample_is_found_and_taken_out(voice):
    later = advanced(voice, -1 / 3)
    assert best_fraction(voice, later) == pytest.approx(1 / 3, abs=1 / 32)
    repaired = advanced(later, best_fraction(voice, later))
    assert sdr_db(voice, repaired) > sdr_db(voice, later) + 3.0


def test_a_shifted_piece_is_silent_where_the_sound_has_no_samples():
    assert shifted(np.arange(1.0, 4.0), 1, -2, 4).tolist() == [0, 1, 2, 3, 0, 0]


def test_level_credit_is_full_inside_and_none_outside():
    assert [LEVEL.credit(db) for db in (0.0, -3.0, 6.0, -9.0, 40.0)] == [1.0, 1.0, 0.5, 0.0, 0.0]


def blocks(reference: np.ndarray, sound: np.ndarray, max_lag: int = 0) -> list[float]:
    starts = range(0, len(reference) - RATE_HZ + 1, RATE_HZ)
    rows = block_agreement(reference, sound, block=RATE_HZ, starts=starts, max_lag=max_lag, level=LEVEL)
    return [value for _, value in rows]


def test_blocks_agree_with_themselves_and_not_with_silence_noise_or_a_louder_copy(voice, noise):
    assert blocks(voice, voice) == pytest.approx([1.0] * 3)
    assert blocks(voice, 0 * voice) == [0.0] * 3
    assert max(blocks(voice, noise)) < 0.2
    assert blocks(voice, 4 * voice) == [0.0] * 3


def test_blocks_quiet_in_both_are_left_out_and_filled_silence_counts_as_nothing(voice, noise):
    assert blocks(0 * voice, 0 * voice) == []
    assert blocks(0 * voice, noise) == [0.0] * 3


def test_blocks_find_a_sound_within_the_lag_and_not_beyond(voice):
    delayed = shifted(voice, -160, 0, len(voice))
    assert min(blocks(voice, delayed, max_lag=160)[:2]) > 0.99
    assert min(blocks(voice, delayed, max_lag=40)[:2]) < 0.9


def test_blocks_a_part_of_a_sample_late_still_agree(voice):
    assert min(blocks(voice, advanced(voice, -0.5), max_lag=1)) > 0.98
