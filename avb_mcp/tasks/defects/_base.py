"""What a defect is: what it needs of a film, how its place and strength are drawn, and what it does to the film.

A film is changed as a stream: runs of its frames (`parts`), a change of single pictures (`picture`) and a change of
the whole sound track (`sound`). Frame numbers count from the first frame of the stretch; a run may also lie outside
of it, elsewhere in the footage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from avb_mcp.tasks.footage import RATE_HZ, Footage, Image, Shot, Sound, frames, sound

Rng = np.random.Generator
Scheme = Literal["h1", "v3"]
PictureChange = Callable[[Image], Image]
SoundChange = Callable[[Sound], Sound]


class CannotPlace(Exception):
    """The defect finds no place in this stretch; the text says what it looked for."""


class Drawn(BaseModel):
    """What was drawn for a defect. Kept with the answers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


DrawnT = TypeVar("DrawnT", bound=Drawn)


@dataclass(frozen=True, eq=False)
class Stretch:
    """Frames `[first, last)` of some footage: the film that a task is about."""

    footage: Footage
    first: int
    last: int

    @property
    def fps(self) -> Fraction:
        return self.footage.fps

    @property
    def frame_count(self) -> int:
        return self.last - self.first

    @property
    def duration_s(self) -> float:
        return float(self.frame_count / self.fps)

    def seconds(self, frame: int) -> float:
        """When a frame appears, rounded as it is written down."""
        return round(float(frame / self.fps), 6)

    def frame(self, time_s: float) -> int:
        return round(time_s * self.fps)

    def sample(self, frame: int) -> int:
        """The first sample of a frame."""
        return round(frame / self.fps * RATE_HZ)

    def pictures(self, first: int, last: int) -> Iterator[Image]:
        return frames(self.footage, self.first + first, self.first + last)

    def heard(self, first: int, last: int) -> Sound:
        """The sound of some frames, of as many samples as so many frames have from the film's beginning on."""
        count = self.sample(last) - self.sample(first)
        found = sound(self.footage, float((self.first + first) / self.fps), float((self.first + last) / self.fps))
        assert found is not None
        return fitted(found, count)

    @cached_property
    def sound(self) -> Sound | None:
        """The whole track."""
        return self.heard(0, self.frame_count) if self.footage.has_sound else None

    @cached_property
    def shots(self) -> tuple[Shot, ...]:
        """The shots as far as they lie in the stretch, counted from its beginning."""
        return tuple(
            self._moved(shot) for shot in self.footage.shots if shot.first < self.last and shot.last > self.first
        )

    def _moved(self, shot: Shot) -> Shot:
        first, last = max(shot.first - self.first, 0), min(shot.last - self.first, self.frame_count)
        clean_first = min(max(shot.clean_first - self.first, first), last)
        return Shot(
            first=first,
            last=last,
            start_s=self.seconds(first),
            end_s=self.seconds(last),
            opening=shot.opening if shot.first > self.first else "start",
            clean_first=clean_first,
            clean_last=max(clean_first, min(shot.clean_last - self.first, last)),
        )

    def shot_at(self, frame: int) -> int:
        """The number of the shot that a frame belongs to."""
        return next(number for number, shot in enumerate(self.shots) if frame < shot.last)


def fitted(track: Sound, count: int) -> Sound:
    """Exactly `count` samples: cut off, or filled up with silence."""
    missing = max(0, count - track.shape[1])
    return np.pad(track[:, :count], ((0, 0), (0, missing)))


@dataclass(frozen=True)
class Run:
    """Frames `[first, last)`, forwards or backwards."""

    first: int
    last: int
    backwards: bool = False

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class Hold:
    """One frame, shown `count` times."""

    frame: int
    count: int

    def __len__(self) -> int:
        return self.count


Part = Run | Hold


@dataclass(frozen=True)
class Damage:
    """What happens to a film, and the truth about it. Times and frames of the truth are those of the broken film."""

    parts: tuple[Part, ...] = ()
    """The broken film's pictures in order; the whole stretch as it is when empty."""
    picture: PictureChange | None = None
    pictures_from: int = 0
    pictures_until: int = 0
    """The broken film's frames that `picture` changes."""
    sound: SoundChange | None = None
    window: tuple[int, int] | None = None
    """h1, defects of picture or sound: the frames that it spans."""
    ranges: tuple[tuple[int, int], ...] = ()
    """h1, timeline defects: the frames that must go."""
    injection: dict[str, Any] = field(default_factory=dict)
    """v3: the profile's entry."""
    note: str = ""
    """How it was made, where that is not plain from the name."""


@dataclass(frozen=True)
class Needs:
    """What a defect asks of a film."""

    sound: bool = False
    shots: int = 1
    """Shots within the stretch."""
    min_s: float = 5.0
    spare_s: float = 0.0
    """Footage outside of the stretch."""


@dataclass(frozen=True)
class Defect(Generic[DrawnT]):
    """One entry of the registry."""

    name: str
    scheme: Scheme
    needs: Needs
    draw: Callable[[Stretch, Rng], DrawnT]
    """Place and strength; raises `CannotPlace`."""
    damage: Callable[[Stretch, DrawnT], Damage]
    symptoms: tuple[str, ...]
    """What a client says about it: no time, no name of a defect."""


def broken_frames(stretch: Stretch, damage: Damage) -> Iterator[Image]:
    """The broken film's pictures."""
    number = 0
    for part in damage.parts or (Run(0, stretch.frame_count),):
        for picture in _pictures(stretch, part):
            changed = damage.picture is not None and damage.pictures_from <= number < damage.pictures_until
            yield damage.picture(picture) if changed and damage.picture is not None else picture
            number += 1


def broken_sound(stretch: Stretch, damage: Damage) -> Sound | None:
    """The broken film's sound, as long as its pictures."""
    track = stretch.sound
    if track is None:
        return None
    count = broken_count(stretch, damage)
    return fitted(track if damage.sound is None else damage.sound(track), stretch.sample(count))


def broken_count(stretch: Stretch, damage: Damage) -> int:
    """How many frames the broken film has."""
    return sum(len(part) for part in damage.parts) or stretch.frame_count


def _pictures(stretch: Stretch, part: Part) -> Iterator[Image]:
    if isinstance(part, Run):
        pictures = stretch.pictures(part.first, part.last)
        yield from reversed(list(pictures)) if part.backwards else pictures
        return
    held = next(stretch.pictures(part.frame, part.frame + 1))
    for _ in range(part.count):
        yield held
