"""The cut detector: known cuts, merging of flashes, and PySceneDetect itself where it is installed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.verifiers.repurpose_media import moving, write_film
from verifiers._media import video_frames
from verifiers._shots import CONTENT_THRESHOLD, MIN_SHOT_FRAMES, ContentCuts

MEDIA = Path(os.environ.get("AVB_TEST_MEDIA", Path(__file__).resolve().parents[2] / ".." / "shared" / "media"))
REAL_CLIPS = ["film/bbb_480p_30s.mp4", "film/nasa_13013.mp4", "film/bikes.mp4", "film/oa4_launch.webm"]

needs_media = pytest.mark.skipif(not MEDIA.is_dir(), reason="the shared test media are not here (AVB_TEST_MEDIA)")


def gray(level):
    return np.full((36, 64, 3), level, np.uint8)


def cuts_of(levels):
    detector = ContentCuts()
    for level in levels:
        detector.add(gray(level))
    return detector.cuts


def file_cuts(path):
    detector = ContentCuts()
    for frame in video_frames(path):
        detector.add(frame.bgr())
    return detector.cuts


def test_a_change_of_exactly_the_threshold_is_a_cut_and_one_below_is_not():
    step = int(CONTENT_THRESHOLD * 3)  # a gray step changes only the value, one of three averaged planes
    assert cuts_of([100] * 20 + [100 + step] * 20) == [20]
    assert cuts_of([100] * 20 + [100 + step - 1] * 20) == []


def test_a_change_counts_from_the_minimum_length_on():
    assert cuts_of([50] * MIN_SHOT_FRAMES + [200] * 20) == [MIN_SHOT_FRAMES]
    assert cuts_of([50] * (MIN_SHOT_FRAMES - 1) + [200] * 20) == []


def test_a_flash_shortly_after_a_cut_makes_no_shot_of_its_own():
    assert cuts_of([50] * 30 + [200] * 3 + [50] * 40) == [30]


def test_a_long_run_of_flashes_becomes_one_more_cut_at_its_end():
    flashing = [200 if index % 6 < 3 else 50 for index in range(36)]
    levels = [50] * 30 + flashing + [50] * 40
    assert cuts_of(levels) == [30, 63]


def test_colour_changes_count_as_much_as_brightness():
    detector = ContentCuts()
    for colour in [(0, 0, 200)] * 20 + [(0, 200, 0)] * 20:
        detector.add(np.full((36, 64, 3), colour, np.uint8))
    # Red to green turns hue by 60 of 180 steps: 60 / 3 = 20, below the threshold; red to blue: 120 / 3 = 40.
    assert detector.cuts == []
    detector = ContentCuts()
    for colour in [(0, 0, 200)] * 20 + [(200, 0, 0)] * 20:
        detector.add(np.full((36, 64, 3), colour, np.uint8))
    assert detector.cuts == [20]


def test_the_measure_is_the_mean_over_hue_saturation_and_value():
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 256, (2, 40, 60, 3)).astype(np.uint8)
    detector = ContentCuts()
    assert detector.add(first) == 0.0
    planes = [cv2.cvtColor(image, cv2.COLOR_BGR2HSV).astype(float) for image in (first, second)]
    assert detector.add(second) == pytest.approx(np.abs(planes[0] - planes[1]).mean())


def test_a_change_of_picture_size_is_a_cut():
    detector = ContentCuts()
    for _ in range(20):
        detector.add(gray(90))
    detector.add(np.full((72, 64, 3), 90, np.uint8))
    assert detector.cuts == [20]


def test_cuts_in_a_file_are_found_to_the_frame(tmp_path):
    stretches = [(3, moving(50)), (2, moving(150)), (2.5, moving(60)), (2, moving(200))]
    assert file_cuts(write_film(tmp_path / "film.mp4", stretches)) == [30, 50, 75]


@needs_media
@pytest.mark.parametrize("clip", ["film/bbb_480p_30s.mp4", "film/bikes.mp4", "film/oa4_launch.webm"])
def test_the_hard_cuts_of_a_real_film_are_found_to_the_frame(clip):
    manifest = json.loads((MEDIA / "MANIFEST.json").read_text(encoding="utf-8"))
    (row,) = (row for row in manifest["files"] if row["file"] == clip)
    assert file_cuts(MEDIA / clip) == row["cuts"]["hard_cuts_frames"]


@needs_media
@pytest.mark.parametrize("clip", REAL_CLIPS)
def test_cuts_equal_pyscenedetects_where_it_is_installed(clip):
    scenedetect = pytest.importorskip("scenedetect", reason="PySceneDetect is not installed (it is no dependency)")
    manager = scenedetect.SceneManager()
    manager.add_detector(scenedetect.ContentDetector(threshold=27))
    manager.detect_scenes(scenedetect.open_video(str(MEDIA / clip)))
    theirs = [start.frame_num for start, _ in manager.get_scene_list()[1:]]
    assert file_cuts(MEDIA / clip) == theirs
