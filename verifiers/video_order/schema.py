"""What the sequencing verifier reads: the true order and the submitted segments."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_validator

from verifiers._clips import clip_name


class OrderReference(BaseModel):
    """`reference.json`; the dataset's rows carry further fields, which are not scored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    correct_order: tuple[str, ...]

    @field_validator("correct_order", mode="before")
    @classmethod
    def _clip_names(cls, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise ValueError("correct_order must be a non-empty list of clips")
        names = [clip_name(item) for item in value]
        if None in names or len(set(names)) != len(names):
            raise ValueError("correct_order must name every clip exactly once")
        return tuple(name for name in names if name is not None)
