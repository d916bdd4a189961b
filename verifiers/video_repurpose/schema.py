"""The rubric and the human labels, as they arrive from a file.

The rubric comes from the dataset as often as from this project. Its union schema fills absent fields and
params with null, so nulls are dropped first; fields that no version of the format knows are left to the
linter (`verifiers/lint.py`) instead of making a task unscorable.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from verifiers._json import AnswerError, JsonValue, load_answer_json

ITEM_LIST_KEYS = ("items", "rubric_items")
"""Where the items sit when the rubric is an object instead of a list."""

Params = dict[str, object]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, coerce_numbers_to_str=True)


class PythonStage(_Part):
    dispatch: Literal["python"]
    kind: str
    params: Params = Field(default_factory=dict)
    save_as: str = ""

    @property
    def saved_name(self) -> str:
        """The placeholder that this stage's evidence fills; a stage without `save_as` goes by its kind."""
        return self.save_as or self.kind


class LlmStage(_Part):
    dispatch: Literal["llm"]
    prompt: str = ""


Stage = Annotated[PythonStage | LlmStage, Field(discriminator="dispatch")]


class _Item(_Part):
    id: str = Field(min_length=1)
    criterion: str = ""
    pillar: int = Field(default=0, ge=0)
    weight: float = 1.0
    """Positive: earned when passed. Negative: a penalty, deducted when *failed*."""


class PythonItem(_Item):
    dispatch: Literal["python"]
    kind: str
    params: Params = Field(default_factory=dict)


class LlmItem(_Item):
    dispatch: Literal["llm"]
    prompt: str = ""

    @property
    def question(self) -> str:
        return self.prompt or self.criterion


class CompoundItem(_Item):
    dispatch: Literal["compound"]
    stages: tuple[Stage, ...] = Field(min_length=1)


RubricItem = Annotated[PythonItem | LlmItem | CompoundItem, Field(discriminator="dispatch")]
_ITEM: TypeAdapter[RubricItem] = TypeAdapter(RubricItem)
_LABELS = TypeAdapter(dict[str, bool | None])


def load_rubric(path: Path) -> tuple[RubricItem, ...]:
    """The rubric in `path`; anything wrong with it is ours, hence `AnswerError`."""
    try:
        return parse_rubric(load_answer_json(path))
    except ValueError as error:
        raise AnswerError(f"the rubric {path.name} is malformed: {error}") from error


def parse_rubric(value: JsonValue) -> tuple[RubricItem, ...]:
    """Items from a list, or from an object that holds the list; `ValueError` with a sentence otherwise."""
    rows = rubric_rows(value)
    if not rows:
        raise ValueError("it has no items")
    items = []
    for number, row in enumerate(rows, start=1):
        try:
            items.append(parse_item(row))
        except ValueError as error:
            raise ValueError(f"item {number}: {error}") from error
    return tuple(items)


def parse_item(row: JsonValue) -> RubricItem:
    """One item; `ValueError` with a sentence when it is malformed."""
    try:
        return _ITEM.validate_python(without_nulls(row))
    except ValidationError as error:
        raise ValueError(_first_fault(error)) from error


def rubric_rows(value: JsonValue) -> list[JsonValue]:
    """The raw item list, wherever the rubric keeps it."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for key in ITEM_LIST_KEYS:
            rows = value.get(key)
            if isinstance(rows, list):
                return rows
    raise ValueError(f"it must be a list of items or an object with one of {', '.join(ITEM_LIST_KEYS)}")


def load_labels(path: Path) -> dict[str, bool | None]:
    """Human answers by item id: true, false, or null for "cannot say"."""
    try:
        return _LABELS.validate_python(load_answer_json(path), strict=True)
    except ValidationError as error:
        raise AnswerError(f"the labels {path.name} are malformed: {_first_fault(error)}") from error


def without_nulls(value: JsonValue) -> JsonValue:
    """`value` with every null-valued key dropped, at any depth."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _first_fault(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    where = ".".join(str(part) for part in faults[0]["loc"]) or "the top level"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{where}: {faults[0]['msg']}{more}"
