"""How much detail a picture has, against the same figures taken pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest

from primitives._media.tracks import details
from primitives._tracks import REGIONS


def test_bends_are_how_far_places_lie_from_both_their_neighbours() -> None:
    luma = np.random.default_rng(3).integers(0, 90, (44, 56), dtype=np.uint8)
    high, wide = 36, 48
    values = luma.astype(float)
    down = np.abs(2 * values[1 : high + 1, :wide] - values[:high, :wide] - values[2 : high + 2, :wide])
    across = np.abs(2 * values[:high, 1 : wide + 1] - values[:high, :wide] - values[:high, 2 : wide + 2])
    regions = ((down + across) / 2).reshape(REGIONS[0], high // REGIONS[0], REGIONS[1], wide // REGIONS[1])
    assert 2.0 ** details(luma)[-1] == pytest.approx(regions.mean(axis=(1, 3)).ravel(), rel=1e-3)


def test_a_slope_has_detail_at_every_distance_but_no_bends() -> None:
    luma = np.tile(np.arange(0, 200, 2, dtype=np.uint8), (68, 1))
    measured = 2.0 ** details(luma)
    assert measured[:4, 0] == pytest.approx([1, 2, 4, 8], abs=0.05)
    assert measured[4].max() < 0.05
