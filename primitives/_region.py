"""A part of the picture as `[x, y, width, height]`, each a share of the whole from 0 to 1."""

from __future__ import annotations


def is_region(region: list[float]) -> bool:
    """Whether four numbers are a part of the picture; a hair of slack for rounding."""
    if len(region) != 4:
        return False
    x, y, w, h = region
    return 0 <= x < 1 and 0 <= y < 1 and 0 < w <= 1 - x + 1e-6 and 0 < h <= 1 - y + 1e-6
