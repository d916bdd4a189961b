"""The demo's film: a small boat's day from dawn to night, ten drawn shots with known cuts, voice and music.

The light goes on changing through the whole film, within shots and across cuts, as it does in footage of a real day.
Nothing in the picture says what time it is: the order of the shots is told by what they show.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

import cv2
import numpy as np

from avb_mcp.demo import scenery
from avb_mcp.demo.scenery import HORIZON_PX, WORLD_PX, Bgr, Layer, Pixels
from avb_mcp.demo.sound import soundtrack
from avb_mcp.tasks.film_write import Image, write_film

FPS = 25
WIDTH_PX, HEIGHT_PX = 640, 360
CLOUD_DEPTH = 0.15
"""What is farther than this is sky."""
STORY = "A small red boat leaves its harbour at dawn, sails along the coast all day and is home at nightfall."


@dataclass(frozen=True)
class Light:
    """How it looks at one time of the day."""

    top: Bgr
    horizon: Bgr
    tint: Bgr
    dark: float
    """0 by day, 1 at night."""


_DAY: tuple[tuple[float, Light], ...] = (
    (0.00, Light((118, 80, 74), (150, 160, 238), (0.66, 0.60, 0.74), 0.45)),
    (0.15, Light((206, 150, 112), (206, 214, 250), (0.86, 0.90, 1.00), 0.05)),
    (0.38, Light((236, 158, 74), (250, 232, 204), (1.04, 1.02, 1.00), 0.0)),
    (0.60, Light((214, 164, 104), (180, 222, 250), (0.84, 0.96, 1.06), 0.0)),
    (0.74, Light((140, 96, 104), (70, 140, 255), (0.56, 0.70, 1.00), 0.2)),
    (0.86, Light((98, 52, 56), (116, 84, 168), (0.52, 0.46, 0.56), 0.7)),
    (0.95, Light((58, 30, 22), (98, 60, 50), (0.42, 0.34, 0.31), 0.95)),
    (1.00, Light((50, 25, 17), (88, 52, 40), (0.40, 0.32, 0.28), 1.0)),
)


@dataclass(frozen=True)
class Camera:
    """Where the camera looks: the middle of the screen off the middle of the world, and how near."""

    x_px: float = 0.0
    y_px: float = 0.0
    zoom: float = 1.0


@dataclass(frozen=True)
class Mover:
    """Something that moves through the picture."""

    layer: Callable[[], Layer]
    x_px: tuple[float, float]
    """Off the middle of the world, at the start and the end of the shot."""
    y_px: float = 0.0
    bobs_px: float = 2.5
    before: int = 1
    """How many of the nearest layers stand in front of it."""


@dataclass(frozen=True)
class Shot:
    name: str
    length_s: float
    layers: Callable[[], tuple[Layer, ...]]
    start: Camera = Camera()
    end: Camera = Camera()
    movers: tuple[Mover, ...] = ()
    birds: int = 0


_GREEN: Bgr = (74, 140, 104)


def _harbour() -> tuple[Layer, ...]:
    town, windows = scenery.houses(11, HORIZON_PX + 6, 0.6)
    return (
        scenery.sky_clouds(1),
        scenery.hills(2, HORIZON_PX, 90, (120, 120, 104), 0.25),
        town,
        windows,
        scenery.water(4, (150, 118, 70)),
        scenery.meadow(5, WORLD_PX[1] - 96, (66, 110, 118), 1.35),
    )


def _open_sea() -> tuple[Layer, ...]:
    return (
        scenery.sky_clouds(21),
        scenery.hills(22, HORIZON_PX + 2, 44, (140, 128, 108), 0.2),
        scenery.water(23, (172, 124, 52)),
    )


def _coast() -> tuple[Layer, ...]:
    tower, lamp = scenery.lighthouse(31, WORLD_PX[0] / 2 + 110, HORIZON_PX + 6, 74, 0.8)
    return (scenery.sky_clouds(32), scenery.water(33, (168, 132, 64)), tower, lamp, _grass(34))


def _cliffs() -> tuple[Layer, ...]:
    return (
        scenery.sky_clouds(41),
        scenery.hills(42, HORIZON_PX - 10, 120, (130, 140, 112), 0.22),
        scenery.hills(43, HORIZON_PX + 30, 90, (88, 134, 96), 0.5),
        scenery.trees(44, HORIZON_PX + 46, 16, (64, 118, 82), 0.75),
        _grass(45),
    )


def _orchard() -> tuple[Layer, ...]:
    return (
        scenery.sky_clouds(51),
        scenery.hills(52, HORIZON_PX + 20, 60, (104, 150, 116), 0.3),
        scenery.trees(53, HORIZON_PX + 60, 24, (58, 128, 104), 0.7),
        scenery.meadow(54, WORLD_PX[1] - 150, (70, 156, 130), 1.2),
    )


def _beach() -> tuple[Layer, ...]:
    return (
        scenery.sky_clouds(61),
        scenery.water(62, (186, 146, 66)),
        scenery.hills(63, WORLD_PX[1] - 104, 22, (134, 186, 220), 0.9),
        scenery.trees(64, WORLD_PX[1] - 96, 4, (70, 120, 60), 1.1),
    )


def _point() -> tuple[Layer, ...]:
    tower, lamp = scenery.lighthouse(71, WORLD_PX[0] / 2 - 60, HORIZON_PX + 60, 108, 1.0)
    return (
        scenery.sky_clouds(72),
        scenery.hills(73, HORIZON_PX, 70, (110, 104, 92), 0.3),
        scenery.water(74, (150, 112, 64)),
        tower,
        lamp,
    )


def _roofs() -> tuple[Layer, ...]:
    town, windows = scenery.houses(81, HORIZON_PX + 96, 0.9)
    return (
        scenery.sky_clouds(82),
        scenery.hills(83, HORIZON_PX + 10, 110, (96, 110, 100), 0.3),
        scenery.trees(84, HORIZON_PX + 50, 12, (56, 96, 76), 0.6),
        town,
        windows,
    )


def _grass(seed: int) -> Layer:
    return scenery.meadow(seed, WORLD_PX[1] - 84, _GREEN, 1.4)


def _small_boat() -> Layer:
    return scenery.boat(26)


def _large_boat() -> Layer:
    return scenery.boat(64)


SHOTS: tuple[Shot, ...] = (
    Shot("harbour at dawn", 3.6, _harbour, Camera(-70), Camera(50), (Mover(_small_boat, (-60, 30), 46, 1.5),)),
    Shot("under sail", 3.2, _open_sea, movers=(Mover(_large_boat, (-120, 60), 40, 4.0, 0),), birds=3),
    Shot("cliffs", 3.0, _cliffs, Camera(0, 0, 1.0), Camera(0, 0, 1.22), birds=4),
    Shot("lighthouse", 3.4, _coast, movers=(Mover(_small_boat, (-220, -130), 22, 2.0, 1),), birds=2),
    Shot("orchard", 3.0, _orchard, Camera(90), Camera(-60)),
    Shot(
        "noon at sea",
        3.2,
        _open_sea,
        Camera(-40, 10, 1.3),
        Camera(40, 10, 1.3),
        (Mover(_small_boat, (-90, 130), 30, 2.5, 0),),
    ),
    Shot("beach", 3.4, _beach, movers=(Mover(_small_boat, (-40, 60), 12, 1.5, 2),), birds=3),
    Shot("the point", 3.2, _point, movers=(Mover(_small_boat, (150, 230), 26, 2.0, 0),)),
    Shot("roofs at dusk", 3.0, _roofs, Camera(0, 14), Camera(0, -34)),
    Shot(
        "harbour at night", 3.6, _harbour, Camera(40, 0, 1.25), Camera(40, 0, 1.0), (Mover(_small_boat, (150, 90), 44),)
    ),
)


LINES = (
    "At dawn, a small red boat leaves the harbour.",
    "The wind is fair, and the sails are full.",
    "The hills are still asleep.",
    "It passes the lighthouse on its left.",
    "Inland, the trees stand in bloom.",
    "By noon, there is nothing but water.",
    "Somebody waves from the beach.",
    "The sun goes down behind the point.",
    "In the town, the lamps are lit.",
    "And the boat is home for the night.",
)
"""What is said over each shot, where there is a voice to say it."""


def cuts_s() -> list[float]:
    """Where the film's shots begin, after the first."""
    return [round(end_s, 3) for end_s in accumulate(shot.length_s for shot in SHOTS[:-1])]


def frame_count() -> int:
    return sum(_frames(shot) for shot in SHOTS)


def make_film(path: Path, progress: Callable[[int], None]) -> None:
    """Draw, play and encode; `progress` hears how many frames are done."""
    sound = soundtrack([shot.length_s for shot in SHOTS], LINES)
    write_film(path, _drawn(progress), Fraction(FPS), sound)


def _frames(shot: Shot) -> int:
    return round(shot.length_s * FPS)


def _drawn(progress: Callable[[int], None]) -> Iterator[Image]:
    total, done = frame_count(), 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for shot in SHOTS:
            count, first = _frames(shot), done
            layers = shot.layers()
            tasks = [(shot, layers, at / count, (first + at) / (total - 1)) for at in range(count)]
            for picture in pool.map(lambda task: _i420(draw(*task)), tasks):
                yield picture
                done += 1
                progress(done)


def _i420(picture: Pixels) -> Image:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8)


def draw(shot: Shot, layers: tuple[Layer, ...], share: float, day: float) -> Pixels:
    """One frame: `share` of the shot, `day` of the film."""
    light, camera = light_at(day), _between(shot.start, shot.end, share)
    picture = [np.array(plane, np.uint8) for plane in cv2.split(_sky(light, camera, day))]
    standing = list(layers)
    for mover in sorted(shot.movers, key=lambda item: item.before):
        x = mover.x_px[0] + (mover.x_px[1] - mover.x_px[0]) * share
        bob = mover.bobs_px * np.sin(2 * np.pi * (share * shot.length_s * 0.55))
        at = len(standing) - mover.before
        for layer in standing[:at]:
            _lay(picture, layer, light, camera)
        sway = 1.4 * mover.bobs_px / 2.5 * np.cos(2 * np.pi * share * shot.length_s * 0.55)
        _lay(picture, _cached(mover.layer), light, camera, (x, mover.y_px + bob), sway)
        standing = standing[at:]
    for layer in standing:
        _lay(picture, layer, light, camera)
    whole = np.asarray(cv2.merge(picture), np.uint8)
    for bird in range(shot.birds):
        _bird(whole, bird, share * shot.length_s, camera, light)
    return whole


def light_at(day: float) -> Light:
    """The light between two times of the day."""
    for (start, a), (end, b) in pairwise(_DAY):
        if day <= end:
            part = (day - start) / (end - start)
            return Light(_mix(a.top, b.top, part), _mix(a.horizon, b.horizon, part), _mix(a.tint, b.tint, part),
                         a.dark + (b.dark - a.dark) * part)  # fmt: skip
    return _DAY[-1][1]


def _mix(a: Bgr, b: Bgr, part: float) -> Bgr:
    return (a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part)


def _between(a: Camera, b: Camera, share: float) -> Camera:
    eased = share * share * (3 - 2 * share)
    return Camera(
        a.x_px + (b.x_px - a.x_px) * eased, a.y_px + (b.y_px - a.y_px) * eased, a.zoom + (b.zoom - a.zoom) * eased
    )


@cache
def _cached(make: Callable[[], Layer]) -> Layer:
    return make()


def _sky(light: Light, camera: Camera, day: float) -> Pixels:
    """A gradient down to the horizon, and the sun or the moon."""
    horizon = HEIGHT_PX / 2 + (HORIZON_PX - WORLD_PX[1] / 2 - camera.y_px * 0.1)
    share = np.clip(np.arange(HEIGHT_PX, dtype=np.float32) / horizon, 0, 1)[:, None] ** 1.3
    column = np.asarray(light.top, np.float32) * (1 - share) + np.asarray(light.horizon, np.float32) * share
    picture = np.repeat(np.clip(column, 0, 255).astype(np.uint8)[:, None], WIDTH_PX, axis=1)
    height = np.sin(np.pi * np.clip(day / 0.82, 0, 1)) if day < 0.82 else 0.75
    x = WIDTH_PX * (0.12 + 0.8 * day / 0.82) if day < 0.82 else WIDTH_PX * 0.74
    at = (round((x - camera.x_px * 0.06) * 16), round((horizon - 14 - height * horizon * 0.82) * 16))
    glow = (235.0, 245.0, 255.0) if day < 0.82 else (236.0, 226.0, 220.0)
    _halo(picture, at, _mix(light.horizon, glow, 0.6))
    cv2.circle(picture, at, 17 * 16, glow, -1, cv2.LINE_AA, shift=4)
    return picture


def _halo(picture: Pixels, at: tuple[int, int], colour: Bgr) -> None:
    """A glow around a point (1/16 px) that fades out."""
    reach = 90
    x, y = at[0] // 16, at[1] // 16
    left, top = max(0, x - reach), max(0, y - reach)
    part = picture[top : max(top, y + reach), left : max(left, x + reach)]
    if not part.size:
        return
    rows, columns = np.ogrid[top : top + part.shape[0], left : left + part.shape[1]]
    near = np.clip(1 - np.hypot(rows - at[1] / 16, columns - at[0] / 16) / reach, 0, 1)[..., None] ** 1.8 * 0.75
    part[:] = (part + near * (np.asarray(colour) - part)).astype(np.uint8)


def _lay(
    picture: list[Pixels],
    layer: Layer,
    light: Light,
    camera: Camera,
    off_px: tuple[float, float] = (0, 0),
    turn_deg: float = 0,
) -> None:
    """Put a layer over the picture (its three planes), as the camera sees it and the light shows it."""
    if layer.glows and light.dark < 0.03:
        return
    scale = 1 + (camera.zoom - 1) * min(1.0, layer.depth)
    angle = np.deg2rad(turn_deg)
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    pivot = (WORLD_PX[0] / 2, WORLD_PX[1] / 2 if not turn_deg else float(HORIZON_PX))
    to = (
        WIDTH_PX / 2 + (off_px[0] - camera.x_px * layer.depth) * scale,
        HEIGHT_PX / 2 + (pivot[1] - WORLD_PX[1] / 2 + off_px[1] - camera.y_px * layer.depth) * scale,
    )
    matrix = np.array(
        [[cos, -sin, to[0] - cos * pivot[0] + sin * pivot[1]], [sin, cos, to[1] - sin * pivot[0] - cos * pivot[1]]],
        np.float32,
    )
    border = cv2.BORDER_CONSTANT if off_px != (0, 0) else cv2.BORDER_REPLICATE
    seen = cv2.warpAffine(layer.picture, matrix, (WIDTH_PX, HEIGHT_PX), flags=cv2.INTER_LINEAR, borderMode=border)
    *colours, alpha = cv2.split(seen)
    gains, air = _shade(layer, light)
    behind = cv2.convertScaleAbs(alpha, alpha=-light.dark if layer.glows else -1.0, beta=255.0)
    for channel, colour in enumerate(colours):
        shaded = cv2.addWeighted(colour, gains[channel], alpha, air[channel], 0.0)
        cv2.add(cv2.multiply(picture[channel], behind, scale=1 / 255), shaded, dst=picture[channel])


def _shade(layer: Layer, light: Light) -> tuple[Bgr, Bgr]:
    """What a layer's colours are multiplied by, and what the air adds: haze grows with the distance."""
    if layer.glows:
        return (light.dark, light.dark, light.dark), (0.0, 0.0, 0.0)
    if layer.depth < CLOUD_DEPTH:
        return _cloud_tint(light), (0.0, 0.0, 0.0)
    haze = 0.45 * max(0.0, 1 - layer.depth) * (1 - 0.5 * light.dark)
    blue, green, red = light.tint
    air = (light.horizon[0] / 255 * haze, light.horizon[1] / 255 * haze, light.horizon[2] / 255 * haze)
    return (blue * (1 - haze), green * (1 - haze), red * (1 - haze)), air


def _cloud_tint(light: Light) -> Bgr:
    """Clouds are brighter than the sky behind them, in its colours."""
    blue, green, red = _mix(light.horizon, (255.0, 255.0, 255.0), 0.6 * (1 - light.dark))
    return blue / 255, green / 255, red / 255


def _bird(picture: Pixels, number: int, time_s: float, camera: Camera, light: Light) -> None:
    """Two strokes that flap."""
    x = (number * 173 + 60 + 46 * time_s - camera.x_px * 0.4) % (WIDTH_PX + 60) - 30
    y = 66 + 31 * (number % 3) + 6 * np.sin(time_s * 1.7 + number) - camera.y_px * 0.4
    lift = 6 * np.sin(time_s * 9 + number * 1.9)
    wings = np.array([[x - 12, y - lift], [x - 4, y - 2], [x, y], [x + 4, y - 2], [x + 12, y - lift]], np.float32)
    points = np.round(wings * 16).astype(np.int32)
    ink = tuple(60 * part + 20 for part in light.tint)
    cv2.polylines(picture, [points], False, ink, 2, cv2.LINE_AA, shift=4)
