"""Two defects in one film, apart from each other."""

from __future__ import annotations

from typing import Any

from pydantic import SerializeAsAny

from avb_mcp.tasks.defects import (
    colour_grade,
    desync_window,
    duplicate_segment,
    frozen_picture,
    frozen_scene,
    noise_floor,
)
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Defect, Drawn, Needs, Rng, SoundChange, Stretch
from avb_mcp.tasks.footage import Sound

PAIRS: tuple[tuple[Defect[Any], Defect[Any]], ...] = (
    (colour_grade.DEFECT, noise_floor.DEFECT),
    (colour_grade.DEFECT, desync_window.DEFECT),
    (colour_grade.DEFECT, frozen_scene.DEFECT),
    (noise_floor.DEFECT, frozen_picture.DEFECT),
    (noise_floor.DEFECT, frozen_scene.DEFECT),
    (noise_floor.DEFECT, duplicate_segment.DEFECT),
)
"""The first keeps the film's frames in place; the second may not, and then it comes later."""
_TRIES, _APART_S = 25, 0.5


class Parameters(Drawn):
    pair: int
    first: SerializeAsAny[Drawn]
    second: SerializeAsAny[Drawn]


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    usable = [n for n, pair in enumerate(PAIRS) if all(len(stretch.shots) >= one.needs.shots for one in pair)]
    for _ in range(_TRIES):
        number = usable[int(rng.integers(len(usable)))]
        one, other = PAIRS[number]
        try:
            drawn = Parameters(pair=number, first=one.draw(stretch, rng), second=other.draw(stretch, rng))
        except CannotPlace:
            continue
        if _apart(one.damage(stretch, drawn.first), other.damage(stretch, drawn.second)):
            return drawn
    raise CannotPlace("no two places apart from each other for two defects")


def _apart(one: Damage, other: Damage) -> bool:
    before = one.injection["end_s"] + _APART_S <= other.injection["start_s"]
    after = other.injection["end_s"] + _APART_S <= one.injection["start_s"]
    return before or (after and not other.parts)


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    one, other = PAIRS[drawn.pair]
    first, second = one.damage(stretch, drawn.first), other.damage(stretch, drawn.second)
    return Damage(
        parts=second.parts,
        picture=first.picture,
        pictures_from=first.pictures_from,
        pictures_until=first.pictures_until,
        sound=_both(first.sound, second.sound),
        injection={"injections": [first.injection, second.injection]},
        note="; ".join(note for note in (first.note, second.note) if note),
    )


def _both(first: SoundChange | None, second: SoundChange | None) -> SoundChange | None:
    if first is None or second is None:
        return first or second
    return lambda track: _applied(track, first, second)


def _applied(track: Sound, first: SoundChange, second: SoundChange) -> Sound:
    return second(first(track))


DEFECT = Defect(
    name="combined",
    scheme="v3",
    needs=Needs(sound=True, min_s=15.0),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "More than one thing is wrong with this copy, and in different places. Please find them all.",
        "I stopped watching twice, for two different reasons. The film itself is fine; this copy is not.",
        "Two of us complained about it, and not about the same thing. Could you deal with both?",
    ),
)
