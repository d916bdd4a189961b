"""What a camera does over a shot, from its steps. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from primitives._camera.names import Movement
from primitives._camera.steps import FITS, OWN, Steps
from primitives._camera.track import CELLS, Floats

_MAIN: tuple[Movement, ...] = ("pan", "tilt", "zoom", "roll")
_TRAVELLING: dict[Movement, Movement] = {"pan": "truck", "tilt": "boom", "zoom": "push"}
"""What a movement is called where near things move further than far ones: the camera itself travels."""
_WAYS = {
    "pan": ("right", "left"),
    "tilt": ("down", "up"),
    "zoom": ("out", "in"),
    "roll": ("clockwise", "counterclockwise"),
}
"""Where the camera goes, when the picture's figure is negative and positive: against what the picture does."""

MIN_SUPPORT = 0.3
MIN_CLEAR = 0.4
"""Share of the steps that must be clear for a shot to be judged."""
MIN_SPEED = 0.008
"""Picture heights a second that the points of a moving camera's picture move at least, on the whole."""
MIN_TRAVEL = 0.012
"""How far they move at least, in picture heights."""
MIN_DIRECT = 0.55
"""Share of all the way that leads somewhere: a hand goes back and forth."""
SHAKE = 0.004
"""How far a hand shakes the picture, in heights; a tripod does not."""
SWAY_SPEED = 0.03
"""How fast a hand that does not shake drifts to and fro."""
LONG_MOVE = 0.08
"""A way of so many heights in one go is meant, even if the camera comes back."""
ALSO = 0.35
"""A second movement is named from this share of the first on."""
PARALLAX: dict[Movement, float] = {"pan": 0.045, "tilt": 0.045, "zoom": 0.06}
"""Share of the points that move the camera's way but further or less far, from which on the camera travels. Ways are
shorter where the picture grows, so that subjects that move a little look alike."""
_SMOOTH_S = 0.25
_OVER_TIME = 5


@dataclass(frozen=True)
class Verdict:
    """What the camera does, and how surely."""

    movement: Movement
    direction: str | None = None
    confidence: float = 0.0
    also: tuple[str, ...] = ()
    pan_per_s: float = 0.0
    """Picture widths a second, positive to the right."""
    tilt_per_s: float = 0.0
    """Picture heights a second, positive up."""
    zoom_per_s: float = 0.0
    """Growth a second: 0.1 is ten per cent larger."""
    roll_deg_per_s: float = 0.0
    """How the camera turns, positive clockwise."""
    shake: float = 0.0
    """How far a hand shakes the picture, in heights (root of the mean square)."""
    speeds: tuple[tuple[float, float], ...] = ()
    """Times, and how fast the main movement was around them, in its own unit and direction."""
    own_box: tuple[float, float, float, float] | None = None
    """Where something moves on its own: x, y, width and height as shares of the picture."""


@dataclass(frozen=True, eq=False)
class _Course:
    """A shot's movement as points of the picture feel it: shift right and down, growth and turn, in heights."""

    flow: Floats
    """Per second."""
    trend: Floats
    """The same without what changes within a quarter of a second."""
    dt_s: Floats
    shake: float
    net: Floats = field(init=False)
    direct: Floats = field(init=False)

    def __post_init__(self) -> None:
        net = (self.flow * self.dt_s[:, None]).sum(axis=0)
        way = (np.abs(self.trend) * self.dt_s[:, None]).sum(axis=0)
        object.__setattr__(self, "net", net)
        object.__setattr__(self, "direct", np.abs(net) / np.maximum(way, 1e-9))

    @property
    def length_s(self) -> float:
        return float(self.dt_s.sum())


def judge(steps: Steps, times_s: Floats) -> Verdict:
    """The movement of one shot; `times_s` gives the time of each step's two frames."""
    clear = steps.support >= MIN_SUPPORT
    if clear.sum() < 2 or clear.mean() < MIN_CLEAR:
        return Verdict("unclear")
    dt_s = np.maximum(times_s[:, 1] - times_s[:, 0], 1e-3)
    radius = float(np.sqrt((steps.aspect**2 + 1) / 12))
    course = _course(steps.moves * np.array([1, 1, radius, radius]), dt_s, clear)
    main = int(np.abs(course.net).argmax())
    movement, sure = _named(course, main)
    seen = _seen_around(steps, clear)
    confidence = sure * float(np.median(steps.support[clear])) ** 0.5 * float(clear.mean()) * seen
    rates = course.net / course.length_s
    figures = Verdict(
        movement,
        confidence=round(confidence, 2),
        pan_per_s=_rounded(-rates[0] / steps.aspect),
        tilt_per_s=_rounded(rates[1]),
        zoom_per_s=_rounded(np.expm1(rates[2] / radius)),
        roll_deg_per_s=_rounded(-np.degrees(rates[3] / radius), 2),
        shake=_rounded(course.shake),
        own_box=_own_box(steps, clear),
    )
    if movement in ("static", "handheld"):
        return figures
    return _with_way(figures, course, main, steps, times_s, radius)


def _rounded(value: float, digits: int = 4) -> float:
    return round(float(value), digits) + 0.0


def _with_way(figures: Verdict, course: _Course, main: int, steps: Steps, times_s: Floats, radius: float) -> Verdict:
    """The verdict on a moving camera with direction, second movement, and speed over time."""
    kind = _MAIN[main]
    fast = np.abs(course.trend[:, main])
    moving = fast >= 0.5 * fast.max()
    depth = steps.parallax[moving & ~np.isnan(steps.parallax)]
    # A push grows the picture little by little, and depth shows in a few of its steps only.
    middle = np.mean if kind == "zoom" else np.median
    parallax = float(middle(depth)) if len(depth) else 0.0
    movement: Movement = _TRAVELLING[kind] if kind in _TRAVELLING and parallax > PARALLAX[kind] else kind
    also = [
        f"{_MAIN[other]} {_way(_MAIN[other], course.net[other])}"
        for other in np.argsort(-np.abs(course.net))[1:]
        if abs(course.net[other]) >= max(ALSO * abs(course.net[main]), MIN_TRAVEL)
        and course.direct[other] >= MIN_DIRECT
    ]
    unit = {"pan": -1 / steps.aspect, "tilt": 1.0, "zoom": 1 / radius, "roll": -np.degrees(1 / radius)}[kind]
    sign = np.sign(course.net[main]) * np.sign(unit)
    middles = times_s.mean(axis=1)
    parts = [part for part in np.array_split(np.arange(len(middles)), min(_OVER_TIME, len(middles))) if len(part)]
    speeds = tuple(
        (round(float(middles[part].mean()), 2), _rounded(sign * unit * course.trend[part, main].mean(), 3))
        for part in parts
    )
    to_and_fro = abs(course.net[main]) < 0.5 * _longest_run(course, main)
    direction = " and ".join(_WAYS[kind]) if to_and_fro else _way(kind, course.net[main])
    return replace(figures, movement=movement, direction=direction, also=tuple(also), speeds=speeds)


def _way(kind: Movement, amount: float) -> str:
    return _WAYS[kind][int(amount > 0)]


def _course(moves: Floats, dt_s: Floats, clear: NDArray[np.bool_]) -> _Course:
    flow = moves / dt_s[:, None]
    places = np.arange(len(flow))
    if not clear.all():
        flow = np.stack([np.interp(places, places[clear], column[clear]) for column in flow.T], axis=1)
    trend = _smoothed(flow, _SMOOTH_S / float(np.median(dt_s)))
    quick = np.cumsum((flow - trend) * dt_s[:, None], axis=0)
    shake = float(np.sqrt(((quick - quick.mean(axis=0)) ** 2).mean(axis=0).sum()))
    return _Course(flow, trend, dt_s, shake)


def _smoothed(values: Floats, sigma: float) -> Floats:
    """A running mean with a bell's weights; at the ends of what is there."""
    reach = min(round(4 * sigma), len(values) - 1)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(sigma, 1e-6)) ** 2)

    def spread(column: Floats) -> Floats:
        return np.convolve(column, bell)[reach : reach + len(column)]

    there = spread(np.ones(len(values)))
    return np.stack([spread(column) / there for column in values.T], axis=1)


def _named(course: _Course, main: int) -> tuple[Movement, float]:
    """The movement without looking at depth, and how sure that is by the figures alone."""
    amount, speed = abs(course.net[main]), abs(course.net[main]) / course.length_s
    least = max(MIN_SPEED * course.length_s, MIN_TRAVEL, 1.5 * course.shake)
    moves = amount >= least and course.direct[main] >= MIN_DIRECT
    if moves or _longest_run(course, main) >= max(LONG_MOVE, 6 * course.shake):
        others = np.delete(np.abs(course.net), main)
        clear_lead = 1 - 0.5 * float(others.max() / max(amount, 1e-9)) ** 2 if moves else 0.5
        return _MAIN[main], _sure(amount / least if moves else 1.5) * max(0.3, clear_lead)
    drift = float(np.sqrt((course.trend**2).sum(axis=1).mean()))
    restless = max(course.shake / SHAKE, drift / SWAY_SPEED)
    if restless >= 1:
        return "handheld", _sure(restless)
    return "static", _sure(1 / max(restless, speed / MIN_SPEED * 0.7, 1e-3))


def _sure(ratio: float) -> float:
    """From how far past its limit a figure lies: half sure at the limit."""
    return float(1 - 0.5 / max(ratio, 1.0) ** 1.5)


def _longest_run(course: _Course, main: int) -> float:
    """The longest way in one direction."""
    way = course.trend[:, main] * course.dt_s
    starts = np.flatnonzero(np.diff(np.sign(way), prepend=0.0))
    return float(np.abs(np.add.reduceat(way, starts)).max()) if len(starts) else 0.0


def _grid(steps: Steps) -> NDArray[np.uint8]:
    return steps.cells.reshape(-1, CELLS[1], CELLS[0])


def _seen_around(steps: Steps, clear: NDArray[np.bool_]) -> float:
    """Whether the movement shows on all sides of the picture, from 0.4 (on one only) to 1."""
    fits = (_grid(steps)[clear] == FITS).mean(axis=0)
    third_w, third_h = CELLS[0] // 3, CELLS[1] // 3
    sides = [fits[:, :third_w], fits[:, -third_w:], fits[:third_h], fits[-third_h:]]
    return 0.4 + 0.6 * sum(bool(side.sum() >= 2) for side in sides) / len(sides)


def _own_box(steps: Steps, clear: NDArray[np.bool_]) -> tuple[float, float, float, float] | None:
    """Where points keep moving otherwise than the camera."""
    grid = _grid(steps)[clear]
    there = (grid > 0).sum(axis=0)
    own = ((grid == OWN).sum(axis=0) >= 0.4 * np.maximum(there, 1)) & (there >= 0.3 * len(grid))
    if own.sum() < 3:
        return None
    rows, columns = np.flatnonzero(own.any(axis=1)), np.flatnonzero(own.any(axis=0))
    left, top = columns[0] / CELLS[0], rows[0] / CELLS[1]
    width, height = (columns[-1] + 1) / CELLS[0] - left, (rows[-1] + 1) / CELLS[1] - top
    return round(left, 2), round(top, 2), round(width, 2), round(height, 2)
