"""Agreement and Cohen's kappa against tables worked by hand."""

from __future__ import annotations

import pytest

from verifiers.video_repurpose.calibration import OVERALL, Agreement, agreement, calibrate
from verifiers.video_repurpose.schema import parse_rubric


def test_the_textbook_table_gives_its_textbook_kappa():
    table = Agreement(both_yes=20, both_no=15, only_judge_yes=5, only_human_yes=10)
    assert table.rate == pytest.approx(0.70)
    assert table.kappa == pytest.approx(0.40)


def test_perfect_agreement_is_kappa_one_and_full_opposition_is_minus_one():
    assert agreement([(True, True), (False, False)]).kappa == pytest.approx(1.0)
    assert agreement([(True, False), (False, True)]).kappa == pytest.approx(-1.0)


def test_when_everybody_always_says_yes_the_rate_is_one_and_kappa_is_undefined():
    table = agreement([(True, True)] * 5)
    assert (table.rate, table.kappa) == (1.0, None)


def test_no_common_answers_give_no_figures():
    assert (Agreement().rate, Agreement().kappa) == (None, None)


def test_pillars_are_compared_apart_and_open_answers_are_left_out():
    items = parse_rubric(
        [
            {"id": "a", "pillar": 1, "dispatch": "llm", "prompt": "?"},
            {"id": "b", "pillar": 1, "dispatch": "llm", "prompt": "?"},
            {"id": "c", "pillar": 3, "dispatch": "llm", "prompt": "?"},
            {"id": "d", "pillar": 3, "dispatch": "llm", "prompt": "?"},
        ]
    )
    judge = {"a": True, "b": False, "c": True, "d": None}
    human = {"a": True, "b": True, "c": True, "d": True, "stranger": False}
    assert calibrate(items, judge, human) == {
        "visual": Agreement(both_yes=1, only_human_yes=1),
        "sound": Agreement(both_yes=1),
        OVERALL: Agreement(both_yes=2, only_human_yes=1),
    }
