"""What the tools themselves tell about a film: windows of `find_defects`, fillers of `transcribe`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from avb_mcp.agents._client import Tools
from avb_mcp.agents._delivery import Span
from avb_mcp.agents.autopilot._suspects import Suspect

LIKELY = 0.5
"""Confidence from which a finding is more likely a defect than not, by the tool's own scale."""
CERTAIN = 0.8
"""Confidence from which a finding is believed where its repair tool is not sure of the frames."""
ROWS = 20
SOUND_KINDS = frozenset({"noise", "echo", "clipping", "level", "dropout", "desync"})
FILLER_KINDS = frozenset({"filler", "sound"})
SURE_FILLER = 0.3


def findings(tools: Tools, path: str) -> list[Suspect]:
    """The windows that the tool gives, the most certain first, the doubtful ones too."""
    if "find_defects" not in tools:
        return []
    reply = tools.try_call("find_defects", path=path, doubtful=True, limit=ROWS, picture=False)
    rows = [] if reply.is_error else reply.data.get("defects", [])
    found = [_suspect(row) for row in rows if isinstance(row, dict) and {"kind", "start_s", "end_s"} <= row.keys()]
    return sorted(found, key=lambda suspect: -suspect.confidence)


def _suspect(row: Mapping[str, Any]) -> Suspect:
    evidence = {name: float(value) for name, value in (row.get("evidence") or {}).items()}
    return Suspect(
        kind=str(row["kind"]),
        start_s=float(row["start_s"]),
        end_s=float(row["end_s"]),
        confidence=float(row.get("confidence", LIKELY)),
        evidence=evidence,
        next=next_call(str(row.get("next", ""))),
    )


def next_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """The call that a row names, `tool {arguments}`; None for anything else."""
    tool, _, told = text.partition(" ")
    try:
        arguments = json.loads(told)
    except ValueError:
        return None
    return (tool, arguments) if isinstance(arguments, dict) else None


def fillers(tools: Tools, path: str) -> list[Span]:
    """Where somebody says um, as far as the transcript tells; nothing without a speech model."""
    if "transcribe" not in tools:
        return []
    reply = tools.try_call("transcribe", path=path, fillers=True)
    while not reply.is_error and reply.data["done_s"] < reply.data["end_s"] - 1e-3:
        before_s = reply.data["done_s"]
        reply = tools.try_call("transcribe", path=path, fillers=True)
        if reply.is_error or reply.data["done_s"] <= before_s:
            break
    rows = [] if reply.is_error else reply.data["rows"]
    return [
        Span(row["start_s"], row["end_s"])
        for row in rows
        if row.get("kind") in FILLER_KINDS and (row.get("sure") or 0.0) >= SURE_FILLER
    ]
