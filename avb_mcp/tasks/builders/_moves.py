"""A synthetic camera in front of a real shot: the four cinematic variables as geometry over time.

The picture of a shot spans y in [-1, 1] and x in [-aspect, aspect]. A `View` says what part of it is seen at one
moment, bent and turned in which way; a `Camera` is one setting of the four variables, and gives the view at every
moment. Every clip of an assembly task is seen through such a camera with the same interpolation, the right one and
the wrong ones alike.

The words are relative to the shot as it was taken: `Medium` shows three fifths of the picture, `Eye level` adds no
slant, a `Medium` lens bends nothing, `Static` adds no movement. Sizes of a picture are resampled, not reshot: there is
no parallax, which is why the labels say zoom and pan, never dolly or boom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
Grid = npt.NDArray[np.floating]

BASE_SHARE = 0.6
"""How much of the picture's height the usual framing shows: the rest is room to move, slant and bend."""
SIZE_SHARES: Mapping[str, float] = {"Wide": 0.92, "Medium": BASE_SHARE, "Close Up": 0.38}
ANGLES = ("Eye level", "Low angle", "High angle", "Dutch angle")
LENS_BENDS: Mapping[str, float] = {"Ultra Wide & Fisheye": 0.66, "Wide": 0.3, "Medium": 0.0, "Long Lens": -0.22}
MOVEMENTS = (
    "Static",
    "Zoom in",
    "Zoom out",
    "Pan left",
    "Pan right",
    "Tilt up",
    "Tilt down",
    "Camera roll",
)
BORDER_POINTS = 33


class Variable(StrEnum):
    """The cinematic variables of a storyboard slot."""

    SHOT_SIZE = "shot_size"
    CAMERA_ANGLE = "camera_angle"
    LENS_SIZE = "lens_size"
    CAMERA_MOVEMENT = "camera_movement"


VALUES: Mapping[Variable, tuple[str, ...]] = {
    Variable.SHOT_SIZE: tuple(SIZE_SHARES),
    Variable.CAMERA_ANGLE: ANGLES,
    Variable.LENS_SIZE: tuple(LENS_BENDS),
    Variable.CAMERA_MOVEMENT: MOVEMENTS,
}
"""What can be made by geometry, per variable: the part of the contract's vocabulary that stays true of a clip."""


@dataclass(frozen=True)
class Amounts:
    """How strong the effects of one slot are; the same for all of its candidates."""

    slant: float = 0.3
    """Keystone of a low or high angle: the far edge shows 1 / (1 - slant) of the middle's width."""
    dutch_deg: float = 15.0
    """Signed: which way a Dutch angle leans."""
    travel: float = 0.34
    """How far a pan or tilt goes to either side of the middle, as a share of the half picture."""
    zoom_ratio: float = 1.5
    roll_deg: float = 14.0
    """Signed: a camera roll turns from minus this to this."""


def draw_amounts(rng: np.random.Generator) -> Amounts:
    return Amounts(
        slant=float(rng.uniform(0.26, 0.32)),
        dutch_deg=float(rng.uniform(12, 17) * rng.choice([-1, 1])),
        travel=float(rng.uniform(0.28, 0.38)),
        zoom_ratio=float(rng.uniform(1.4, 1.6)),
        roll_deg=float(rng.uniform(11, 16) * rng.choice([-1, 1])),
    )


@dataclass(frozen=True)
class View:
    """What is seen at one moment."""

    share: float = BASE_SHARE
    """How much of the picture's height the middle of the view shows."""
    centre_x: float = 0.0
    """As a share of the half width, to the right."""
    centre_y: float = 0.0
    """As a share of the half height, downwards."""
    roll_deg: float = 0.0
    slant: float = 0.0
    """Positive: verticals converge upwards, as when the camera looks up."""
    bend: float = 0.0
    """Positive: barrel, more is seen towards the edges; negative: pincushion."""


@dataclass(frozen=True)
class Camera:
    """One setting of the four variables, in the words of the storyboard."""

    shot_size: str = "Medium"
    camera_angle: str = "Eye level"
    lens_size: str = "Medium"
    camera_movement: str = "Static"

    def __post_init__(self) -> None:
        for variable, known in VALUES.items():
            value = getattr(self, variable)
            if value not in known:
                raise ValueError(f"{variable} {value!r} cannot be made by geometry; known are {', '.join(known)}")

    def with_value(self, variable: Variable, value: str) -> Camera:
        return replace(self, **{variable.value: value})

    def view(self, at: float, amounts: Amounts) -> View:
        """What this camera sees at `at`, 0 for the first frame of the clip and 1 for the last."""
        still = View(
            share=SIZE_SHARES[self.shot_size],
            roll_deg=amounts.dutch_deg if self.camera_angle == "Dutch angle" else 0.0,
            slant={"Low angle": amounts.slant, "High angle": -amounts.slant}.get(self.camera_angle, 0.0),
            bend=LENS_BENDS[self.lens_size],
        )
        return _moved(still, self.camera_movement, 2 * at - 1, amounts)


def _moved(view: View, movement: str, phase: float, amounts: Amounts) -> View:
    """The view at `phase` of a movement, from -1 to 1; opposite movements are each other backwards."""
    match movement:
        case "Pan right" | "Pan left":
            return replace(view, centre_x=amounts.travel * (phase if movement == "Pan right" else -phase))
        case "Tilt down" | "Tilt up":
            return replace(view, centre_y=amounts.travel * (phase if movement == "Tilt down" else -phase))
        case "Zoom out" | "Zoom in":
            power = phase / 2 if movement == "Zoom out" else -phase / 2
            return replace(view, share=view.share * amounts.zoom_ratio**power)
        case "Camera roll":
            return replace(view, roll_deg=view.roll_deg + amounts.roll_deg * phase)
    return view


def look(view: View, x: Grid, y: Grid, aspect: float) -> tuple[Grid, Grid]:
    """Where in the picture the points of the screen lie; both have the same aspect."""
    radius_squared = (x * x + y * y) / (aspect * aspect + 1)
    bent = 1 + view.bend * radius_squared
    x, y = x * bent, y * bent
    depth = 1 + view.slant * y / max(1.0, 1 + abs(view.bend))
    x, y = x / depth, y / depth
    angle = np.deg2rad(view.roll_deg)
    cosine, sine = float(np.cos(angle)), float(np.sin(angle))
    x, y = x * cosine - y * sine, x * sine + y * cosine
    return view.centre_x * aspect + view.share * x, view.centre_y + view.share * y


def fits(camera: Camera, amounts: Amounts, aspect: float) -> bool:
    """Whether no moment of the clip would show what lies beyond the picture's edge."""
    along = np.linspace(-1, 1, BORDER_POINTS)
    ones = np.ones_like(along)
    x = np.concatenate([along, along, -ones, ones]) * aspect
    y = np.concatenate([-ones, ones, along, along])
    for at in np.linspace(0, 1, 9):
        seen_x, seen_y = look(camera.view(float(at), amounts), x, y, aspect)
        if np.abs(seen_x).max() > aspect or np.abs(seen_y).max() > 1:
            return False
    return True


def filmed(
    frames: Iterable[Image], count: int, camera: Camera, amounts: Amounts, size: tuple[int, int]
) -> Iterator[Image]:
    """`count` frames (planar YUV 4:2:0) seen through a camera, at `size` (width, height; even)."""
    for number, frame in enumerate(frames):
        yield seen(frame, camera.view(number / max(1, count - 1), amounts), size)


def seen(frame: Image, view: View, size: tuple[int, int]) -> Image:
    """One planar YUV 4:2:0 frame through one view; a picture of another aspect is used up to the screen's."""
    width_px, height_px = size
    rows, source_width_px = frame.shape
    source_height_px = rows * 2 // 3
    planes = _planes(frame, source_width_px, source_height_px)
    whole = _remap(planes[0], view, (width_px, height_px))
    chroma = [_remap(plane, view, (width_px // 2, height_px // 2)) for plane in planes[1:]]
    return np.concatenate([whole.reshape(-1), *(plane.reshape(-1) for plane in chroma)]).reshape(
        height_px * 3 // 2, width_px
    )


def _planes(frame: Image, width_px: int, height_px: int) -> tuple[Image, Image, Image]:
    flat = np.ascontiguousarray(frame).reshape(-1)
    luma, quarter = width_px * height_px, (width_px // 2) * (height_px // 2)
    small = (height_px // 2, width_px // 2)
    return (
        flat[:luma].reshape(height_px, width_px),
        flat[luma : luma + quarter].reshape(small),
        flat[luma + quarter : luma + 2 * quarter].reshape(small),
    )


def _remap(plane: Image, view: View, size: tuple[int, int]) -> Image:
    map_x, map_y = _maps(view, size, (plane.shape[1], plane.shape[0]))
    return np.asarray(cv2.remap(plane, map_x, map_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE), np.uint8)


@lru_cache(maxsize=8)
def _maps(view: View, size: tuple[int, int], source: tuple[int, int]) -> tuple[Grid, Grid]:
    """For every pixel of the screen, where it lies in the plane."""
    width_px, height_px = size
    aspect = width_px / height_px
    row = (2 * (np.arange(width_px, dtype=np.float32) + 0.5) / width_px - 1) * aspect
    column = 2 * (np.arange(height_px, dtype=np.float32) + 0.5) / height_px - 1
    x, y = np.meshgrid(row, column)
    seen_x, seen_y = look(view, x, y, aspect)
    source_width_px, source_height_px = source
    half_px = min(source_height_px / 2, source_width_px / 2 / aspect)
    map_x = seen_x * half_px + source_width_px / 2 - 0.5
    map_y = seen_y * half_px + source_height_px / 2 - 0.5
    return map_x.astype(np.float32), map_y.astype(np.float32)
