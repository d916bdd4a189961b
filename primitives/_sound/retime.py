"""Sound that is out of step with the picture: how it was moved, and the samples that put it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from primitives._sound.blocks import BLOCK_S, EDGE_S
from primitives._sound.common import Sound
from primitives._sound.lag import Bend
from primitives._sound.stretch import room_tone, stretched

Read = Callable[[int, int], Sound]


@dataclass(frozen=True)
class Move:
    """How sound was moved: by a lag (seconds, late is positive), or along a map of two tempos."""

    lag_s: float
    bend: Bend | None
    how: str
    likeness: float


def bend_of_tempos(first: float, second: float) -> Bend | None:
    """The map of a range that was played at one tempo, then at another, so that both its ends stayed in step."""
    if not (first < 1 < second or second < 1 < first):
        return None
    theirs = (1 - 1 / second) / (1 / first - 1 / second)
    return Bend(theirs, theirs / first, 1.0)


def moved_back(read: Read, first: int, last: int, limits: range, rate_hz: int, lag: int) -> Iterator[Sound]:
    """The samples `[first, last)` as they were before the sound came late by `lag` samples.

    What the shift pushed out of the range is lost and filled with the film's background; all pieces cross.
    """
    inner = range(max(first, first - lag), min(last, last - lag))
    fade = max(1, min(round(EDGE_S * rate_hz), len(inner) // 4))
    rise = ((np.arange(fade) + 0.5) / fade).astype(np.float32)
    whole = first <= limits.start and last >= limits.stop
    fill = read(max(limits.start, inner.start), min(limits.stop, inner.start + 10 * rate_hz))
    block = round(BLOCK_S * rate_hz)
    for begin in range(first, last, block):
        end = min(begin + block, last)
        made = read(begin + lag, end + lag).copy()
        places = np.arange(begin, end)
        outside = (places < inner.start) | (places >= inner.stop)
        if outside.any():
            tone = np.zeros_like(made) if whole else room_tone(fill, end - begin, rate_hz)
            share = np.clip(np.minimum(places - inner.start, inner.stop - 1 - places) / fade, 0, 1).astype(np.float32)
            made = made * share + tone * (1 - share)
        if not whole:
            original = read(begin, end)
            head, tail = first + fade - begin, end - (last - fade)
            if head > 0:
                count = min(head, end - begin)
                made[:, :count] = (
                    original[:, :count] * (1 - rise[-head:][:count]) + made[:, :count] * rise[-head:][:count]
                )
            if tail > 0:
                count = min(tail, end - begin)
                falling = rise[::-1][:tail][-count:]
                made[:, -count:] = original[:, -count:] * (1 - falling) + made[:, -count:] * falling
        yield made.astype(np.float32)


def unbent(read: Read, first: int, last: int, rate_hz: int, bend: Bend) -> Sound:
    """The samples `[first, last)` with two wrong tempos undone."""
    count = last - first
    pad = round(0.1 * rate_hz)
    sound = read(first - pad, last + pad)
    made = stretched(sound, count + 2 * pad, rate_hz, lambda n: _along(bend, (n - pad) / count) * count + pad)
    made = made[:, pad : pad + count]
    fade = max(1, min(round(EDGE_S * rate_hz), count // 4))
    rise = ((np.arange(fade) + 0.5) / fade).astype(np.float32)
    original = sound[:, pad : pad + count]
    made[:, :fade] = original[:, :fade] * (1 - rise) + made[:, :fade] * rise
    made[:, -fade:] = original[:, -fade:] * rise + made[:, -fade:] * rise[::-1]
    return made


def _along(bend: Bend, share: float) -> float:
    return bend.at(share) if 0 <= share <= 1 else share
