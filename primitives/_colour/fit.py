"""Colour maps fitted from samples of the broken picture (`x`) and of the reference (`y`).

Samples are RGB rows from 0 to 1. Aligned samples show the same point of the scene row by row; the others only
share their distribution, which is all that the statistical methods look at. The polynomials need aligned ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
CURVE_KNOTS = 33
_RIDGE = 1e-4
"""Pull of the quadratic terms towards zero: colours that the samples lack must not run away."""
_CURVE_PULL = 0.02
"""Share of the samples that a curve needs around a level before it follows them."""
_ROUNDS = 6
_BLACK, _WHITE = 2 / 255, 253 / 255
LEAST_ROWS = 200
_SWALLOWED = 0.25
"""How far a clipped point may lie from where a smooth map puts it."""


class ColourMap(Protocol):
    """A change of colour: RGB rows in, RGB rows out, not clipped."""

    def __call__(self, rgb: Samples) -> Samples: ...


@dataclass(frozen=True, eq=False)
class Evidence:
    """Samples inside (`x`) and outside (`y`) a range; aligned ones show the same points, row by row."""

    x: Samples
    y: Samples
    aligned: bool

    @property
    def unclipped(self) -> Evidence:
        """Without the points that black or white swallowed on one side only."""
        if not self.aligned:
            return self
        blown = ((self.x >= _WHITE) | (self.y >= _WHITE)).any(axis=1)
        crushed = ((self.x <= _BLACK) != (self.y <= _BLACK)).any(axis=1)
        keep = ~blown & ~crushed
        return Evidence(self.x[keep], self.y[keep], True) if keep.sum() >= LEAST_ROWS else self

    def through(self, change: ColourMap) -> Evidence:
        """The same samples after a change of the broken side."""
        return Evidence(change(self.x), self.y, self.aligned)


def joined(parts: Sequence[Evidence]) -> Evidence:
    x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
    return Evidence(x, y, all(part.aligned for part in parts))


Fit = Callable[[Evidence], ColourMap]


@dataclass(frozen=True, eq=False)
class Linear:
    """`rgb @ matrix + offset`."""

    matrix: NDArray[np.float32]
    offset: NDArray[np.float32]

    def __call__(self, rgb: Samples) -> Samples:
        return np.asarray(rgb @ self.matrix + self.offset, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A weighted sum of products of the channels."""

    weights: NDArray[np.float32]

    def __call__(self, rgb: Samples) -> Samples:
        return np.asarray(_features(rgb, len(self.weights)) @ self.weights, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Curves:
    """One curve per channel, straight between knots and going on straight beyond them."""

    knots: NDArray[np.float32]
    values: NDArray[np.float32]

    def __call__(self, rgb: Samples) -> Samples:
        return np.stack([self._channel(rgb[:, channel], self.values[channel]) for channel in range(3)], axis=1)

    def _channel(self, level: Samples, values: Samples) -> Samples:
        inside = np.interp(level, self.knots, values)
        return (inside + np.minimum(level, 0) + np.maximum(level - 1, 0)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Chain:
    """One map after another."""

    steps: Sequence[ColourMap]

    def __call__(self, rgb: Samples) -> Samples:
        for step in self.steps:
            rgb = step(rgb)
        return rgb


def identity() -> Linear:
    return Linear(np.eye(3, dtype=np.float32), np.zeros(3, dtype=np.float32))


def fit_reinhard(evidence: Evidence) -> ColourMap:
    """Mean and spread of brightness and of two colour differences, each on its own."""
    x, y = evidence.unclipped.x, evidence.unclipped.y
    to_opponent = np.array([[0.2126, 0.7152, 0.0722], [-0.1146, -0.3854, 0.5], [0.5, -0.4542, -0.0458]]).T
    back = np.linalg.inv(to_opponent)
    u, v = x @ to_opponent, y @ to_opponent
    scale = np.clip(v.std(axis=0) / np.maximum(u.std(axis=0), 1e-3), 0.2, 5.0)
    matrix = to_opponent @ np.diag(scale) @ back
    return Linear(matrix.astype(np.float32), (y.mean(axis=0) - x.mean(axis=0) @ matrix).astype(np.float32))


def fit_mkl(evidence: Evidence) -> ColourMap:
    """The linear map of least movement that carries mean and covariance over (Monge-Kantorovich)."""
    x, y = evidence.unclipped.x, evidence.unclipped.y
    floor = 1e-6 * np.eye(3)
    cov_x, cov_y = np.cov(x, rowvar=False) + floor, np.cov(y, rowvar=False) + floor
    root = _power(cov_x, 0.5)
    inverse = _power(cov_x, -0.5)
    matrix = inverse @ _power(root @ cov_y @ root, 0.5) @ inverse
    return Linear(matrix.astype(np.float32), (y.mean(axis=0) - x.mean(axis=0) @ matrix).astype(np.float32))


def _power(matrix: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 1e-9) ** exponent) @ vectors.T)


def fit_curve(evidence: Evidence) -> ColourMap:
    """A rising curve per channel that carries the histogram over; where samples are few it runs on in parallel."""
    x, y = evidence.x, evidence.y
    knots = np.linspace(0, 1, CURVE_KNOTS, dtype=np.float32)
    return Curves(knots, np.stack([_matched(x[:, c], y[:, c], knots) for c in range(3)]))


def _matched(x: Samples, y: Samples, knots: Samples) -> Samples:
    shares = (np.arange(512) + 0.5) / 512
    quantiles_x, quantiles_y = np.quantile(x, shares), np.quantile(y, shares)
    shift = quantiles_y - quantiles_x
    width = knots[1] - knots[0]
    near = np.maximum(0, 1 - np.abs(quantiles_x[None] - knots[:, None]) / width)
    support = near.sum(axis=1) / len(shares)
    local = (near @ shift) / np.maximum(near.sum(axis=1), 1e-9)
    # Levels without samples take the shift of the nearest ones that have some.
    known = support > _CURVE_PULL * width
    if not known.any():
        return (knots + np.float32(shift.mean())).astype(np.float32)
    filled = np.interp(knots, knots[known], local[known])
    return np.maximum.accumulate(knots + filled).astype(np.float32)


def fit_affine(evidence: Evidence) -> ColourMap:
    """Least squares over aligned samples, deaf to those that do not belong together."""
    clear = evidence.unclipped
    return Polynomial(_robust(_features(clear.x, 4), clear.y, ridge_from=4))


def fit_poly(evidence: Evidence) -> ColourMap:
    """A polynomial of second order over aligned samples."""
    clear = evidence.unclipped
    return Polynomial(_robust(_features(clear.x, 10), clear.y, ridge_from=4))


def _features(rgb: Samples, count: int) -> Samples:
    r, g, b = rgb[:, 0], rgb[:, 1], rgb[:, 2]
    one = np.ones_like(r)
    columns = [r, g, b, one] if count == 4 else [r, g, b, one, r * r, g * g, b * b, r * g, g * b, r * b]
    return np.stack(columns, axis=1)


def _robust(features: Samples, y: Samples, ridge_from: int) -> NDArray[np.float32]:
    pull = np.zeros(features.shape[1])
    pull[ridge_from:] = _RIDGE * len(features)
    weight = np.ones(len(features), dtype=np.float64)
    solution: NDArray[np.floating[Any]] = np.zeros((features.shape[1], 3))
    for _ in range(_ROUNDS):
        weighted = features * weight[:, None]
        gram = weighted.T @ features + np.diag(pull) + 1e-6 * np.eye(features.shape[1])
        solution = np.linalg.solve(gram, weighted.T @ y)
        error = np.linalg.norm(y - features @ solution, axis=1)
        scale = max(float(np.median(error)) * 3.0, 2e-3)
        weight = np.clip(1 - (error / scale) ** 2, 0, 1) ** 2
    return solution.astype(np.float32)


def then_curve(fit: Fit) -> Fit:
    """A fit, and curves for what it leaves over (gamma, swallowed highlights)."""

    def both(evidence: Evidence) -> ColourMap:
        first = fit(evidence)
        return Chain([first, fit_curve(evidence.through(first))])

    return both


def belonging(evidence: Evidence) -> Evidence:
    """Without rows that no smooth map explains: things that moved, appeared or vanished between the two pictures."""
    smooth = fit_poly(evidence)
    error = np.abs(np.clip(smooth(evidence.x), 0, 1) - evidence.y).max(axis=1)
    clipped = ((evidence.x >= _WHITE) | (evidence.x <= _BLACK)).any(axis=1)
    limit = np.where(clipped, _SWALLOWED, max(3 * float(np.median(error)), 4 / 255))
    keep = error < limit
    return Evidence(evidence.x[keep], evidence.y[keep], True)
