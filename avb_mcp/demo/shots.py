"""The story of the demo's film: ten shots, each with its scenery, its camera and what moves in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from avb_mcp.demo import scenery
from avb_mcp.demo.scenery import HORIZON_PX, WORLD_PX, Bgr, Layer

STORY = "A small red boat leaves its harbour at dawn, sails along the coast all day and is home at nightfall."


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
