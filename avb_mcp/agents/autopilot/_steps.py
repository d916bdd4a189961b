"""Sudden changes that are not cuts: where a curve jumps inside a shot. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from avb_mcp.agents._delivery import Span
from avb_mcp.agents.autopilot._sheets import Values

AROUND = 4
"""Samples on either side that a step is judged by."""
AT_ONCE = 0.6
"""Share of a step that happens between two neighbouring samples."""


@dataclass(frozen=True)
class Step:
    """A jump between two samples."""

    time_s: float
    """Of the first sample after it."""
    size: float
    """Signed; for curves of several values the length of the jump."""
    before_s: float
    """Of the last sample before it."""


def steps(times_s: Values, values: Values, shots: Sequence[Span], least: float) -> list[Step]:
    """Jumps of at least `least` inside shots, that stand out of what the curve does anyway."""
    found: list[Step] = []
    curve = values[:, None] if values.ndim == 1 else values
    for shot in shots:
        inside = np.flatnonzero((times_s >= shot.start_s - 1e-3) & (times_s < shot.end_s - 1e-3))
        if len(inside) < 4:
            continue
        part, when = curve[inside], times_s[inside]
        jumps = np.array([_jump(part, at) for at in range(1, len(part))])
        lengths = np.linalg.norm(jumps, axis=1)
        at_once = np.linalg.norm(np.diff(part, axis=0), axis=1)
        usual = float(np.median(at_once))
        for at in _peaks(lengths):
            # What drifts also differs across a few samples; a defect begins between two.
            if lengths[at] >= max(least, 4 * usual) and at_once[at] >= AT_ONCE * lengths[at]:
                size = float(jumps[at, 0]) if curve.shape[1] == 1 else float(lengths[at])
                found.append(Step(float(when[at + 1]), size, float(when[at])))
    return found


def _jump(part: Values, at: int) -> Values:
    """The mean just after a place less the mean just before it."""
    before, after = part[max(0, at - AROUND) : at], part[at : at + AROUND]
    return np.asarray(after.mean(axis=0) - before.mean(axis=0), np.float32)


def _peaks(lengths: Values) -> list[int]:
    """Places that are the largest among their neighbours."""
    return [
        at
        for at in range(len(lengths))
        if lengths[at] == lengths[max(0, at - AROUND) : at + AROUND + 1].max()
        and (at == 0 or lengths[at] > lengths[at - 1])
    ]
