"""What a check kind is: its params, what it must know about the film, and a pure decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from verifiers.video_repurpose.film import Film, Measure
from verifiers.video_repurpose.scoring import Outcome


class KindParams(BaseModel):
    """Params of a kind. Surplus ones are ignored here, as the benchmark does, and named by `bind`."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


P = TypeVar("P", bound=KindParams)


@dataclass(frozen=True)
class Finding:
    """What a check decided and the sentence that shows it.

    The sentence may end up in a judge's prompt, so it never quotes what the submission says about itself
    (recognised text, metadata tags); a number, a codec name and the rubric's own words are all it holds.
    """

    outcome: Outcome
    evidence: str
    value: float | None = None
    unit: str = ""


def decide(passed: bool, evidence: str, value: float | None = None, unit: str = "") -> Finding:
    return Finding(Outcome.PASSED if passed else Outcome.FAILED, evidence, value, unit)


def ungraded(reason: str) -> Finding:
    return Finding(Outcome.UNGRADED, reason)


def within(value: float, low: float | None, high: float | None) -> bool:
    """Both ends belong to the range; a missing end is open."""
    return (low is None or value >= low) and (high is None or value <= high)


def range_text(low: float | None, high: float | None) -> str:
    return f"[{'-inf' if low is None else f'{low:g}'}, {'inf' if high is None else f'{high:g}'}]"


def no_measures(params: KindParams) -> tuple[Measure[Any], ...]:  # noqa: ARG001
    """For kinds that the headers answer."""
    return ()


@dataclass(frozen=True)
class Kind(Generic[P]):
    params: type[P]
    check: Callable[[P, Film], Finding]
    measures: Callable[[P], tuple[Measure[Any], ...]] = no_measures

    def bind(self, params: dict[str, object]) -> Check:
        """This kind with its params; `ValueError` with a sentence when they do not fit."""
        try:
            checked = self.params.model_validate(params)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(str(part) for part in fault["loc"])
            raise ValueError(f"param {where}: {fault['msg']}" if where else fault["msg"]) from error
        surplus = tuple(sorted(set(params) - set(self.params.model_fields)))
        return Check(self.measures(checked), lambda film: self.check(checked, film), surplus)


@dataclass(frozen=True)
class Check:
    """A kind with its params bound: ready to run once its measures are taken."""

    measures: tuple[Measure[Any], ...]
    run: Callable[[Film], Finding]
    surplus_params: tuple[str, ...] = ()
