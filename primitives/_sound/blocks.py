"""A long stretch of sound changed block by block in flat memory, its ends crossing with the original."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from primitives._sound.common import Sound

EDGE_S = 0.015
"""Seconds over which the change comes in and goes out, inside the stretch."""
BLOCK_S = 30.0
Read = Callable[[int, int], Sound]
Change = Callable[[Sound], Sound]


def in_blocks(
    read: Read, first: int, last: int, rate_hz: int, change: Change, context_s: float, edge_s: float = EDGE_S
) -> Iterator[Sound]:
    """The changed samples `[first, last)`. Each block is worked on with what lies around it; neighbours cross."""
    block, context = round(BLOCK_S * rate_hz), round(context_s * rate_hz)
    fade = max(1, min(round(edge_s * rate_hz), (last - first) // 2))
    rise = ((np.arange(fade) + 0.5) / fade).astype(np.float32)
    tail: Sound | None = None
    for begin in range(first, last, block):
        end = min(begin + block, last)
        reach = end + (fade if end < last else 0)
        original = read(begin - context, reach + context)
        made = change(original)[:, context : context + reach - begin].astype(np.float32)
        before = original[:, context : context + fade] if tail is None else tail
        part = made[:, : min(fade, made.shape[1])]
        made[:, : part.shape[1]] = (
            before[:, : part.shape[1]] * (1 - rise[: part.shape[1]]) + part * rise[: part.shape[1]]
        )
        if end == last:
            count = min(fade, made.shape[1])
            after = original[:, context : context + reach - begin][:, -count:]
            falling = rise[::-1][-count:]
            made[:, -count:] = made[:, -count:] * falling + after * (1 - falling)
        tail = made[:, end - begin :]
        yield made[:, : end - begin]
