"""What is asked of a builder. Every builder is `plan(footage, request) -> list[TaskPlan]`: it decides, `make` does."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Scheme = Literal["", "h1", "v3"]


class BuildRequest(BaseModel):
    """What to build out of the sources. A builder reads the fields that are its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    seed: int = Field(ge=0)
    """The same seed and sources give the same tasks, byte for byte."""
    count: int = Field(ge=1)
    """How many tasks."""
    prefix: str = Field(default="", pattern=r"^[a-z0-9._-]{0,40}$")
    """Stands before every task id."""

    # repair
    kinds: tuple[str, ...] = ()
    """Defects to inject, in turn; all of the scheme when empty."""
    scheme: Scheme = ""
    """How repairs are scored: `h1` (the paper's appendix) or `v3` (the release). Empty: h1."""
    min_s: float = Field(default=20.0, gt=0.0)
    max_s: float = Field(default=235.0, gt=0.0)
    """How long a stretch of the source a repair task takes, at least and at most."""

    # sequencing, assembly
    min_clips: int = Field(default=7, ge=2)
    max_clips: int = Field(default=20, ge=2)
    overview: str = ""
    """A sentence or two about the story of a sequencing task; a line to fill in when empty."""
    cut_inside: bool = False
    """Let a sequencing task also cut inside shots where a source has too few of them: neighbours then show the same."""
    slots: int = Field(default=4, ge=1)
    distractors: int = Field(default=2, ge=1)
    """Wrong candidates per slot of an assembly task."""
    variables: tuple[str, ...] = ()
    """Cinematic variables that distractors change, in turn; all four when empty."""
    shot_list: Path | None = None
    """A JSON list of described stretches that the slots of an assembly task are taken from."""
    generator: str = ""
    """A command that makes the distractors of an assembly task instead of the synthetic camera."""

    # repurpose
    brief: Path | None = None
    """The prompt of a repurpose task; written from the delivery requirements when none is given."""
    rubric: Path | None = None
    """What its film is judged by; a starter rubric from the delivery requirements when none is given."""
    delivery: Path | None = None
    """The delivery requirements as JSON; drawn from the source when none are given."""
