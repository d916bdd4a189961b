"""Cuts of real clips that people and several detectors agree on."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from primitives._base import Answer
from primitives.scene_cuts import SceneCutsResult
from tests.media import real_clip

Run = Callable[..., Answer]


def found(folder: Path, run: Run, name: str) -> list[tuple[int, str]]:
    film = shutil.copy(real_clip(name), folder / "materials")
    result = run("scene_cuts", path=f"materials/{Path(film).name}").result
    assert isinstance(result, SceneCutsResult)
    return [(shot.frame, shot.begins) for shot in result.shots]


@pytest.mark.parametrize(
    ("name", "shots"),
    [
        ("film/bbb_480p_30s.mp4", [(0, "fade"), (285, "cut"), (378, "cut"), (553, "cut")]),
        ("film/bikes.mp4", [(0, "start"), (30, "cut"), (76, "cut"), (137, "cut"), (187, "cut"), (242, "cut")]),
        ("film/oa4_launch.webm", [(0, "start"), (74, "cut")]),
        ("scenedetect/fades.mp4", [(0, "fade"), (84, "fade"), (167, "fade")]),
    ],
)
def test_annotated_clips_give_their_shots_and_no_more(
    folder: Path, run: Run, name: str, shots: list[tuple[int, str]]
) -> None:
    assert found(folder, run, name) == shots


@pytest.mark.parametrize("name", ["footage/intel_bottle-detection.mp4", "odd/corrupted.mp4", "odd/unordered.mov"])
def test_one_take_is_one_shot(folder: Path, run: Run, name: str) -> None:
    assert found(folder, run, name) == [(0, "start")]


def test_a_dissolve_of_a_real_film_is_called_one(folder: Path, run: Run) -> None:
    kinds = dict(found(folder, run, "film/nasa_13013.mp4"))
    assert kinds == {0: "start", 139: "dissolve", 202: "cut"}
