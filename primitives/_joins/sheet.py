"""The clips in order, each by its first and last picture, so that every join can be seen."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from primitives._base import Jpeg
from primitives._joins.picture import Frames
from primitives._media.picture import Pixels
from primitives._sheet import plan_layout, render

CELL_PX = 200
"""The pictures are small ones."""


def order_sheet(pictures: Sequence[tuple[str, Frames, Frames]], size_px: tuple[int, int]) -> Jpeg:
    """Name, first and last picture of each clip; a row holds whole clips, so that a join is where cells touch."""
    aspect = size_px[0] / size_px[1]
    layouts = [plan_layout(2 * len(pictures), aspect, CELL_PX, n) for n in range(2, 2 * len(pictures) + 1, 2)]
    layout = max(layouts, key=lambda layout: (layout.cell_width_px, -max(layout.size_px)))
    cells, labels = [], []
    for place, (name, first, last) in enumerate(pictures, start=1):
        cells += [_seen(frame, layout.cell_width_px, layout.cell_height_px) for frame in (first, last)]
        labels += [f"#{place} {name} begins", f"#{place} {name} ends"]
    return render(cells, labels, layout)


def _seen(frame: Frames, width_px: int, height_px: int) -> Pixels:
    colours = cv2.cvtColor(np.ascontiguousarray(frame), cv2.COLOR_YUV2BGR_I420)
    return np.asarray(cv2.resize(colours, (width_px, height_px), interpolation=cv2.INTER_LINEAR), np.uint8)
