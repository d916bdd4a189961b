"""Chance levels against the contract's figures and against plain enumeration."""

from __future__ import annotations

from itertools import permutations, product
from statistics import fmean

import pytest

from verifiers._chance import EXACT_UP_TO, assembly_chance, assembly_pool_chance, order_chance
from verifiers.video_assembly.scoring import score_assembly
from verifiers.video_order.scoring import score_order


@pytest.mark.parametrize(("n", "expected"), [(7, 0.030), (10, 0.017), (14, 0.010), (20, 0.006)])
def test_a_random_order_earns_what_the_contract_says(n: int, expected: float) -> None:
    assert order_chance(n).expected_score == pytest.approx(expected, abs=0.0006)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_level_of_short_orders_is_the_mean_over_all_of_them(n: int) -> None:
    scores = [score_order(ranks).headline for ranks in permutations(range(n))]
    chance = order_chance(n)
    assert chance.expected_score == pytest.approx(fmean(scores))
    assert (chance.standard_error, chance.orders_counted) == (0.0, len(scores))


def test_the_sampled_level_agrees_with_the_exact_one_within_its_error() -> None:
    n = EXACT_UP_TO + 1
    exact = fmean(score_order(ranks).headline for ranks in permutations(range(n)))
    sampled = order_chance(n)
    assert 0 < sampled.standard_error < 0.0004
    assert abs(sampled.expected_score - exact) < 3 * sampled.standard_error


@pytest.mark.parametrize(("slots", "expected"), [(3, 0.148), (4, 0.148)])
def test_guessing_among_a_slots_own_candidates_earns_what_the_contract_says(slots: int, expected: float) -> None:
    assert assembly_chance(slots, 3) == pytest.approx(expected, abs=0.0005)


def test_guessing_over_the_whole_pool_earns_what_the_contract_says() -> None:
    assert assembly_pool_chance(4, 3) == pytest.approx(0.010, abs=0.0005)


@pytest.mark.parametrize(("slots", "candidates"), [(1, 2), (3, 3), (4, 2)])
def test_the_assembly_level_is_the_mean_over_all_answers(slots: int, candidates: int) -> None:
    right = ["0"] * slots
    scores = [
        score_assembly(picks, right, candidates_per_slot=candidates, honest=[True] * slots).headline
        for picks in product("0123"[:candidates], repeat=slots)
    ]
    assert assembly_chance(slots, candidates) == pytest.approx(fmean(scores))
