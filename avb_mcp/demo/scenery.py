"""Drawn scenery for the demo's film: layers at different depths, with texture, lit by the time of day.

A layer is a picture larger than the screen, with transparency; colours are already multiplied by it. Everything is
drawn from a seed, so that the film is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

WORLD_PX = (1120, 500)
"""Width and height of a layer; the screen sees 640 x 360 of its middle."""
HORIZON_PX = 292

Pixels = npt.NDArray[np.uint8]
Grey = npt.NDArray[np.float32]
Bgr = tuple[float, float, float]
Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Layer:
    """A picture with transparency (BGRA, premultiplied), and how much of the camera's move it makes."""

    picture: Pixels
    depth: float
    """0 is infinitely far, 1 moves as the camera does, more is nearer still."""
    glows: bool = False
    """Lit from inside: shown as far as it is dark."""


class Canvas:
    """A layer being drawn."""

    def __init__(self, seed: int) -> None:
        width, height = WORLD_PX
        self.rng = np.random.default_rng(seed)
        self.colour = np.zeros((height, width, 3), np.float32)
        self.alpha = np.zeros((height, width), np.float32)

    def paint(self, mask: Grey, colour: Bgr, texture: Grey | None = None, corner: tuple[int, int] = (0, 0)) -> None:
        """Lay a colour over what is there, by a mask from 0 to 1 whose upper left corner is at `corner`."""
        left, top = corner
        part = (slice(top, top + mask.shape[0]), slice(left, left + mask.shape[1]))
        shade = np.float32(1.0) if texture is None else (1.0 + texture[part])[..., None]
        self.colour[part] += mask[..., None] * (np.asarray(colour, np.float32) * shade - self.colour[part])
        self.alpha[part] += mask * (1 - self.alpha[part])

    def shape(self, points: Sequence[Point], colour: Bgr, texture: Grey | None = None) -> None:
        fixed, corner, mask = _patch(points, 2)
        cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, shift=4)
        self.paint(_shares(mask), colour, texture, corner)

    def disc(self, centre: Point, radius_px: float, colour: Bgr, texture: Grey | None = None) -> None:
        fixed, corner, mask = _patch([centre], radius_px + 2)
        at = (int(fixed[0, 0]), int(fixed[0, 1]))
        cv2.circle(mask, at, round(radius_px * 16), 255, -1, cv2.LINE_AA, shift=4)
        self.paint(_shares(mask), colour, texture, corner)

    def line(self, points: Sequence[Point], width_px: int, colour: Bgr) -> None:
        fixed, corner, mask = _patch(points, width_px + 2)
        cv2.polylines(mask, [fixed], False, 255, width_px, cv2.LINE_AA, shift=4)
        self.paint(_shares(mask), colour, None, corner)

    def layer(self, depth: float, *, glows: bool = False) -> Layer:
        whole = np.dstack([np.minimum(self.colour, 255 * self.alpha[..., None]), self.alpha * 255])
        return Layer(np.clip(whole, 0, 255).astype(np.uint8), depth, glows)


def _patch(points: Sequence[Point], margin_px: float) -> tuple[npt.NDArray[np.int32], tuple[int, int], Pixels]:
    """An empty mask just large enough for the points, its corner in the world, and the points in it (1/16 px)."""
    given = np.asarray(points, np.float32)
    low = np.clip(np.floor(given.min(axis=0) - margin_px), 0, WORLD_PX).astype(int)
    high = np.clip(np.ceil(given.max(axis=0) + margin_px), 0, WORLD_PX).astype(int)
    mask = np.zeros((int(high[1] - low[1]), int(high[0] - low[0])), np.uint8)
    return np.round((given - low) * 16).astype(np.int32), (int(low[0]), int(low[1])), mask


def _shares(mask: Pixels) -> Grey:
    """0 to 255 as 0 to 1."""
    return np.asarray(mask.astype(np.float32) / 255, np.float32)


def clouds_of(rng: np.random.Generator, stretch: float = 1.0, finest: int = 6) -> Grey:
    """Noise of many sizes, about -1 to 1; `stretch` makes it wider than high."""
    width, height = WORLD_PX
    total = np.zeros((height, width), np.float32)
    for octave in range(1, finest + 1):
        cells = (max(2, int(2**octave * width / height / stretch)), 2**octave + 1)
        noise = rng.normal(0, 1, cells[::-1]).astype(np.float32)
        total += cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC) * np.float32(0.62**octave)
    return np.asarray(total / max(1e-6, float(np.abs(total).max())), np.float32)


def ridge(rng: np.random.Generator, base_px: float, height_px: float, rough: int = 5) -> list[Point]:
    """The outline of hills, closed along the bottom of the world."""
    width, height = WORLD_PX
    along = np.linspace(0, 1, 161)
    line = np.zeros_like(along)
    for octave in range(1, rough + 1):
        line += np.sin(2 * np.pi * (octave * 0.9 * along + rng.uniform())) * rng.uniform(0.5, 1.0) / octave**1.35
    tops = base_px - height_px * (0.5 + 0.5 * line / np.abs(line).max())
    return [(0, height), *zip((along * width).tolist(), tops.tolist(), strict=True), (width, height)]


# ---- the parts of scenes


def sky_clouds(seed: int) -> Layer:
    canvas = Canvas(seed)
    puffs = np.clip(clouds_of(canvas.rng, 2.6) * 2.2 - 0.25, 0, 1)
    fade = np.linspace(1, 0, WORLD_PX[1], dtype=np.float32)[:, None] ** 0.7
    canvas.paint(np.asarray(puffs * fade * 0.75, np.float32), (255, 255, 255))
    return canvas.layer(0.12)


def hills(seed: int, base_px: float, height_px: float, colour: Bgr, depth: float) -> Layer:
    canvas = Canvas(seed)
    grain = clouds_of(canvas.rng, 1.5, 8) * np.float32(0.55)
    canvas.shape(ridge(canvas.rng, base_px, height_px), colour, grain)
    return canvas.layer(depth)


def water(seed: int, colour: Bgr, depth: float = 0.55) -> Layer:
    """Sea up to the horizon: long ripples that get finer towards it."""
    canvas = Canvas(seed)
    width, height = WORLD_PX
    rows = np.arange(HORIZON_PX, height)
    ripples = clouds_of(canvas.rng, 9.0, 8)
    near = ((rows - HORIZON_PX) / (height - HORIZON_PX)).astype(np.float32)
    source = (near**0.6 * (height - 1)).astype(np.float32)
    map_x, map_y = np.meshgrid(np.arange(width, dtype=np.float32), source)
    bent = cv2.remap(ripples, map_x, map_y, cv2.INTER_LINEAR)
    texture = np.zeros((height, width), np.float32)
    texture[HORIZON_PX:] = bent * 0.5 + near[:, None] * -0.25
    mask = np.zeros((height, width), np.float32)
    mask[HORIZON_PX:] = 1.0
    canvas.paint(mask, colour, texture)
    return canvas.layer(depth)


def houses(seed: int, base_px: float, depth: float) -> tuple[Layer, Layer]:
    """A row of houses, and the light in their windows."""
    canvas, lights = Canvas(seed), Canvas(seed)
    rng = canvas.rng
    grain = clouds_of(rng, 0.8, 8) * np.float32(0.25)
    walls: list[Bgr] = [(120, 150, 200), (170, 185, 205), (110, 130, 170), (150, 170, 150), (95, 110, 190)]
    x = 20.0
    while x < WORLD_PX[0] - 80:
        wide, high = rng.uniform(46, 84), rng.uniform(48, 104)
        top = base_px - high
        canvas.shape([(x, base_px), (x, top), (x + wide, top), (x + wide, base_px)], walls[int(rng.integers(5))], grain)
        roof = [(x - 6, top), (x + wide / 2, top - rng.uniform(22, 40)), (x + wide + 6, top)]
        canvas.shape(roof, (60, 70, 150 + rng.uniform(-30, 30)), grain)
        for row in range(int(high // 32)):
            for column in range(int(wide // 24)):
                left, up = x + 9 + column * 24, top + 10 + row * 32
                pane = [(left, up), (left + 11, up), (left + 11, up + 15), (left, up + 15)]
                canvas.shape(pane, (96, 76, 60))
                if rng.uniform() < 0.7:
                    lights.shape(pane, (90, 190, 255))
        x += wide + rng.uniform(6, 60)
    return canvas.layer(depth), lights.layer(depth, glows=True)


def trees(seed: int, base_px: float, count: int, colour: Bgr, depth: float) -> Layer:
    canvas = Canvas(seed)
    grain = clouds_of(canvas.rng, 1.0, 8) * np.float32(0.8)
    for x in np.sort(canvas.rng.uniform(0, WORLD_PX[0], count)):
        high = canvas.rng.uniform(46, 92)
        canvas.line([(x, base_px), (x, base_px - high * 0.7)], 5, (44, 62, 84))
        for _ in range(5):
            dx, dy = canvas.rng.uniform(-0.3, 0.3) * high, canvas.rng.uniform(0.5, 1.0) * high
            canvas.disc((x + dx, base_px - dy), high * canvas.rng.uniform(0.16, 0.28), colour, grain)
    return canvas.layer(depth)


def lighthouse(seed: int, x: float, base_px: float, size: float, depth: float) -> tuple[Layer, Layer]:
    canvas, lamp = Canvas(seed), Canvas(seed)
    grain = clouds_of(canvas.rng, 0.6, 8) * np.float32(0.15)
    rock = [(x - 1.3 * size, base_px + 30), (x - 0.7 * size, base_px - 16), (x + 0.6 * size, base_px - 22)]
    canvas.shape([*rock, (x + 1.6 * size, base_px + 34)], (84, 98, 110), clouds_of(canvas.rng, 1, 8))
    top = base_px - 2.2 * size
    for stripe in range(5):
        upper, lower = (base_px - 10 + (top - base_px) * share / 5 for share in (stripe + 1, stripe))
        wide = [size * (0.26 - 0.026 * (stripe + step)) for step in (1, 0)]
        tower = [(x - wide[1], lower), (x - wide[0], upper), (x + wide[0], upper), (x + wide[1], lower)]
        canvas.shape(tower, (52, 52, 196) if stripe % 2 else (232, 236, 238), grain)
    crown = top - 8
    canvas.shape([(x - 0.16 * size, crown), (x, crown - 0.3 * size), (x + 0.16 * size, crown)], (40, 44, 120))
    rows, columns = np.ogrid[: WORLD_PX[1], : WORLD_PX[0]]
    away = np.hypot(rows - crown, columns - x) / size
    lamp.paint(np.asarray(0.7 * np.clip(1 - away, 0, 1) ** 2.5, np.float32), (150, 225, 255))
    lamp.disc((x, crown + 2), size * 0.14, (190, 245, 255))
    return canvas.layer(depth), lamp.layer(depth, glows=True)


def meadow(seed: int, base_px: float, colour: Bgr, depth: float) -> Layer:
    """Near ground with blades of grass and flowers."""
    canvas = Canvas(seed)
    rng = canvas.rng
    canvas.shape(ridge(rng, base_px, 26, 3), colour, clouds_of(rng, 1.4, 8) * np.float32(0.7))
    blades = np.zeros(canvas.alpha.shape, np.uint8)
    for x, y in rng.uniform((0, base_px - 6), (WORLD_PX[0], WORLD_PX[1]), (900, 2)):
        tip = (round(x + rng.normal(0, 4)), round(y - rng.uniform(8, 22)))
        cv2.line(blades, (round(x), round(y)), tip, 255, 1, cv2.LINE_AA)
    canvas.paint(_shares(blades), (colour[0] * 0.55, colour[1] * 0.7, colour[2] * 0.6))
    for x, y in rng.uniform((0, base_px + 6), (WORLD_PX[0], WORLD_PX[1]), (60, 2)):
        canvas.disc((x, y), rng.uniform(1.6, 3.4), (120, 200, 250) if rng.uniform() < 0.5 else (200, 120, 240))
    return canvas.layer(depth)


def boat(size: float, colour: Bgr = (44, 40, 196)) -> Layer:
    """A sailing boat in the middle of its layer, its waterline at the horizon row."""
    canvas = Canvas(3)
    x, y = WORLD_PX[0] / 2, float(HORIZON_PX)
    grain = clouds_of(canvas.rng, 0.7, 8) * np.float32(0.18)
    hull = [(x - size, y - 0.32 * size), (x + 1.15 * size, y - 0.36 * size), (x + 0.8 * size, y), (x - 0.75 * size, y)]
    canvas.shape(hull, colour, grain)
    canvas.line([(x - 0.95 * size, y - 0.26 * size), (x + 1.05 * size, y - 0.3 * size)], 2, (230, 232, 236))
    canvas.line([(x, y - 0.3 * size), (x, y - 2.3 * size)], 3, (70, 96, 120))
    main = [(x + 4, y - 2.2 * size), (x + 4, y - 0.5 * size), (x + 1.0 * size, y - 0.55 * size)]
    canvas.shape(main, (222, 234, 240), grain)
    canvas.shape([(x - 4, y - 2.0 * size), (x - 4, y - 0.52 * size), (x - 0.8 * size, y - 0.5 * size)], (196, 214, 226))
    return canvas.layer(1.0)
