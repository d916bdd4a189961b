"""The manipulation check: was the agent of a typed cell offered our tools, did it call them, did images arrive?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from avb_mcp.experiments.plan import Cell
from avb_mcp.experiments.record import Manipulation
from avb_mcp.trace import LISTED_FILE, TRACE_FILE
from harness_configs._base import ReadBack
from harness_configs.registry import HARNESSES


def manipulation_of(
    cell: Cell, workspace: Path, read: ReadBack, offered: Sequence[Sequence[str]], delivered: int | None
) -> Manipulation | None:
    """What the server saw, what the harness's records show and, for a scripted model, what the model was sent."""
    if not cell.arm.serves_tools:
        return None
    listed = sorted({tool for line in trace_lines(workspace / ".avb" / LISTED_FILE) for tool in line.get("tools", [])})
    calls = list(trace_lines(workspace / ".avb" / TRACE_FILE))
    called = Counter(str(line.get("tool")) for line in calls)
    sent = sum(bool(line.get("image_bytes")) for line in calls if not line.get("cache_hit"))
    if delivered is None and any(step.images for step in read.steps):
        delivered = sum(step.images for step in read.steps)
    problems = list(_problems(cell, listed, called, offered, sent, delivered))
    return Manipulation(
        passed=not problems,
        tools_expected=cell.arm.tools,
        tools_listed=tuple(listed),
        tools_called=dict(sorted(called.items())),
        images_sent=sent,
        images_delivered=delivered,
        problems=tuple(problems),
    )


def _problems(
    cell: Cell,
    listed: Sequence[str],
    called: Counter[str],
    offered: Sequence[Sequence[str]],
    sent: int,
    delivered: int | None,
) -> Iterator[str]:
    if not listed:
        yield "nobody asked the server for its tools"
    elif set(listed) != set(cell.arm.tools):
        yield f"the server listed {', '.join(listed)} instead of {', '.join(cell.arm.tools)}"
    harness = HARNESSES.get(cell.agent.harness)
    if harness is not None and offered:
        wanted = {harness.model_visible(tool) for tool in cell.arm.tools}
        missing = wanted - set(offered[0])
        if missing:
            yield f"the model was not offered {', '.join(sorted(missing))} from its first request on"
    if not called and cell.agent.harness != "nop":
        yield "no tool of ours was called"
    if sent and delivered == 0:
        yield f"the server sent {sent} images, none reached the model"


def trace_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The agent could have written here too: what is no JSON object is passed over."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            value = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict):
            yield value
