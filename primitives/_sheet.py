"""One labelled contact sheet: pictures in a grid, number and time burned into each.

The limits are those within which no harness rescales or re-encodes an image (MCP.md): JPEG, long side
at most 1568 px, at most 450 kB.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import cv2
import numpy as np

from primitives._base import Jpeg
from primitives._media.picture import Pixels, resize

MAX_SIDE_PX = 1568
MAX_BYTES = 450_000
GAP_PX = 4
NEARLY = 0.8
"""Cells may be this much narrower than possible to save sheet area, which a model pays for in tokens."""
_BACKGROUND = 24
_WEIGHT = 500
_QUALITIES = (90, 84, 76, 68, 58)


@dataclass(frozen=True)
class Layout:
    """Where cells go: a grid of equal cells."""

    columns: int
    rows: int
    cell_width_px: int
    cell_height_px: int

    @property
    def size_px(self) -> tuple[int, int]:
        return (
            self.columns * (self.cell_width_px + GAP_PX) + GAP_PX,
            self.rows * (self.cell_height_px + GAP_PX) + GAP_PX,
        )

    def corner_px(self, cell: int) -> tuple[int, int]:
        """Left and top of a cell."""
        row, column = divmod(cell, self.columns)
        return GAP_PX + column * (self.cell_width_px + GAP_PX), GAP_PX + row * (self.cell_height_px + GAP_PX)


def plan_layout(count: int, aspect: float, native_width_px: int, columns: int | None = None) -> Layout:
    """The smallest sheet whose cells are nearly as large as they could be, never larger than the picture."""
    options = [_fit(count, aspect, native_width_px, n) for n in ([columns] if columns else range(1, count + 1))]
    widest = max(option.cell_width_px for option in options)
    good = [option for option in options if option.cell_width_px >= NEARLY * widest]
    return min(good, key=lambda option: option.size_px[0] * option.size_px[1])


def _fit(count: int, aspect: float, native_width_px: int, columns: int) -> Layout:
    rows = math.ceil(count / columns)
    room_x = (MAX_SIDE_PX - GAP_PX) // columns - GAP_PX
    room_y = (MAX_SIDE_PX - GAP_PX) // rows - GAP_PX
    width = max(1, min(room_x, int(room_y * aspect), native_width_px))
    return Layout(columns, rows, width, max(1, min(room_y, round(width / aspect))))


def render(pictures: list[Pixels], labels: list[str], layout: Layout) -> Jpeg:
    """Draw the sheet and encode it within the limits."""
    width, height = layout.size_px
    sheet = np.full((height, width, 3), _BACKGROUND, dtype=np.uint8)
    for cell, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        fitted = _letterbox(picture, layout.cell_width_px, layout.cell_height_px)
        _draw_label(fitted, label)
        left, top = layout.corner_px(cell)
        sheet[top : top + layout.cell_height_px, left : left + layout.cell_width_px] = fitted
    return encode(sheet)


def encode(picture: Pixels) -> Jpeg:
    """The best JPEG that stays within the size limit."""
    while True:
        for quality in _QUALITIES:
            _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
            if len(data) <= MAX_BYTES:
                return Jpeg(data.tobytes(), width_px=picture.shape[1], height_px=picture.shape[0])
        picture = resize(picture, picture.shape[1] * 4 // 5, picture.shape[0] * 4 // 5)


def _letterbox(picture: Pixels, width_px: int, height_px: int) -> Pixels:
    scale = min(width_px / picture.shape[1], height_px / picture.shape[0])
    inner_w, inner_h = max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale))
    inner = picture if picture.shape[1::-1] == (inner_w, inner_h) else resize(picture, inner_w, inner_h)
    cell = np.zeros((height_px, width_px, 3), dtype=np.uint8)
    top, left = (height_px - inner_h) // 2, (width_px - inner_w) // 2
    cell[top : top + inner_h, left : left + inner_w] = inner
    return cell


def _draw_label(cell: Pixels, label: str) -> None:
    """White on a dark plate in the upper left corner, as large as suits the cell."""
    size = max(11, min(22, cell.shape[1] // 11))
    while size > 8 and _text_width_px(label, size) > cell.shape[1] - 8:
        size -= 1
    pad = max(2, size // 5)
    plate = cell[: size + 2 * pad, : _text_width_px(label, size) + 2 * pad]
    plate[:] = plate // 5
    cv2.putText(cell, label, (pad, size + pad // 2), (255, 255, 255), _face(), size, _WEIGHT)


def _text_width_px(label: str, size: int) -> int:
    return int(cv2.getTextSize((0, 0), label, (0, 0), _face(), size, _WEIGHT)[2])


@functools.cache
def _face() -> cv2.FontFace:
    return cv2.FontFace("sans")
