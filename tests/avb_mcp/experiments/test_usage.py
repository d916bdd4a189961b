from __future__ import annotations

from pathlib import Path

import pytest

from avb_mcp.experiments.usage import load_prices, total
from harness_configs._base import TokenUsage
from primitives._base import UserError

MILLION = TokenUsage(input=1_000_000, cached=1_000_000, cache_write=1_000_000, output=1_000_000, reasoning=1_000_000)


def test_five_buckets_are_priced_and_reasoning_as_output() -> None:
    assert load_prices().cost_usd("claude-opus-4-7", MILLION) == pytest.approx(5 + 0.5 + 6.25 + 25 + 25)


def test_a_model_costs_the_same_under_its_providers_name() -> None:
    prices = load_prices()

    assert prices.cost_usd("anthropic/claude-opus-4-7", MILLION) == prices.cost_usd("claude-opus-4-7", MILLION)


def test_what_is_not_known_has_no_price_rather_than_none_to_pay() -> None:
    prices = load_prices()

    assert prices.cost_usd("claude-opus-4-7", None) is None
    assert prices.cost_usd("a-model-of-tomorrow", MILLION) is None


def test_another_list_prices_the_same_tokens_again(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        '[models]\n"m" = { input = 1, cached = 0, cache_write = 0, output = 2, as_of = 2026-01-01 }\n', encoding="utf-8"
    )

    assert load_prices(file).cost_usd("m", MILLION) == pytest.approx(1 + 2 + 2)


def test_a_list_with_a_mistake_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[models]\n"m" = { input = -1 }\n', encoding="utf-8")

    with pytest.raises(UserError, match="does not hold prices"):
        load_prices(file)


def test_missing_usage_adds_nothing() -> None:
    assert total([TokenUsage(input=1, output=2), None, TokenUsage(input=3)]) == TokenUsage(input=4, output=2)
