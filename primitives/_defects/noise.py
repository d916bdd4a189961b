"""Background noise that comes at once, stays, and goes at once: between two edges the floor of the sound is lifted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primitives._defects.common import Curve, Finding, Values, confidence, step_window
from primitives._defects.sound import exact_ends, low, pooled, rows, sounding
from primitives._tracks import HOP_S, FilmTracks

LOWEST_DB = -85.0
EDGE_S = 0.3
"""Sound on each side of an edge by which it is judged."""
EDGE_DB = 3.0
SHORTEST_S, LONGEST_S = 1.0, 60.0
LONGER = 0.35
BESIDE_S, LEAST_S = 0.8, 0.3
"""Sound beside a stretch that it is held against, and how much of it there must be."""
ABRUPT_DB = 5.0
EVEN_DB = 3.5
"""By how much the floor must stay lifted."""
_PERCENT = 15
_STRIDE = 5
_MOST_EDGES_A_SECOND = 1.0
_USED = 0.4
"""Share of the bands that must be lifted: noise need not fill all of them."""


def find_noise(tracks: FilmTracks) -> list[Finding]:
    """Stretches in which the floor never falls back to what it is right before and after."""
    sound = tracks.sound
    if sound is None or len(sound) < rows(3 * SHORTEST_S):
        return []
    bands = np.maximum(sounding(sound), LOWEST_DB)
    floor = low(bands, _PERCENT, EDGE_S)
    half = rows(EDGE_S) // 2 + 2
    steps = np.zeros_like(floor)
    steps[half:-half] = floor[2 * half :] - floor[: -2 * half]
    lifted = np.sort(steps, axis=1)[:, -round(_USED * steps.shape[1])]
    sunk = -np.sort(steps, axis=1)[:, round(_USED * steps.shape[1])]
    found = [_coarse(floor), *_between_edges(floor, lifted, sunk, half)]
    best: tuple[float, int, int] | None = None
    for first, last in found:
        first, last = exact_ends(bands, first, last, rows(0.4))
        if last - first < rows(SHORTEST_S):
            continue
        held = float(_held(floor, first, np.array([last]), half).max(initial=-np.inf)) * _abrupt(
            lifted, sunk, first, last
        )
        if best is None or held > best[0]:
            best = (held, first, last)
    return [_finding(floor, *best)] if best is not None and best[0] > 0 else []


def _coarse(floor: Values) -> tuple[int, int]:
    """The stretch where the floor stands highest on the whole."""
    first, last, _ = step_window(pooled(floor.mean(axis=1), _STRIDE), rows(SHORTEST_S) // _STRIDE, rows(20) // _STRIDE)
    return first * _STRIDE, last * _STRIDE


def _between_edges(floor: Values, lifted: Values, sunk: Values, half: int) -> list[tuple[int, int]]:
    """The best stretch from one edge up to one edge down."""
    best: tuple[float, int, int] | None = None
    downs = np.array(_edges(sunk), int)
    for up in _edges(lifted):
        some = downs[(downs - up >= rows(SHORTEST_S)) & (downs - up <= rows(LONGEST_S))]
        held = _held(floor, up, some, half)
        if len(held) and (best is None or held.max() > best[0]):
            best = (float(held.max()), up, int(some[np.argmax(held)]))
    return [best[1:]] if best is not None else []


def _abrupt(lifted: Values, sunk: Values, first: int, last: int) -> float:
    """1 where the floor steps at both ends; music and speech swell."""
    near = rows(0.06)
    steps = (
        float(track[max(0, at - near) : at + near].max(initial=0)) for track, at in ((lifted, first), (sunk, last))
    )
    return min(1.0, min(steps) / ABRUPT_DB)


def _edges(strength: Values) -> list[int]:
    """Where the floor steps most, a few a second at most."""
    reach = rows(0.15)
    padded = np.pad(strength, reach, constant_values=-np.inf)
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)
    peaks = np.flatnonzero((strength >= around) & (strength > EDGE_DB))
    most = max(4, int(len(strength) * HOP_S * _MOST_EDGES_A_SECOND))
    return sorted(int(n) for n in peaks[np.argsort(-strength[peaks])][:most])


def _held(floor: Values, up: int, downs: NDArray[np.intp], half: int) -> Values:
    """By how many decibels the floor stays above that of both sides, for stretches from one edge to several others.

    The bands that are lifted most count; unsteady floors count less and longer stretches more.
    """
    before = floor[max(0, up - half - rows(BESIDE_S)) : max(0, up - half)]
    if not len(downs) or len(before) < rows(LEAST_S):
        return np.full(len(downs), -np.inf)
    inside = floor[up + half : downs[-1] - half : _STRIDE]
    lowest = np.minimum.accumulate(inside, axis=0)
    count = np.arange(1, len(inside) + 1)[:, None]
    sums, squares = np.cumsum(inside, axis=0), np.cumsum(inside.astype(np.float64) ** 2, axis=0)
    wobble = np.sqrt(np.maximum(squares / count - (sums / count) ** 2, 0))
    lowest_before = np.quantile(before, 0.1, axis=0)
    held = np.full(len(downs), -np.inf)
    for place, down in enumerate(downs):
        after = floor[down + half : down + half + rows(BESIDE_S)]
        at = min((int(down) - 2 * half - up) // _STRIDE, len(inside) - 1)
        if len(after) < rows(LEAST_S) or at < 0:
            continue
        lift = lowest[at] - np.maximum(lowest_before, np.quantile(after, 0.1, axis=0))
        used = np.argsort(-lift)[: round(_USED * len(lift))]
        steady = float(wobble[at][used].mean())
        held[place] = (float(lift[used].mean()) + 2 - 2 * max(0.0, steady - 1.5)) * min(
            1.3, LONGER * (down - up) * HOP_S
        )
    return held


def _finding(floor: Values, held: float, first: int, last: int) -> Finding:
    inside = floor[first + rows(0.1) : last - rows(0.1)]
    outside = np.concatenate((floor[: max(1, first - rows(0.2))], floor[last + rows(0.2) :]))
    return Finding(
        "noise",
        first * HOP_S,
        last * HOP_S,
        confidence(held / EVEN_DB),
        {
            "floor_inside_db": round(float(np.median(inside)), 1),
            "floor_outside_db": round(float(np.median(outside)), 1),
            "held_above_both_sides_db": round(held, 1),
        },
        Curve("floor of the sound, dB", np.arange(len(floor)) * HOP_S, floor.mean(axis=1)),
    )
