"""The released repair scheme's figures, worked by hand: truth windows, localization, format."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifiers._files import AnswerError
from verifiers._media import AudioInfo, MediaInfo, VideoInfo
from verifiers.video_repair_v3.schema import Profile
from verifiers.video_repair_v3.scoring import (
    format_items,
    localization_score,
    localize,
)
from verifiers.video_repair_v3.truth import TruthWindow, Window, edit_window, truth_windows

SCENES = [{"index": i, "start_s": 10.0 * i, "end_s": 10.0 * i + 10} for i in range(6)]


def profile(injection: dict[str, object] | None = None, **top: object) -> Profile:
    body = {"format": {"duration_s": 60.0}, "narrative": {"scene_list": SCENES}, **top}
    return Profile.model_validate(body | ({"injection": injection} if injection else {}))


SWAP = {
    "variant": "v03_scene_swap",
    "scene_1": {"group": "B", "broken_start_s": 10.0, "broken_end_s": 12.0, "original_start_s": 30.0},
    "scene_2": {"group": "B", "broken_start_s": 12.0, "broken_end_s": 15.0},
    "scene_3": {"group": "A", "broken_start_s": 35.0, "broken_end_s": 39.0},
}


# ---- truth windows


@pytest.mark.parametrize("variant", ["v01_frozen_scene", "v04_color_grade_shift", "v05_noise_floor_spike"])
def test_one_window_in_its_target_scene(variant: str) -> None:
    cell = profile({"variant": variant, "start_s": 22.0, "end_s": 25.0, "target_scene_index": 2})
    assert truth_windows(cell) == [TruthWindow(Window(22.0, 25.0), (Window(20.0, 30.0),))]
    assert edit_window(cell, fix_v03=False) == Window(22.0, 25.0)


def test_buffering_targets_the_scene_of_every_freeze() -> None:
    freezes = [{"target_scene_index": 1, "start_s": 12.0}, {"target_scene_index": 3, "start_s": 31.0}]
    cell = profile({"variant": "v01_frozen_scene", "start_s": 12.0, "end_s": 32.0, "windows": freezes})
    assert truth_windows(cell) == [TruthWindow(Window(12.0, 32.0), (Window(10.0, 20.0), Window(30.0, 40.0)))]


def test_a_swap_has_a_window_for_each_group_where_it_stands_in_the_broken_file() -> None:
    assert truth_windows(profile(SWAP)) == [
        TruthWindow(Window(35.0, 39.0), (Window(35.0, 39.0),)),
        TruthWindow(Window(10.0, 15.0), (Window(10.0, 12.0), Window(12.0, 15.0))),
    ]


def test_a_swap_has_no_edit_window_as_released_and_the_outer_span_when_fixed() -> None:
    assert edit_window(profile(SWAP), fix_v03=False) is None
    assert edit_window(profile(SWAP), fix_v03=True) == Window(10.0, 39.0)


@pytest.mark.parametrize(("next_end_s", "expected_s"), [(None, 21.5), (21.0, 21.5), (30.0, 30.0)])
def test_a_duplicates_scene_runs_through_the_copy_and_the_next_scene(
    next_end_s: float | None, expected_s: float
) -> None:
    injection = {
        "variant": "v06_duplicate_segment",
        "start_s": 20.0,
        "end_s": 21.5,
        "duration_s": 1.5,
        "target_scene": {"start_s": 10.0, "end_s": 20.0},
        "next_scene": next_end_s and {"start_s": 20.0, "end_s": next_end_s},
    }
    assert truth_windows(profile(injection)) == [TruthWindow(Window(20.0, 21.5), (Window(10.0, expected_s),))]


def test_a_desyncs_scene_is_the_whole_clip() -> None:
    cell = profile({"variant": "v07_audio_video_desync", "start_s": 30.0, "end_s": 60.0})
    assert truth_windows(cell) == [TruthWindow(Window(30.0, 60.0), (Window(0.0, 60.0),))]


def test_combined_defects_each_bring_their_window_and_share_an_outer_edit_window() -> None:
    injections = [
        {"variant": "v04_color_grade_shift", "start_s": 41.0, "end_s": 44.0, "target_scene_index": 4},
        {"variant": "v07_audio_video_desync", "start_s": 3.0, "end_s": 20.0, "target_scene_index": None},
    ]
    cell = profile(injections=injections)
    assert truth_windows(cell) == [
        TruthWindow(Window(41.0, 44.0), (Window(40.0, 50.0),)),
        TruthWindow(Window(3.0, 20.0), (Window(0.0, 60.0),)),
    ]
    assert edit_window(cell, fix_v03=False) == Window(3.0, 44.0)


@pytest.mark.parametrize(
    "injection",
    [
        {"variant": "v02_unknown", "start_s": 1.0, "end_s": 2.0},
        {"variant": "v04_color_grade_shift", "target_scene_index": 2},
        {"variant": "v04_color_grade_shift", "start_s": 2.0, "end_s": 2.0, "target_scene_index": 2},
        {"variant": "v04_color_grade_shift", "start_s": 1.0, "end_s": 2.0},
        {"variant": "v04_color_grade_shift", "start_s": 1.0, "end_s": 2.0, "target_scene_index": 9},
        {"variant": "v03_scene_swap", "scene_1": SWAP["scene_1"]},
    ],
)
def test_a_profile_that_lacks_what_its_variant_needs_is_our_trouble(injection: dict[str, object]) -> None:
    with pytest.raises(AnswerError):
        truth_windows(profile(injection))


def test_a_profile_has_one_injection_or_several_never_none() -> None:
    with pytest.raises(ValidationError, match="either one injection or a list"):
        profile()


# ---- localization


TRUTH = TruthWindow(Window(22.0, 25.0), (Window(20.0, 30.0),))


def test_the_exact_window_earns_everything() -> None:
    assert localization_score(localize([TRUTH], [Window(22.0, 25.0)])) == 1.0


def test_a_window_off_by_a_tenth_and_a_fifth_worked_by_hand() -> None:
    [score] = localize([TRUTH], [Window(22.1, 25.2)])
    assert (score.scene, score.start, score.end) == (1.0, pytest.approx(exp(-0.3)), pytest.approx(exp(-0.6)))
    assert score.iou == pytest.approx(2.9 / 3.2)
    assert score.value == pytest.approx((5 + 10 * exp(-0.3) + 10 * exp(-0.6) + 10 * 2.9 / 3.2) / 35)


def test_union_is_the_outer_span_also_for_windows_apart() -> None:
    [score] = localize([TRUTH], [Window(0.0, 1.0)])
    assert (score.scene, score.iou) == (0.0, 0.0)
    assert score.value == pytest.approx(10 * (exp(-66) + exp(-72)) / 35)


@pytest.mark.parametrize(("start_s", "end_s", "hit"), [(15, 20, 1.0), (30, 40, 1.0), (15, 19.9, 0.0), (0, 60, 1.0)])
def test_touching_the_scene_counts(start_s: float, end_s: float, hit: float) -> None:
    [score] = localize([TRUTH], [Window(start_s, end_s)])
    assert score.scene == hit


def test_naming_the_whole_clip_earns_little() -> None:
    assert localization_score(localize([TRUTH], [Window(0.0, 60.0)])) == pytest.approx((5 + 10 * 3 / 60) / 35)


def test_each_truth_takes_its_best_window_and_one_window_may_serve_both() -> None:
    truths = truth_windows(profile(SWAP))
    exact = [Window(10.0, 15.0), Window(35.0, 39.0), Window(50.0, 51.0)]
    assert localization_score(localize(truths, exact)) == 1.0
    [a, b] = localize(truths, [Window(10.0, 39.0)])
    assert a.value == pytest.approx((5 + 10 * exp(-75) + 10 + 10 * 4 / 29) / 35)
    assert b.value == pytest.approx((5 + 10 + 10 * exp(-72) + 10 * 5 / 29) / 35)
    assert localization_score([a, b]) == pytest.approx((a.value + b.value) / 2)


def test_no_window_earns_nothing() -> None:
    assert localization_score(localize([TRUTH], [])) == 0.0


@given(st.floats(0, 60), st.floats(0.01, 60))
def test_localization_stays_between_0_and_1(start_s: float, length_s: float) -> None:
    assert 0.0 <= localization_score(localize([TRUTH], [Window(start_s, start_s + length_s)])) <= 1.0


# ---- format


def described(**changes: object) -> MediaInfo:
    video = VideoInfo("h264", 1280, 720, "yuv420p", Fraction(30000, 1001), Fraction(30), Fraction(1), 0, 60.0, 1800, 1)
    audio = (AudioInfo("aac", 48_000, 2, 60.0),)
    base: dict[str, object] = {"container": "mp4", "duration_s": 60.0, "video": video, "audio": audio}
    return MediaInfo(bit_rate_bps=1, **(base | changes))  # type: ignore[arg-type]


def test_a_file_like_the_source_passes_all_seven_items() -> None:
    items = format_items(described(duration_s=60.05), described())
    assert len(items) == 7
    assert all(items.values())


@pytest.mark.parametrize(
    ("fixed", "failed"),
    [
        (described(container="matroska,webm"), {"container"}),
        (described(duration_s=60.06), {"duration"}),
        (described(duration_s=None), {"duration"}),
        (described(audio=()), {"audio_codec", "audio_sample_rate"}),
        (described(audio=(AudioInfo("opus", 44_100, 2, None),)), {"audio_codec", "audio_sample_rate"}),
        (described(video=None), {"video_codec", "fps", "resolution"}),
    ],
)
def test_each_difference_and_each_missing_value_fails_its_item(fixed: MediaInfo, failed: set[str]) -> None:
    assert {item for item, passed in format_items(fixed, described()).items() if not passed} == failed


@pytest.mark.parametrize(("rate", "passed"), [(Fraction(30), False), (Fraction(2996, 100), True), (None, False)])
def test_fps_may_differ_by_two_hundredths(rate: Fraction | None, passed: bool) -> None:
    video = VideoInfo("h264", 1280, 720, "yuv420p", rate, Fraction(30), Fraction(1), 0, 60.0, 1800, 1)
    assert format_items(described(video=video), described())["fps"] is passed


def test_a_value_that_the_source_lacks_fails_too() -> None:
    assert not format_items(described(audio=()), described(audio=()))["audio_codec"]
