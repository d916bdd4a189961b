"""What a run cost: five token buckets that do not overlap, and prices as data with a date."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from datetime import date
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness_configs._base import TokenUsage
from primitives._base import UserError

PER_TOKENS = 1_000_000


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Price(_Model):
    """Dollars for a million tokens of one model."""

    input: float = Field(ge=0)
    cached: float = Field(ge=0)
    cache_write: float = Field(ge=0)
    output: float = Field(ge=0)
    as_of: date


class Prices(_Model):
    models: dict[str, Price]

    def cost_usd(self, model: str, usage: TokenUsage | None) -> float | None:
        """What the tokens cost; None where the usage or the price is not known. Reasoning is priced as output.

        A name with a provider before it (`openai/gpt-5.5`) has the model's price unless it is listed itself.
        """
        price = self.models.get(model) or self.models.get(model.rpartition("/")[2])
        if usage is None or price is None:
            return None
        dollars = (
            usage.input * price.input
            + usage.cached * price.cached
            + usage.cache_write * price.cache_write
            + (usage.output + usage.reasoning) * price.output
        )
        return dollars / PER_TOKENS


def load_prices(path: Path | None = None) -> Prices:
    """The shipped prices, or those of a file in their place."""
    source = path if path is not None else files("avb_mcp.experiments") / "prices.toml"
    try:
        return Prices.model_validate(tomllib.loads(source.read_text(encoding="utf-8")))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise UserError(f"{source} does not hold prices: {str(error).splitlines()[0]}") from error


def total(usages: Iterable[TokenUsage | None]) -> TokenUsage:
    """The sum of what is known."""
    known = [usage for usage in usages if usage is not None]
    return TokenUsage(**{name: sum(getattr(usage, name) for usage in known) for name in TokenUsage.model_fields})
