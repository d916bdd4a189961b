"""Shots of a large picture by a camera whose every moment is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from tests.scenery import FPS, Picture

SIZE_PX = (320, 180)
COUNT = 40


@dataclass(frozen=True)
class Aim:
    """Where a camera looks at one moment: its middle (in picture heights), how much nearer, how far turned."""

    x: float = 0.0
    y: float = 0.0
    nearer: float = 1.0
    turn_deg: float = 0.0


def scenery(seed: int, width_px: int = 720, height_px: int = 420) -> Picture:
    """Patches of many sizes: a real picture has coarse forms as well as fine ones."""
    chance = np.random.default_rng(seed)
    picture = np.full((height_px, width_px, 3), 128, np.float32)
    for size, weight in ((90, 60), (30, 40), (9, 40)):
        grid = chance.normal(0, weight, (height_px // size + 2, width_px // size + 2, 3)).astype(np.float32)
        picture += cv2.resize(grid, (width_px, height_px), interpolation=cv2.INTER_CUBIC)
    return np.clip(picture, 0, 255).astype(np.uint8)


def seen(world: Picture, aim: Aim) -> Picture:
    """The part of a large picture that a camera sees; turned clockwise, it shows things turned the other way."""
    width, height = SIZE_PX
    matrix = cv2.getRotationMatrix2D((world.shape[1] / 2, world.shape[0] / 2), aim.turn_deg, aim.nearer)
    matrix[:, 2] += np.array([width / 2, height / 2]) - np.array([world.shape[1] / 2, world.shape[0] / 2])
    matrix[:, 2] -= aim.nearer * height * np.array([aim.x, aim.y])
    return cv2.warpAffine(world, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)


def shot(seed: int, aims: Sequence[Aim]) -> list[Picture]:
    world = scenery(seed)
    return [seen(world, aim) for aim in aims]


def moving(count: int = COUNT, x: float = 0, y: float = 0, zoom: float = 0, turn_deg: float = 0) -> list[Aim]:
    """So much a second, around the middle of the world."""
    moments = [(number - count / 2) / FPS for number in range(count)]
    return [Aim(x * at, y * at, float(np.exp(zoom * at)), turn_deg * at) for at in moments]


def unsteady(count: int = COUNT) -> list[Aim]:
    at = np.arange(count) / FPS
    x = 0.03 * np.sin(2 * np.pi * 0.9 * at) + 0.012 * np.sin(2 * np.pi * 2.3 * at + 1)
    y = 0.03 * np.sin(2 * np.pi * 0.7 * at + 2) + 0.012 * np.sin(2 * np.pi * 2.9 * at)
    return [Aim(float(a), float(b)) for a, b in zip(x, y, strict=True)]
