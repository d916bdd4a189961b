"""Sequencing: a coherent stretch of a film, cut at its own shot changes, shuffled.

Every clip is decoded and encoded again by itself, through one path, from time 0 on, and the clips are written in the
order of their names: what is left to tell the order is what they show and sound like. Clips keep the lengths that the
film's shots have. Stretches are cut at hard cuts and fades, never inside a dissolve, where both sides would show the
same pictures. The first and last half second of a source are left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

from avb_mcp.tasks.answers import order_answer
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders._clip_tasks import (
    SOLUTION_SHAPE,
    clip_deliverables,
    seconds,
    shuffled_names,
    task_id,
    task_seed,
    write_clips,
)
from avb_mcp.tasks.footage import Export, Footage, Shot, frames, sound, write_film
from avb_mcp.tasks.spec import LIMITS
from avb_mcp.tasks.suite import Bench, Made, TaskPlan
from primitives._base import UserError
from primitives._task import Family, Kind, Task

MIN_CLIP_S = 0.5
"""A shorter shot stays joined to the one after it."""
EDGE_S = 0.5
"""Left out at a source's very start and end: how its own encoder began and ended there shows in the size of packets
even after it was encoded again (measured: the first clip had the smallest first audio packet of all, always)."""
NO_OVERVIEW = "(none was given)"
"""Stands where an overview can still be filled in."""


def plan(footage: Sequence[Footage], request: BuildRequest) -> list[TaskPlan]:
    """Tasks from the sources in turn; a source with too few shots is refused."""
    if request.min_clips > request.max_clips:
        raise UserError(f"At least {request.min_clips} and at most {request.max_clips} clips: no number is both.")
    bounds = {film.name: clip_bounds(film, request) for film in footage}
    plans = []
    for number in range(1, request.count + 1):
        film = footage[(number - 1) % len(footage)]
        options = (request.min_clips, request.max_clips, request.cut_inside, request.overview)
        seed = task_seed(Family.SEQUENCING, number, request.seed, film.sha256, *options)
        maker = _Maker(task_id(request.prefix, Family.SEQUENCING, number, seed), film, bounds[film.name], request)
        plans.append(TaskPlan(maker.id, Family.SEQUENCING, "sequencing", (film.name,), seed, maker.make))
    return plans


def clip_bounds(film: Footage, request: BuildRequest) -> list[int]:
    """Frame numbers between which clips lie, at least `min_clips` of them."""
    bounds = shot_bounds(film.shots, film.fps)
    found = len(bounds) - 1
    if found < request.min_clips and request.cut_inside:
        bounds = split_longest(bounds, request.min_clips, film.fps)
    if len(bounds) - 1 < request.min_clips:
        least_s = request.min_clips * MIN_CLIP_S
        raise UserError(
            f"{film.name} has {found} shots of {MIN_CLIP_S:g} s or more in {film.duration_s:.1f} s; a sequencing task "
            f"needs at least {request.min_clips}. Give a longer source with more cuts, lower --min-clips, "
            f"or allow cuts inside shots with --cut-inside (at least {least_s:g} s of film)."
        )
    return bounds


def shot_bounds(shots: Sequence[Shot], fps: Fraction) -> list[int]:
    """Where a film can be cut: at its changes of shot, save in dissolves, right after another cut and at its edges."""
    edge = round(EDGE_S * fps)
    bounds = [min(shots[0].first + edge, shots[0].last)]
    for shot in shots[1:]:
        if shot.opening == "dissolve" or shot.first < bounds[0]:
            continue
        if seconds(shot.first - bounds[-1], fps) >= MIN_CLIP_S:
            bounds.append(shot.first)
        elif len(bounds) == 1:
            bounds = [shot.first]  # what is left of the first shot is too short
    end = max(shots[-1].last - edge, bounds[0])
    while len(bounds) > 1 and end - bounds[-1] < MIN_CLIP_S * fps:
        end = bounds.pop()
    return [*bounds, end]


def split_longest(bounds: Sequence[int], count: int, fps: Fraction) -> list[int]:
    """The same bounds with the longest clip halved until there are `count`, or none can be halved."""
    split = list(bounds)
    while len(split) - 1 < count:
        start, end = max(pairwise(split), key=lambda clip: clip[1] - clip[0])
        if seconds(end - start, fps) < 2 * MIN_CLIP_S:
            break
        split.insert(split.index(end), (start + end) // 2)
    return split


def draw_stretch(bounds: Sequence[int], min_clips: int, max_clips: int, rng: np.random.Generator) -> list[int]:
    """The bounds of a run of neighbouring clips, its length and place drawn."""
    available = len(bounds) - 1
    count = int(rng.integers(min_clips, min(max_clips, available) + 1))
    first = int(rng.integers(0, available - count + 1))
    return list(bounds[first : first + count + 1])


@dataclass(frozen=True)
class _Maker:
    id: str
    film: Footage
    bounds: Sequence[int]
    request: BuildRequest

    def make(self, bench: Bench) -> Made:
        stretch = draw_stretch(self.bounds, self.request.min_clips, self.request.max_clips, bench.rng)
        clips = list(pairwise(stretch))
        names = shuffled_names(len(clips), bench.rng)
        write_clips(bench, names, lambda clip, path: self._write(path, *clips[clip]))
        reference = {"correct_order": names, "n_slots": len(names), "source_frames": clips}
        (bench.answers / "reference.json").write_text(json.dumps(reference) + "\n", encoding="utf-8")
        duration_s = seconds(stretch[-1] - stretch[0], self.film.fps)
        deliverables = clip_deliverables(Kind.ORDERING, names, duration_s)
        return Made(
            task=Task(id=self.id, family=Family.SEQUENCING, deliverables=deliverables, limits=LIMITS),
            brief=sequencing_brief(len(names), self.request.overview),
            answer=order_answer(self.id, honesty=True),
        )

    def _write(self, path: Path, first: int, last: int) -> None:
        heard = sound(self.film, self.film.time_of(first), self.film.time_of(last))
        write_film(path, frames(self.film, first, last), self.film.fps, heard, Export(colour=self.film.colour))


def sequencing_brief(clips: int, overview: str) -> str:
    """The prompt: what there is, what is known of the story, what to hand in."""
    return f"""\
# Put the clips back in order

`materials/clips/` holds {clips} clips, `1.mp4` to `{clips}.mp4`. They are consecutive parts of one film whose order
was lost; the numbers mean nothing. Every clip belongs in, whole, exactly once.

Overview: {overview.strip() or NO_OVERVIEW}

Hand in, in `outputs/`:

1. `solution.json`: one entry per clip, in the order of the film:
{SOLUTION_SHAPE}
2. `solution.mp4`: the clips joined in that order, pictures and sound unchanged, in the format of the clips.
"""
