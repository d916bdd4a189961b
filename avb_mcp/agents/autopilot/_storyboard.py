"""The storyboard in a brief, and what its words look like: colours of a description, cameras as figures. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from avb_mcp.agents.autopilot._sheets import Pixels, Values

FIELDS = ("description", "shot_size", "camera_angle", "lens_size", "camera_movement")
_SLOT = re.compile(r"^#+\s*Slot\s+(\d+)\s*$", re.M | re.I)
_FIELD = re.compile(r"^[-*]\s*([A-Za-z _]+):\s*(.+)$", re.M)
_COLOURS: Mapping[str, tuple[int, int, int]] = {
    "black": (15, 15, 15),
    "white": (245, 245, 245),
    "grey": (128, 128, 128),
    "gray": (128, 128, 128),
    "red": (60, 60, 190),
    "orange": (60, 140, 230),
    "brown": (50, 80, 120),
    "yellow": (70, 205, 225),
    "green": (80, 150, 80),
    "cyan": (190, 180, 90),
    "blue": (200, 130, 70),
    "purple": (160, 80, 120),
    "pink": (170, 120, 200),
}
"""BGR of a middling tone."""
_PARTS: Mapping[str, tuple[slice, slice]] = {
    "left": (slice(None), slice(0, 16)),
    "middle": (slice(None), slice(16, 32)),
    "right": (slice(None), slice(32, 48)),
    "above": (slice(0, 13), slice(None)),
    "below": (slice(13, 27), slice(None)),
    "all": (slice(None), slice(None)),
}
_ACROSS = re.compile(r"left to right ([\w ]+), ([\w ]+), ([\w ]+); ([\w ]+) above, ([\w ]+) below", re.I)


@dataclass(frozen=True)
class Slot:
    """What one place of the film should show; empty where the storyboard does not say."""

    description: str = ""
    shot_size: str = ""
    camera_angle: str = ""
    lens_size: str = ""
    camera_movement: str = ""


def read_storyboard(brief: str) -> list[Slot]:
    """The slots of a brief, in order."""
    places = list(_SLOT.finditer(brief))
    ends = [*(place.start() for place in places[1:]), len(brief)]
    slots = []
    for place, end in zip(places, ends, strict=True):
        rows = {
            name.strip().lower().replace(" ", "_"): value.strip()
            for name, value in _FIELD.findall(brief[place.end() : end])
        }
        slots.append(Slot(**{name: rows.get(name, "") for name in FIELDS}))
    return slots


def mismatch(description: str, picture: Pixels) -> float:
    """How far the colours of a picture are from those that a description names, in Lab units."""
    lab = _lab(cv2.resize(picture, (48, 27), interpolation=cv2.INTER_AREA))
    told = _told(description)
    if not told:
        return 0.0
    return float(np.mean([np.linalg.norm(lab[_PARTS[place]].mean(axis=(0, 1)) - colour) for place, colour in told]))


def _told(description: str) -> list[tuple[str, Values]]:
    """Which colour is said to be where."""
    if found := _ACROSS.search(description):
        places = ("left", "middle", "right", "above", "below")
        named = [(place, _colour(words)) for place, words in zip(places, found.groups(), strict=True)]
        return [(place, colour) for place, colour in named if colour is not None]
    words = re.findall(rf"\b(?:(?:light|dark) )?(?:{'|'.join(_COLOURS)})\b", description, re.I)
    colours = [colour for word in words if (colour := _colour(word)) is not None]
    return [("all", np.asarray(np.mean(colours, axis=0), np.float32))] if colours else []


def _colour(words: str) -> Values | None:
    """A colour by its name, such as `light green`."""
    *tone, name = words.lower().split() or [""]
    if name not in _COLOURS:
        return None
    bgr = np.array(_COLOURS[name], np.float32)
    if "light" in tone:
        bgr = bgr + (255 - bgr) * np.float32(0.4)
    elif "dark" in tone:
        bgr = bgr * np.float32(0.5)
    return np.asarray(_lab(bgr[None, None])[0, 0], np.float32)


def _lab(bgr: npt.NDArray[Any]) -> Values:
    return np.asarray(cv2.cvtColor(np.asarray(bgr, np.float32) / 255, cv2.COLOR_BGR2LAB), np.float32)
