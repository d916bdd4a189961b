"""SSIM by box filters equals scikit-image's default."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.metrics import structural_similarity

from tests.verifiers.clips import shared_media
from verifiers._media import video_frames
from verifiers._ssim import ssim


@settings(max_examples=25, deadline=None)
@given(st.integers(7, 90), st.integers(7, 150), st.integers(0, 255), st.integers(0, 2**32 - 1))
def test_pictures_of_any_size_and_contrast_agree_to_a_millionth(
    height: int, width: int, contrast: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (height, width), np.uint8)
    y = np.clip(x.astype(int) + rng.integers(-contrast, contrast + 1, x.shape), 0, 255).astype(np.uint8)
    assert ssim(x, y) == pytest.approx(structural_similarity(x, y, data_range=255), abs=1e-6)


def test_extreme_pictures_agree_to_a_millionth() -> None:
    black, white = np.zeros((64, 80), np.uint8), np.full((64, 80), 255, np.uint8)
    checks = (np.indices((64, 80)).sum(axis=0) % 2 * 255).astype(np.uint8)
    for x in (black, white, checks):
        for y in (black, white, checks, 255 - checks):
            assert ssim(x, y) == pytest.approx(structural_similarity(x, y, data_range=255), abs=1e-6)


def test_real_frames_agree_to_a_millionth() -> None:
    film = islice(video_frames(shared_media("film/bikes.mp4")), 6)
    for x, y in pairwise([frame.gray() for frame in film]):
        assert ssim(x, y) == pytest.approx(structural_similarity(x, y, data_range=255), abs=1e-6)


def test_a_picture_is_exactly_like_itself() -> None:
    x = np.random.default_rng(3).integers(0, 256, (300, 200), np.uint8)
    assert ssim(x, x) == 1.0


@pytest.mark.parametrize(("a", "b"), [((6, 30), (6, 30)), ((30, 30), (30, 31))])
def test_pictures_too_small_or_of_two_sizes_are_refused(a: tuple[int, int], b: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="one size"):
        ssim(np.zeros(a, np.uint8), np.zeros(b, np.uint8))
