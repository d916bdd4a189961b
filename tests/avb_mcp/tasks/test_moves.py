"""The synthetic camera does what its words say, and never shows what lies beyond the picture."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from avb_mcp.tasks.builders._moves import VALUES, Amounts, Camera, Variable, View, draw_amounts, fits, look, seen

SIZE = (320, 180)
AMOUNTS = Amounts()


def _with_dot(x: float, y: float) -> NDArray[np.uint8]:
    """A dark picture with a bright dot at a place given as shares of its half width and half height."""
    picture = np.full((360, 640, 3), 30, np.uint8)
    cv2.circle(picture, (round(320 + 320 * x), round(180 + 180 * y)), 9, (240, 240, 240), -1)
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8)


def _dot(frame: NDArray[np.uint8]) -> tuple[float, float]:
    luma = frame[: SIZE[1]].astype(np.float64)
    weight = np.maximum(0, luma - 120)
    rows, columns = np.mgrid[: SIZE[1], : SIZE[0]]
    return float((weight * columns).sum() / weight.sum()), float((weight * rows).sum() / weight.sum())


def _travel(movement: str, x: float = 0.0, y: float = 0.0) -> tuple[float, float]:
    camera = Camera(camera_movement=movement)
    start, end = (_dot(seen(_with_dot(x, y), camera.view(at, AMOUNTS), SIZE)) for at in (0.0, 1.0))
    return end[0] - start[0], end[1] - start[1]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("aspect", [9 / 16, 1.0, 4 / 3, 16 / 9, 2.4])
def test_no_camera_sees_beyond_the_picture(seed: int, aspect: float) -> None:
    amounts = draw_amounts(np.random.default_rng(seed))
    cameras = [Camera().with_value(variable, value) for variable, values in VALUES.items() for value in values]
    assert all(fits(camera, amounts, aspect) for camera in cameras)


def test_a_camera_that_would_see_beyond_the_picture_is_known() -> None:
    assert not fits(Camera(shot_size="Wide", camera_angle="Dutch angle"), AMOUNTS, 16 / 9)


def test_things_drift_against_a_pan() -> None:
    assert _travel("Pan left")[0] > 40
    assert _travel("Pan right")[0] < -40
    assert abs(_travel("Pan right")[1]) < 0.5


def test_things_drift_against_a_tilt() -> None:
    assert _travel("Tilt up")[1] > 25
    assert _travel("Tilt down")[1] < -25


def test_a_zoom_moves_things_away_from_the_middle_or_towards_it() -> None:
    assert _travel("Zoom in", x=0.3)[0] > 15
    assert _travel("Zoom out", x=0.3)[0] < -15


def test_a_roll_turns_things_about_the_middle() -> None:
    across, up = _travel("Camera roll", x=0.3)
    assert abs(up) > 15
    assert abs(across) < 5


def test_a_static_camera_leaves_things_where_they_are() -> None:
    assert _travel("Static", x=0.2, y=0.1) == pytest.approx((0.0, 0.0))


def test_opposite_moves_are_each_other_backwards() -> None:
    for one, other in (("Pan left", "Pan right"), ("Tilt up", "Tilt down"), ("Zoom in", "Zoom out")):
        forwards = [Camera(camera_movement=one).view(at, AMOUNTS) for at in (0.0, 0.25, 1.0)]
        backwards = [Camera(camera_movement=other).view(1 - at, AMOUNTS) for at in (0.0, 0.25, 1.0)]
        assert forwards == backwards


def test_a_tighter_size_shows_less() -> None:
    shares = [Camera(shot_size=size).view(0.5, AMOUNTS).share for size in ("Wide", "Medium", "Close Up")]
    assert shares == sorted(shares, reverse=True)
    assert all(wide / tight > 1.4 for wide, tight in pairwise(shares))


def _width_seen(view: View, y: float) -> float:
    x = np.array([-1.0, 1.0])
    across, _ = look(view, x, np.full(2, y), 1.0)
    return float(across[1] - across[0])


def test_upright_lines_converge_upwards_from_a_low_angle_and_downwards_from_a_high_one() -> None:
    low, high = (Camera(camera_angle=angle).view(0, AMOUNTS) for angle in ("Low angle", "High angle"))
    assert _width_seen(low, -1) > 1.3 * _width_seen(low, 1)  # the top shows more, so that it looks narrower
    assert _width_seen(high, 1) > 1.3 * _width_seen(high, -1)


def test_a_dutch_angle_slants_the_horizon() -> None:
    view = Camera(camera_angle="Dutch angle").view(0, AMOUNTS)
    _, heights = look(view, np.array([-1.0, 1.0]), np.zeros(2), 1.0)
    assert abs(heights[1] - heights[0]) > 0.2


def test_a_wider_lens_sees_more_at_the_edges_and_the_same_in_the_middle() -> None:
    lenses = ("Ultra Wide & Fisheye", "Wide", "Medium", "Long Lens")
    views = [Camera(lens_size=lens).view(0, AMOUNTS) for lens in lenses]
    edges = [float(look(view, np.array([1.0]), np.array([1.0]), 1.0)[0][0]) for view in views]
    middles = [float(look(view, np.array([0.02]), np.array([0.0]), 1.0)[0][0]) for view in views]
    assert edges == sorted(edges, reverse=True)
    assert middles == pytest.approx([middles[0]] * 4, rel=0.01)


def test_a_view_of_the_whole_picture_changes_nothing() -> None:
    chance = np.random.default_rng(1)
    soft = cv2.GaussianBlur(chance.integers(0, 256, (180, 320, 3)).astype(np.uint8), (0, 0), 2)
    frame = np.asarray(cv2.cvtColor(soft, cv2.COLOR_BGR2YUV_I420), np.uint8)
    assert np.abs(seen(frame, View(share=1.0), SIZE).astype(int) - frame).max() <= 1


def test_a_picture_of_another_shape_is_cropped_and_not_squeezed() -> None:
    picture = np.full((200, 400, 3), 30, np.uint8)
    cv2.circle(picture, (200, 100), 40, (240, 240, 240), -1)
    frame = seen(np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8), View(share=1.0), (100, 100))
    bright = frame[:100] > 120
    assert bright.any(axis=0).sum() == pytest.approx(bright.any(axis=1).sum(), abs=1)


def test_a_word_that_geometry_cannot_make_is_refused() -> None:
    with pytest.raises(ValueError, match="Dolly zoom"):
        Camera().with_value(Variable.CAMERA_MOVEMENT, "Dolly zoom")
