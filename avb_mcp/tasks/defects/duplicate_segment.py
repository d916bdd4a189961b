"""The last moments before a cut play twice."""

from __future__ import annotations

from avb_mcp.tasks.defects import _places, _profile, _timeline
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Defect, Drawn, Needs, Rng, Run, Stretch


class Parameters(Drawn):
    shot: int
    """The shot whose end plays twice."""
    length: int


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    edge, shots = _places.edge_frames(stretch), stretch.shots
    wanted = stretch.frame(rng.uniform(0.7, 2.0))
    least, found = stretch.frame(0.7), []
    for number, shot in enumerate(shots[:-1]):
        length = min(wanted, shot.last - shot.first)
        first = shot.last - length
        if (
            shots[number + 1].opening == "cut"
            and length >= least
            and edge <= first <= stretch.frame_count - edge - length
        ):
            found.append((number, length))
    lively = [(n, length) for n, length in found if _places.moves(stretch, shots[n].last - length, shots[n].last)]
    if not lively:
        raise CannotPlace("no hard cut with 0.7 s of movement before it")
    shot_number, length = lively[int(rng.integers(len(lively)))]
    return Parameters(shot=shot_number, length=length)


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    cut = stretch.shots[drawn.shot].last
    first = cut - drawn.length
    heard = stretch.heard(first, cut) if stretch.footage.has_sound else None
    made = _timeline.insert(stretch, [_timeline.Insertion(cut, (Run(first, cut),), heard)])
    following = _profile.scenes(stretch)[drawn.shot + 1]
    entry = _profile.injection(stretch, _profile.DUPLICATE, made.ranges[0], drawn.shot, {"next_scene": following})
    return Damage(parts=made.parts, sound=made.sound, injection=entry, note="the truth is the second copy")


DEFECT = Defect(
    name="duplicate_segment",
    scheme="v3",
    needs=Needs(shots=2),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "There is a cut that does not land. It is as if the film took a second run at it.",
        "I had a feeling of having just seen that. It should go straight on.",
        "The export is a touch longer than the timeline was, and one transition feels clumsy.",
    ),
)
