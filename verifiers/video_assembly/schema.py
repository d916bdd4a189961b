"""What the assembly verifier reads: the right clip of every slot and the submitted segments."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from verifiers._clips import clip_name


class AssemblyReference(BaseModel):
    """`reference.json`; the dataset's rows carry further fields, which are not scored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    correct_assembly_in_slot_order: tuple[str, ...]
    candidates_per_slot: int = Field(default=3, ge=2)

    @field_validator("correct_assembly_in_slot_order", mode="before")
    @classmethod
    def _clip_names(cls, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise ValueError("correct_assembly_in_slot_order must be a non-empty list of clips")
        names = [clip_name(item) for item in value]
        if None in names:
            raise ValueError("correct_assembly_in_slot_order must name a clip for every slot")
        return tuple(name for name in names if name is not None)
