"""Joins out of order: a stretch that was moved. Both sides of three joins fit each other in another order.

Of `before | B | A | after` each join is a break, but `before` goes on in A, A in B and B in what comes after. Of
`before | B | between | A | after` the same holds for four joins. Cutting back and forth between two scenes fits the
frames of some joins, never of all. Whole shots that changed places are told by their sound.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np
from scipy.ndimage import median_filter

from primitives._defects.common import Curve, Finding, Values, confidence
from primitives._defects.order_heard import heard_ratio
from primitives._tracks import HOP_S, FilmTracks, PictureTrack, SoundTrack

MOST_JOINS = 60
"""Joins that are tried against each other, the strongest."""
LONGEST_S = 90.0
SHORTEST_S = 0.5
MOVED, SWAPPED = (1, 2, 0), (2, 3, 0, 1)
"""Which join's second half continues the first half of each join."""
EVEN = 0.5
JUMP = 2.0
"""How many times more than around it a picture must move to be tried as a join: where people walk, hardly more."""
_PICTURE_NOISE, _SOUND_NOISE_DB = 1.0, 5.0
_SOUND_SHARE = 0.35


def find_out_of_order(tracks: FilmTracks) -> list[Finding]:
    """In each part of the film, the set of joins that another order heals best."""
    picture = tracks.picture
    if picture is None or len(picture) < 20:
        return []
    found: list[Finding] = []
    strengths = _breaks(picture)
    for start_s in np.arange(0.0, max(float(picture.times_s[-1]) - LONGEST_S, 0.1), LONGEST_S):
        part = range(picture.frame_at(float(start_s)), picture.frame_at(float(start_s) + 2 * LONGEST_S) + 1)
        strongest = sorted((n for n in strengths if n in part), key=lambda n: -strengths[n])[:MOST_JOINS]
        sets = [_best(picture, tracks.sound, strongest)]
        if tracks.sound is not None:
            cuts = [n for n in picture.cuts if n in part]
            sets += [heard_ratio(picture, tracks.sound, cuts, order) for order in (MOVED, SWAPPED)]
        for finding in _findings(picture, *max(sets, key=lambda one: one[0])):
            if not any(finding.overlap(other) > 0.5 for other in found):
                found.append(finding)
    return found


def _breaks(picture: PictureTrack) -> dict[int, float]:
    """First frames after a break, and how much it stands out from the motion around: cuts, and other jumps."""
    moved = picture.moved
    usual = median_filter(moved, 17, mode="nearest")
    jumps = {int(n) for n in np.flatnonzero(moved > 4 + JUMP * usual)}
    jumps |= {change.frame for change in picture.changes if change.kind == "cut" and change.frame < len(picture)}
    return {n: float(moved[n] / (4 + usual[n])) for n in jumps if 2 < n < len(picture) - 2}


def _best(picture: PictureTrack, sound: SoundTrack | None, strongest: Sequence[int]) -> tuple[float, list[int]]:
    """How much more likely than not another order heals some joins, and these."""
    best: tuple[float, list[int]] = (0.0, [])
    for order, most in ((MOVED, MOST_JOINS), (SWAPPED, MOST_JOINS // 2)):
        joins = sorted(strongest[:most])
        if len(joins) < len(order):
            continue
        gains = _gains(picture, sound, joins)
        chosen = np.meshgrid(*[np.arange(len(joins))] * len(order), indexing="ij", sparse=True)
        healed = [gains[chosen[left], chosen[right]] for left, right in enumerate(order)]
        lowest, total = functools.reduce(np.minimum, healed), functools.reduce(np.add, healed)
        times = picture.times_s[joins]
        steps = [times[b] - times[a] for a, b in itertools.pairwise(chosen)]
        good = (functools.reduce(np.minimum, steps) >= SHORTEST_S) & (times[chosen[-1]] - times[chosen[0]] <= LONGEST_S)
        scores = np.where(good, 0.6 * lowest + 0.4 * total / len(order), -np.inf)
        place = np.unravel_index(int(np.argmax(scores)), scores.shape)
        if scores[place] > best[0]:
            best = (float(scores[place]), [joins[int(n)] for n in place])
    return best[0] / EVEN, best[1]


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


def _findings(picture: PictureTrack, ratio: float, joins: Sequence[int]) -> list[Finding]:
    if not joins:
        return []
    times = [float(picture.times_s[n]) for n in joins]
    curve = Curve("jump from frame to frame, grey levels", picture.times_s[:-1], picture.moved)
    sure, healed = confidence(ratio), round(ratio, 2)
    if len(joins) == len(MOVED):
        evidence = {"belongs_at_s": round(times[2], 3), "healed": healed}
        return [Finding("out_of_order", times[0], times[1], sure, evidence, curve)]
    pairs = (*times[:2], *times[2:]), (*times[2:], *times[:2])
    return [
        Finding(
            "out_of_order",
            start,
            end,
            sure,
            {
                "trades_places_with_s": round(other_start, 3),
                "trades_places_until_s": round(other_end, 3),
                "healed": healed,
            },
            curve,
        )
        for start, end, other_start, other_end in pairs
    ]
