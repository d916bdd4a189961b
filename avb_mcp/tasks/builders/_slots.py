"""Which stretches of footage become the slots of an assembly task, and what their candidates are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, repeat
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from avb_mcp.tasks.builders._describe import Description, describe
from avb_mcp.tasks.builders._moves import VALUES, Amounts, Camera, Image, Variable, draw_amounts, fits, seen
from avb_mcp.tasks.builders._shot_look import (
    MIN_CONTRAST,
    contrast,
    is_new,
    small_luma,
    step_frames,
    stillest,
    thumbnail,
)
from avb_mcp.tasks.footage import Footage, frames
from primitives._base import UserError

MIN_SLOT_S, MAX_SLOT_S = 1.5, 3.5
LOOKED_AT_S = 15.0
"""How much of a long shot is searched for a stretch in which the camera stands still."""
ENOUGH = 5
"""How many shots per slot are looked at before held frames are good enough."""
MIN_APART = 3.0
"""Mean difference (0-255) between two candidates of a slot below which nobody could tell them apart."""
GLANCE_PX = (96, 54)


class ListedShot(BaseModel):
    """A stretch that the author has described, for `--shot-list`: a JSON list of these."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    source: str
    start_s: float = Field(ge=0)
    end_s: float
    description: str = Field(min_length=1)


@dataclass(frozen=True)
class Stretch:
    """Frames `[first, last)` of a source that belong to one shot."""

    film: Footage
    first: int
    last: int
    description: str | None = None

    @property
    def duration_s(self) -> float:
        return self.film.time_of(self.last) - self.film.time_of(self.first)


@dataclass(frozen=True)
class SlotSource:
    """What all candidates of a slot look at: a stretch whose camera stands still, or one held frame of another."""

    film: Footage
    first: int
    held: bool
    words: Description
    given: str | None
    """The author's own description."""
    middle: Image

    @property
    def description(self) -> str:
        return self.given or self.words.text

    def frames(self, count: int, fps: float) -> Iterator[Image]:
        """`count` pictures at a rate, the nearest ones of the source's."""
        if self.held:
            return repeat(self.middle, count)
        wanted = [round(number * float(self.film.fps) / fps) for number in range(count)]
        return _picked(frames(self.film, self.first, self.first + wanted[-1] + 1), wanted)


@dataclass(frozen=True)
class Candidates:
    """The cameras of one slot; the first is the right one. They differ in one variable."""

    variable: Variable
    cameras: tuple[Camera, ...]
    amounts: Amounts


@dataclass(frozen=True)
class FoundSlot:
    source: SlotSource
    candidates: Candidates


@dataclass(frozen=True)
class SlotsAsked:
    slots: int
    candidates: int
    """Per slot."""
    length_s: float
    variables: Sequence[Variable]
    """Which one changes, slot by slot in turn."""
    aspect: float
    """Of the clips."""


def stretches(footage: Sequence[Footage], shot_list: Path | None) -> list[Stretch]:
    """Where slots may come from: the clean part of every shot, or what the author has listed."""
    if shot_list is not None:
        return _listed(footage, shot_list)
    return [Stretch(film, shot.clean_first, shot.clean_last) for film in footage for shot in film.shots]


def draw_candidates(
    middle: Image, variables: Sequence[Variable], count: int, aspect: float, rng: np.random.Generator
) -> Candidates | None:
    """`count` cameras that differ in the first of the variables in which they can be told apart.

    All values are drawn alike and the right one is the first drawn: nothing but the storyboard makes it right.
    """
    for variable in variables:
        if len(VALUES[variable]) < count:
            continue
        amounts = draw_amounts(rng)
        values = rng.permutation(len(VALUES[variable]))[:count]
        cameras = tuple(Camera().with_value(variable, VALUES[variable][index]) for index in values)
        if all(fits(camera, amounts, aspect) for camera in cameras) and _apart(middle, cameras, amounts):
            return Candidates(variable, cameras, amounts)
    return None


def find_slots(places: Sequence[Stretch], ask: SlotsAsked, rng: np.random.Generator) -> list[FoundSlot]:
    """Up to `ask.slots` slots that look different; still cameras first, held frames of moving ones where need be."""
    found: list[FoundSlot] = []
    pictures: list[npt.NDArray[np.float32]] = []

    def take(source: SlotSource) -> None:
        picture = thumbnail(source.middle)
        if len(found) == ask.slots or not is_new(picture, pictures):
            return
        if source.given is None and not all(source.words.differs_from(slot.source.words) for slot in found):
            return
        turn = len(found) % len(ask.variables)
        variables = [*ask.variables[turn:], *ask.variables[:turn]]
        candidates = draw_candidates(source.middle, variables, ask.candidates, ask.aspect, rng)
        if candidates is not None:
            found.append(FoundSlot(source, candidates))
            pictures.append(picture)

    moving: list[SlotSource] = []
    for index in rng.permutation(len(places)):
        if len(found) == ask.slots or len(found) + len(moving) >= ENOUGH * ask.slots:
            break
        source = look_at(places[index], ask.length_s, rng)
        if source is not None and source.held:
            moving.append(source)
        elif source is not None:
            take(source)
    for source in moving:
        take(source)
    return found


def look_at(place: Stretch, length_s: float, rng: np.random.Generator) -> SlotSource | None:
    """A source of `length_s` within a stretch; None where there is too little to see."""
    film = place.film
    count = round(length_s * film.fps) + 1
    if place.last - place.first < count:
        return None
    span = min(place.last - place.first, max(count, round(LOOKED_AT_S * film.fps)))
    start = place.first + int(rng.integers(0, place.last - place.first - span + 1))
    step = step_frames(film.fps)
    looks = [small_luma(frame) for frame in islice(frames(film, start, start + span), 0, None, step)]
    at, motion = stillest(looks, float(step / film.fps), 1 + (count - 1) // step)
    first = min(start + at * step, place.last - count)
    key = [next(frames(film, number, number + 1)) for number in (first, first + count // 2, first + count - 1)]
    if contrast(small_luma(key[1])) < MIN_CONTRAST:
        return None
    held = not motion.is_still
    shown = (key[1], key[1], key[1]) if held else (key[0], key[1], key[2])
    return SlotSource(film, first, held, describe(*shown), place.description, key[1])


def _apart(middle: Image, cameras: Sequence[Camera], amounts: Amounts) -> bool:
    """Whether every two cameras show visibly different pictures at some moment."""
    glances = [[_glance(seen(middle, camera.view(at, amounts), GLANCE_PX)) for at in (0, 1)] for camera in cameras]
    return all(
        max(float(np.abs(a - b).mean()) for a, b in zip(one, other, strict=True)) >= MIN_APART
        for one, other in combinations(glances, 2)
    )


def _glance(frame: Image) -> npt.NDArray[np.float32]:
    height_px = frame.shape[0] * 2 // 3
    return np.asarray(cv2.GaussianBlur(frame[:height_px], (0, 0), 1.0), np.float32)


def _picked(pictures: Iterator[Image], wanted: Sequence[int]) -> Iterator[Image]:
    """The pictures with these numbers, in order; a number may come several times."""
    at, picture = -1, None
    for number in wanted:
        while at < number:
            at, picture = at + 1, next(pictures)
        assert picture is not None
        yield picture


def _listed(footage: Sequence[Footage], shot_list: Path) -> list[Stretch]:
    try:
        shots = TypeAdapter(list[ListedShot]).validate_json(shot_list.read_bytes())
    except OSError as error:
        raise UserError(f"{shot_list} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise UserError(
            f"{shot_list} is no shot list: {place}: {fault['msg']}. It is a JSON list of "
            '{"source": "film.mp4", "start_s": 1.0, "end_s": 4.5, "description": "..."}.'
        ) from None
    by_name = {film.name: film for film in footage}
    found = []
    for shot in shots:
        film = by_name.get(shot.source)
        if film is None:
            raise UserError(f"{shot_list} names the source {shot.source}; given are {', '.join(by_name)}.")
        first, last = film.frame_at(shot.start_s), film.frame_at(shot.end_s)
        if first >= last:
            raise UserError(
                f"{shot_list} lists {shot.start_s:g} to {shot.end_s:g} s of {shot.source}, which holds no frame; the "
                f"film lasts {film.duration_s:.2f} s."
            )
        found.append(Stretch(film, first, last, shot.description))
    return found
