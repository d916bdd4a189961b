"""Where in a film a defect may sit: windows away from its edges, stretches with sound in them, pauses, cuts."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from avb_mcp.tasks.defects._base import CannotPlace, Rng, Stretch
from avb_mcp.tasks.footage import RATE_HZ, Image, Sound

EDGE_S, EDGE_SHARE = 2.0, 0.1
"""How far from the film's ends a defect stays: so many seconds, in a short film this share of it."""
BLOCK_S = 0.02
ACTIVE_RANGE_DB, ACTIVE_DBFS = 40.0, -50.0
"""Sound counts as active within this much of the loudest, and above this level."""
MIN_ACTIVE_S = 1.8
"""The verifier asks for 1.5 s after two encodes."""
TRIES = 80
PAUSE_BLOCKS = 5
PAUSE_BELOW_DB, PAUSE_REACH_S = 10.0, 1.5
"""A pause is so much below the loudest sound within reach."""
MIN_MOTION = 0.8
"""Mean change of luma below which two pictures look the same."""


def edge_frames(stretch: Stretch) -> int:
    """Frames at both ends in which nothing is broken."""
    return stretch.frame(min(EDGE_S, EDGE_SHARE * stretch.duration_s))


def draw_length(stretch: Stretch, rng: Rng, min_s: float, max_s: float, share: float = 1 / 3) -> int:
    """A length in frames, never more than a share of the film."""
    most_s = max(min_s, min(max_s, share * stretch.duration_s))
    return max(1, stretch.frame(rng.uniform(min_s, most_s)))


def draw_window(
    stretch: Stretch,
    rng: Rng,
    min_s: float,
    max_s: float,
    fits: Callable[[int, int], bool] = lambda _first, _last: True,
    wanted: str = "room",
) -> tuple[int, int]:
    """Frames `[first, last)` away from the edges that fit."""
    edge = edge_frames(stretch)
    for _ in range(TRIES):
        length = draw_length(stretch, rng, min_s, max_s)
        latest = stretch.frame_count - edge - length
        if latest < edge:
            continue
        first = int(rng.integers(edge, latest + 1))
        if fits(first, first + length):
            return first, first + length
    raise CannotPlace(f"no {min_s:g} to {max_s:g} s with {wanted} away from its ends")


def draw_shot_window(stretch: Stretch, rng: Rng, min_s: float, max_s: float) -> tuple[int, int]:
    """A whole shot of that length, or a window from a shot's first frame on; any window in a film without cuts."""
    edge, found = edge_frames(stretch), []
    for shot in stretch.shots[1:]:
        length = shot.last - shot.first
        if length > stretch.frame(max_s):
            length = draw_length(stretch, rng, min_s, max_s)
        if stretch.frame(min_s) <= length and edge <= shot.first <= stretch.frame_count - edge - length:
            found.append((shot.first, shot.first + length))
    return found[int(rng.integers(len(found)))] if found else draw_window(stretch, rng, min_s, max_s)


def draw_heard_window(
    stretch: Stretch, rng: Rng, min_s: float, max_s: float, active_s: float = MIN_ACTIVE_S
) -> tuple[int, int]:
    """A window with enough sound in it, by preference a well filled one."""
    track = heard(stretch)

    def filled(share: float) -> Callable[[int, int], bool]:
        def fits(first: int, last: int) -> bool:
            window = track[:, stretch.sample(first) : stretch.sample(last)]
            return active_seconds(window) >= max(active_s, share * stretch.seconds(last - first))

        return fits

    try:
        return draw_window(stretch, rng, min_s, max_s, filled(0.6))
    except CannotPlace:
        return draw_window(stretch, rng, min_s, max_s, filled(0.0), f"{active_s:g} s of sound")


def heard(stretch: Stretch) -> Sound:
    """The sound of a stretch that has one."""
    if stretch.sound is None:
        raise CannotPlace("no sound")
    return stretch.sound


def levels_db(track: Sound) -> npt.NDArray[np.float64]:
    """The level of each block of 20 ms, channels together."""
    block = round(BLOCK_S * RATE_HZ)
    count = track.shape[1] // block
    power = np.square(track[:, : count * block], dtype=np.float64).mean(axis=0).reshape(count, block).mean(axis=1)
    return np.asarray(10 * np.log10(power + 1e-12), np.float64)


def active_seconds(track: Sound) -> float:
    levels = levels_db(track)
    if not len(levels):
        return 0.0
    return float(np.sum(levels > max(levels.max() - ACTIVE_RANGE_DB, ACTIVE_DBFS)) * BLOCK_S)


def active_rms(track: Sound) -> float:
    """The level of what is heard, pauses aside."""
    levels = levels_db(track)
    loud = levels[levels > max(levels.max() - ACTIVE_RANGE_DB, ACTIVE_DBFS)] if len(levels) else levels
    return float(np.sqrt(np.mean(10 ** (loud / 10)))) if len(loud) else 0.0


def pauses(stretch: Stretch, track: Sound) -> list[int]:
    """Frames at which the sound rests: local lows well below what is around them, away from the edges."""
    levels = levels_db(track)
    if len(levels) < 3 * PAUSE_BLOCKS:
        return []
    smooth = np.convolve(levels, np.ones(PAUSE_BLOCKS) / PAUSE_BLOCKS, mode="same")
    reach, edge = round(PAUSE_REACH_S / BLOCK_S), edge_frames(stretch)
    found: list[int] = []
    for at in np.argsort(smooth, kind="stable").tolist():
        around = smooth[max(0, at - reach) : at + reach]
        frame = stretch.frame((at + 0.5) * BLOCK_S)
        if not edge <= frame <= stretch.frame_count - edge or around.max() - smooth[at] < PAUSE_BELOW_DB:
            continue
        if around.max() > ACTIVE_DBFS and all(abs(frame - other) > stretch.frame(0.3) for other in found):
            found.append(frame)
    return sorted(found)


def moves(stretch: Stretch, first: int, last: int) -> bool:
    """Whether something visibly happens between two frames."""
    numbers = sorted({first, (first + last) // 2, last - 1})
    seen = [_luma(next(stretch.pictures(number, number + 1))) for number in numbers]
    return any(float(np.abs(a - b).mean()) >= MIN_MOTION for a, b in itertools.pairwise(seen))


def _luma(picture: Image) -> npt.NDArray[np.float32]:
    return np.asarray(picture[: picture.shape[0] * 2 // 3 : 2, ::2], np.float32)
