"""The search for the best source frame leaves most of the work out and none of the result."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.metrics import structural_similarity

from tests.verifiers.clips import Picture, drifting_pictures, write_clip
from verifiers._media import video_frames
from verifiers.video_repair_v3.frame_value import _area_cells
from verifiers.video_repair_v3.pictures import compare_pictures
from verifiers.video_repair_v3.scoring import Chunk
from verifiers.video_repair_v3.truth import Window

FPS = 24


def full_search(fixed: list[Picture], source: list[Picture], index: int) -> float:
    """The frame value with every candidate computed in full, by scikit-image."""

    def bits(gray: Picture) -> Picture:
        cells = cv2.resize(gray, (9, 8), interpolation=cv2.INTER_AREA)
        return cells[:, 1:] > cells[:, :-1]

    def gray(picture: Picture) -> Picture:
        return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)

    mine = gray(fixed[index])
    band = range(max(0, index - 10), min(len(source), index + 11))
    ranked = sorted(band, key=lambda at: int((bits(mine) != bits(gray(source[at]))).sum()))
    values = []
    for at in {*ranked[:3], *({index} & set(band))}:
        theirs = gray(source[at])
        sharpness = cv2.Laplacian(theirs, cv2.CV_64F).var()
        lab = [cv2.cvtColor(picture, cv2.COLOR_BGR2LAB)[..., 1:] for picture in (fixed[index], source[at])]
        factor = min(1.0, cv2.Laplacian(mine, cv2.CV_64F).var() / sharpness) if sharpness > 1 else 1.0
        factor *= max(0.0, 1 - np.abs(lab[0].astype(int) - lab[1]).mean() / 25)
        factor *= 1 - 0.03 * abs(at - index)
        values.append(factor * structural_similarity(theirs, mine, data_range=255))
    return max(values)


def test_the_pruned_streaming_search_equals_the_full_one(tmp_path: Path) -> None:
    pictures = drifting_pictures(96, width=128, height=72)
    late = [pictures[max(0, number - 4)] for number in range(24, 48)]
    tinted = [cv2.convertScaleAbs(picture * np.array([1.1, 1.0, 0.85])) for picture in pictures[48:72]]
    soft = [cv2.GaussianBlur(picture, (5, 5), 0) for picture in pictures[72:]]
    source = write_clip(tmp_path / "source.mp4", pictures, fps=FPS, crf=18)
    damaged = list(chain(pictures[:24], late, tinted, soft))
    fixed = write_clip(tmp_path / "fixed.mp4", damaged, fps=FPS, crf=26)
    window = Window(1.0, 3.0)
    sides = compare_pictures(fixed, source, (None, None), [Chunk(0.0, 4.0)], window)
    decoded = [[frame.bgr() for frame in video_frames(path)] for path in (fixed, source)]
    values = {index: full_search(*decoded, index) for index in range(0, 80, 2)}
    inside = [found for index, found in values.items() if 1.0 <= index / FPS <= 3.0]
    outside = [found for index, found in values.items() if not 1.0 <= index / FPS <= 3.0]
    assert sides.inside == pytest.approx(np.mean(inside), abs=1e-6)
    assert sides.outside == pytest.approx(np.mean(outside), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(40, 400), st.integers(40, 400), st.integers(0, 2**32 - 1))
def test_the_hash_cells_are_opencvs_area_resize(height: int, width: int, seed: int) -> None:
    gray = np.random.default_rng(seed).integers(0, 256, (height, width), np.uint8)
    expected = cv2.resize(gray, (9, 8), interpolation=cv2.INTER_AREA)
    assert np.abs(_area_cells(gray).astype(int) - expected).max() <= 1
    assert (_area_cells(gray) != expected).mean() < 0.05
