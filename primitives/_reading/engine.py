"""Reads text in a picture, offline, by `rapidocr` (extra `ocr`), whose models lie inside its package."""

from __future__ import annotations

import importlib
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives._base import UserError

Pixels = NDArray[np.uint8]
LONG_SIDE_PX = 960
"""Text is looked for in pictures no larger than this; it is read at full size."""
SHORTEST_LINE_PX = 160
"""What is narrower at 48 pixels of height is read with empty space beside it."""
_LEAST_SCORE = 0.5


@dataclass(frozen=True)
class Box:
    """A part of the picture in pixels, right and bottom not included."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def area(self) -> int:
        return max(0, self.right - self.left) * max(0, self.height)

    def common(self, other: Box) -> Box:
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def around(self, other: Box) -> Box:
        """The box around both."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def wider(self, by_px: int) -> Box:
        return Box(self.left - by_px, self.top - by_px, self.right + by_px, self.bottom + by_px)

    def moved(self, right: int, down: int) -> Box:
        return Box(self.left + right, self.top + down, self.right + right, self.bottom + down)

    def overlap(self, other: Box) -> float:
        """How much of the smaller one lies in the other."""
        shared = self.common(other)
        if shared.right <= shared.left or shared.bottom <= shared.top:
            return 0.0
        return shared.area / max(1, min(self.area, other.area))

    def of(self, picture: Pixels) -> Pixels:
        return picture[self.top : self.bottom, self.left : self.right]


@dataclass(frozen=True)
class Line:
    """A line of text as it was read."""

    box: Box
    text: str
    score: float


class Reader:
    """Finds and reads lines; counts how often, for that is what costs."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.searches = 0
        self.readings = 0

    def find(self, bgr: Pixels) -> list[Line]:
        """The lines of a picture."""
        self.searches += 1
        found = self._engine(bgr, use_det=True, use_cls=False, use_rec=True)
        if found.boxes is None or found.txts is None:
            return []
        self.readings += len(found.txts)
        return [
            Line(_around(corners, bgr.shape), plain(text), float(score))
            for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
            if text.strip()
        ]

    def read(self, bgr: Pixels) -> tuple[str, float]:
        """The text of a picture that shows one line, and how surely; nothing where it is hardly a text."""
        self.readings += 1
        found = self._engine(np.ascontiguousarray(bgr), use_det=False, use_cls=False, use_rec=True)
        if not getattr(found, "txts", None) or float(found.scores[0]) < _LEAST_SCORE:
            return "", 0.0
        return plain(str(found.txts[0])), float(found.scores[0])


def plain(text: str) -> str:
    """A reading as it is meant: an O that stands alone in a line with numbers is a nought."""
    text = text.strip()
    return re.sub(r"(?<![^\W\d])[Oo](?![^\W\d])", "0", text) if re.search(r"\d", text) else text


def _around(corners: NDArray[np.float32], shape: tuple[int, ...]) -> Box:
    """The upright box around four corners, inside the picture."""
    left, top = np.floor(corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int)
    return Box(max(0, int(left)), max(0, int(top)), min(shape[1], int(right)), min(shape[0], int(bottom)))


def open_reader() -> Reader:
    """A reader; without the package one sentence says how to get it."""
    package = importlib.util.find_spec("rapidocr")
    if package is None or package.origin is None:
        raise UserError(
            'read_text needs the extra `ocr`, which is not installed. Run: pip install "avb-mcp[ocr]". '
            "Until then look at the text with frame_grid and a region."
        )
    if not any((Path(package.origin).parent / "models").glob("*.onnx")):
        raise UserError(
            "The installed rapidocr holds no models, and nothing is downloaded here. "
            'Run: pip install --upgrade "rapidocr>=3.10".'
        )
    return Reader(_engine())


@cache
def _engine() -> Any:
    return importlib.import_module("rapidocr").RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.text_score": _LEAST_SCORE,
            "Det.limit_type": "max",
            "Det.limit_side_len": LONG_SIDE_PX,
            "Rec.rec_img_shape": [3, 48, SHORTEST_LINE_PX],
            # Pictures as small as these keep one core busy; more threads mostly wait for each other.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
