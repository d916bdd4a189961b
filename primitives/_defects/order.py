"""Joins out of order: a stretch that was moved. The ends of three joins fit each other in another order than they stand.

Of `before | B | A | after` each join is a break, but `before` goes on in A, A in B and B in what comes after. Of
`before | B | between | A | after` the same holds for four joins. Cutting back and forth between two scenes fits the
frames of some joins, never of all.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from primitives._defects.common import Curve, Finding, Values, confidence
from primitives._tracks import HOP_S, FilmTracks, PictureTrack, SoundTrack

MOST_JOINS = 60
"""Joins that are tried against each other, the strongest."""
LONGEST_S = 90.0
SHORTEST_S = 0.5
MOVED, SWAPPED = (1, 2, 0), (2, 3, 0, 1)
"""Which join's second half continues the first half of each join."""
EVEN = 0.5
_PICTURE_NOISE, _SOUND_NOISE_DB = 1.5, 5.0
_SOUND_SHARE = 0.35


def find_out_of_order(tracks: FilmTracks) -> list[Finding]:
    """The set of joins that another order heals best."""
    picture = tracks.picture
    if picture is None or len(picture) < 20:
        return []
    joins = _joins(picture)
    if len(joins) < len(MOVED):
        return []
    gains = _gains(picture, tracks.sound, joins)
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    for order in (MOVED, SWAPPED):
        for chosen in _sets(picture, joins, len(order)):
            healed = [float(gains[chosen[left], chosen[right]]) for left, right in enumerate(order)]
            score = 0.6 * min(healed) + 0.4 * float(np.mean(healed))
            if score > best[0]:
                best = (score, chosen)
    return _findings(picture, [joins[n] for n in best[1]], best[0])


def _joins(picture: PictureTrack) -> list[int]:
    """First frames after a break: cuts, and jumps that stand out from the motion around them."""
    moved = picture.moved
    usual = np.array([np.median(moved[max(1, n - 8) : n + 9]) for n in range(len(moved))])
    jumps = {int(n) for n in np.flatnonzero(moved > 4 + 4 * usual)}
    jumps |= {change.frame for change in picture.changes if change.kind == "cut" and 0 < change.frame < len(picture)}
    strongest = sorted(jumps, key=lambda n: -float(moved[n] / (4 + usual[n])))[:MOST_JOINS]
    return sorted(n for n in strongest if n > 2 and n < len(picture) - 2)


def _sets(picture: PictureTrack, joins: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """Joins in a row, not too close and not too far apart."""
    times = [float(picture.times_s[n]) for n in joins]
    near = []
    for chosen in itertools.combinations(range(len(joins)), count):
        steps = [times[b] - times[a] for a, b in itertools.pairwise(chosen)]
        if min(steps) >= SHORTEST_S and sum(steps) <= LONGEST_S:
            near.append(chosen)
    return near


def _gains(picture: PictureTrack, sound: SoundTrack | None, joins: Sequence[int]) -> Values:
    """How much better the end at one join goes on in the start at another than in its own, as a logarithm."""
    ends = np.stack([_course(picture.flat, n - 1, n - 2) for n in joins])
    starts = np.stack([picture.flat[n] for n in joins])
    apart = np.abs(ends[:, None] - starts[None]).mean(axis=2)
    gains = np.log((np.diag(apart)[:, None] + _PICTURE_NOISE) / (apart + _PICTURE_NOISE))
    if sound is not None:
        bands = np.maximum(sound.bands_db, -80)
        rows = np.clip([round(float(picture.times_s[n]) / HOP_S) for n in joins], 6, len(bands) - 6)
        last = np.stack([bands[row - 5 : row - 1].mean(axis=0) for row in rows])
        first = np.stack([bands[row + 1 : row + 5].mean(axis=0) for row in rows])
        heard = np.abs(last[:, None] - first[None]).mean(axis=2)
        gains = gains + _SOUND_SHARE * np.log((np.diag(heard)[:, None] + _SOUND_NOISE_DB) / (heard + _SOUND_NOISE_DB))
    return np.asarray(gains)


def _course(flat: Values, last: int, before: int) -> Values:
    """The frame that would follow: half a step further."""
    return np.asarray(flat[last] + 0.5 * (flat[last] - flat[before]))


def _findings(picture: PictureTrack, joins: Sequence[int], score: float) -> list[Finding]:
    times = [float(picture.times_s[n]) for n in joins]
    curve = Curve("jump from frame to frame, grey levels", picture.times_s[:-1], picture.moved)
    sure = confidence(score / EVEN)
    if len(joins) == len(MOVED):
        evidence = {"belongs_at_s": round(times[2], 3), "healed": round(score, 2)}
        return [Finding("out_of_order", times[0], times[1], sure, evidence, curve)]
    pairs = ((times[0], times[1], times[2]), (times[2], times[3], times[0])) if joins else ()
    return [
        Finding(
            "out_of_order",
            start,
            end,
            sure,
            {"trades_places_with_s": round(other, 3), "healed": round(score, 2)},
            curve,
        )
        for start, end, other in pairs
    ]
