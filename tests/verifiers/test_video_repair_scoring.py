"""Hand-worked cases of the Appendix H.1 formulas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.video_repair import scoring
from verifiers.video_repair.schema import Anchor, TimeRange

BETTER_UP = Anchor(broken=20.0, golden=40.0)
BETTER_DOWN = Anchor(broken=8.0, golden=2.0)

AUDIO = {
    "nsim": Anchor(broken=0.4, golden=1.0),
    "estoi": Anchor(broken=0.5, golden=1.0),
    "sdr_db": Anchor(broken=5.0, golden=25.0),
    "stoi": Anchor(broken=0.8, golden=1.0),
    "level_error_db": Anchor(broken=1.0, golden=0.0),
}
GOLDEN = {name: anchor.golden for name, anchor in AUDIO.items()}
BROKEN = {name: anchor.broken for name, anchor in AUDIO.items()}
VISUAL = {"psnr_db": BETTER_UP, "ssim": Anchor(broken=0.6, golden=0.98)}


def ranges(*pairs: tuple[float, float]) -> list[TimeRange]:
    return [TimeRange(start_s=start, end_s=end) for start, end in pairs]


@pytest.mark.parametrize(
    ("value", "anchor", "expected"),
    [
        (20.0, BETTER_UP, 0.0),
        (30.0, BETTER_UP, 0.5),
        (40.0, BETTER_UP, 1.0),
        (99.0, BETTER_UP, 1.0),
        (0.0, BETTER_UP, 0.0),
        (5.0, BETTER_DOWN, 0.5),
        (1.0, BETTER_DOWN, 1.0),
        (9.0, BETTER_DOWN, 0.0),
        (float("nan"), BETTER_UP, 0.0),
        (float("inf"), BETTER_UP, 0.0),
        (1.0, Anchor(broken=1.0, golden=1.0), 0.0),
    ],
)
def test_a_value_is_placed_between_broken_and_golden(value, anchor, expected):
    assert scoring.anchored(value, anchor) == expected


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_every_placed_value_lies_between_0_and_1(value, broken, golden):
    assert 0.0 <= scoring.anchored(value, Anchor(broken=broken, golden=golden)) <= 1.0


def test_inside_audio_is_1_at_golden_and_0_at_broken():
    assert scoring.audio_inside(GOLDEN, AUDIO) == pytest.approx(1.0)
    assert scoring.audio_inside(BROKEN, AUDIO) == 0.0


def test_inside_audio_weighs_perception_04_intelligibility_03_fidelity_03():
    assert scoring.audio_inside({**BROKEN, "nsim": 1.0}, AUDIO) == pytest.approx(0.4)
    assert scoring.audio_inside({**BROKEN, "estoi": 1.0}, AUDIO) == pytest.approx(0.3)
    assert scoring.audio_inside({**BROKEN, "sdr_db": 25.0}, AUDIO) == pytest.approx(0.3)


@pytest.mark.parametrize(("error_db", "factor"), [(3.0, 1.0), (-6.0, 0.5), (9.0, 0.0), (-200.0, 0.0)])
def test_inside_audio_falls_with_a_wrong_level(error_db, factor):
    assert scoring.audio_inside({**GOLDEN, "level_error_db": error_db}, AUDIO) == pytest.approx(factor)


def test_the_level_of_a_very_loud_broken_file_earns_nothing_and_halfway_down_earns_some():
    anchors = {**AUDIO, "level_error_db": Anchor(broken=17.0, golden=0.0)}
    assert scoring.level_factor({"level_error_db": 17.0}, anchors) == 0.0
    assert scoring.level_factor({"level_error_db": 10.0}, anchors) == 0.5


@pytest.mark.parametrize(("stoi", "factor"), [(0.4, 0.0), (0.54, 0.5), (0.68, 1.0), (1.0, 1.0)])
def test_a_repair_that_loses_words_loses_score(stoi, factor):
    assert scoring.words_factor(stoi, 0.8) == pytest.approx(factor)


def test_a_term_whose_anchors_are_too_close_is_dropped_and_the_rest_reweighted():
    anchors = {**AUDIO, "nsim": Anchor(broken=0.99, golden=1.0)}
    assert scoring.audio_inside({**GOLDEN, "nsim": 0.0, "sdr_db": 5.0}, anchors) == pytest.approx(0.5)


def test_a_defect_that_no_term_measures_is_refused():
    flat = {name: Anchor(broken=1.0, golden=1.0) for name in AUDIO}
    with pytest.raises(scoring.UnmeasurableDefect):
        scoring.audio_inside(GOLDEN, flat)
    with pytest.raises(scoring.UnmeasurableDefect):
        scoring.shot_swap_reward(30.0, Anchor(broken=30.0, golden=30.1), 10.0, 10.0)


def test_inside_visual_is_the_mean_of_psnr_and_ssim():
    assert scoring.visual_inside({"psnr_db": 30.0, "ssim": 0.98}, VISUAL) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("inside", "outside", "reward"),
    [
        (1.0, 1.0, 1.0),
        (1.0, 0.0, 0.9),
        (0.5, 1.0, 0.55),
        (0.0, 1.0, 0.0),
        (0.019, 1.0, 0.0),
        (0.05, 1.0, 0.095),
    ],
)
def test_the_window_reward_is_09_inside_and_01_outside_once_something_is_repaired(inside, outside, reward):
    assert scoring.window_reward(inside, outside) == pytest.approx(reward)


def test_outside_sound_follows_its_tenth_percentile():
    assert scoring.sound_outside([1.0] * 10, 1.0) == 1.0
    assert scoring.sound_outside([0.875] * 10, 1.0) == pytest.approx(0.5)
    assert scoring.sound_outside([0.8] * 10, 1.0) == pytest.approx(0.0)
    assert scoring.sound_outside([], 1.0) == 1.0
    assert scoring.sound_outside([0.7] * 10, 0.7) == 1.0


def test_an_outside_frame_counts_by_the_worse_of_both_measures():
    assert scoring.picture_frame_kept(40.0, 0.98, 38.0, 0.97) == 1.0
    assert scoring.picture_frame_kept(32.0, 0.97, 38.0, 0.97) == pytest.approx(0.5)
    assert scoring.picture_frame_kept(38.0, 0.80, 38.0, 0.97) == 0.0


@pytest.mark.parametrize(
    ("duration_s", "penalty"), [(10.0, 1.0), (11.0, 1.0), (9.0, 1.0), (13.0, 0.6), (5.0, 0.2), (30.0, 0.0)]
)
def test_the_length_penalty_starts_beyond_a_tenth(duration_s, penalty):
    assert scoring.length_penalty(duration_s, 10.0) == pytest.approx(penalty)


def test_shot_swap_is_the_placed_psnr_times_the_length_penalty():
    assert scoring.shot_swap_reward(35.0, BETTER_UP, 13.0, 10.0) == pytest.approx(0.75 * 0.6)


def test_a_hair_above_the_broken_anchor_earns_nothing() -> None:
    gap = BETTER_UP.golden - BETTER_UP.broken
    assert scoring.shot_swap_reward(BETTER_UP.broken + 0.01 * gap, BETTER_UP, 10.0, 10.0) == 0.0


def test_a_copy_is_close_to_broken_and_has_not_moved():
    assert scoring.is_picture_copy(40.0, 0.01)
    assert not scoring.is_picture_copy(40.0, 0.2)
    assert not scoring.is_picture_copy(20.0, 0.01)
    assert scoring.is_sound_copy(20.0, -0.3)
    assert not scoring.is_sound_copy(5.0, 0.0)


def test_ranges_match_when_both_ends_are_within_the_tolerance():
    truth = ranges((1.0, 2.0), (5.0, 6.0))
    assert scoring.match_ranges(truth, ranges((1.2, 2.2), (4.8, 5.8)), 0.2).recall == 1.0
    assert scoring.match_ranges(truth, ranges((1.21, 2.0), (5.0, 6.0)), 0.2).recall == 0.5
    assert scoring.match_ranges(truth, [], 0.2).recall == 0.0


def test_precision_and_f1_stand_beside_recall():
    match = scoring.match_ranges(ranges((1, 2), (5, 6)), ranges((1, 2), (8, 9), (10, 11)), 0.2)
    assert (match.recall, match.precision, match.f1) == (0.5, pytest.approx(1 / 3), pytest.approx(0.4))


def test_one_reported_range_matches_one_truth_only_and_a_miss_does_not_use_it_up():
    twins = ranges((1.0, 2.0), (1.1, 2.1))
    assert scoring.match_ranges(twins, ranges((1.05, 2.05)), 0.2).matched == 1
    assert scoring.match_ranges(ranges((1, 2), (5, 6)), ranges((5, 6)), 0.2).matched == 1


def test_the_cut_may_be_twice_the_truth_or_one_second_more():
    assert scoring.most_removed_s(ranges((0, 3)), 2.0) == 6.0
    assert scoring.most_removed_s(ranges((0, 0.5)), 2.0) == 1.5


def test_a_render_is_as_claimed_when_nearly_all_its_frames_are():
    assert scoring.picture_is_as_claimed([0.99] * 19 + [0.1], 0.95)
    assert not scoring.picture_is_as_claimed([0.99] * 18 + [0.1] * 2, 0.95)
    assert not scoring.picture_is_as_claimed([], 0.95)


def test_frames_far_below_any_encode_show_another_picture():
    assert scoring.other_pictures([45.0, 28.0, 21.0, 19.0]) == 0.25
    assert scoring.other_pictures([]) == 0.0


def test_two_neighbours_that_are_far_off_are_another_stretch_in_a_film_of_any_length():
    assert scoring.picture_is_as_claimed([0.99] * 100 + [0.1] + [0.99] * 100 + [0.1] + [0.99] * 100, 0.95)
    assert scoring.picture_is_as_claimed([0.99] * 200 + [0.9] * 5, 0.95)
    assert not scoring.picture_is_as_claimed([0.99] * 200 + [0.4] * 2, 0.95)
    assert not scoring.sound_is_as_claimed([0.99] * 200 + [0.1] * 2, 0.9, opus=False)
    assert scoring.sound_is_as_claimed([0.99] * 200, 0.9, opus=False, beside_cuts=[0.9, 0.6])
    assert not scoring.sound_is_as_claimed([0.99] * 200, 0.9, opus=False, beside_cuts=[0.9, 0.4])


def test_a_renders_sound_is_as_claimed_by_its_median_and_nine_tenths_of_its_windows():
    assert scoring.sound_is_as_claimed([0.95] * 9 + [0.1], 0.9, opus=False)
    assert not scoring.sound_is_as_claimed([0.95] * 8 + [0.1] * 2, 0.9, opus=False)
    assert not scoring.sound_is_as_claimed([0.85] * 10, 0.9, opus=False)
    assert scoring.sound_is_as_claimed([0.85] * 10, 0.9, opus=True)
    assert not scoring.sound_is_as_claimed([0.7] * 10, 0.9, opus=True)
    assert scoring.sound_is_as_claimed([], 0.9, opus=False)
