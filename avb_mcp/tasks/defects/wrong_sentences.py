"""A sentence that does not belong: spoken elsewhere in the same source, put in where the sound rests."""

from __future__ import annotations

from avb_mcp.tasks.defects import _places, _timeline
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Defect, Drawn, Needs, Rng, Run, Stretch

_LENGTH_S = (1.5, 4.5)
_SPARE_S = 6.0


class Parameters(Drawn):
    frame: int
    """Before which frame it is put in."""
    donor_first: int
    donor_last: int
    """The frames it is taken from, counted from the stretch's beginning, outside of the stretch."""


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    places = _places.pauses(stretch, _places.heard(stretch))
    sentences = [span for donor in _donors(stretch) for span in _sentences(stretch, donor)]
    if not places or not sentences:
        raise CannotPlace("no pause to put a sentence in, or no sentence between two pauses in the rest of the source")
    first, last = sentences[int(rng.integers(len(sentences)))]
    return Parameters(frame=places[int(rng.integers(len(places)))], donor_first=first, donor_last=last)


def _donors(stretch: Stretch) -> list[Stretch]:
    """The footage before and after the stretch, as far as it is worth looking."""
    footage, most = stretch.footage, stretch.frame(60.0)
    before = Stretch(footage, max(0, stretch.first - most), stretch.first)
    after = Stretch(footage, stretch.last, min(footage.frame_count, stretch.last + most))
    return [donor for donor in (before, after) if donor.duration_s > _LENGTH_S[0]]


def _sentences(stretch: Stretch, donor: Stretch) -> list[tuple[int, int]]:
    """What is said between two pauses, by frames counted from the stretch's beginning."""
    track = _places.heard(donor)
    rests = sorted({0, *_places.pauses(donor, track), donor.frame_count})
    found = []
    for number, first in enumerate(rests):
        for last in rests[number + 1 :]:
            length_s = donor.seconds(last - first)
            said = track[:, donor.sample(first) : donor.sample(last)]
            if _LENGTH_S[0] <= length_s <= _LENGTH_S[1] and _places.active_seconds(said) >= 0.6 * length_s:
                found.append((first + donor.first - stretch.first, last + donor.first - stretch.first))
    return found


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    donated = Run(drawn.donor_first, drawn.donor_last)
    heard = stretch.heard(drawn.donor_first, drawn.donor_last)
    return _timeline.insert(stretch, [_timeline.Insertion(drawn.frame, (donated,), heard)]).damage(
        "spliced in with its pictures from elsewhere in the same source: the passage is out of place; "
        "whether what it says is false was not checked"
    )


DEFECT = Defect(
    name="wrong_sentences",
    scheme="h1",
    needs=Needs(sound=True, spare_s=_SPARE_S),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "There is a statement in it that we never approved and that has no business there. Please make it unsaid.",
        "Legal stopped this version because of something that is said in it and does not belong. It has to go.",
        "I do not remember that being said at that point, and it is not right. The rest is as we agreed.",
    ),
)
