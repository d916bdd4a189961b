"""The choice of a colour map by measuring: fit on some frames, judge on the others, take the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from primitives._colour.fit import (
    ColourMap,
    Evidence,
    Fit,
    Samples,
    fit_affine,
    fit_curve,
    fit_mkl,
    fit_poly,
    fit_reinhard,
    identity,
    joined,
    then_curve,
)

MAX_ROWS = 40_000
CLEARLY_DB = 0.4
"""What another method must gain over the safe one on frames that neither has seen."""
SAFE_ALIGNED, SAFE_OTHERWISE = "poly", "mkl_curve"

METHODS: dict[str, Fit] = {
    "reinhard": fit_reinhard,
    "mkl": fit_mkl,
    "curve": fit_curve,
    "mkl_curve": then_curve(fit_mkl),
    "poly": then_curve(fit_poly),
    "affine": then_curve(fit_affine),
}
NEED_ALIGNED = frozenset({"poly", "affine"})


@dataclass(frozen=True, eq=False)
class Choice:
    """The map that was taken, and what each method reached on frames that it had not seen."""

    method: str
    change: ColourMap
    scores_db: dict[str, float]
    before_db: float
    after_db: float


def choose(evidence: Sequence[Evidence], method: str | None, check: Callable[[], None]) -> Choice:
    """The best of the methods, or the asked one, fitted on everything and judged on held-out parts."""
    aligned = all(part.aligned for part in evidence)
    names = [name for name in METHODS if aligned or name not in NEED_ALIGNED] if method is None else [method]
    parts = [thinned(part, MAX_ROWS // len(evidence)) for part in evidence]
    before = _score([identity() for _ in parts], parts)
    scores = {name: _held_out(METHODS[name], parts, check) for name in names}
    safe = method or (SAFE_ALIGNED if aligned else SAFE_OTHERWISE)
    best = max(names, key=lambda name: scores[name] + CLEARLY_DB * (name == safe))
    return Choice(best, METHODS[best](joined(parts)), scores, before, scores[best])


def thinned(part: Evidence, rows: int) -> Evidence:
    """Every n-th row, so that a fit costs the same on any film."""
    step_x, step_y = (max(1, len(side) // max(1, rows)) for side in (part.x, part.y))
    return Evidence(part.x[::step_x], part.y[::step_y], part.aligned)


def _held_out(fit: Fit, parts: Sequence[Evidence], check: Callable[[], None]) -> float:
    """Each part judged by the map that the others give; a single part by its two halves."""
    if len(parts) == 1:
        half = len(parts[0].x) // 2, len(parts[0].y) // 2
        parts = [
            Evidence(parts[0].x[: half[0]], parts[0].y[: half[1]], parts[0].aligned),
            Evidence(parts[0].x[half[0] :], parts[0].y[half[1] :], parts[0].aligned),
        ]
    maps = []
    for held in parts:
        check()
        maps.append(fit(joined([part for part in parts if part is not held])))
    return _score(maps, parts)


def _score(maps: Sequence[ColourMap], parts: Sequence[Evidence]) -> float:
    errors = [distance(np.clip(change(part.x), 0, 1), part) for change, part in zip(maps, parts, strict=True)]
    return round(float(-10 * np.log10(max(float(np.mean(errors)), 1e-7))), 2)


def distance(x: Samples, part: Evidence) -> float:
    """Mean squared distance: point by point where aligned (the worst 2 % left out: motion), else by distribution."""
    if part.aligned:
        error = ((x - part.y) ** 2).mean(axis=1)
        return float(np.sort(error)[: max(1, len(error) * 49 // 50)].mean())
    return _by_distribution(x, part.y)


_DIRECTIONS = np.array(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, -1, 0], [0, 1, -1], [1, 0, -1], [1, -2, 1]], dtype=np.float32
)


def _by_distribution(x: Samples, y: Samples) -> float:
    """Squared Wasserstein distance along a few directions of colour space."""
    shares = (np.arange(256) + 0.5) / 256
    unit = _DIRECTIONS / np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)
    a, b = np.quantile(x @ unit.T, shares, axis=0), np.quantile(y @ unit.T, shares, axis=0)
    return float(((a - b) ** 2).mean())
