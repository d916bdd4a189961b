"""The kinds of defects that can be found, one search each. Pure: tracks in, findings out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection

import numpy as np

from primitives._defects.black import find_black
from primitives._defects.clipping import find_clipping
from primitives._defects.colour import find_colour
from primitives._defects.common import Finding
from primitives._defects.desync import find_desync
from primitives._defects.dropout import find_dropouts
from primitives._defects.echo import find_echo
from primitives._defects.freeze import find_freezes
from primitives._defects.level import find_levels
from primitives._defects.noise import find_noise
from primitives._defects.order import find_out_of_order
from primitives._defects.repeat import find_repeats
from primitives._defects.sharpness import find_sharpness
from primitives._tracks import FilmTracks

Search = Callable[[FilmTracks], list[Finding]]
SEARCHES: tuple[tuple[tuple[str, ...], Search], ...] = (
    (("black",), find_black),
    (("freeze",), find_freezes),
    (("repeat",), find_repeats),
    (("colour",), find_colour),
    (("blur", "softness"), find_sharpness),
    (("noise",), find_noise),
    (("clipping",), find_clipping),
    (("level",), find_levels),
    (("dropout",), find_dropouts),
    (("echo",), find_echo),
    (("desync",), find_desync),
    (("out_of_order",), find_out_of_order),
)
"""What can be found, and by which search."""
EXPLAINS: dict[str, tuple[str, ...]] = {
    "black": ("freeze", "repeat", "colour", "blur", "softness", "dropout"),
    "freeze": ("repeat", "colour", "blur", "softness", "dropout", "noise", "level", "echo", "desync"),
    "repeat": ("colour", "blur", "softness", "noise", "level", "desync"),
    "out_of_order": ("colour", "blur", "softness", "noise", "level"),
    "clipping": ("noise", "level", "echo", "desync"),
    "desync": ("dropout", "noise", "level"),
    "dropout": ("noise", "level", "echo"),
    "noise": ("level", "echo", "desync"),
    "level": ("echo",),
}
"""A defect that by its nature also looks like others: those are left out where it is at least as certain."""
SURER = {
    ("clipping", "level"): 0.6,
    ("clipping", "desync"): 0.6,
    ("repeat", "desync"): 0.6,
    ("freeze", "dropout"): 0.4,
    ("freeze", "echo"): 0.5,
    ("out_of_order", "blur"): 0.6,
    ("out_of_order", "softness"): 0.6,
}
"""How sure the explanation must be against what it explains, where that is not nearly as sure."""
ONLY_DRIFT = frozenset({"clipping", "noise"})
"""What explains late sound only where that is told by how it sounds."""
DRIFT_SHARE, STOPPED_SHARE = 0.4, 0.75
"""How much of a drift lies in what explains it, and how much of a silence in the freeze that it belongs to."""
WITH_THE_SHOT = frozenset({"noise", "level", "clipping", "echo", "dropout"})
CUT_S = 0.15
AT_CUTS = (1.0, 0.7, 0.35)
"""How sure such a finding stays with neither, one or both ends at a cut."""
LEAST_CONFIDENCE = 0.5


def find_all(tracks: FilmTracks, kinds: Collection[str] = (), least: float = LEAST_CONFIDENCE) -> list[Finding]:
    """What is likely a defect, the most certain first; all kinds, or some."""
    searches = [search for names, search in SEARCHES if not kinds or not set(kinds).isdisjoint(names)]
    found = [_beside_cuts(finding, tracks) for search in searches for finding in search(tracks)]
    found = sorted((f for f in found if f.confidence >= least), key=lambda f: -f.confidence)
    return [f for f in found if (not kinds or f.kind in kinds) and not explained(f, found)]


def _beside_cuts(finding: Finding, tracks: FilmTracks) -> Finding:
    """Less sure where the sound changes with the picture: another shot has another sound."""
    if finding.kind not in WITH_THE_SHOT or tracks.picture is None:
        return finding
    cuts_s = tracks.picture.times_s[tracks.picture.cuts]
    ends_s = finding.start_s, finding.end_s
    at_cuts = sum(float(np.abs(cuts_s - end_s).min(initial=np.inf)) < CUT_S for end_s in ends_s)
    return dataclasses.replace(finding, confidence=round(finding.confidence * AT_CUTS[at_cuts], 3))


def explained(finding: Finding, others: list[Finding]) -> bool:
    """Whether another finding is the reason for this one, or the same one surer."""
    return any(
        finding.kind in EXPLAINS.get(other.kind, ())
        and _covers(other, finding)
        and other.confidence >= SURER.get((other.kind, finding.kind), 0.85) * finding.confidence
        for other in others
    ) or any(
        other.kind == finding.kind and other.confidence > finding.confidence and finding.overlap(other) > 0.5
        for other in others
    )


def _covers(other: Finding, finding: Finding) -> bool:
    """Whether one finding lies in the other for the most part; of late sound only the start is known, and sound that
    drifts is told by two parts, of which either may be the other. What was moved made joins up to where it belongs."""
    if finding.kind == "desync" and "slow_until_s" in finding.evidence:
        return finding.covered_by(other) > DRIFT_SHARE
    if finding.kind == "desync":
        return other.kind not in ONLY_DRIFT and other.start_s - CUT_S <= finding.start_s < other.end_s
    if (other.kind, finding.kind) == ("freeze", "dropout"):
        return finding.covered_by(other) > STOPPED_SHARE
    if finding.kind == "level" and other.kind == "noise":
        return finding.overlap(other) > 0.5  # where noise lies in it, a level is that of the noise
    reach_s = max(other.end_s, other.evidence.get("belongs_at_s", 0.0))
    return finding.covered_by(dataclasses.replace(other, end_s=reach_s)) > 0.5
