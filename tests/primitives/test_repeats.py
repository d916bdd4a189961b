"""Frozen and repeated frames, found in small pictures whose motion is known."""

import numpy as np
import pytest

from primitives._restore.repeats import SMALL_PX, Small, frozen_runs, repeated_run

WIDTH, HEIGHT = SMALL_PX
SCENE = np.random.default_rng(3).uniform(0, 255, (HEIGHT, WIDTH + 200)).astype(np.float32)
NOISE = np.random.default_rng(4)


def moving(numbers: list[int], speed: float = 0.1, noise: float = 0.05) -> list[Small]:
    """Pictures of a scene that changes a little with every number, each with coding noise of its own."""
    far = SCENE[:, 100 : 100 + WIDTH]
    near = SCENE[:, :WIDTH]
    return [
        (near + speed * number * (far - near) / 10 + NOISE.normal(0, noise, near.shape)).astype(np.float32)
        for number in numbers
    ]


def held(first: int, last: int, count: int = 60) -> list[int]:
    return [first - 1 if first <= number < last else number for number in range(count)]


@pytest.mark.parametrize(("first", "last"), [(25, 35), (22, 24), (24, 44)])
def test_a_freeze_is_found_to_the_frame(first: int, last: int) -> None:
    found = frozen_runs(moving(held(first, last)), range(20, 45), 0, set())
    assert [(run.first, run.last) for run in found.runs] == [(first, last)] and found.doubtful == []


def test_pauses_of_the_film_itself_are_no_freeze() -> None:
    numbers = [number - number % 2 for number in range(60)]
    assert frozen_runs(moving(numbers), range(20, 45), 0, set()).runs == []


def test_nothing_is_frozen_where_nothing_moves_anyway() -> None:
    assert frozen_runs(moving([0] * 60), range(20, 45), 0, set()).runs == []


def test_a_frame_that_hardly_moves_is_doubtful_until_the_range_decides() -> None:
    pictures = moving(held(25, 35))
    creeping = pictures[34] + (pictures[35] - pictures[34]) * 0.085
    pictures[35] = np.asarray(creeping, dtype=np.float32)
    wide, exact = (frozen_runs(pictures, frames, 0, set()) for frames in (range(20, 45), range(25, 35)))
    assert wide.doubtful == [35]
    assert [(run.first, run.last) for run in exact.runs] == [(25, 35)] and exact.doubtful == []


def test_a_keyframe_that_renews_the_picture_does_not_hide_where_the_freeze_begins() -> None:
    pictures = moving(held(25, 35), speed=1.0)
    grain = NOISE.normal(0, 1.5, (HEIGHT, WIDTH)).astype(np.float32)
    renewed = [picture + grain if 25 <= number < 35 else picture for number, picture in enumerate(pictures)]
    found = frozen_runs(renewed, range(20, 45), 0, {25})
    assert [(run.first, run.last) for run in found.runs] == [(25, 35)]


@pytest.mark.parametrize("length", [5, 9, 14])
def test_a_stretch_that_plays_twice_is_found_to_the_frame(length: int) -> None:
    numbers = [*range(28), *range(28 - length, 28), *range(28, 60)]
    found = repeated_run(moving(numbers), range(20, 46), 0)
    assert [(run.first, run.last, run.lag) for run in found.runs] == [(28, 28 + length, length)]
    assert found.doubtful == []


def test_a_loop_that_goes_on_is_no_repeat() -> None:
    numbers = [number % 8 for number in range(60)]
    assert repeated_run(moving(numbers), range(20, 45), 0).runs == []
