"""A colour map baked into tables over the film's own brightness and colour planes.

Brightness is looked up by (Y 8 bits, U 6, V 6), colour by (Y 6 bits, U 8, V 8): each plane keeps full precision
in itself, and the other two matter too little for their lower bits to show. A lookup costs the same for any map.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from primitives._colour.fit import ColourMap, Samples
from primitives._media.planes import Coding, Plane, coding_of, is_planar_yuv, read_planes, with_planes

_FINE, _COARSE = 256, 64
_NODES = (129, 33, 33)
_MARGIN = 0.05
"""How far outside 0 to 1 a map is trusted; beyond, colours move along in parallel."""
Grid = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Tables:
    """New samples by old ones, in steps of 8 bits."""

    luma: Grid
    chroma: tuple[Grid, Grid]
    coding: Coding


class Grade:
    """Applies a colour map to decoded frames; tables are made for the first frame's coding and kept."""

    def __init__(self, change: ColourMap, strength: float) -> None:
        self._change, self._strength = change, strength
        self._tables: Tables | None = None

    def __call__(self, frame: VideoFrame, share: float = 1.0) -> VideoFrame:
        """The frame with a share of the change."""
        if share <= 0:
            return frame
        if not is_planar_yuv(frame.format):
            space = coding_of(frame).swscale_space
            plain = frame.reformat(format="yuv444p", dst_colorspace=space)
            plain.colorspace = space
            return self(plain, share).reformat(format=frame.format.name, src_colorspace=space)
        coding = coding_of(frame)
        if self._tables is None or self._tables.coding != coding:
            self._tables = bake(self._change, self._strength, coding)
        old = read_planes(frame)
        new = looked_up(old, self._tables)
        if share < 1:
            new = [np.asarray(cv2.addWeighted(a, 1 - share, b, share, 0)) for a, b in zip(old, new, strict=True)]
        return with_planes(frame, new)


def bake(change: ColourMap, strength: float, coding: Coding) -> Tables:
    """Evaluate the map on a coarse grid of the planes and fill the tables between."""
    axes = [np.linspace(0, 255, nodes, dtype=np.float32) for nodes in _NODES]
    yuv = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    rgb = to_rgb(yuv, coding)
    known = np.clip(rgb, -_MARGIN, 1 + _MARGIN)
    moved = to_yuv(rgb + strength * (change(known) - known), coding)
    fine, coarse = np.arange(_FINE, dtype=np.float32), np.arange(_COARSE, dtype=np.float32) * 4 + 1.5
    grids = [moved[:, plane].reshape(_NODES) for plane in range(3)]
    luma = _filled(grids[0], axes, (fine, coarse, coarse))
    chroma = (
        _filled(grids[1], axes, (coarse, fine, fine)),
        _filled(grids[2], axes, (coarse, fine, fine)),
    )
    top = 256 - 1 / coding.depth_scale
    return Tables(np.clip(luma, 0, top), (np.clip(chroma[0], 0, top), np.clip(chroma[1], 0, top)), coding)


def _filled(grid: Grid, nodes: list[Samples], wanted: tuple[Samples, Samples, Samples]) -> Grid:
    """A table by straight interpolation along one axis after the other, those that grow most last."""
    for axis in sorted(range(3), key=lambda axis: len(wanted[axis]) / len(nodes[axis])):
        weights = _interpolation(nodes[axis], wanted[axis])
        grid = np.moveaxis(np.tensordot(grid, weights, axes=(axis, 1)), -1, axis)
    return np.ascontiguousarray(grid, dtype=np.float32)


def _interpolation(nodes: Samples, wanted: Samples) -> Grid:
    columns = [np.interp(wanted, nodes, row) for row in np.eye(len(nodes), dtype=np.float32)]
    return np.stack(columns, axis=1).astype(np.float32)


def looked_up(planes: list[Plane], tables: Tables) -> list[Plane]:
    """The planes after the change; chroma is brought to each plane's own size for the lookup and back."""
    coding = tables.coding
    shift = coding.bits - 8
    y, u, v = ((plane >> shift).astype(np.uint8) for plane in planes)
    full, half = (y.shape[1], y.shape[0]), (u.shape[1], u.shape[0])
    wide_u, wide_v = (_sized(plane, full, cv2.INTER_LINEAR) for plane in (u, v))
    small_y = _sized(y, half, cv2.INTER_AREA)
    by_luma = _index(y, 12) | _index(wide_u >> 2, 6) | (wide_v >> 2)
    by_chroma = _index(small_y >> 2, 16) | _index(u, 8) | v
    new = [tables.luma.ravel()[by_luma], *(table.ravel()[by_chroma] for table in tables.chroma)]
    return [_to_samples(made, old, coding) for made, old in zip(new, planes, strict=True)]


def _sized(plane: Plane, size: tuple[int, int], how: int) -> Plane:
    return np.asarray(cv2.resize(plane, size, interpolation=how)) if plane.shape[::-1] != size else plane


def _index(plane: Plane, shift: int) -> NDArray[np.int32]:
    return np.asarray(plane, dtype=np.int32) << shift


def _to_samples(made: Grid, old: Plane, coding: Coding) -> Plane:
    if coding.bits == 8:
        return np.asarray(np.rint(np.minimum(made, 255)), dtype=np.uint8)
    low = old & (coding.depth_scale - 1)
    deep = np.rint(made * coding.depth_scale) + low
    return np.asarray(np.clip(deep, 0, (1 << coding.bits) - 1), dtype=np.uint16)


def to_rgb(yuv: Samples, coding: Coding) -> Samples:
    """RGB from 0 to 1 of samples in steps of 8 bits."""
    floor, luma_span, chroma_span = (0, 255, 255) if coding.full_range else (16, 219, 224)
    y, u, v = (yuv[:, 0] - floor) / luma_span, (yuv[:, 1] - 128) / chroma_span, (yuv[:, 2] - 128) / chroma_span
    red, blue = y + 2 * (1 - coding.red_weight) * v, y + 2 * (1 - coding.blue_weight) * u
    green = (y - coding.red_weight * red - coding.blue_weight * blue) / (1 - coding.red_weight - coding.blue_weight)
    return np.stack([red, green, blue], axis=1).astype(np.float32)


def to_yuv(rgb: Samples, coding: Coding) -> Samples:
    """Samples in steps of 8 bits, not rounded, of RGB from 0 to 1."""
    floor, luma_span, chroma_span = (0, 255, 255) if coding.full_range else (16, 219, 224)
    green_weight = 1 - coding.red_weight - coding.blue_weight
    y = coding.red_weight * rgb[:, 0] + green_weight * rgb[:, 1] + coding.blue_weight * rgb[:, 2]
    u, v = (rgb[:, 2] - y) / (2 * (1 - coding.blue_weight)), (rgb[:, 0] - y) / (2 * (1 - coding.red_weight))
    return np.stack([y * luma_span + floor, u * chroma_span + 128, v * chroma_span + 128], axis=1).astype(np.float32)
