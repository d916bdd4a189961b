"""The contract's rubric arithmetic, worked by hand, and its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.video_repurpose.scoring import Mark, Outcome, Tally, tally, tally_by_pillar

PASSED, FAILED, UNGRADED = Outcome.PASSED, Outcome.FAILED, Outcome.UNGRADED

marks = st.lists(
    st.builds(
        Mark,
        pillar=st.integers(0, 3),
        weight=st.integers(-5, 5).map(float),
        outcome=st.sampled_from(Outcome),
    ),
    max_size=30,
)


def test_passed_weights_over_all_positive_weights_is_the_score():
    assert tally([Mark(0, 3, PASSED), Mark(1, 1, FAILED)]).score == pytest.approx(0.75)


def test_a_failed_penalty_is_deducted_and_a_passed_one_costs_nothing():
    earned = [Mark(0, 4, PASSED), Mark(1, 4, FAILED)]
    assert tally([*earned, Mark(2, -2, PASSED)]).score == pytest.approx(0.5)
    assert tally([*earned, Mark(2, -2, FAILED)]).score == pytest.approx(0.25)


def test_penalties_cannot_push_the_score_below_zero():
    assert tally([Mark(0, 1, PASSED), Mark(0, -9, FAILED)]).score == 0.0


def test_an_ungraded_item_leaves_the_denominator_and_both_whole_rubric_scores_are_told():
    result = tally([Mark(0, 2, PASSED), Mark(0, 1, FAILED), Mark(2, 3, UNGRADED), Mark(2, -1, UNGRADED)])
    assert result == Tally(earned=2, positive_graded=3, positive_ungraded=3, penalty_ungraded=1)
    assert result.score == pytest.approx(2 / 3)
    assert result.lowest == pytest.approx(1 / 6)
    assert result.highest == pytest.approx(5 / 6)


def test_nothing_graded_has_no_score_even_when_a_penalty_was_graded():
    assert tally([Mark(0, 2, UNGRADED), Mark(0, -1, FAILED)]).score is None
    assert tally([]).score is None


def test_pillars_are_tallied_apart_and_named_in_order():
    by_pillar = tally_by_pillar([Mark(3, 1, FAILED), Mark(0, 2, PASSED), Mark(7, 1, PASSED), Mark(0, 2, FAILED)])
    assert list(by_pillar) == ["format", "sound", "pillar_7"]
    assert [pillar.earned_share for pillar in by_pillar.values()] == [0.5, 0.0, 1.0]


@given(marks)
def test_the_score_stays_in_bounds_and_between_the_extremes_of_a_fully_graded_rubric(rows):
    result = tally(rows)
    for value in (result.score, result.lowest, result.highest):
        assert value is None or 0.0 <= value <= 1.0
    if result.lowest is not None:
        assert result.lowest <= result.highest
    if result.positive_ungraded == result.penalty_ungraded == 0:
        assert result.score == result.lowest == result.highest


@given(marks)
def test_ungraded_counted_as_failed_is_the_lowest_score_and_as_passed_the_highest(rows):
    pessimist = [Mark(row.pillar, row.weight, FAILED if row.outcome is UNGRADED else row.outcome) for row in rows]
    optimist = [Mark(row.pillar, row.weight, PASSED if row.outcome is UNGRADED else row.outcome) for row in rows]
    assert tally(rows).lowest == tally(pessimist).score
    assert tally(rows).highest == tally(optimist).score


@given(marks)
def test_the_pillars_add_up_to_the_whole(rows):
    pillars = tally_by_pillar(rows).values()
    assert sum(pillar.earned for pillar in pillars) == tally(rows).earned
    assert sum(pillar.deducted for pillar in pillars) == tally(rows).deducted
