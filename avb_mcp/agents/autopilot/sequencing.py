"""Order shuffled clips by how well the end of one goes on in the start of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from avb_mcp.agents._client import ToolRefused, Tools
from avb_mcp.agents.autopilot._joins import join_costs, look_of
from avb_mcp.agents.autopilot._path import best_order
from avb_mcp.agents.autopilot._sheets import look_at_all, small_lab

FRAMES_PER_CLIP = 3
OUTPUT = "work/solution.mp4"


def solve(_brief: str, tools: Tools, materials: Sequence[str]) -> None:
    order = ordered(tools, materials)
    tools.call("trim_concat", segments=[{"path": path} for path in order], output=OUTPUT)
    names = [PurePosixPath(path).stem for path in order]
    tools.call("submit", files=[OUTPUT], ordering=names)


def ordered(tools: Tools, clips: Sequence[str]) -> list[str]:
    """The clips in the order that the tools speak for."""
    if len(clips) < 2:
        return list(clips)
    if "join_scores" in tools:
        told = _told(tools, clips)
        if told is not None:
            return told
    if "frame_grid" not in tools:
        return list(clips)
    seen = look_at_all(tools, clips, FRAMES_PER_CLIP)
    heads, tails = ([look_of(small_lab(cells[at].picture)) for cells in seen] for at in (0, -1))
    return [clips[number] for number in best_order(join_costs(heads, tails))]


def _told(tools: Tools, clips: Sequence[str]) -> list[str] | None:
    """The order that join_scores calls the best; None where it does not name every clip once."""
    try:
        data = tools.call("join_scores", paths=list(clips)).data
    except ToolRefused:
        return None
    by_stem = {PurePosixPath(path).stem: path for path in clips}
    named = [by_stem.get(PurePosixPath(str(name)).stem) for name in data.get("best_order", [])]
    order = [path for path in named if path is not None]
    return order if sorted(order) == sorted(clips) else None
