"""Contact sheets as an agent without a model sees them: the picture cut into its cells again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from avb_mcp.agents._client import Reply, Tools
from primitives._sheet import GAP_PX, Layout

Pixels = npt.NDArray[np.uint8]
Values = npt.NDArray[np.float32]
MAX_CELLS = 100
_SHEET = re.compile(r"(\d+)x(\d+) px, (\d+) columns x (\d+) rows")


@dataclass(frozen=True, eq=False)
class Cell:
    """One frame of a sheet."""

    time_s: float
    frame: int
    clip: int
    """Which of several clips, counted from 0."""
    picture: Pixels
    """BGR, without the strip that carries the label."""
    strip_px: int = 0
    """How high that strip was."""


def read_sheet(reply: Reply) -> list[Cell]:
    """The cells of a frame_grid reply."""
    data = reply.data
    found = _SHEET.match(data["sheet"])
    if reply.image is None or found is None:
        raise ValueError(f"not a contact sheet: {data['sheet']!r}")
    picture = cv2.imdecode(np.frombuffer(reply.image, np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError("the contact sheet does not decode")
    width, height, columns, rows = (int(number) for number in found.groups())
    if picture.shape[1] != width:
        width, height = picture.shape[1], picture.shape[0]
    layout = Layout(columns, rows, (width - GAP_PX) // columns - GAP_PX, (height - GAP_PX) // rows - GAP_PX)
    cells = []
    for cell in data["cells"]:
        left, top = layout.corner_px(cell["cell"] - 1)
        shown = picture[top : top + layout.cell_height_px, left : left + layout.cell_width_px]
        strip_px = label_height_px(layout.cell_width_px)
        plain = np.asarray(shown[strip_px:], np.uint8)
        cells.append(Cell(cell["time_s"], cell["frame"], cell.get("clip", 1) - 1, plain, strip_px))
    return cells


def label_height_px(cell_width_px: int) -> int:
    """How much of a cell its label may cover."""
    size = max(11, min(22, cell_width_px // 11))
    return size + 2 * max(2, size // 5)


def look(tools: Tools, path: str, **how: Any) -> list[Cell]:
    """Frames of one film."""
    return read_sheet(tools.call("frame_grid", path=path, **how))


def look_at_all(tools: Tools, paths: Sequence[str], count: int) -> list[list[Cell]]:
    """Frames of many clips, `count` of each, in as few sheets as go."""
    at_once = max(1, min(30, MAX_CELLS // count))
    seen: list[list[Cell]] = []
    for first in range(0, len(paths), at_once):
        part = list(paths[first : first + at_once])
        if len(part) == 1:
            seen.append(look(tools, part[0], count=count))
            continue
        cells = read_sheet(tools.call("frame_grid", paths=part, count=count))
        seen += [[cell for cell in cells if cell.clip == number] for number in range(len(part))]
    return seen


def small_lab(picture: Pixels, size: tuple[int, int] = (32, 16)) -> Values:
    """A thumbnail in Lab, about 0 to 100 in every channel."""
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2LAB), np.float32)
