"""A shot in plain words, from nothing but its pixels: tones and colours by place, an accent, what moves.

It is about the usual framing of the shot, so that it fits every candidate of a slot alike and favours none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from avb_mcp.tasks.builders._moves import BASE_SHARE, Image, View, seen

LOOK_PX = (48, 27)
MIN_ACCENT, MAX_ACCENT = 0.005, 0.25
"""Share of the picture that a colour must cover to be an accent."""
STRONG = 100
"""Saturation (0-255) from which a colour is strong."""
MOVING_LEVELS = 4.0
"""Mean change (0-255) from which something is said to move."""
MIN_DIFFERENT = 2
"""Parts in which two descriptions must differ to tell two shots apart."""
_HUES = (
    (15, "red"),
    (42, "orange"),
    (70, "yellow"),
    (165, "green"),
    (200, "cyan"),
    (255, "blue"),
    (290, "purple"),
    (335, "pink"),
    (361, "red"),
)
_PLACES = (
    ("upper left", "top", "upper right"),
    ("left", "middle", "right"),
    ("lower left", "bottom", "lower right"),
)


@dataclass(frozen=True)
class Description:
    """The parts of a description."""

    left: str
    middle: str
    right: str
    top: str
    bottom: str
    brightest: str
    busiest: str
    accent: str
    """A strong colour in a small place, or nothing."""
    moving: str
    """Where something moves, or nothing."""

    @property
    def text(self) -> str:
        sentences = [
            f"From left to right {self.left}, {self.middle}, {self.right}; {self.top} above, {self.bottom} below.",
            f"It is brightest at the {self.brightest} and has most detail at the {self.busiest}.",
            f"There is some {self.accent}." if self.accent else "",
            f"In the scene something moves, most of all at the {self.moving}."
            if self.moving
            else "Little moves in the scene.",
        ]
        return " ".join(sentence for sentence in sentences if sentence)

    def differs_from(self, other: Description) -> bool:
        """Whether a reader could tell the two shots apart by what stands where."""
        names = ("left", "middle", "right", "top", "bottom", "brightest", "busiest", "accent")
        different = [name for name in names if getattr(self, name) != getattr(other, name)]
        return len(different) >= MIN_DIFFERENT


def describe(first: Image, middle: Image, last: Image) -> Description:
    """A shot by three of its frames."""
    pictures = [_framed(frame) for frame in (first, middle, last)]
    hsv = cv2.cvtColor(pictures[1], cv2.COLOR_BGR2HSV_FULL)
    grey = [cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32) for picture in pictures]
    height_px, width_px = hsv.shape[:2]
    third, half = width_px // 3, height_px // 2
    return Description(
        left=_tone(hsv[:, :third]),
        middle=_tone(hsv[:, third : 2 * third]),
        right=_tone(hsv[:, 2 * third :]),
        top=_tone(hsv[:half]),
        bottom=_tone(hsv[half:]),
        accent=_accent(hsv),
        brightest=_place(grey[1]),
        busiest=_place(np.abs(cv2.Laplacian(grey[1], cv2.CV_32F))),
        moving=_moving(grey),
    )


def _framed(frame: Image) -> Image:
    """The usual framing in BGR, tiny: what its parts are, not its texture."""
    height_px, width_px = frame.shape[0] * 2 // 3, frame.shape[1]
    size = (round(width_px * BASE_SHARE) // 2 * 2, round(height_px * BASE_SHARE) // 2 * 2)
    bgr = cv2.cvtColor(seen(frame, View(), size), cv2.COLOR_YUV2BGR_I420)
    return np.asarray(cv2.resize(bgr, LOOK_PX, interpolation=cv2.INTER_AREA), np.uint8)


def _tone(part: npt.NDArray[np.generic]) -> str:
    """How bright a part is and what its most frequent colour is, such as `light green`."""
    pixels: list[list[int]] = part.reshape(-1, 3).tolist()
    ((name, _),) = Counter(_colour(*pixel) for pixel in pixels).most_common(1)
    if name in {"black", "white"}:
        return name
    value = float(np.median([pixel[2] for pixel in pixels]))
    return f"dark {name}" if value < 95 else f"light {name}" if value > 185 else name


def _accent(hsv: npt.NDArray[np.generic]) -> str:
    """The most frequent of the strong colours that stand in a small place only."""
    rows: list[list[list[int]]] = hsv.tolist()
    strong = [[_colour(*pixel) if pixel[1] > STRONG and pixel[2] > 80 else "" for pixel in row] for row in rows]
    counts = Counter(name for row in strong for name in row if name)
    total = hsv.shape[0] * hsv.shape[1]
    for name, count in counts.most_common():
        if MIN_ACCENT <= count / total <= MAX_ACCENT:
            return f"{name} at the {_place(np.array([[cell == name for cell in row] for row in strong], np.float32))}"
    return ""


def _moving(grey: list[npt.NDArray[np.float32]]) -> str:
    change = np.maximum(np.abs(grey[1] - grey[0]), np.abs(grey[2] - grey[1]))
    return _place(change) if float(change.mean()) >= MOVING_LEVELS else ""


def _colour(hue: int, saturation: int, value: int) -> str:
    """The name of a colour by its hue, saturation and value, each 0-255."""
    if value < 45:
        return "black"
    if saturation < 40:
        return "white" if value > 215 else "grey"
    degrees = hue * 360 / 256
    name = next(name for limit, name in _HUES if degrees < limit)
    return "brown" if name in {"orange", "red"} and value < 150 else name


def _place(amount: npt.NDArray[np.float32]) -> str:
    """Where in a 3 by 3 grid there is most of something."""
    cells = cv2.resize(amount, (3, 3), interpolation=cv2.INTER_AREA)
    row, column = divmod(int(np.argmax(cells)), 3)
    return _PLACES[row][column]
