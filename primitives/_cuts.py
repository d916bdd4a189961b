"""Where one shot ends and the next begins, found in small pictures of every frame. Pure: numbers in, numbers out.

- A *cut* is a step that no pair of frames on its two sides undoes (a flash is undone by the frames after it) and
  that stands out from the steps around it (a fast pan does not).
- A *fade* is a run of blank frames whose contrast falls before it or rises after it.
- A *dissolve* is a stretch whose frames lie on the straight line between its two ends, where the ends differ in
  structure and not only in light.

Strength is 0.5 where a change is as likely to be a transition as not, and tends to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from primitives._signature import PLANES, QUIET, Floats, Signature

Kind = Literal["cut", "fade", "dissolve"]

SIDE_S, SIDE_FRAMES = 1 / 6, (3, 10)
"""How long both sides of a cut must agree that it is one (at least and at most so many frames); longer flashes are
cuts."""
CUT_DISTANCE = 6.0
CUT_OVER_MOTION = 2.0
BLANK_CONTRAST = 4.0
BLACK_LUMA, WHITE_LUMA = 32, 200
FADE_FRAMES = 3
LONGEST_FADE_S = 4.0
HALF_LENGTHS = (3, 4, 6, 8, 12, 16, 24, 32, 48)
"""Half the length of a dissolve, in frames, at which one is looked for; it is then measured."""
OFF_MIDDLE = 0.22
OFF_LINE = 0.2
DISSOLVE_DISTANCE = 8.0
DISSOLVE_UNLIKENESS = 0.18
LIVELIER = 1.5
"""During a dissolve the picture changes this much more than in the shots beside it."""
STILL_MOVING = 0.3
SURELY_SAME, SAME_PICTURE, PERHAPS_SAME = 0.94, 0.75, 0.6
STEEPEST = 0.6
LONGEST_FLASH_S = 0.6
EVEN, WEAKEST = 0.5, 0.2


@dataclass(frozen=True)
class Transition:
    """A change of shot. `frame` is the first of the new shot; `[start, end)` are the frames of a gradual change."""

    kind: Kind
    frame: int
    start: int
    end: int
    strength: float


def find_transitions(signature: Signature) -> list[Transition]:
    """Every transition down to the weakest worth keeping, in order, none overlapping a better kind."""
    if len(signature) < 2:
        return []
    fades = find_fades(signature)
    cuts = [cut for cut in find_cuts(signature) if not _overlaps(cut, fades)]
    firm = [cut for cut in cuts if cut.strength >= EVEN]
    dissolves = find_dissolves(signature, firm, fades)
    weak = [cut for cut in cuts if cut.strength < EVEN and not _overlaps(cut, dissolves)]
    found = sorted(fades + firm + dissolves + weak, key=lambda change: change.frame)
    return [change for change in found if change.strength >= WEAKEST]


def find_cuts(signature: Signature) -> list[Transition]:
    """Hard cuts: steps that stand out and are not undone."""
    steps, last = signature.steps, len(signature)
    side = min(max(round(SIDE_S * signature.fps), SIDE_FRAMES[0]), SIDE_FRAMES[1])
    found = []
    for frame in np.flatnonzero(steps > QUIET).tolist():
        around = steps[max(1, frame - side) : frame + side + 1]
        if steps[frame] < steps[max(1, frame - 2) : frame + 3].max():
            continue
        # The largest neighbour may be another cut; the second largest speaks for motion.
        motion = float(np.sort(around)[-3]) if len(around) > 3 else 0.0
        before = np.arange(max(0, frame - side), frame)
        after = np.arange(frame, min(last, frame + side))
        apart = signature.distance(np.repeat(before, len(after)), np.tile(after, len(before)))
        ratio = float(apart.min()) / (CUT_DISTANCE + CUT_OVER_MOTION * motion)
        found.append(Transition("cut", frame, frame, frame, _strength(ratio)))
    return found


def find_fades(signature: Signature) -> list[Transition]:
    """Runs of black or white frames with a ramp on at least one side."""
    flat, luma = signature.contrast < BLANK_CONTRAST, signature.luma
    black = _fades_through(signature, flat & (luma < BLACK_LUMA), signature.contrast + luma)
    white = _fades_through(signature, flat & (luma > WHITE_LUMA), signature.contrast + 255 - luma)
    return black + [fade for fade in white if not _overlaps(fade, black) and not _is_flash(signature, fade)]


def _fades_through(signature: Signature, blank: NDArray[np.bool_], level: Floats) -> list[Transition]:
    """Fades through frames that are blank, where `level` says how far a frame is from that."""
    found = []
    reach = round(LONGEST_FADE_S * signature.fps)
    for first, end in _runs(blank):
        start = first - _ramp(signature, level, range(first, max(-1, first - reach), -1))
        stop = end + _ramp(signature, level, range(end - 1, min(len(level), end + reach)))
        if first - start < FADE_FRAMES and stop - end < FADE_FRAMES:
            continue
        # Black at the very start or end of a film belongs to its first or last shot.
        frame = 0 if first == 0 else len(signature) if end == len(signature) else (first + end) // 2
        slope = max(first - start, stop - end) / FADE_FRAMES
        found.append(Transition("fade", frame, start, stop, _strength(1 + slope)))
    return found


def _is_flash(signature: Signature, fade: Transition) -> bool:
    """A short burst of light that leads back to the same picture; one that starts at once is taken for it sooner."""
    before, after = max(0, fade.start - 1), min(len(signature) - 1, fade.end)
    like = SURELY_SAME if fade.frame - fade.start >= FADE_FRAMES else PERHAPS_SAME
    same = signature.likeness(before, after) > like
    return same and fade.end - fade.start < LONGEST_FLASH_S * signature.fps


def _ramp(signature: Signature, level: Floats, frames: range) -> int:
    """For how many frames, away from a blank one, the level rises and the picture stays the same."""
    levels = level[list(frames)]
    falls = np.flatnonzero(np.diff(levels) <= 0.01 * levels[:-1])
    length = int(falls[0]) if len(falls) else len(levels) - 1
    rise = np.diff(levels[: length + 1])
    if length == 0 or rise.max() > STEEPEST * rise.sum():
        return 0
    middle, far = frames[(length + 1) // 2], frames[length]
    plain = signature.contrast[far] < BLANK_CONTRAST
    return length if plain or signature.likeness(middle, far) > SAME_PICTURE else 0


def find_dissolves(signature: Signature, cuts: list[Transition], fades: list[Transition]) -> list[Transition]:
    """Stretches between cuts, outside fades, that run straight from one picture to another."""
    vectors = signature.coarse
    walls = np.array(sorted({0, len(signature), *(cut.frame for cut in cuts)}))
    tried = np.zeros(len(signature), bool)
    for fade in fades:
        tried[fade.start : fade.end] = True
    found: list[Transition] = []
    for middle, half in _straight_places(vectors, np.cumsum(signature.moves, dtype=np.float64) / PLANES):
        wall = int(np.searchsorted(walls, middle, "right"))
        shot = range(walls[wall - 1], walls[wall])
        if middle - half < shot.start or middle + half >= shot.stop or tried[middle - half : middle + half + 1].any():
            continue
        start, end = _grow(vectors, middle - half, middle + half, shot, round(LONGEST_FADE_S * signature.fps))
        tried[middle - half // 2 : middle + half // 2 + 1] = True
        strength = _dissolve_strength(signature, start, end, shot)
        if strength >= WEAKEST and not tried[start + 1 : middle - half // 2].any():
            found.append(Transition("dissolve", (start + end + 1) // 2, start + 1, end, strength))
            tried[start + 1 : end] = True
    return found


def _straight_places(vectors: Floats, path: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Frames that lie midway between the frames `half` before and after, straightest first."""
    places: list[tuple[float, int, int]] = []
    for half in HALF_LENGTHS:
        middles = np.arange(half, len(vectors) - half, max(1, half // 3))
        # The way from end to end is never longer than the path: most of a film is left out here.
        middles = middles[path[middles + half] - path[middles - half] > DISSOLVE_DISTANCE / 2]
        for some in np.array_split(middles, max(1, len(middles) // 512)):
            before, after = vectors[some - half], vectors[some + half]
            apart = np.abs(after - before).mean(axis=1)
            off = np.abs(vectors[some] - (before + after) / 2).mean(axis=1) / (apart + 0.5)
            good = (off < OFF_MIDDLE) & (apart > DISSOLVE_DISTANCE / 2)
            places += [(float(o), int(m), half) for o, m in zip(off[good], some[good], strict=True)]
    return [(middle, half) for _, middle, half in sorted(places)]


def _grow(vectors: Floats, start: int, end: int, shot: range, longest: int) -> tuple[int, int]:
    """The ends of the straight stretch: on while each frame still moves along the line."""
    way = vectors[end] - vectors[start]
    rate = STILL_MOVING * float(way @ way) / (end - start)
    low, high = max(shot.start, start - longest), min(shot.stop, end + longest)
    while end + 1 < high and float((vectors[end + 1] - vectors[end]) @ way) > rate:
        end += 1
    while start > low and float((vectors[start] - vectors[start - 1]) @ way) > rate:
        start -= 1
    return start, end


def _dissolve_strength(signature: Signature, start: int, end: int, shot: range) -> float:
    """How surely the frames between two ends are a mixture of both."""
    vectors = signature.coarse[start : end + 1]
    way = vectors[-1] - vectors[0]
    along = (vectors - vectors[0]) @ way / float(way @ way + 1)
    off = float(np.abs(vectors - vectors[0] - along[:, None] * way).mean() / (np.abs(way).mean() + 0.5))
    apart = float(signature.distance(np.array([start]), np.array([end]), 2)[0])
    unlike = 1 - signature.likeness(start, end)
    solid = min(signature.contrast[start], signature.contrast[end]) / BLANK_CONTRAST
    moves = signature.moves
    beside = moves[max(shot.start + 1, start - 5) : start + 1], moves[end + 1 : min(shot.stop, end + 7)]
    calm = min((float(np.sort(side)[len(side) // 2]) for side in beside if len(side) > 1), default=0.0)
    livelier = float(moves[start + 1 : end + 1].mean()) / (calm + 0.3) / LIVELIER
    ratios = apart / DISSOLVE_DISTANCE, OFF_LINE / (off + 0.01), unlike / DISSOLVE_UNLIKENESS, solid, livelier
    return _strength(float(min(ratios)))


def _strength(ratio: float) -> float:
    return round(ratio / (1 + ratio), 3)


def _overlaps(change: Transition, others: list[Transition]) -> bool:
    return any(change.start <= other.end and other.start <= change.end for other in others)


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
