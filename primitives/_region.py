"""A part of the picture as `[x, y, width, height]`, each a share of the whole from 0 to 1."""

from __future__ import annotations


def check_region(region: list[float]) -> None:
    """Refuses what is no part of the picture; nothing at all is the whole of it. A hair of slack for rounding."""
    if region and not _is_inside(region):
        raise ValueError(f"region={region} must be [x, y, width, height] inside the picture, each from 0 to 1.")


def _is_inside(region: list[float]) -> bool:
    if len(region) != 4:
        return False
    x, y, w, h = region
    return 0 <= x < 1 and 0 <= y < 1 and 0 < w <= 1 - x + 1e-6 and 0 < h <= 1 - y + 1e-6
