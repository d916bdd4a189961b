"""Sequencing: the contract's check values, properties of every order, and every way to hand it in wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers._clips import clip_name
from verifiers._verdict import Verdict
from verifiers.video_order.runner import main, verify
from verifiers.video_order.scoring import COMPONENTS, adj_score, lis_score, nd_score, score_order

orders = st.integers(1, 24).flatmap(lambda n: st.permutations(range(n)))


def swapped(n: int, at: int) -> list[int]:
    ranks = list(range(n))
    ranks[at], ranks[at + 1] = ranks[at + 1], ranks[at]
    return ranks


def judge(tmp_path: Path, sources: object, truth: object = ("1", "2", "3")) -> Verdict:
    submission, reference = tmp_path / "solution.json", tmp_path / "reference.json"
    rows = [{"source": source} for source in sources] if isinstance(sources, list) else sources
    submission.write_text(json.dumps({"segments": rows}))
    reference.write_text(json.dumps({"correct_order": truth}))
    return verify(submission, reference)


def test_the_contracts_product_check() -> None:
    result = score_order(swapped(10, 4))
    assert (result.nd_score, result.lis_score) == (pytest.approx(0.96), pytest.approx(0.90))
    assert result.adj_score == pytest.approx(0.667, abs=0.0005)
    assert result.headline == pytest.approx(0.576)


@pytest.mark.parametrize(("n", "expected"), [(7, 0.393), (10, 0.576), (14, 0.700), (20, 0.792)])
def test_one_adjacent_swap_in_the_middle_earns_what_the_contract_says(n: int, expected: float) -> None:
    assert score_order(swapped(n, n // 2)).headline == pytest.approx(expected, abs=0.0006)


def test_a_hand_worked_order() -> None:
    # true 0 1 2 3 4 handed in as 2 3 4 0 1: F = 2+2+2+3+3 = 12 of 12; LIS 2 3 4; 2→3, 3→4, 0→1 kept.
    result = score_order([2, 3, 4, 0, 1])
    assert (result.nd_score, result.lis_score, result.adj_score) == (0.0, 0.6, 0.75)
    assert result.headline == 0.0
    assert result.weighted == pytest.approx(0.4 * 0.0 + 0.3 * 0.6 + 0.3 * 0.75)


@given(orders)
def test_every_figure_of_every_order_lies_between_0_and_1(ranks: list[int]) -> None:
    result = score_order(ranks)
    assert all(0.0 <= value <= 1.0 for value in [*result.components().values(), result.headline])


@given(orders)
def test_only_the_right_order_earns_1(ranks: list[int]) -> None:
    right = ranks == sorted(ranks)
    result = score_order(ranks)
    assert (result.headline == 1.0) == right
    assert result.strict_match == float(right)


@given(orders)
def test_which_of_the_two_orders_is_the_truth_makes_no_difference_to_nd_and_lis(ranks: list[int]) -> None:
    inverse = [ranks.index(position) for position in range(len(ranks))]
    assert nd_score(inverse) == pytest.approx(nd_score(ranks))
    assert lis_score(inverse) == pytest.approx(lis_score(ranks))


@given(orders)
def test_neighbours_kept_do_not_depend_on_which_order_is_the_truth(ranks: list[int]) -> None:
    # a→b kept means: b stands right after a in both orders, whichever comes first.
    if len(ranks) > 1:
        kept = sum(ranks.index(a + 1) - ranks.index(a) == 1 for a in range(len(ranks) - 1))
        assert adj_score(ranks) == pytest.approx(kept / (len(ranks) - 1))


@given(st.integers(2, 30))
def test_the_reversed_order_earns_nothing(n: int) -> None:
    result = score_order(list(range(n))[::-1])
    assert (result.headline, result.adj_score, result.nd_score) == (0.0, 0.0, 0.0)
    assert result.lis_score == pytest.approx(1 / n)


@given(st.integers(3, 30), st.data())
def test_one_adjacent_swap_costs_the_same_footrule_wherever_it_is(n: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, n - 2))
    assert nd_score(swapped(n, at)) == pytest.approx(1 - 2 / (n**2 // 2))
    assert lis_score(swapped(n, at)) == pytest.approx((n - 1) / n)


def test_one_clip_is_always_in_order_and_two_are_right_or_worth_nothing() -> None:
    assert score_order([0]).headline == 1.0
    assert score_order([0, 1]).headline == 1.0
    assert score_order([1, 0]).headline == 0.0


@given(st.permutations(range(1, 8)), st.data())
def test_clips_named_by_number_string_or_file_are_the_same(order: list[int], data: st.DataObject) -> None:
    spelled = [data.draw(st.sampled_from([n, float(n), str(n), f" {n} ", f"{n}.mp4", f"{n}.MP4"])) for n in order]
    assert [clip_name(name) for name in spelled] == [str(n) for n in order]


def test_a_right_answer_is_scored_1_with_its_chance_level(tmp_path: Path) -> None:
    verdict = judge(tmp_path, [1, "2", "3.mp4"])
    assert (verdict.status, verdict.score) == ("scored", 1.0)
    assert verdict.components == dict.fromkeys(COMPONENTS, 1.0)
    assert verdict.details["chance"] == {
        "expected_score": pytest.approx(1 / 6),
        "standard_error": 0.0,
        "orders_counted": 6,
    }


@pytest.mark.parametrize(
    ("sources", "reason"),
    [
        ([1, 2], "2 clips were placed, the task has 3"),
        ([1, 2, 3, 3], "4 clips were placed"),
        ([1, 2, 2], "placed more than once"),
        ([1, 2, "9"], "'9' is not one of the task's"),
        ([1, 2, None], 'segment 3 has no usable "source"'),
        ([1, 2, True], 'segment 3 has no usable "source"'),
        ([1, 2, 2.5], 'segment 3 has no usable "source"'),
        ([1, 2, ["3"]], 'segment 3 has no usable "source"'),
        ([1, 2, ""], 'segment 3 has no usable "source"'),
        ([], "0 clips were placed"),
        ({"1": "2"}, '"segments": a list'),
        ("123", '"segments": a list'),
    ],
)
def test_what_is_no_permutation_scores_0_in_every_figure_with_the_reason(
    tmp_path: Path, sources: object, reason: str
) -> None:
    verdict = judge(tmp_path, sources)
    assert (verdict.status, verdict.score) == ("invalid", 0.0)
    assert verdict.components == dict.fromkeys(COMPONENTS, 0.0)
    assert reason in verdict.reasons[0]
    assert "chance" in verdict.details


def test_nothing_submitted_is_told_apart_from_a_bad_answer(tmp_path: Path) -> None:
    (tmp_path / "reference.json").write_text('{"correct_order": [1, 2]}')
    verdict = verify(tmp_path / "solution.json", tmp_path / "reference.json")
    assert (verdict.status, verdict.score, verdict.exit_code) == ("no_submission", 0.0, 0)


def test_a_symlink_to_the_answer_scores_nothing(tmp_path: Path) -> None:
    (tmp_path / "reference.json").write_text('{"correct_order": [1], "segments": [{"source": 1}]}')
    (tmp_path / "solution.json").symlink_to("reference.json")
    verdict = verify(tmp_path / "solution.json", tmp_path / "reference.json")
    assert (verdict.status, verdict.score) == ("invalid", 0.0)


@pytest.mark.parametrize("truth", [[], [1, 1], [1, "1.mp4"], [None], "12", None])
def test_a_broken_reference_is_an_error_without_a_score(tmp_path: Path, truth: object) -> None:
    verdict = judge(tmp_path, [1], truth)
    assert (verdict.status, verdict.score, verdict.exit_code) == ("error", None, 2)


def test_the_command_line_prints_the_verdict_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = judge(tmp_path, [1, 3, 2])
    code = main(["--submission", f"{tmp_path}/solution.json", "--reference", f"{tmp_path}/reference.json"])
    assert code == 0
    assert Verdict.model_validate_json(capsys.readouterr().out) == expected


def test_a_missing_reference_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--submission", f"{tmp_path}/s.json", "--reference", f"{tmp_path}/r.json"]) == 2
    assert json.loads(capsys.readouterr().out)["status"] == "error"
