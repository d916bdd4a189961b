"""The film stops two or three times in short succession, as from a slow connection: held frames and silence."""

from __future__ import annotations

from avb_mcp.tasks.defects import _freeze, _profile, _timeline
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Defect, Drawn, Hold, Needs, Rng, Stretch

_TRIES = 40
_APART_S = (0.6, 4.0)


class Parameters(Drawn):
    frames: tuple[int, ...]
    """Before which frames the film stops."""
    lengths: tuple[int, ...]


def _draw(stretch: Stretch, rng: Rng) -> Parameters:
    count, around = int(rng.integers(2, 4)), stretch.frame(0.2)
    nearest, farthest = (stretch.frame(apart_s) for apart_s in _APART_S)
    for _ in range(_TRIES):
        places = [_freeze.draw_moment(stretch, rng, around, around)]
        while len(places) < count:
            places.append(places[-1] + int(rng.integers(nearest, farthest)))
        if places[-1] < stretch.frame_count - 2 * nearest:
            lengths = [stretch.frame(rng.uniform(0.5, 0.8)) for _ in places]
            return Parameters(frames=tuple(places), lengths=tuple(lengths))
    raise CannotPlace("no room for several stops")


def _damage(stretch: Stretch, drawn: Parameters) -> Damage:
    stops = [
        _timeline.Insertion(frame, (Hold(frame - 1, length),))
        for frame, length in zip(drawn.frames, drawn.lengths, strict=True)
    ]
    made = _timeline.insert(stretch, stops)
    windows = [
        {
            "start_s": _profile.reported_s(stretch, first),
            "end_s": _profile.reported_s(stretch, last),
            "target_scene_index": stretch.shot_at(frame),
        }
        for (first, last), frame in zip(made.ranges, drawn.frames, strict=True)
    ]
    span, scene = (made.ranges[0][0], made.ranges[-1][1]), stretch.shot_at(drawn.frames[0])
    entry = _profile.injection(stretch, _profile.FROZEN, span, scene, {"mode": "buffering", "windows": windows})
    return Damage(parts=made.parts, sound=made.sound, injection=entry)


DEFECT = Defect(
    name="buffering",
    scheme="v3",
    needs=Needs(min_s=8.0),
    draw=_draw,
    damage=_damage,
    symptoms=(
        "It hiccups. I put it on a fast drive to be sure, and it still does, always at the same spot.",
        "The recording of the stream has a bad patch in it. Can you make it as if the line had held?",
        "Somewhere it stutters along instead of playing. One patch only; before and after it is smooth.",
    ),
)
