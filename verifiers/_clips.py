"""`solution.json` of sequencing and assembly (contract, "`solution.json`"): one segment per slot, in order.

Only `source` is scored; the ranges matter to the honesty factor alone, so a wrong range never makes a
submission malformed here.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from verifiers._json import JsonValue, SubmissionError, load_submission_json

MAX_SEGMENTS = 1000


class Segment(BaseModel):
    """One slot: which clip, which part of it, and where that part stands in the rendered file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    clip: str
    source_range_s: tuple[float, float] | None = None
    output_range_s: tuple[float, float] | None = None


def clip_name(value: JsonValue) -> str | None:
    """`3`, `"3"`, `" 3 "` and `"3.mp4"` name one clip; None for what names no clip."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else None
    name = str(value).strip()
    if name.lower().endswith(".mp4"):
        name = name[:-4]
    return name or None


def load_segments(path: Path) -> list[Segment]:
    """The segments of a submitted `solution.json`; `SubmissionError` when it has another shape."""
    value = load_submission_json(path)
    if not isinstance(value, dict):
        raise SubmissionError(f'{path.name} must be an object {{"segments": [...]}}, not {_kind(value)}')
    rows = value.get("segments")
    if not isinstance(rows, list):
        raise SubmissionError(f'{path.name} needs "segments": a list with one entry per slot')
    if len(rows) > MAX_SEGMENTS:
        raise SubmissionError(f"{path.name} has {len(rows)} segments; at most {MAX_SEGMENTS} are read")
    return [_segment(row, slot) for slot, row in enumerate(rows, start=1)]


def _segment(row: JsonValue, slot: int) -> Segment:
    if not isinstance(row, dict):
        raise SubmissionError(f"segment {slot} must be an object with a source, not {_kind(row)}")
    clip = clip_name(row.get("source"))
    if clip is None:
        raise SubmissionError(f'segment {slot} has no usable "source": it must be a clip name or number')
    return Segment(
        clip=clip,
        source_range_s=_range(row.get("source_range")),
        output_range_s=_range(row.get("output")),
    )


def _range(value: JsonValue) -> tuple[float, float] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    start, end = value
    if isinstance(start, bool) or isinstance(end, bool):
        return None
    if not isinstance(start, int | float) or not isinstance(end, int | float) or not 0 <= start < end:
        return None
    return float(start), float(end)


def _kind(value: JsonValue) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
