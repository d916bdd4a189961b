"""The one record that every verifier returns: what was decided, on what evidence.

`status` and `score` are separate on purpose: a broken run is not a zero. A submission that is absent or
malformed is *judged* (score 0 with its reason); trouble on our side (an answer missing, a golden that does
not decode) is `error` and carries no score.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Status(StrEnum):
    SCORED = "scored"
    NO_SUBMISSION = "no_submission"
    INVALID = "invalid"
    UNGRADED = "ungraded"
    ERROR = "error"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Measurement(_Record):
    """One measured figure, with the values that anchor it to 0 (broken) and 1 (golden) where it has them."""

    value: float | None
    broken: float | None = None
    golden: float | None = None
    score: float | None = None
    unit: str = ""


class Gate(_Record):
    """One pass/fail condition and, when it failed, why."""

    passed: bool
    reason: str = ""


class Verdict(_Record):
    verifier: str
    status: Status
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    components: dict[str, float] = Field(default_factory=dict)
    measurements: dict[str, Measurement] = Field(default_factory=dict)
    gates: dict[str, Gate] = Field(default_factory=dict)
    reasons: list[str] = Field(default_factory=list)
    details: dict[str, object] = Field(default_factory=dict)
    """Scheme-specific extras (windows, chance levels, per-item rows); plain JSON values only."""

    @property
    def exit_code(self) -> int:
        """0 for every judged submission, 2 for trouble that is ours, not the agent's."""
        return 2 if self.status is Status.ERROR else 0
