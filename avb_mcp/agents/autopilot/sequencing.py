"""Order shuffled clips by how well the end of one goes on in the start of another."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np

from avb_mcp.agents._client import ToolRefused, Tools
from avb_mcp.agents.autopilot._path import Costs, best_order
from avb_mcp.agents.autopilot._sheets import Cell, Values, look_at_all, small_lab

FRAMES_PER_CLIP = 3
LIGHT_WEIGHT = 2.0
UPPER_ROWS = 6
"""Of sixteen: sky, ceiling, lamps."""
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
    return [clips[number] for number in best_order(join_costs(seen))]


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


def join_costs(seen: Sequence[Sequence[Cell]]) -> Costs:
    """How badly the last frame of each clip goes with the first of each other. Pure."""
    heads = [_features(cells[0]) for cells in seen]
    tails = [_features(cells[-1]) for cells in seen]
    count = len(seen)
    costs = np.zeros((count, count))
    for a, b in itertools.permutations(range(count), 2):
        costs[a, b] = _distance(tails[a], heads[b])
    return costs


def _features(cell: Cell) -> tuple[Values, Values]:
    """The colours of a picture regardless of where they are, and its light: the rows of its upper part."""
    lab = small_lab(cell.picture)
    return np.sort(lab.reshape(-1, 3), axis=0), lab[:UPPER_ROWS].mean(axis=1)


def _distance(a: tuple[Values, Values], b: tuple[Values, Values]) -> float:
    """Shots of one scene share their light more than what stands in them."""
    colours, light = (float(np.abs(one - other).mean()) for one, other in zip(a, b, strict=True))
    return colours + LIGHT_WEIGHT * light
