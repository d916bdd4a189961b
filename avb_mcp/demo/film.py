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

from avb_mcp.demo.scenery import HORIZON_PX, WORLD_PX, Bgr, Layer, Pixels
from avb_mcp.demo.shots import LINES, SHOTS, Camera, Shot
from avb_mcp.demo.sound import soundtrack
from avb_mcp.tasks.film_write import Image, write_film

FPS = 25
WIDTH_PX, HEIGHT_PX = 640, 360
CLOUD_DEPTH = 0.15
"""What is farther than this is sky."""


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
