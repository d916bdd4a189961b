"""Reports read as hostile text, and renders that are or are not what their report claims."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.verifiers.defects import insert_defect, without
from tests.verifiers.repair_clips import Clip, generated_clip, write_clip
from verifiers._audio_metrics import Samples
from verifiers._json import SubmissionError
from verifiers.video_repair.schema import Kind, TimeRange
from verifiers.video_repair.timeline import (
    SOUND_RATE_HZ,
    RenderSound,
    compare_render,
    compare_render_sound,
    parse_ranges,
    removed_s,
    without_ranges,
)

FPS = Fraction(15)


def fenced(body: str, mark: str = "```json") -> str:
    return f"# Report\n\nI cut:\n\n{mark}\n{body}\n{mark[:3]}\n\nThat is all.\n"


def parsed(report: str) -> list[tuple[float, float]]:
    return [(item.start_s, item.end_s) for item in parse_ranges(report, 10.0, 0.2)]


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (fenced("[[1, 2.5], [4.0, 5]]"), [(1.0, 2.5), (4.0, 5.0)]),
        (fenced("[[4, 5], [1, 2]]"), [(1.0, 2.0), (4.0, 5.0)]),
        (fenced("[[1, 2], [2, 3]]"), [(1.0, 2.0), (2.0, 3.0)]),
        (fenced("[]"), []),
        (fenced("[[1, 2]]", "```"), [(1.0, 2.0)]),
        (fenced("[[1, 2]]", "~~~"), [(1.0, 2.0)]),
        (fenced("[[1, 2]]").replace("\n", "\r\n"), [(1.0, 2.0)]),
        (fenced("make cuts", "```") + fenced("[[1, 2]]"), [(1.0, 2.0)]),
        (fenced("[[1, 2]]") + fenced("[[3, 4]]"), [(1.0, 2.0)]),
        (fenced("[[9.5, 10.1]]"), [(9.5, 10.1)]),
    ],
)
def test_the_first_fenced_list_is_the_claim(report, expected):
    assert parsed(report) == expected


@pytest.mark.parametrize(
    ("report", "word"),
    [
        ("I cut [[1, 2]].", "no fenced JSON list"),
        (fenced('{"ranges": [[1, 2]]}'), "no fenced JSON list"),
        (fenced("[[1, 2]"), "not acceptable JSON"),
        (fenced("[[NaN, 2]]"), "NaN"),
        (fenced("[[1, Infinity]]"), "Infinity"),
        (fenced("[[1, 1e999]]"), "too large"),
        (fenced("[" * 2000 + "]" * 2000), "nests deeper"),
        (fenced('[[1, 2], {"a": 1, "a": 2}]'), "occurs twice"),
        (fenced("[[1, 2, 3]]"), "not a range"),
        (fenced('[["1", "2"]]'), "not a range"),
        (fenced("[[true, 2]]"), "not a range"),
        (fenced("[1, 2]"), "not a range"),
        (fenced("[[2, 1]]"), "within the 10.000 s"),
        (fenced("[[2, 2]]"), "within the 10.000 s"),
        (fenced("[[-1, 2]]"), "within the 10.000 s"),
        (fenced("[[1, 11]]"), "within the 10.000 s"),
        (fenced("[[1, 3], [2, 4]]"), "overlap"),
        (fenced(str([[index / 100, index / 100 + 0.005] for index in range(501)])), "at most 500"),
    ],
)
def test_a_malformed_claim_is_refused_with_its_reason(report, word):
    with pytest.raises(SubmissionError, match=word):
        parsed(report)


def test_ranges_take_their_length_off_and_no_more_than_there_is():
    ranges = [TimeRange(start_s=1.0, end_s=2.0), TimeRange(start_s=9.5, end_s=10.1)]
    assert removed_s(ranges, 10.0) == pytest.approx(1.5)


def test_cutting_sound_leaves_the_pieces_and_says_where_they_meet():
    sound = np.arange(3 * SOUND_RATE_HZ, dtype=np.float32)
    left, joints = without_ranges(sound, [TimeRange(start_s=1.0, end_s=2.0)])
    assert joints == [SOUND_RATE_HZ]
    assert np.array_equal(left, np.concatenate([sound[:8000], sound[16000:]]))


@pytest.fixture(scope="module")
def broken() -> tuple[Clip, list[TimeRange]]:
    return insert_defect(Kind.FILLER_WORDS, generated_clip(3))


def compared(tmp_path: Path, broken: Clip, render: Clip, ranges: list[TimeRange]) -> tuple[float, float, float]:
    """Worst SSIM, length of the render, length expected."""
    paths = [write_clip(tmp_path / name, clip) for name, clip in (("b.mp4", broken), ("r.mp4", render))]
    result = compare_render(*paths, ranges, FPS, 0.1)
    return min(result.ssims), result.render_s, result.nearest_expected_s


def test_an_honest_render_shows_what_the_cuts_leave(tmp_path, broken):
    clip, ranges = broken
    worst, render_s, expected_s = compared(tmp_path, clip, without(clip, ranges), ranges)
    assert worst > 0.95
    assert render_s == expected_s == pytest.approx(6.0)


def test_a_render_with_other_cuts_of_the_same_length_does_not(tmp_path, broken):
    clip, ranges = broken
    elsewhere = [TimeRange(start_s=item.start_s + 0.6, end_s=item.end_s + 0.6) for item in ranges]
    worst, render_s, expected_s = compared(tmp_path, clip, without(clip, elsewhere), ranges)
    assert worst < 0.8
    assert render_s == expected_s


def test_a_render_that_is_too_short_or_too_long_shows_in_its_counted_length(tmp_path, broken):
    clip, ranges = broken
    assert compared(tmp_path, clip, Clip(clip.frames[:45], clip.fps, None), ranges)[1:] == (3.0, 6.0)
    assert compared(tmp_path, clip, clip, ranges)[1:] == (7.6, 6.0)


def test_sound_correlates_with_an_honest_cut_and_not_with_the_uncut_file_or_silence(broken):
    clip, ranges = broken
    cut = without(clip, ranges)
    assert clip.sound is not None and cut.sound is not None
    whole, honest = clip.sound[::6], cut.sound[::6]
    assert min(heard(whole, honest, ranges).windows) > 0.95
    assert np.median(heard(whole, whole, ranges).windows) < 0.8
    assert max(heard(whole, 0 * honest, ranges).windows) == 0.0
    assert max(heard(whole, 4 * honest, ranges).windows) < 0.1


def heard(broken: Samples, render: Samples, ranges: list[TimeRange]) -> RenderSound:
    return compare_render_sound(broken, render, ranges, 0.2)


def test_a_cut_in_another_place_is_heard_beside_it_however_long_the_film_is():
    sound = np.random.default_rng(1).standard_normal(60 * SOUND_RATE_HZ).astype(np.float32) * 0.1
    ranges = [TimeRange(start_s=30.3, end_s=30.9)]
    honest, _ = without_ranges(sound, ranges)
    late, _ = without_ranges(sound, [TimeRange(start_s=31.0, end_s=31.6)])
    assert len(heard(sound, honest, ranges).beside_cuts) == 2
    assert min(heard(sound, honest, ranges).beside_cuts) > 0.95
    assert np.mean(np.array(heard(sound, late, ranges).windows) > 0.95) > 0.97
    assert min(heard(sound, late, ranges).beside_cuts) < 0.5
