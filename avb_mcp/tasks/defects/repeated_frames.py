"""Short stretches play twice."""

from __future__ import annotations

from avb_mcp.tasks.defects import _places, _timeline
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Defect, Drawn, Needs, Rng, Run, Stretch

_APART_S = 1.5
_ALIVE_S = 0.25


class Parameters(Drawn):
    repeats: tuple[tuple[int, int], ...]
    """The frames `[first, last)` that come again right after themselves."""


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    wanted, apart = int(rng.integers(1, 4)), stretch.frame(_APART_S)
    found: list[tuple[int, int]] = []
    for _ in range(_places.TRIES):
        first, last = _places.draw_window(stretch, rng, 0.5, 1.2)
        alone = all(last + apart <= a or b + apart <= first for a, b in found)
        if alone and _alive(stretch, first, last):
            found.append((first, last))
        if len(found) == wanted:
            break
    if not found:
        raise CannotPlace("no half second in which anything moves or sounds")
    return Parameters(repeats=tuple(sorted(found)))


def _alive(stretch: Stretch, first: int, last: int) -> bool:
    """Whether a repetition could be noticed."""
    if stretch.sound is not None:
        window = stretch.sound[:, stretch.sample(first) : stretch.sample(last)]
        if _places.active_seconds(window) < _ALIVE_S:
            return False
    return _places.moves(stretch, first, last)


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    return _timeline.insert(
        stretch,
        [
            _timeline.Insertion(
                last, (Run(first, last),), stretch.heard(first, last) if stretch.footage.has_sound else None
            )
            for first, last in drawn.repeats
        ],
    ).damage("picture and sound play again; the truth is the second time")


DEFECT = Defect(
    name="repeated_frames",
    scheme="h1",
    needs=Needs(),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "It trips over itself somewhere. The upload was interrupted, I do not know whether that has to do with it.",
        "I had a feeling of having just seen that. The film should simply go on.",
        "It runs a little longer than the version that we signed off, and something in it stumbles.",
    ),
)
