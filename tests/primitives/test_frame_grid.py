"""frame_grid: what a cell says is what it shows."""

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from primitives._base import Answer, UserError
from primitives._sheet import MAX_BYTES, MAX_SIDE_PX, encode, plan_layout
from primitives.frame_grid import FrameGridResult
from tests.media import cut_cells, make_film, numbered_frame, read_number

Run = Callable[..., Answer]
Pixels = NDArray[np.uint8]


def result(answer: Answer) -> FrameGridResult:
    assert isinstance(answer.result, FrameGridResult)
    return answer.result


def label_likeness(cell: Pixels, label: str) -> float:
    """How well the upper left corner of a cell matches a label drawn here, at the best size."""
    corner = cell[: cell.shape[0] // 4].max(axis=2)
    best = 0.0
    for size in range(9, 23):
        box = cv2.getTextSize((0, 0), label, (0, 0), cv2.FontFace("sans"), size, 500)
        drawn = np.zeros((size + 4, box[2] + 4, 3), dtype=np.uint8)
        cv2.putText(drawn, label, (2, size), (255, 255, 255), cv2.FontFace("sans"), size, 500)
        if drawn.shape[0] <= corner.shape[0] and drawn.shape[1] <= corner.shape[1]:
            best = max(best, float(cv2.matchTemplate(corner, drawn[:, :, 0], cv2.TM_CCOEFF_NORMED).max()))
    return best


@pytest.mark.parametrize("fps", [25, Fraction(30000, 1001), 60])
def test_labels_and_times_agree_with_the_clock_in_the_picture(folder: Path, run: Run, fps: Fraction) -> None:
    make_film(folder / "materials/a.mp4", frames=240, fps=fps, options={"bf": "3", "g": "48"})
    answer = run("frame_grid", path="materials/a.mp4", count=9)
    half_frame_s = float(0.5 / Fraction(fps))
    listed = result(answer).cells
    labels = [f"#{cell.cell:02d} {cell.time_s:.2f}s" for cell in listed]
    for cell, picture in zip(listed, cut_cells(answer), strict=True):
        true_s = float(read_number(picture) / Fraction(fps))
        assert abs(cell.time_s - true_s) < 0.001
        likely = max(labels, key=lambda label: label_likeness(picture, label))
        assert abs(float(likely.split()[1].rstrip("s")) - true_s) <= half_frame_s
        assert label_likeness(picture, likely) > 0.8


def test_both_ends_of_a_range_are_shown_and_the_end_is_excluded(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=100)
    answer = run("frame_grid", path="materials/a.mp4", start_s=1.0, end_s=2.0, count=5)
    assert [read_number(cell) for cell in cut_cells(answer)] == [25, 31, 37, 43, 49]


def test_every_frame_of_a_short_range_comes_once(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=100)
    answer = run("frame_grid", path="materials/a.mp4", start_s=0.48, end_s=1.0, all_frames=True)
    assert [read_number(cell) for cell in cut_cells(answer)] == list(range(12, 25))


def test_asked_times_come_in_the_asked_order(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=100)
    answer = run("frame_grid", path="materials/a.mp4", times_s=[3.0, 0.5, 0.52, 3.0])
    assert [read_number(cell) for cell in cut_cells(answer)] == [75, 12, 13, 75]


def test_one_frame_every_so_often(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=100)
    assert [cell.frame for cell in result(run("frame_grid", path="materials/a.mp4", every_s=1)).cells] == [
        0,
        25,
        50,
        75,
    ]


def test_several_clips_show_first_middle_and_last(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=21)
    make_film(folder / "materials/b.webm", frames=11, codec="libvpx-vp9", options={"cpu-used": "8"})
    answer = run("frame_grid", paths=["materials/a.mp4", "materials/b.webm"])
    assert [(cell.clip, cell.frame) for cell in result(answer).cells] == [
        (1, 0),
        (1, 10),
        (1, 20),
        (2, 0),
        (2, 5),
        (2, 10),
    ]
    assert [read_number(cell) for cell in cut_cells(answer)] == [0, 10, 20, 0, 5, 10]


def test_a_region_is_zoomed_from_full_resolution(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=5, size=(1280, 720), options={"crf": "10"})
    answer = run("frame_grid", path="materials/a.mp4", count=1, region=[0.75, 0.75, 0.25, 0.25])
    shown = cut_cells(answer)[0]
    assert shown.shape[:2] == (180, 320)
    truth = numbered_frame(2, 1280, 720)[540:, 960:]
    assert np.abs(shown[40:].astype(int) - truth[40:].astype(int)).mean() < 6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"start_s": 99}, r"start_s=99.0 is past the end of materials/a.mp4 \(4.000 s\). Use 0 <= start_s < 4.000."),
        ({"times_s": [1, 4]}, r"times_s=4.0 is past the end"),
        ({"times_s": [-1]}, r"times_s=-1.0"),
        ({"every_s": 0.01}, r"asks for 400 frames, at most 100. Use every_s >= 0.040."),
    ],
)
def test_what_lies_outside_the_film_is_refused(
    folder: Path, run: Run, arguments: dict[str, object], sentence: str
) -> None:
    make_film(folder / "materials/a.mp4", frames=100)
    with pytest.raises(UserError, match=sentence):
        run("frame_grid", path="materials/a.mp4", **arguments)


def test_too_many_frames_name_the_longest_range(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=150)
    with pytest.raises(UserError, match=r"holds 150 frames, at most 100. Use end_s <= 4.000, or count"):
        run("frame_grid", path="materials/a.mp4", all_frames=True)


def test_a_variable_rate_film_is_sampled_evenly_in_time(folder: Path, run: Run) -> None:
    times = [Fraction(n, 50) for n in range(50)] + [1 + Fraction(n, 5) for n in range(20)]
    make_film(folder / "materials/a.mp4", frames=70, times=times)
    answer = run("frame_grid", path="materials/a.mp4", count=5)
    assert [round(cell.time_s, 2) for cell in result(answer).cells] == pytest.approx([0, 1.2, 2.4, 3.6, 4.8], abs=0.21)
    assert [read_number(cell) for cell in cut_cells(answer)] == [cell.frame for cell in result(answer).cells]


@given(st.integers(1, 100), st.floats(0.2, 5.0), st.integers(1, 8192))
def test_any_sheet_stays_within_what_harnesses_pass_on(count: int, aspect: float, native_px: int) -> None:
    layout = plan_layout(count, aspect, native_px)
    width, height = layout.size_px
    assert max(width, height) <= MAX_SIDE_PX
    assert layout.columns * layout.rows >= count
    assert layout.cell_width_px <= native_px
    assert layout.cell_height_px <= math.ceil(native_px / aspect) + 1


def test_a_picture_of_pure_noise_still_fits_the_byte_limit() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (1568, 1568, 3), dtype=np.uint8)
    jpeg = encode(noise)
    assert len(jpeg.data) <= MAX_BYTES
    assert jpeg.data[:2] == b"\xff\xd8"
