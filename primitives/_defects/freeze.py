"""Frozen frames: the picture stops at once and goes on at once. A scene that comes to rest by itself does neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._cuts import EVEN as CHANGE
from primitives._defects.common import Curve, Finding, likely, runs
from primitives._defects.scenes import UNLIKE, likeness
from primitives._defects.sound import GONE_DB, rows
from primitives._tracks import FilmTracks, PictureTrack, SoundTrack

STILL = 0.5
"""A frame that differs by less repeats the one before it. Keyframes, whose coding noise is another, may differ more."""
STILL_AT_KEYFRAME = 5.0
SETTLING = 0.2
"""The first repeats of a frame may still be refined by the coder: by this share of the motion before."""
SHORTEST_S = 0.25
BESIDE = 8
"""Frames on each side in which the film must move."""
AT_CUT = {(False, False): 0.0, (False, True): -0.7, (True, False): -2.5, (True, True): -6.0}
"""Evidence against a run whose start, or end, falls on a cut. The jump that ends a freeze may itself be taken for a
cut."""
MOST_AT_CUT = 1.0
"""The most that may speak for such a run: shots are often held at their end."""
EVEN, OF_MOTION, OF_REST, OF_OFTEN, OF_SILENCE = -9.6, 3.0, -2.2, -1.0, 1.5
"""Evidence as logarithms of odds: motion beside a run and motion left in it (logarithms of grey levels), the share of
the film that rests otherwise, and silence for just as long. The first two are from a logistic regression on 321 runs,
15 of them freezes; in 15 clips, each judged by the others, every freeze came before every other run."""
HELD, JUMP = -6.0, 1.5
"""Evidence against a run that ends without a jump (against the motion after it) while the sound goes on: frames that
stand for others leave a jump, those put in between leave silence, and drawings that are held leave neither."""
RIVAL = 3.0
"""Evidence by which other runs may be less to count as the same: a film that often holds does so by itself."""
AS_LONG = 0.6
"""Rests that are shorter than this share of a run are not like it: a film may hold every picture for a while."""
LIVELIEST = 30.0
JUST_ENDED = 4
"""Frames after a dissolve or fade in which what it led to may come to rest."""
BESIDE_S = 0.2
_DARKEST = 24


def still_frames(picture: PictureTrack) -> NDArray[np.bool_]:
    """Frames that repeat the one before."""
    still = picture.moved < STILL
    calm = np.zeros_like(still)
    calm[1:-1] = still[:-2] & still[2:]
    still |= calm & (picture.moved < np.where(picture.keyframes, STILL_AT_KEYFRAME, 3 * STILL))
    still[0] = False
    return still


def find_freezes(tracks: FilmTracks) -> list[Finding]:
    """Runs of repeated frames with motion right before and after. A film that often rests makes each less certain."""
    picture = tracks.picture
    if picture is None or len(picture) < 5:
        return []
    still = still_frames(picture) & (picture.bright >= _DARKEST)
    stretches = [(a, b) for a, b in runs(still) if picture.times_s[b] - picture.times_s[a] >= SHORTEST_S]
    lengths = np.array([last - first for first, last in stretches])
    found = []
    rests = [_rest(picture, tracks.sound, _often(picture, lengths, place), *one) for place, one in enumerate(stretches)]
    for rest, length in zip(rests, lengths, strict=True):
        alike = [other for other, long in zip(rests, lengths, strict=True) if long > AS_LONG * length]
        found.append(_finding(picture, rest, sum(other.odds > rest.odds - RIVAL for other in alike) - 1))
    return found


def _often(picture: PictureTrack, lengths: NDArray[np.int_], place: int) -> float:
    """The share of the film that rests elsewhere, for about as long or longer."""
    alike = int(lengths[lengths > AS_LONG * lengths[place]].sum()) - int(lengths[place])
    return alike / max(1, len(picture) - int(lengths[place]))


@dataclass(frozen=True)
class _Rest:
    """A run of repeated frames."""

    first: int
    last: int
    inside: float
    beside: float
    jump: float
    often: float
    silent: bool
    odds: float


def _rest(picture: PictureTrack, sound: SoundTrack | None, often: float, first: int, last: int) -> _Rest:
    before, after = (_motion(picture, range(a, b)) for a, b in ((first - BESIDE, first), (last, last + BESIDE)))
    if before and picture.moved[first - 1] < min(3.0, SETTLING * before) and first - 1 not in picture.cuts:
        first -= 1
    kept = [n for n in range(first + 1, last) if not picture.keyframes[n]]
    inside = float(picture.moved[kept].mean()) if kept else 0.0
    silent = sound is not None and _only_silent(sound, picture.times_s[first], picture.times_s[last])
    # However much moves beside it, a still shot between two cuts, or one that a film ends with, is no defect by itself.
    cut = _begins(picture, first), last in picture.cuts or last == len(picture) or likeness(picture, last) < UNLIKE
    jump = float(picture.moved[last : last + 2].max(initial=0)) / max(after, 0.1)
    odds = (
        EVEN
        + OF_MOTION * np.log(min(before, after) + 0.1)
        + OF_REST * np.log(inside + 0.02)
        + OF_OFTEN * often
        + (OF_SILENCE if silent else HELD if sound is not None and jump < JUMP else 0.0)
        + AT_CUT[cut]
    )
    odds = min(odds, MOST_AT_CUT) if any(cut) else odds
    return _Rest(first, last, inside, min(before, after), jump, often, silent, float(odds))


def _begins(picture: PictureTrack, first: int) -> bool:
    """Whether a shot begins there, by a cut or a gradual change that has just ended: then it shows a card."""
    return first <= 1 or any(
        change.strength >= CHANGE and (first - 1 <= change.frame <= first or 0 <= first - change.end <= JUST_ENDED)
        for change in picture.changes
    )


def _only_silent(sound: SoundTrack, start_s: float, end_s: float) -> bool:
    """Whether there is no sound for just as long."""
    gone = sound.level_db < GONE_DB
    near, first, last = rows(BESIDE_S), rows(start_s), rows(end_s)
    inside, sides = gone[first + 3 : last - 3], (gone[max(0, first - near) : first - 3], gone[last + 3 : last + near])
    return len(inside) > 0 and bool(inside.mean() > 0.95 and all(len(s) and s.mean() < 0.5 for s in sides))


def _finding(picture: PictureTrack, rest: _Rest, rivals: int) -> Finding:
    return Finding(
        "freeze",
        float(picture.times_s[rest.first]),
        float(picture.times_s[rest.last]),
        likely(rest.odds, -np.log(1 + rivals)),
        {
            "motion_inside": round(rest.inside, 2),
            "motion_beside": round(rest.beside, 2),
            "jump_after": round(rest.jump, 1),
            "still_elsewhere": round(rest.often, 3),
            "silent_as_long": float(rest.silent),
        },
        Curve("motion, grey levels", picture.times_s[:-1], np.minimum(picture.moved, 4 * max(rest.beside, 1.0))),
    )


def _motion(picture: PictureTrack, frames: range) -> float:
    """How much the film moves there on the whole, cuts aside: it may show each frame twice."""
    inside = [n for n in frames if 0 < n < len(picture) and n not in picture.cuts]
    return float(np.minimum(picture.moved[inside], LIVELIEST).mean()) if len(inside) > 2 else 0.0
