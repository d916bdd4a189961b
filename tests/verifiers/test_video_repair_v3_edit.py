"""The edit part of the released repair scheme, worked by hand: deductions, shares, sampling, sound."""

from __future__ import annotations

import numpy as np
import pytest

from verifiers.video_repair_v3.pictures import sample_places
from verifiers.video_repair_v3.scoring import (
    DEFAULT_SHARES,
    VARIANT_SHARES,
    Chunk,
    Sides,
    edit_score,
    modality_score,
    plan_chunks,
    sample_limit,
    sample_step,
    total_score,
)
from verifiers.video_repair_v3.sound import MAX_LAG, compare_chunk, similarity
from verifiers.video_repair_v3.truth import Window


@pytest.mark.parametrize(
    ("inside", "outside", "kept"),
    [
        (1.0, 1.0, 1.0),
        (0.9, 1.0, 0.75),
        (1.0, 0.9, 0.9),
        (0.9, 0.9, 0.65),
        (0.6, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.8, 0.4, 0.0),
        (None, 0.7, 0.7),
        (0.9, None, 0.75),
        (None, None, 1.0),
    ],
)
def test_damage_inside_costs_two_and_a_half_times_as_much(
    inside: float | None, outside: float | None, kept: float
) -> None:
    assert modality_score(Sides(inside, outside)) == pytest.approx(kept)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("v01_frozen_scene", 0.6),
        ("v03_scene_swap", 0.6),
        ("v04_color_grade_shift", 0.9),
        ("v05_noise_floor_spike", 0.1),
        ("v06_duplicate_segment", 0.6),
        ("v07_audio_video_desync", 0.1),
        ("combined", 0.6),
    ],
)
def test_perfect_pictures_with_ruined_sound_keep_the_variants_video_share(variant: str, expected: float) -> None:
    shares = VARIANT_SHARES.get(variant, DEFAULT_SHARES)
    assert edit_score(Sides(1.0, 1.0), Sides(0.0, 0.0), shares) == pytest.approx(expected)
    assert edit_score(Sides(0.0, 0.0), Sides(1.0, 1.0), shares) == pytest.approx(1 - expected)


def test_the_three_parts_weigh_5_35_and_60() -> None:
    assert [total_score(1, 0, 0), total_score(0, 1, 0), total_score(0, 0, 1)] == [0.05, 0.35, 0.6]
    assert total_score(1, 1, 1) == 1.0


def test_chunks_of_ten_seconds_cover_the_profiles_duration() -> None:
    assert plan_chunks(25.5) == [Chunk(0.0, 10.0), Chunk(10.0, 20.0), Chunk(20.0, 25.5)]
    assert plan_chunks(20.0) == [Chunk(0.0, 10.0), Chunk(10.0, 20.0)]


@pytest.mark.parametrize(
    ("fps", "step"), [(5, 1), (10, 1), (15, 2), (24, 2), (25, 2), (29.97, 3), (30, 3), (50, 5), (60, 6)]
)
def test_every_kth_frame_is_compared_and_halves_round_to_even(fps: float, step: int) -> None:
    assert sample_step(fps) == step


def test_a_chunk_yields_at_most_ten_samples_a_second() -> None:
    assert sample_limit(Chunk(0.0, 10.0)) == 100
    assert sample_places(Chunk(0.0, 10.0), 30.0) == range(0, 300, 3)
    assert sample_places(Chunk(0.0, 10.0), 24.0) == range(0, 200, 2)
    assert sample_places(Chunk(20.0, 20.1), 24.0) == range(0, 2, 2)


# ---- sound


def noise(count: int, seed: int = 0) -> np.ndarray:
    return np.rint(3000 * np.random.default_rng(seed).standard_normal(count))


@pytest.mark.parametrize("lag_ms", [0, 1, 20, 75, 149, -20, -75])
def test_a_delay_costs_its_share_of_150_ms(lag_ms: int) -> None:
    source = noise(96_000)
    lag = lag_ms * 48
    overlap = 1 - abs(lag) / source.size
    assert similarity(np.roll(source, lag), source) == pytest.approx(overlap * (1 - abs(lag_ms) / 150), abs=0.01)


def test_a_delay_beyond_150_ms_or_other_sound_earns_next_to_nothing() -> None:
    source = noise(96_000)
    assert similarity(np.roll(source, 9600), source) < 0.03
    assert similarity(noise(96_000, 1), source) < 0.03


def test_inverted_sound_earns_next_to_nothing_and_louder_sound_everything() -> None:
    source = noise(96_000)
    assert similarity(-source, source) < 0.03
    assert similarity(3 * source, source) == pytest.approx(1.0)


def test_two_silences_are_alike_and_one_is_not() -> None:
    silence, source = np.zeros(4800), noise(4800)
    assert similarity(silence, silence) == 1.0
    assert similarity(silence, source) == similarity(source, silence) == 0.0
    assert similarity(silence[:0], silence[:0]) is None


def test_a_chunk_is_split_at_the_window_and_weighted_by_duration() -> None:
    source = noise(480_000)
    fixed = source.copy()
    fixed[48_000 * 4 : 48_000 * 6] = 0
    result = compare_chunk(fixed, source, Chunk(10.0, 20.0), Window(14.0, 16.0))
    assert (result.inside, result.outside) == (0.0, pytest.approx(1.0))
    assert (result.inside_s, result.outside_s) == (2.0, 8.0)


def test_a_chunk_beside_the_window_is_all_outside() -> None:
    source = noise(48_000)
    for window in (None, Window(1.0, 5.0), Window(5.0, 10.0)):
        result = compare_chunk(source, source, Chunk(10.0, 11.0), window)
        assert (result.inside, result.outside, result.outside_s) == (None, pytest.approx(1.0), 1.0)


def test_sound_that_ends_early_is_silent_from_there_and_a_few_samples_are_forgiven() -> None:
    source = noise(96_000)
    assert compare_chunk(source[:0], source, Chunk(0.0, 2.0), None).outside == 0.0
    half = compare_chunk(source[:48_000], source, Chunk(0.0, 2.0), None).outside
    assert half == pytest.approx(0.5**0.5, abs=0.02)
    assert compare_chunk(source[:-MAX_LAG], source, Chunk(0.0, 2.0), None).outside == pytest.approx(1.0)
