"""task.json: what the agent of a benchmark task may know. Names, formats and JSON shapes are task data.

A deliverable's `shape` is a JSON template: a list that holds one element with `$names` in it is repeated
once per row, and each `$name` is replaced by that row's value. So a task can ask for
`{"cuts": [["$start_s", "$end_s"]]}` and another for `{"segments": [{"source": "$clip"}]}`, without code.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator


class Family(StrEnum):
    ASSEMBLY = "assembly"
    REPAIR = "repair"
    SEQUENCING = "sequencing"
    REPURPOSE = "repurpose"


class Kind(StrEnum):
    """What a deliverable is, and so which argument of `submit` fills it."""

    VIDEO = "video"
    AUDIO = "audio"
    ORDERING = "ordering"
    PICKS = "picks"
    CUTS = "cuts"
    REPORT = "report"


_SEGMENTS: JsonValue = {
    "segments": [
        {
            "source": "$clip",
            "source_range": ["$source_start_s", "$source_end_s"],
            "output": ["$output_start_s", "$output_end_s"],
        }
    ]
}
DEFAULT_SHAPES: dict[Kind, JsonValue] = {
    Kind.ORDERING: _SEGMENTS,
    Kind.PICKS: _SEGMENTS,
    Kind.CUTS: [["$start_s", "$end_s"]],
}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


class MediaSpec(_Model):
    """What a media deliverable must be. A field left out is not checked."""

    like: str | None = None
    """A material whose container, codecs, size, frame rate and audio rate are the ones to keep."""
    container: str | None = None
    video_codec: str | None = None
    audio_codec: str | None = None
    width_px: int | None = None
    height_px: int | None = None
    fps: float | None = None
    fps_tolerance: float = 0.02
    audio_rate_hz: int | None = None
    duration_s: float | None = None
    duration_tolerance_s: float = 0.05
    min_duration_s: float | None = None
    max_duration_s: float | None = None


class Deliverable(_Model):
    """One file that the agent must leave in outputs/."""

    name: str = Field(pattern=r"^[^/\\\x00-\x1f]{1,200}$")
    kind: Kind
    spec: MediaSpec = MediaSpec()
    required: bool = True
    shape: JsonValue = None
    """JSON template for ordering, picks and cuts; the kind's usual shape when left out."""
    clips: list[str] = Field(default_factory=list)
    """The clip names that an ordering permutes, or that picks choose from."""
    slots: int | None = None
    """How many picks there must be."""
    diagnosis: bool = False
    """A report that must hold a `## Diagnosis` block per defect (type, start, end)."""
    cuts: bool = False
    """A report that must hold a fenced JSON list of [start_s, end_s] ranges."""

    @property
    def template(self) -> JsonValue:
        """The JSON shape of this deliverable."""
        return self.shape if self.shape is not None else DEFAULT_SHAPES.get(self.kind)

    @model_validator(mode="after")
    def _complete(self) -> Deliverable:
        if self.kind is Kind.ORDERING and not self.clips:
            raise ValueError(f"deliverable {self.name}: an ordering names its clips")
        if self.kind is Kind.PICKS and (not self.slots or not self.clips):
            raise ValueError(f"deliverable {self.name}: picks name their clips and the number of slots")
        return self


class Material(_Model):
    path: str
    sha256: str | None = None


class Limits(_Model):
    time_s: float | None = None
    turns: int | None = None


class Task(_Model):
    """The whole of task.json."""

    id: str
    """Tells nothing about the answer."""
    family: Family
    """assembly, repair, sequencing or repurpose."""
    brief: str = "brief.md"
    """The file with the prompt."""
    materials: list[Material] = Field(default_factory=list)
    """Every input file by its path in the workspace, with its sha256."""
    deliverables: list[Deliverable] = Field(default_factory=list)
    """The files that the agent must leave in outputs/: name, kind, format, JSON shape."""
    limits: Limits = Limits()
    """Seconds and turns."""

    @model_validator(mode="after")
    def _names_once(self) -> Task:
        names = [deliverable.name for deliverable in self.deliverables]
        if len(names) != len(set(names)):
            raise ValueError(f"task {self.id}: a deliverable is named twice in {names}")
        return self


def fill(template: JsonValue, rows: list[dict[str, JsonValue]]) -> JsonValue:
    """The template with its one-element lists repeated for every row."""
    if isinstance(template, list) and len(template) == 1 and _placeholders(template[0]):
        return [_substitute(template[0], row) for row in rows]
    if isinstance(template, list):
        return [fill(item, rows) for item in template]
    if isinstance(template, dict):
        return {key: fill(value, rows) for key, value in template.items()}
    return template


def extract(template: JsonValue, value: JsonValue) -> list[dict[str, JsonValue]] | None:
    """The rows of a document that `fill` could have made from the template; None where the shape differs."""
    if isinstance(template, list) and len(template) == 1 and _placeholders(template[0]):
        if not isinstance(value, list):
            return None
        rows = [_matched(template[0], item) for item in value]
        return None if any(row is None for row in rows) else [row for row in rows if row is not None]
    if isinstance(template, dict) and isinstance(value, dict):
        inner = [extract(part, value[key]) for key, part in template.items() if key in value and _placeholders(part)]
        return inner[0] if inner else None
    return None


def _matched(template: JsonValue, item: JsonValue) -> dict[str, JsonValue] | None:
    """The values of one row by placeholder name; None where a part is missing."""
    if isinstance(template, str) and template.startswith("$"):
        return {template[1:]: item}
    pairs: list[tuple[JsonValue, JsonValue]] = []
    if isinstance(template, dict):
        if not isinstance(item, dict) or not template.keys() <= item.keys():
            return None
        pairs = [(part, item[key]) for key, part in template.items()]
    elif isinstance(template, list):
        if not isinstance(item, list) or len(item) != len(template):
            return None
        pairs = list(zip(template, item, strict=True))
    row: dict[str, JsonValue] = {}
    for part, value in pairs:
        inner = _matched(part, value)
        if inner is None:
            return None
        row |= inner
    return row


def _placeholders(node: JsonValue) -> bool:
    if isinstance(node, str):
        return node.startswith("$")
    children: list[Any] = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
    return any(_placeholders(child) for child in children)


def _substitute(node: JsonValue, row: dict[str, JsonValue]) -> JsonValue:
    if isinstance(node, str) and node.startswith("$"):
        if node[1:] not in row:
            raise ValueError(f"shape asks for {node}, known here: {', '.join('$' + name for name in row)}")
        return row[node[1:]]
    if isinstance(node, list):
        return [_substitute(item, row) for item in node]
    if isinstance(node, dict):
        return {key: _substitute(value, row) for key, value in node.items()}
    return node
