"""What every kind of finding shares: its shape, and the search for the stretch that differs from the rest. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from primitives._defects.kinds import Kind

Values = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Curve:
    """What a finding was seen in."""

    label: str
    times_s: Values
    values: Values


@dataclass(frozen=True, eq=False)
class Finding:
    """A stretch `[start_s, end_s)` that differs from the rest of the film. 0.5 is as likely a defect as not."""

    kind: Kind
    start_s: float
    end_s: float
    confidence: float
    evidence: dict[str, float] = field(default_factory=dict)
    curve: Curve | None = None

    def overlap(self, other: Finding) -> float:
        """Common time as a share of the shorter one."""
        return max(self.covered_by(other), other.covered_by(self))

    def covered_by(self, other: Finding) -> float:
        """Common time as a share of this one."""
        both = min(self.end_s, other.end_s) - max(self.start_s, other.start_s)
        return max(0.0, both) / max(self.end_s - self.start_s, 1e-6)


def confidence(ratio: float) -> float:
    """From how many times a measure exceeds its even point: 0.5 at 1, 0.8 at 2, towards 1."""
    return round(float(ratio**2 / (1 + ratio**2)), 3) if ratio > 0 else 0.0


def likely(*evidence: float) -> float:
    """The chance that goes with a sum of evidence, as logarithms of odds."""
    return round(float(1 / (1 + np.exp(-np.clip(sum(evidence), -20, 20)))), 3)


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Stretches `[a, b)` where a flag holds."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def best_stretch(evidence: Values) -> tuple[float, int, int]:
    """The stretch `[a, b)` with the largest sum."""
    sums = np.concatenate(([0.0], np.cumsum(evidence, dtype=np.float64)))
    lowest = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - lowest))
    start = int(np.flatnonzero(sums[: end + 1] == lowest[end])[-1])
    return float(sums[end] - lowest[end]), start, end
