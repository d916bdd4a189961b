"""Reads text in a picture, offline, by `rapidocr` (extra `ocr`), whose models lie inside its package."""

from __future__ import annotations

import importlib
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from primitives._base import UserError

Pixels = NDArray[np.uint8]
Grey = NDArray[np.uint8]
LONG_SIDE_PX, SMALL_PX, SEARCHED_SHARE = 960, 480, 0.75
"""Text is looked for in pictures that are a little smaller, no larger than this and no smaller than that without need;
it is read at full size."""
_STEP_PX = 32
LINE_HIGH_PX, SHORTEST_LINE_PX = 48, 160
"""The height at which lines are read; one that is narrower then is read with empty space beside it."""
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
    centres_px: tuple[float, ...] = ()
    """About the middle of every letter, from the left edge of the box."""


class Reader:
    """Finds and reads lines; counts how often, for that is what costs."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.searches = 0
        self.readings = 0

    def find(self, bgr: Pixels) -> list[Line]:
        """The lines of a picture."""
        lines = [self.line(box, bgr) for box in self.boxes(bgr)]
        return [line for line in lines if line.text]

    def boxes(self, bgr: Pixels) -> list[Box]:
        """Where the lines of a picture are."""
        self.searches += 1
        height, width = bgr.shape[:2]
        size_px = search_size(width, height)
        smaller = cv2.resize(bgr, size_px, interpolation=cv2.INTER_AREA)
        found = self._engine(smaller, use_det=True, use_cls=False, use_rec=False).boxes
        scale = np.array([width / size_px[0], height / size_px[1]])
        return [] if found is None else [_around(corners * scale, bgr.shape) for corners in found]

    def read(self, bgr: Pixels) -> tuple[str, float]:
        """The text of a picture that shows one line, and how surely; nothing where it is hardly a text."""
        line = self.line(Box(0, 0, bgr.shape[1], bgr.shape[0]), bgr)
        return line.text, line.score

    def line(self, box: Box, bgr: Pixels) -> Line:
        """The line of text in a part of a picture; an empty one where it is hardly a text."""
        crop = box.of(bgr)
        height, width = crop.shape[:2]
        room = max(0, SHORTEST_LINE_PX * height // LINE_HIGH_PX - width)
        return self._read(box, cv2.copyMakeBorder(crop, 0, 0, 0, room, cv2.BORDER_CONSTANT, value=(127, 127, 127)))

    def letter(self, grey: Grey) -> tuple[str, float]:
        """The text of a picture that shows a letter alone."""
        line = self._read(Box(0, 0, grey.shape[1], grey.shape[0]), cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR))
        return line.text, line.score

    def _read(self, box: Box, bgr: Any) -> Line:
        self.readings += 1
        found = self._engine(bgr, use_det=False, use_cls=False, use_rec=True, return_word_box=True)
        if not getattr(found, "txts", None) or float(found.scores[0]) < _LEAST_SCORE:
            return Line(box, "", 0.0)
        words = found.word_results[0]
        columns = [column for word in words.word_cols or () for column in word]
        across = bgr.shape[1] / max(1.0, words.line_txt_len or 1.0)
        centres_px = tuple((column + 0.5) * across for column in columns)
        return Line(box, plain(str(found.txts[0])), float(found.scores[0]), centres_px)


def search_size(width: int, height: int) -> tuple[int, int]:
    """The size at which a picture is searched, in the network's steps."""
    longest = max(width, height)
    scale = min(LONG_SIDE_PX, max(SMALL_PX, SEARCHED_SHARE * longest), longest) / longest
    return tuple(max(_STEP_PX, round(scale * side / _STEP_PX) * _STEP_PX) for side in (width, height))  # type: ignore[return-value]


def plain(text: str) -> str:
    """A reading as it is meant: an O that stands alone in a line with numbers is a nought."""
    text = text.strip()
    return re.sub(r"(?<![^\W\d])[Oo](?![^\W\d])", "0", text) if re.search(r"\d", text) else text


def _around(corners: NDArray[Any], shape: tuple[int, ...]) -> Box:
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
            "Global.use_vertical_padding": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": LONG_SIDE_PX,
            "Rec.rec_img_shape": [3, LINE_HIGH_PX, LINE_HIGH_PX],
            # Pictures as small as these keep one core busy; more threads mostly wait for each other.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # Memory that is kept costs a twentieth less than memory that is asked for anew.
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
        }
    )
