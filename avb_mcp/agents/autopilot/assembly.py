"""Pick for every slot the clip whose camera does what the storyboard says.

Clips that show the same things are found by points that they share; which slot they belong to, by the colours that its
description names. Within a slot the candidates are compared with each other: how much larger, turned, slanted or bent
the same things are in each. How the camera moves within a clip `camera_motion` tells, where it is listed, else those
points. The words of the storyboard then are laid over these figures in every possible way, and the way that fits best
says which candidate is the one asked for.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt

from avb_mcp.agents._client import Tools
from avb_mcp.agents.autopilot._camera import Movement, watch_cameras
from avb_mcp.agents.autopilot._geometry import Marked, Relation, mark, relate
from avb_mcp.agents.autopilot._sheets import Cell, look, small_lab
from avb_mcp.agents.autopilot._storyboard import Slot, mismatch, read_storyboard

OUTPUT = "work/solution.mp4"
FRAMES = 5
Figures = npt.NDArray[np.float64]
"""Growth, turn, slant and bend against the other candidates; then growth, turn, x and y within the clip."""
SPREADS: Figures = np.array([0.12, 0.06, 0.08, 0.03, 0.1, 0.1, 0.35, 0.25])
"""By how much each figure may be off without meaning anything."""
_SIZES = (
    "Extreme Wide",
    "Wide",
    "Medium Wide",
    "Medium",
    "Medium Close Up",
    "Close Up",
    "Extreme Close Up",
)


def _figures(**named: float) -> Figures:
    names = ("growth", "turn", "slant", "bend", "zoom", "roll", "x", "y")
    return np.array([named.get(name, 0.0) for name in names])


_NOTHING = (_figures(),)
WORDS: Mapping[str, Mapping[str, tuple[Figures, ...]]] = {
    "shot_size": {name: (_figures(growth=0.23 * number),) for number, name in enumerate(_SIZES)},
    "camera_angle": {
        "Eye level": _NOTHING,
        "Low angle": (_figures(slant=0.29),),
        "High angle": (_figures(slant=-0.29),),
        "Dutch angle": (_figures(turn=0.25), _figures(turn=-0.25)),
    },
    "lens_size": {
        "Ultra Wide & Fisheye": (_figures(bend=-0.1),),
        "Wide": (_figures(bend=-0.055),),
        "Medium": _NOTHING,
        "Long Lens": (_figures(bend=0.04),),
    },
    "camera_movement": {
        "Static": _NOTHING,
        "Zoom in": (_figures(zoom=0.4),),
        "Zoom out": (_figures(zoom=-0.4),),
        "Push in": (_figures(zoom=0.4),),
        "Pull out": (_figures(zoom=-0.4),),
        "Pan left": (_figures(x=1.9),),
        "Pan right": (_figures(x=-1.9),),
        "Tilt up": (_figures(y=1.1),),
        "Tilt down": (_figures(y=-1.1),),
        "Camera roll": (_figures(roll=0.47), _figures(roll=-0.47)),
    },
}
"""What each word does to the figures of a clip; several where a word does not say which way."""


@dataclass(frozen=True, eq=False)
class Clip:
    """A candidate as far as its pictures tell."""

    path: str
    cells: list[Cell]
    marks: list[Marked]
    movement: Movement | None = None
    """As `camera_motion` tells it; None where it is not listed or cannot tell."""

    @property
    def middle(self) -> int:
        return len(self.cells) // 2


def solve(brief: str, tools: Tools, materials: Sequence[str]) -> None:
    slots = read_storyboard(brief)
    if not slots:
        return
    told = re.search(r"there are (\d+) candidates", brief)
    candidates = int(told[1]) if told else max(2, len(materials) // len(slots))
    movements = watch_cameras(tools, materials)
    clips = [watch_clip(tools, path, movements.get(path)) for path in materials]
    groups = grouped(clips, candidates, len(slots))
    if len(groups) < len(slots):
        raise ValueError(f"{len(materials)} clips do not make {len(slots)} slots of {candidates} candidates")
    picks = [pick(slot, [clips[number] for number in group]).path for slot, group in _placed(slots, groups, clips)]
    tools.call("trim_concat", segments=[{"path": path} for path in picks], output=OUTPUT)
    tools.call("submit", files=[OUTPUT], picks=[PurePosixPath(path).stem for path in picks])


def watch_clip(tools: Tools, path: str, movement: Movement | None = None) -> Clip:
    cells = look(tools, path, count=FRAMES)
    return Clip(path, cells, [mark(cell) for cell in cells], movement)


def grouped(clips: Sequence[Clip], size: int, count: int) -> list[tuple[int, ...]]:
    """`count` groups of `size` clips that show the same things, the surest first."""
    alike = np.zeros((len(clips), len(clips)))
    for a, b in itertools.combinations(range(len(clips)), 2):
        alike[a, b] = alike[b, a] = _alike(clips[a], clips[b])
    left, groups = set(range(len(clips))), list[tuple[int, ...]]()
    while len(groups) < count and len(left) >= size:
        best = max(itertools.combinations(sorted(left), size), key=lambda group: _together(group, alike))
        groups.append(best)
        left -= set(best)
    return groups


def _together(group: Sequence[int], alike: npt.NDArray[np.float64]) -> float:
    return float(sum(alike[a, b] for a, b in itertools.combinations(group, 2)))


def _alike(a: Clip, b: Clip) -> float:
    """Shared points count most; where there are few, colours do."""
    shared = relate(a.marks[a.middle], b.marks[b.middle]).points
    colours = [np.sort(small_lab(clip.cells[clip.middle].picture).reshape(-1, 3), axis=0) for clip in (a, b)]
    return float(np.log1p(shared) - 0.12 * np.abs(colours[0] - colours[1]).mean())


def _placed(
    slots: Sequence[Slot], groups: Sequence[tuple[int, ...]], clips: Sequence[Clip]
) -> Iterator[tuple[Slot, tuple[int, ...]]]:
    """Slots with their groups: the assignment in which descriptions and colours differ least."""
    off = [
        [min(mismatch(slot.description, clips[n].cells[clips[n].middle].picture) for n in group) for group in groups]
        for slot in slots
    ]
    ways = itertools.permutations(range(len(groups)), len(slots))
    best = min(ways, key=lambda way: sum(off[slot][group] for slot, group in enumerate(way)))
    return ((slot, groups[group]) for slot, group in zip(slots, best, strict=True))


def pick(slot: Slot, candidates: Sequence[Clip]) -> Clip:
    """The candidate that the words of the slot fit best."""
    measured = np.array([_measured(clip, candidates[0]) for clip in candidates])
    best, chosen = np.inf, 0
    for variable, words in WORDS.items():
        wanted = getattr(slot, variable)
        if wanted not in words:
            continue
        for at in range(len(candidates)):
            cost = _cost(measured, at, wanted, words)
            if cost < best:
                best, chosen = cost, at
    return candidates[chosen]


def _measured(clip: Clip, other: Clip) -> Figures:
    """A clip's figures; the first four against another candidate, in the middle of both."""
    apart = relate(other.marks[other.middle], clip.marks[clip.middle]) if clip is not other else Relation(0)
    return np.array([apart.growth, apart.turn, apart.slant, apart.bend, *_within(clip)])


def _within(clip: Clip) -> Figures:
    """Growth, turn, x and y from a clip's first frame to its last."""
    if clip.movement is not None:
        cell = clip.cells[clip.middle]
        return clip.movement.figures(cell.picture.shape[1] / (cell.picture.shape[0] + cell.strip_px))
    steps = [relate(a, b) for a, b in itertools.pairwise(clip.marks)]
    return np.asarray(np.sum([[step.growth, step.turn, step.x, step.y] for step in steps], axis=0), np.float64)


def _cost(measured: Figures, right: int, wanted: str, words: Mapping[str, tuple[Figures, ...]]) -> float:
    """How badly it fits that candidate `right` is the wanted one and each other one some other word."""
    best = np.inf
    others = [name for name in words if name != wanted]
    for names in itertools.permutations(others, len(measured) - 1):
        order = [*names[:right], wanted, *names[right:]]
        for looks in itertools.product(*(words[name] for name in order)):
            off = (measured - np.array(looks)) / SPREADS
            off[:, :4] -= off[:, :4].mean(axis=0)  # against each other only
            best = min(best, float(np.minimum(off * off, 9.0).sum()))
    return best
