"""A failed cell is labelled by rule, with evidence and, where it maps, one of the paper's four reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from avb_mcp.experiments.labels import HALLUCINATED, LONG_CONTEXT, MODALITY, TEMPORAL, labels_of
from avb_mcp.experiments.record import Outcome
from harness_configs._base import ReadBack, Step
from tests.avb_mcp.experiments.making import cell, record

SEEN = {"tool": "frame_grid", "status": "ok", "image_bytes": 9}
REFUSED = {"tool": "trim_concat", "status": "error", "error": "There is no file x.mp4."}
FILM = {"fixed.mp4": 100}


def _labels(
    folder: Path, trace: list[dict[str, Any]], *, task: str = "repair-1", score: float = 0.0, **fields: Any
) -> dict[str, str]:
    (folder / ".avb").mkdir()
    lines = "".join(json.dumps(line) + "\n" for line in trace)
    (folder / ".avb" / "trace.jsonl").write_text(lines, encoding="utf-8")
    steps = fields.pop("steps", ())
    labels = labels_of(record(cell(task), score, **fields), folder, ReadBack(steps=steps))
    assert all(label.evidence for label in labels)
    return {label.name: label.paper_reason for label in labels}


@pytest.mark.parametrize(
    ("trace", "fields", "expected"),
    [
        (
            [SEEN],
            {"outcome": Outcome.TIMEOUT, "reason": "the time was up", "deliverables": {"report.md": 9}},
            {"budget exhausted before render": LONG_CONTEXT},
        ),
        ([SEEN], {"final_message": "I have fixed the film."}, {"claimed but not rendered": HALLUCINATED}),
        ([SEEN], {"final_message": "I give up."}, {"nothing delivered": ""}),
        (
            [SEEN],
            {"deliverables": FILM, "verdict": {"status": "invalid", "reasons": ["it does not decode"]}},
            {"invalid deliverable": ""},
        ),
        (
            [SEEN],
            {"deliverables": FILM, "verdict": {"components": {"localization": 0.1}}},
            {"wrong window": TEMPORAL},
        ),
        (
            [SEEN],
            {"task": "sequencing-1", "deliverables": FILM, "verdict": {"components": {"adj_score": 0.2}}},
            {"wrong order": TEMPORAL},
        ),
        (
            [SEEN],
            {"deliverables": FILM, "verdict": {"details": {"kind": "room_echo"}}},
            {"modality untouched": MODALITY},
        ),
        ([{"tool": "probe", "status": "ok"}], {"deliverables": FILM}, {"no pixel ever seen": HALLUCINATED}),
        ([SEEN, REFUSED, REFUSED, REFUSED], {"deliverables": FILM}, {"tool error loop": ""}),
        ([SEEN, REFUSED, SEEN, REFUSED], {"deliverables": FILM}, {}),
        ([], {"deliverables": FILM, "steps": (Step(kind="tool_call", arguments="ffmpeg -i a"),)}, {}),
        ([], {"deliverables": FILM, "score": 0.9}, {}),
    ],
)
def test_the_rules(
    tmp_path: Path, trace: list[dict[str, Any]], fields: dict[str, Any], expected: dict[str, str]
) -> None:
    assert _labels(tmp_path, trace, **fields) == expected
