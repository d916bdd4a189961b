"""A colour grade that changes within a shot, and changes back."""

from __future__ import annotations

import numpy as np

from primitives._defects.common import Curve, Finding, Values, likely
from primitives._defects.edges import LONG, SHORTEST_S, SIDE, Edge, alone, beside, best_pairs, find_edges, near, usual
from primitives._defects.scenes import scene_cuts
from primitives._tracks import FilmTracks, PictureTrack

LEAST = 0.6
"""Grey levels of change, over all measures, as far as a grade explains it, from which on a step may be one."""
LONG_S = 12.0
"""A grade that ends at a cut is not looked for over longer."""
WEIGHTS = np.array([-7.3, 1.6, 0.75, 1.8, 1.0, 0.5, 4.2, 0.0, -2.5, -3.0])
"""Of the evidence for a pair of edges, as logarithms of odds: which pair of a film it is, if any, fitted on 91 films of
15 clips, 23 of them graded. On clips that were left out 20 of 23 are found, and none in the 68 others."""
AT_CUT, AT_END, MOST_ALONE = -1.0, -3.0, 1.5
"""Evidence against a grade that ends at a cut, or with the film, where only one of its edges is seen; and the most that
may speak for it."""
AGREE, LASTS = 0.6, 0.5
"""Such an edge must be one of all colours, and for good."""
SHIFTS, GAINS = np.array([0.3, 1.2, 1.2]), np.array([0.3, 0.5, 0.5])
"""Light wavers by itself, colours seldom do."""
_CODING = 2.0
"""Grey levels by which a cell may change from frame to frame at least: still parts that are dark must not outweigh all
others, for a grade hardly changes them."""


def find_colour(tracks: FilmTracks) -> list[Finding]:
    """Windows between two opposite steps of colour, or between one and a cut, where the scene itself stays."""
    picture = tracks.picture
    if picture is None or len(picture) < 2 * SIDE:
        return []
    edges = colour_edges(picture)
    windows: list[tuple[float, tuple[int, int], Values]] = [
        (sure, (first.frame, last.frame), (first.change - last.change) / 2)
        for sure, first, last in best_pairs(picture, edges, WEIGHTS)
    ]
    paired = {frame for sure, window, _ in windows for frame in window if sure > 0.5}
    for edge in edges:
        if edge.frame not in paired and edge.agree > AGREE and edge.lasts > LASTS:
            window, change = _to_a_cut(picture, edge)
            if SHORTEST_S <= picture.times_s[window[1]] - picture.times_s[window[0]] <= LONG_S:
                against = AT_END if window[0] == 0 or window[1] == len(picture) else AT_CUT
                odds = min(MOST_ALONE, float(WEIGHTS @ alone(edge, edges)) + against)
                windows.append((likely(odds), window, change))
    return [_finding(picture, *window) for window in windows]


def colour_edges(picture: PictureTrack) -> list[Edge]:
    """Where the colours of all cells change together."""
    cells = picture.cells.reshape(len(picture), 3, -1).astype(np.float32)
    looks = np.concatenate((cells.mean(axis=2) * SHIFTS, cells.std(axis=2) * GAINS), axis=1)
    sizes = np.zeros(len(picture))
    sizes[1:] = np.linalg.norm(np.diff(looks, axis=0), axis=1)

    def measure(shot: range, frame: int) -> Edge | None:
        return _edge(cells, near(picture, shot, frame), frame)

    return find_edges(picture, sizes, scene_cuts(picture), LEAST / 2, measure)


def _edge(cells: Values, around: range, frame: int) -> Edge | None:
    """A grade comes whole between two frames: what moves around it does not blur that, as it does longer stretches."""
    moves = np.diff(cells[around.start : around.stop], axis=0)
    place = frame - around.start
    step, others = moves[place - 1], np.delete(moves, np.s_[max(0, place - 2) : place + 1], axis=0)
    noise = usual(np.abs(others).mean(axis=1))
    shares = (noise + _CODING) ** -2.0 * np.ones(cells.shape[2])
    shares /= shares.sum()
    last = cells[frame - 1]
    spread = last - (last @ shares)[:, None]
    power = np.sqrt((spread**2) @ shares + 1.0)

    def graded(gaps: Values) -> Values:
        """The shift of each plane, and how much further apart its values are, in grey levels."""
        return np.concatenate((gaps @ shares * SHIFTS, (gaps * spread) @ shares / power * GAINS), axis=-1)

    def explained(gaps: Values) -> Values:
        """The share of what changes that a grade explains; of what moves it explains little."""
        by_grade = (gaps @ shares) ** 2 + ((gaps * spread) @ shares / power) ** 2
        return np.asarray(by_grade.sum(axis=-1) / (((gaps**2) @ shares).sum(axis=-1) + 1e-6))

    change, agree = graded(step), float(explained(step))
    whole = float(np.linalg.norm(change))
    if whole * agree < LEAST:
        return None
    way = change / whole
    before, after = beside(cells, around, frame)
    far = beside(cells, around, frame, SIDE - 1, LONG)
    stays = float(graded(after - before) @ way) / whole
    return Edge(
        frame,
        change,
        size=whole * agree,
        agree=agree,
        at_once=min(stays, 1 / max(stays, 0.1)),
        lasts=float(graded(far[1] - far[0]) @ way) / whole,
        usual=float(usual(np.linalg.norm(graded(others), axis=1) * explained(others))) + 0.2,
        sides=(before @ shares, after @ shares),
    )


def _to_a_cut(picture: PictureTrack, edge: Edge) -> tuple[tuple[int, int], Values]:
    """One edge in a shot: the grade reaches from it to a cut, on the side whose colours are further from the film's."""
    walls = [0, *scene_cuts(picture), len(picture)]
    place = int(np.searchsorted(walls, edge.frame, side="right"))
    before, after = (walls[place - 1], edge.frame), (edge.frame, walls[place])
    chroma = picture.cells[:, 1:].mean(axis=(2, 3))
    own = np.median(chroma, axis=0)
    far = [float(np.linalg.norm(chroma[a:b].mean(axis=0) - own)) for a, b in (before, after)]
    return (before, -edge.change) if far[0] >= far[1] else (after, edge.change)


def _finding(picture: PictureTrack, sure: float, window: tuple[int, int], way: Values) -> Finding:
    means = picture.cells.mean(axis=(2, 3))
    along = way[:3] / (np.linalg.norm(way[:3]) + 1e-6)
    return Finding(
        "colour",
        float(picture.times_s[window[0]]),
        float(picture.times_s[window[1]]),
        sure,
        {
            "luma_change": round(float(way[0] / SHIFTS[0]), 1),
            "blue_change": round(float(way[1] / SHIFTS[1]), 1),
            "red_change": round(float(way[2] / SHIFTS[2]), 1),
            "contrast_change": round(float(way[3] / GAINS[0]), 1),
        },
        Curve("mean colour, along the change", picture.times_s[:-1], means * SHIFTS @ along),
    )
