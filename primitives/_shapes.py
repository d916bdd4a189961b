"""Deliverables as text, in the task's own shape: solution.json, cuts.json, report.md. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from pydantic import JsonValue

from primitives._task import Deliverable, fill


class Finding(Protocol):
    """One defect of a diagnosis."""

    @property
    def type(self) -> str: ...
    @property
    def start_s(self) -> float: ...
    @property
    def end_s(self) -> float: ...


def clips_json(clips: Sequence[str], lengths_s: Sequence[float], deliverable: Deliverable) -> str:
    """solution.json: each clip whole, one after the other."""
    rows: list[dict[str, JsonValue]] = []
    at_s = 0.0
    for clip, length_s in zip(clips, lengths_s, strict=True):
        rows.append(
            {
                "clip": clip,
                "source_start_s": 0.0,
                "source_end_s": round(length_s, 3),
                "output_start_s": round(at_s, 3),
                "output_end_s": round(at_s + length_s, 3),
            }
        )
        at_s += length_s
    return _shaped(deliverable, rows)


def cuts_json(cuts: Sequence[Sequence[float]], deliverable: Deliverable) -> str:
    """cuts.json: the ranges that were cut out."""
    return _shaped(deliverable, [{"start_s": start_s, "end_s": end_s} for start_s, end_s in cuts])


def _shaped(deliverable: Deliverable, rows: list[dict[str, JsonValue]]) -> str:
    return json.dumps(fill(deliverable.template, rows), indent=2, ensure_ascii=False) + "\n"


def report_md(text: str, findings: Sequence[Finding], cuts: Sequence[Sequence[float]]) -> str:
    """report.md: the text, a `## Diagnosis` block per defect, and the cut ranges as fenced JSON."""
    parts = [text.strip()] if text.strip() else []
    for finding in findings:
        parts.append(
            f"## Diagnosis\n- type: {finding.type}\n- start: {finding.start_s:.3f}\n- end: {finding.end_s:.3f}"
        )
    if cuts:
        parts.append("## Cuts\n```json\n" + json.dumps([list(pair) for pair in cuts]) + "\n```")
    return "\n\n".join(parts) + "\n"
