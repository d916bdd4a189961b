"""The kinds of defects that can be found, one search each. Pure: tracks in, findings out."""

from __future__ import annotations

from collections.abc import Callable

from primitives._defects.black import find_black
from primitives._defects.colour import find_colour
from primitives._defects.common import Finding
from primitives._defects.freeze import find_freezes
from primitives._defects.repeat import find_repeats
from primitives._defects.sharpness import find_sharpness
from primitives._tracks import FilmTracks

SEARCHES: tuple[Callable[[FilmTracks], list[Finding]], ...] = (
    find_black,
    find_freezes,
    find_repeats,
    find_colour,
    find_sharpness,
)
LEAST_CONFIDENCE = 0.5


def find_all(tracks: FilmTracks) -> list[Finding]:
    found = [finding for search in SEARCHES for finding in search(tracks)]
    return sorted((f for f in found if f.confidence >= LEAST_CONFIDENCE), key=lambda f: -f.confidence)
