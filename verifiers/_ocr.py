"""Burned-in text, read offline by `rapidocr` (extra `ocr`), whose models ship inside its package.

Without the package, or without its models, `open_reader` gives the reason instead: nothing is downloaded.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MISSING = "reading burned-in text needs the extra `ocr` (pip install avb-mcp[ocr])"

Image = npt.NDArray[np.uint8]


class TextReader:
    """Reads the lines of text in a picture."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def lines(self, bgr: Image) -> tuple[str, ...]:
        return tuple(self._engine(bgr).txts or ())


@cache
def open_reader() -> TextReader | str:
    """A reader, or the sentence that says why there is none."""
    package = importlib.util.find_spec("rapidocr")
    if package is None or package.origin is None or importlib.util.find_spec("onnxruntime") is None:
        return MISSING
    if not any((Path(package.origin).parent / "models").glob("*.onnx")):
        return "reading burned-in text needs rapidocr's models, and its package holds none"
    engine = importlib.import_module("rapidocr").RapidOCR(params={"Global.log_level": "error"})
    return TextReader(engine)
