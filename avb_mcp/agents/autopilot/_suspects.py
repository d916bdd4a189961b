"""What may be wrong with a film's picture and where, by what contact sheets show of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from avb_mcp.agents._client import Tools
from avb_mcp.agents._delivery import Span
from avb_mcp.agents.autopilot._joins import Look, join_costs, look_of
from avb_mcp.agents.autopilot._path import Costs
from avb_mcp.agents.autopilot._sheets import Values, look
from avb_mcp.agents.autopilot._steps import Step, steps
from avb_mcp.agents.autopilot._watch import Watched, detail, sharp_region, watch_sharpness

COLOUR_STEP = 1.6
"""Jump of the colour figures (Lab units) inside a shot from which it may be a grade."""
DETAIL_STEP = 0.2
"""Jump of the logarithm of fine detail from which it may be a blur."""
MIN_WINDOW_S, MAX_WINDOW_S = 0.5, 12.0
MIN_GAIN = 0.2
"""By how much of the joins' cost another order of shots must be better."""
MAX_GROUP = 3


@dataclass(frozen=True)
class Suspect:
    """Something that may be wrong."""

    kind: str
    start_s: float
    end_s: float
    confidence: float
    order: list[Span] = field(default_factory=list)
    """Shots out of order: all shots as they should play."""
    places: list[Span] = field(default_factory=list)
    """Shots out of order: where the two groups stand now."""
    evidence: dict[str, float] = field(default_factory=dict)
    """Figures of the tool that found it."""
    next: tuple[str, dict[str, Any]] | None = None
    """The call that it names."""


def colour(film: Watched) -> list[Suspect]:
    """Windows between two jumps of the colour, or between a cut and a jump."""
    figures = colour_figures(film.colours)
    found = [jump for jump in steps(film.times_s, figures, film.shots, COLOUR_STEP) if _same_scene(film, jump)]
    windows = [
        Suspect("colour", a.time_s, b.time_s, min(a.size, b.size))
        for a, b in itertools.pairwise(found)
        if MIN_WINDOW_S <= b.time_s - a.time_s <= MAX_WINDOW_S
    ]
    for jump in found:
        shot = film.shot_of(jump.before_s)
        for start_s, end_s in ((shot.start_s, jump.time_s), (jump.time_s, shot.end_s)):
            if MIN_WINDOW_S <= end_s - start_s <= MAX_WINDOW_S:
                windows.append(Suspect("colour", start_s, end_s, jump.size / 2))
    return sorted(windows, key=lambda suspect: -suspect.confidence)


def colour_figures(colours: Values) -> Values:
    """Per frame: mean of the three channels, contrast, and spread of the colours."""
    flat = colours.reshape(len(colours), -1, 3)
    mean = flat.mean(axis=1)
    contrast = flat[..., 0].std(axis=1, keepdims=True)
    spread = np.linalg.norm(flat[..., 1:], axis=2).mean(axis=1, keepdims=True)
    return np.asarray(np.concatenate([mean, contrast, spread], axis=1), np.float32)


def _same_scene(film: Watched, jump: Step) -> bool:
    """Whether the two frames at a jump show the same things in other colours."""
    at = int(np.searchsorted(film.times_s, jump.time_s - 1e-4))
    before, after = film.colours[max(0, at - 1), ..., 0].ravel(), film.colours[at, ..., 0].ravel()
    return bool(np.corrcoef(before, after)[0, 1] > 0.9)


def sharpness(tools: Tools, film: Watched) -> list[Suspect]:
    """Windows that begin where detail is lost inside a shot and end where it comes back."""
    times_s, values = watch_sharpness(tools, film)
    found = steps(times_s, values, film.shots, DETAIL_STEP)
    windows = []
    for down in (jump for jump in found if jump.size < 0):
        ups = [jump for jump in found if jump.size > 0 and MIN_WINDOW_S <= jump.time_s - down.time_s <= MAX_WINDOW_S]
        if ups:
            start_s, end_s = (_exactly(tools, film, jump) for jump in (down, ups[0]))
            windows.append(Suspect("blur", start_s, end_s, min(-down.size, ups[0].size)))
    if not windows:
        windows = [_to_a_cut(tools, film, jump) for jump in found]
    return sorted(windows, key=lambda suspect: -suspect.confidence)


def _to_a_cut(tools: Tools, film: Watched, jump: Step) -> Suspect:
    """A window with one end inside a shot; the other one is a cut."""
    shot, at_s = film.shot_of(jump.before_s), _exactly(tools, film, jump)
    start_s, end_s = (at_s, shot.end_s) if jump.size < 0 else (shot.start_s, at_s)
    return Suspect("blur", start_s, end_s, abs(jump.size) / 2)


def _exactly(tools: Tools, film: Watched, jump: Step) -> float:
    """The frame at which a change of sharpness happens, looked at frame by frame."""
    shot = film.shot_of(jump.before_s)
    start_s, end_s = max(shot.start_s, jump.before_s - 0.1), min(shot.end_s, jump.time_s + 0.1)
    where = sharp_region(tools, film, shot)
    cells = look(tools, film.path, start_s=start_s, end_s=end_s, all_frames=True, **where)
    values = np.array([detail(cell.picture) for cell in cells])
    jumps = [values[at : at + 2].mean() - values[max(0, at - 2) : at].mean() for at in range(1, len(values))]
    if not jumps:
        return jump.time_s
    return cells[int(np.argmax(np.array(jumps) * np.sign(jump.size))) + 1].time_s


def out_of_order(film: Watched) -> list[Suspect]:
    """The exchange of two groups of shots that makes the joins fit best, if any makes them much better."""
    shots = film.shots
    if len(shots) < 3:
        return []
    heads, tails = zip(*(_ends(film, shot) for shot in shots), strict=True)
    costs = join_costs(heads, tails)
    usual = _total(range(len(shots)), costs)
    best, order, groups = usual, list(range(len(shots))), ((0, 0), (0, 0))
    for a, b in _groups(len(shots)):
        swapped = _exchanged(len(shots), a, b)
        total = _total(swapped, costs)
        if total < best:
            best, order, groups = total, swapped, (a, b)
    gain = (usual - best) / usual if usual else 0.0
    if gain < MIN_GAIN:
        return []
    places = [Span(shots[first].start_s, shots[last - 1].end_s) for first, last in groups]
    start_s, end_s = places[0].start_s, places[1].end_s
    return [Suspect("order", start_s, end_s, gain, [shots[number] for number in order], places)]


def _ends(film: Watched, shot: Span) -> tuple[Look, Look]:
    """How a shot begins and ends."""
    inside = np.flatnonzero((film.times_s >= shot.start_s - 1e-3) & (film.times_s < shot.end_s - 1e-3))
    at = inside if len(inside) else np.array([int(np.argmin(np.abs(film.times_s - shot.start_s)))])
    return look_of(film.colours[at[0]]), look_of(film.colours[at[-1]])


def _groups(count: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Two groups of up to three neighbouring shots, the first before the second."""
    spans = [(first, first + size) for size in range(1, MAX_GROUP + 1) for first in range(count - size + 1)]
    return [(a, b) for a, b in itertools.product(spans, spans) if a[1] <= b[0]]


def _exchanged(count: int, a: tuple[int, int], b: tuple[int, int]) -> list[int]:
    numbers = list(range(count))
    return [*numbers[: a[0]], *numbers[b[0] : b[1]], *numbers[a[1] : b[0]], *numbers[a[0] : a[1]], *numbers[b[1] :]]


def _total(order: Sequence[int], costs: Costs) -> float:
    return float(sum(costs[a, b] for a, b in itertools.pairwise(order)))
