"""What a range should look like: where the evidence is taken from, and what it shows.

Best is the same scene just outside and just inside the range. Where an end falls on a cut, the other end serves;
where both do, the same scene elsewhere near by; failing that, the colours of the nearest pictures as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from primitives._base import UserError
from primitives._colour.align import SAME_SCENE, WIDTH_PX, Edge, align, edge, likeness, parts_of, samples, telling
from primitives._colour.fit import LEAST_ROWS, Evidence
from primitives._media.film import Film
from primitives._media.frames import map_frames
from primitives._media.picture import Look, Pixels, bgr, resize
from primitives._media.timeline import Timeline, spread

DEPTH = 3
"""Pictures taken on each side of an end."""
SAMPLED = 8
NEAR_S, FAR_S = 2.0, 20.0
SURE = 0.9
"""Likeness from which pictures that are not neighbours count as the same scene."""


@dataclass(frozen=True, eq=False)
class Found:
    """Evidence to fit on, how it was found, and a picture of each side to show."""

    parts: list[Evidence]
    how: str
    notes: list[str]
    inside: int
    """The number of the frame inside that best goes with the reference."""
    shown: Pixels


def read_pictures(film: Film, numbers: Sequence[int], check: Callable[[], None]) -> dict[int, Pixels]:
    """Small pictures of frames, by number."""
    width = min(WIDTH_PX, film.picture.width_px)
    height = max(8, round(film.picture.height_px * width / film.picture.width_px))
    wanted = sorted(set(numbers))
    made = map_frames(
        film.path, film.name, film.scan, wanted, lambda s: (s.wanted, bgr(s.frame, Look(), width, height)), check
    )
    return dict(made)


def from_neighbours(film: Film, frames: range, check: Callable[[], None]) -> Found:
    """The reference that a range has in its own film."""
    total = len(film.timeline)
    if len(frames) == total:
        raise UserError(
            f"The range is all of {film.name}, which leaves nothing to match. Give a shorter range, or reference."
        )
    ends = [end for end in _ends(frames, total) if end[0] and end[1]]
    pictures = read_pictures(film, [number for end in ends for side in end for number in side], check)
    notes, edges = [], {}
    for inside, outside in ends:
        at = max(inside[0], outside[0])
        if likeness(pictures[inside[0]], pictures[outside[0]]) < SAME_SCENE:
            notes.append(f"the end at frame {at} falls on a cut")
            continue
        found = edge(at, [pictures[n] for n in inside], [pictures[n] for n in outside], check)
        if found.pairs:
            edges[at] = (found, inside[0], outside[0])
    used = telling([found for found, _, _ in edges.values()])
    if used:
        notes += [_unused(found) for found, _, _ in edges.values() if found not in used]
        _, inside_shown, outside_shown = edges[used[0].frame]
        how = "the same scene across the ends of the range"
        return Found(parts_of(used), how, notes, inside_shown, pictures[outside_shown])
    return _near_by(film, frames, notes, check)


def _unused(end: Edge) -> str:
    return (
        f"the end at frame {end.frame} was not used: the light drifts there, or the colours do not jump "
        "(then the defect reaches beyond the range)"
    )


def _ends(frames: range, total: int) -> list[tuple[list[int], list[int]]]:
    """Frames inside and outside each end, the nearest first."""
    depth = min(DEPTH, len(frames))
    before = [n for n in range(frames.start - 1, frames.start - 1 - DEPTH, -1) if n >= 0]
    after = [n for n in range(frames.stop, frames.stop + DEPTH) if n < total]
    return [
        (list(range(frames.start, frames.start + depth)), before),
        (list(range(frames.stop - 1, frames.stop - 1 - depth, -1)), after),
    ]


def _near_by(film: Film, frames: range, notes: list[str], check: Callable[[], None]) -> Found:
    """Both ends fall on cuts: the same scene within some seconds, or the nearest shots as they are."""
    far = around(film.timeline, frames, FAR_S)
    outside = [number for side in far for number in spread(film.timeline, side, 3 * SAMPLED)]
    inside = spread(film.timeline, frames, SAMPLED)
    pictures = read_pictures(film, [*inside, *outside], check)
    found = same_scene({n: pictures[n] for n in inside}, [pictures[n] for n in outside], check)
    if found is not None:
        return Found(found.parts, "the same scene elsewhere near the range", notes, found.inside, found.shown)
    near = [number for side in around(film.timeline, frames, NEAR_S) for number in side]
    chosen = [number for number in outside if number in near] or sorted(
        outside, key=lambda n: min(abs(n - frames.start), abs(n - frames.stop))
    )[:SAMPLED]
    notes.append(
        "the scene of the range is seen nowhere near it, so the colours of the nearest shots are the reference: "
        "look at the picture, or give reference_start_s and reference_end_s of a like shot"
    )
    parts = as_wholes([pictures[n] for n in inside], [pictures[n] for n in chosen])
    return Found(parts, "the nearest shots as wholes", notes, inside[0], pictures[chosen[0]])


def around(timeline: Timeline, frames: range, seconds: float) -> list[range]:
    """The frames within some seconds before and after a range."""
    start_s, end_s = float(timeline.time_of(frames.start)), float(timeline.time_of(frames.stop - 1))
    first = timeline.frame_at(max(0.0, start_s - seconds))
    last = min(timeline.frame_at(end_s + seconds), len(timeline) - 1)
    return [side for side in (range(first, frames.start), range(frames.stop, last + 1)) if len(side)]


def from_pictures(film: Film, frames: range, reference: list[Pixels], check: Callable[[], None]) -> Found:
    """The evidence of a reference that the caller gave."""
    inside = read_pictures(film, spread(film.timeline, frames, SAMPLED), check)
    found = same_scene(inside, reference, check)
    if found is not None:
        return found
    parts = as_wholes(list(inside.values()), reference)
    return Found(parts, "the reference as a whole (another scene)", [], min(inside), reference[0])


def same_scene(inside: dict[int, Pixels], outside: list[Pixels], check: Callable[[], None]) -> Found | None:
    """Pairs that show one scene, if there are any."""
    scored = [
        (likeness(picture, other), number, index)
        for number, picture in inside.items()
        for index, other in enumerate(outside)
    ]
    best = sorted((row for row in scored if row[0] >= SURE), reverse=True)[:DEPTH]
    parts = []
    for _, number, index in best:
        check()
        parts.append(align(inside[number], _sized(outside[index], inside[number])))
    parts = [part for part in parts if len(part.x) >= LEAST_ROWS]
    if not parts:
        return None
    return Found(parts, "the same scene in the reference", [], best[0][1], outside[best[0][2]])


def as_wholes(inside: list[Pixels], outside: list[Pixels]) -> list[Evidence]:
    """Samples without correspondence, in two parts that can be held out."""
    halves = [(inside[n::2] or inside, outside[n::2] or outside) for n in range(2)]
    return [_whole(a, b) for a, b in halves]


def _whole(inside: list[Pixels], outside: list[Pixels]) -> Evidence:
    x, y = ([samples(picture)[::7] for picture in side] for side in (inside, outside))
    return Evidence(np.concatenate(x), np.concatenate(y), aligned=False)


def _sized(picture: Pixels, like: Pixels) -> Pixels:
    return picture if picture.shape == like.shape else resize(picture, like.shape[1], like.shape[0])
