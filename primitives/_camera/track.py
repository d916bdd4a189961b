"""How a picture moves from one frame to the next: points followed, and the one movement that the camera explains.

Coordinates are those of the screen in picture heights, the middle is the origin, x points right and y down; a point is
one complex number. A camera that turns, zooms and rolls moves every point `z` to `growth * z + shift`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
Points = NDArray[np.complex128]
Floats = NDArray[np.float64]

WIDEST_PX = 360
"""Pictures are halved until they are no wider."""
CELLS = (16, 10)
"""One point a cell, across and down: points lie all over the picture, not where most of the detail is."""
MIN_POINTS = 12
_LEAST_CORNER = 2e-5
"""Smallest change of grey (in both directions) by which a place can be followed, as OpenCV measures it."""
_WINDOW_PX, _LEVELS = 11, 3
_LEAST_PX = 30
"""Smaller pictures show too little."""
_TRIES = 64
_NEAR_PX = 0.6
_NEAR_SHARE = 0.04
"""A point fits a movement when it lands this near: some pixels, and some of how far it went."""
_RIM = 0.22
_RIM_WEIGHT = 3.0
"""Points near the picture's edge show the surroundings more often than the subject, and count for more."""
_STILL_ENOUGH = 0.6
"""A camera that stands still is believed from this share of the best support on: then the rest is subjects."""
_BAR_GREY, _BAR_SPREAD = 30, 12
_LEAST_WAY_PX, _LEAST_SUPPORT = 4.0, 0.3
"""How far the camera must move the picture, and how surely, for depth to show."""


@dataclass(frozen=True, eq=False)
class Step:
    """What happened between two pictures."""

    growth: complex
    """How much larger (size) and turned (angle, clockwise on the screen) the picture got."""
    shift: complex
    """How far its middle went."""
    support: float
    """Share of the points, by weight, that move as the camera says; 0 where nothing could be followed."""
    parallax: float
    """Share of the points that go the camera's way, but further or less far, in the quarter of the picture with the
    second fewest of them; nan where it was not looked at."""
    points: Points
    ends: Points
    fits: NDArray[np.bool_]
    """Of each point, whether it moves with the camera."""


def lost() -> Step:
    """Nothing could be followed."""
    none = np.zeros(0, np.complex128)
    return Step(1 + 0j, 0j, 0.0, math.nan, none, none, np.zeros(0, np.bool_))


def shrink(luma: Grey, widest_px: int = WIDEST_PX) -> Grey:
    """The picture, halved until it is small: averaging by two is what costs least."""
    while luma.shape[1] > widest_px and min(luma.shape) >= 32:
        height, width = luma.shape[0] // 2, luma.shape[1] // 2
        luma = np.asarray(cv2.resize(luma[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA))
    return np.array(luma)


def follow(before: Grey, after: Grey, pixel_aspect: float = 1.0, guess: tuple[complex, complex] | None = None) -> Step:
    """The camera's movement between two small pictures of one size.

    With a guess of growth and shift the pictures may lie further apart, and depth is looked at.
    """
    if before.shape != after.shape or min(before.shape) < _LEAST_PX:
        return lost()
    places = corners(before)
    if len(places) < MIN_POINTS:
        return lost()
    height, width = before.shape
    aspect, pixel = width / height * pixel_aspect, 1 / height
    points = _on_screen(places, before.shape, pixel_aspect)
    near = points if guess is None else guess[0] * points + guess[1]
    found, status, _ = cv2.calcOpticalFlowPyrLK(
        before,
        after,
        places.reshape(-1, 1, 2),
        _in_picture(near, before.shape, pixel_aspect).reshape(-1, 1, 2),
        winSize=(_WINDOW_PX, _WINDOW_PX),
        maxLevel=_LEVELS if guess is None else _LEVELS - 1,
        criteria=(cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 10, 0.03),
        flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
    )
    there = np.asarray(found, np.float32).reshape(-1, 2)
    inside = (there >= 0).all(axis=1) & (there[:, 0] < width) & (there[:, 1] < height)
    kept = (np.asarray(status).ravel() == 1) & inside
    if kept.sum() < MIN_POINTS:
        return lost()
    step = explain(points[kept], _on_screen(there[kept], before.shape, pixel_aspect), aspect, pixel)
    return step if guess is None else replace(step, parallax=parallax(step, pixel))


def _on_screen(places_px: NDArray[np.float32], shape: tuple[int, ...], pixel_aspect: float) -> Points:
    x = (places_px[:, 0] + 0.5 - shape[1] / 2) / shape[0] * pixel_aspect
    y = (places_px[:, 1] + 0.5 - shape[0] / 2) / shape[0]
    return np.asarray(x + 1j * y, np.complex128)


def _in_picture(points: Points, shape: tuple[int, ...], pixel_aspect: float) -> NDArray[np.float32]:
    x = points.real * shape[0] / pixel_aspect + shape[1] / 2 - 0.5
    y = points.imag * shape[0] + shape[0] / 2 - 0.5
    return np.ascontiguousarray(np.stack([x, y], axis=1), np.float32)


def corners(picture: Grey) -> NDArray[np.float32]:
    """The place of each cell that can be followed best, where one can; not in black bars nor at their edges."""
    left, top, right, bottom = _without_bars(picture)
    margin = _WINDOW_PX // 3
    left, top, right, bottom = left + margin, top + margin, right - margin, bottom - margin
    columns, rows = CELLS
    cell_w, cell_h = (right - left) // columns, (bottom - top) // rows
    if cell_w < 2 or cell_h < 2:
        return np.zeros((0, 2), np.float32)
    strength = cv2.cornerMinEigenVal(picture, 5)
    part = strength[top : top + rows * cell_h, left : left + columns * cell_w]
    cells = part.reshape(rows, cell_h, columns, cell_w).transpose(0, 2, 1, 3).reshape(rows * columns, -1)
    best = cells.argmax(axis=1)
    row, column = np.divmod(np.arange(rows * columns), columns)
    x, y = left + column * cell_w + best % cell_w, top + row * cell_h + best // cell_w
    peak = cells[np.arange(len(cells)), best]
    kept = peak > max(_LEAST_CORNER, 0.002 * float(peak.max()))
    return np.asarray(np.stack([x, y], axis=1)[kept], np.float32)


def _without_bars(picture: Grey) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what lies between black bars."""
    bounds = []
    for axis in (0, 1):
        lines = (picture if axis else picture.T)[:, ::4]
        dark = lines.max(axis=1).astype(np.int16) - lines.min(axis=1) < _BAR_SPREAD
        dark &= lines[:, 0] < _BAR_GREY
        bright = np.flatnonzero(~dark)
        bounds.append((int(bright[0]), int(bright[-1]) + 1) if len(bright) else (0, len(lines)))
    return bounds[0][0], bounds[1][0], bounds[0][1], bounds[1][1]


def explain(points: Points, ends: Points, aspect: float, pixel: float) -> Step:
    """The movement that most of the points agree on, those at the picture's edge before others. Pure."""
    rim = (np.abs(points.real) > (0.5 - _RIM) * aspect) | (np.abs(points.imag) > 0.5 - _RIM)
    weights = np.where(rim, _RIM_WEIGHT, 1.0)
    reach = _NEAR_PX * pixel + _NEAR_SHARE * np.abs(ends - points)
    growths, shifts = _guesses(points, ends)
    off = np.abs(growths[:, None] * points + shifts[:, None] - ends)
    support = (off < reach) @ weights
    best = int(support.argmax())
    if support[0] >= _STILL_ENOUGH * support[best]:
        best = 0
    growth, shift = complex(growths[best]), complex(shifts[best])
    fits = off[best] < reach
    for _ in range(2):
        if fits.sum() < 3:
            break
        growth, shift = _fit(points[fits], ends[fits], weights[fits])
        fits = np.abs(growth * points + shift - ends) < reach
    share = float(weights[fits].sum() / weights.sum())
    return Step(growth, shift, share, math.nan, points, ends, fits)


def _guesses(points: Points, ends: Points) -> tuple[Points, Points]:
    """Movements that pairs of points would mean; the first is none at all."""
    chance = np.random.default_rng(len(points))
    one, other = chance.integers(0, len(points), (2, _TRIES))
    apart = points[other] - points[one]
    usable = np.abs(apart) > 0.2
    one, other, apart = one[usable], other[usable], apart[usable]
    growths = (ends[other] - ends[one]) / apart
    shifts = ends[one] - growths * points[one]
    return np.append(1 + 0j, growths), np.append(0j, shifts)


def _fit(points: Points, ends: Points, weights: Floats) -> tuple[complex, complex]:
    """Least squares."""
    total = weights.sum()
    middle, middle_end = (weights * points).sum() / total, (weights * ends).sum() / total
    from_middle = points - middle
    spread = float((weights * np.abs(from_middle) ** 2).sum())
    growth = (weights * from_middle.conj() * (ends - middle_end)).sum() / max(spread, 1e-9)
    return complex(growth), complex(middle_end - growth * middle)


def parallax(step: Step, pixel: float) -> float:
    """Which share of the points, all over the picture, goes the way of the camera but not as far as turning explains.

    A camera that turns moves near and far things alike, up to a bend towards the picture's edge; one that travels moves
    near things further. Points that go another way are subjects and left out.
    """
    went = step.ends - step.points
    turned, fits = step.growth * step.points + step.shift - step.points, step.fits
    if step.support < _LEAST_SUPPORT:
        return math.nan
    ways = _ways_of_turning(step.points)
    for _ in range(3):
        if fits.sum() < MIN_POINTS:
            return math.nan
        chosen = np.concatenate([ways[fits].real, ways[fits].imag])
        solved, *_ = np.linalg.lstsq(chosen, np.concatenate([went[fits].real, went[fits].imag]), rcond=None)
        turned = ways @ solved
        fits = np.abs(went - turned) < _NEAR_PX * pixel + 0.1 * np.abs(turned)
    way = np.abs(turned)
    moving = way > max(_LEAST_WAY_PX * pixel, 0.4 * float(np.median(way)))
    along = went[moving] * turned[moving].conj() / way[moving] ** 2
    noise = pixel / way[moving]
    same_way = (np.abs(along.imag) < 0.1 + noise) & (np.abs(along.real - 1) < 3)
    if same_way.sum() < 2 * MIN_POINTS:
        return math.nan
    uneven = np.abs(along.real - 1)[same_way] > 0.12 + noise[same_way]
    # A subject that goes the camera's way is in one place, near things are all over the picture.
    places = step.points.real[moving][same_way]
    quarters = np.array_split(uneven[np.argsort(places)], 4)
    return float(sorted(quarter.mean() for quarter in quarters)[1])


def _ways_of_turning(points: Points) -> Points:
    """What shift, growth, turn and the bends of a pan and a tilt do to points: a column each."""
    x, y = points.real, points.imag
    one = np.ones_like(points)
    return np.stack([one, 1j * one, points, 1j * points, x * x + 1j * x * y, x * y + 1j * y * y], axis=1)
