"""The ground truth of a repair cell: the released `profile.json`, of which the scheme uses a few fields.

Profiles are not ours: unknown fields are ignored, and a field that only some variants carry is optional
here and required where it is used (`truth.py`).
"""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

COMBINED = "combined"
SWAP = "v03_scene_swap"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Scene(_Part):
    start_s: float
    end_s: float


class SwappedScene(_Part):
    """One shot of a v03 swap: its group and where it stands in the broken file."""

    group: str
    broken_start_s: float
    broken_end_s: float


class FreezeWindow(_Part):
    """One of the short freezes of v01 buffering."""

    target_scene_index: int = Field(ge=0)


class Injection(_Part):
    """One injected defect. A v03 swap names its shots `scene_1`, `scene_2`, … in order."""

    variant: str = ""
    start_s: float | None = None
    end_s: float | None = None
    duration_s: float | None = None
    target_scene_index: int | None = Field(default=None, ge=0)
    target_scene: Scene | None = None
    next_scene: Scene | None = None
    windows: tuple[FreezeWindow, ...] = ()
    swapped_scenes: tuple[SwappedScene, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _gather_swapped_scenes(cls, value: object) -> object:
        if not isinstance(value, dict) or value.get("variant") != SWAP:
            return value
        scenes: list[object] = []
        while (scene := value.get(f"scene_{len(scenes) + 1}")) is not None:
            scenes.append(scene)
        return {**value, "swapped_scenes": scenes}


class Format(_Part):
    duration_s: float = Field(gt=0, le=12 * 3600)


class Narrative(_Part):
    scene_list: tuple[Scene, ...] = ()


class Profile(_Part):
    """`profile.json`: one `injection`, or a list of `injections` for combined cells."""

    format: Format
    narrative: Narrative = Narrative()
    injection: Injection | None = None
    injections: tuple[Injection, ...] = ()

    @model_validator(mode="after")
    def _one_kind_of_truth(self) -> Self:
        if (self.injection is None) == (not self.injections):
            raise ValueError("a profile carries either one injection or a list of injections")
        return self

    @property
    def variant(self) -> str:
        return COMBINED if self.injection is None else self.injection.variant
