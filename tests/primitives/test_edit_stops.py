"""The edit tools stopped on the way: by the caller at any step, or by a disk without room. Nothing is left behind."""

import threading
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Call, Cancelled, UserError
from primitives.registry import by_name
from tests.disk import room_for
from tests.scenery import Picture, changed, grade, landscape, pan, write

TOOLS: dict[str, dict[str, Any]] = {
    "color_match": {"start_s": 0.8, "end_s": 1.4},
    "restore_video": {"start_s": 0.8, "end_s": 1.4, "kind": "deblur"},
    "trim_concat": {"segments": [{"start_s": 0.3, "end_s": 1.1}, {"start_s": 1.2, "end_s": 2.3}]},
    "scene_cuts": {"sheet": True, "limit": 1},
}
MOMENTS = (0.0, 0.1, 0.4, 0.7, 0.9, 0.99)


def spoilt(picture: Picture) -> Picture:
    return np.asarray(cv2.GaussianBlur(grade("contract")(picture), (0, 0), 1.5), dtype=np.uint8)


def make(folder: Path) -> Path:
    frames = changed(pan(landscape(1), 50), range(20, 35), spoilt) + pan(landscape(2), 10)
    return write(folder / "materials/a.mp4", frames, group=25)


class StopAt(threading.Event):
    """A stop sign that comes up when it was looked at a number of times."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks, self._limit = 0, looks

    def is_set(self) -> bool:
        self.looks += 1
        return self.looks > self._limit


def call(folder: Path, tool: str, stop: threading.Event, told: list[str]) -> None:
    arguments = {"path": "materials/a.mp4", **TOOLS[tool]}
    listener = Call(Workspace(folder), on_progress=lambda done, total, message: told.append(message), stop=stop)
    by_name()[tool].call(arguments, listener)


def left(folder: Path) -> list[str]:
    """Everything that a call may have written, findings kept for later calls excepted."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in {"materials", ".avb"}
    ) + [path.name for path in folder.glob(".avb/**/*") if ".part" in path.name]


def clear(folder: Path) -> None:
    for name in ("work", "outputs", ".avb"):
        for path in (folder / name).rglob("*"):
            if path.is_file():
                path.unlink()


@pytest.mark.parametrize("tool", TOOLS)
def test_stopping_at_any_step_ends_the_call_there_and_leaves_nothing(folder: Path, tool: str) -> None:
    make(folder)
    call(folder, tool, threading.Event(), [])  # what is remembered of the film from now on is known
    clear(folder)
    whole = StopAt(10**9)
    call(folder, tool, whole, [])
    assert whole.looks > 20 and left(folder)
    threads = threading.active_count()
    for moment in MOMENTS:
        clear(folder)
        stop, told = StopAt(int(whole.looks * moment)), list[str]()
        with pytest.raises(Cancelled):
            call(folder, tool, stop, told)
        heard = len(told)
        assert left(folder) == []
        # Every thread of the call may look once more; none goes on working.
        assert stop.looks <= int(whole.looks * moment) + 8
        assert threading.active_count() <= threads and len(told) == heard


@pytest.mark.parametrize("file_bytes", [0, 40, 3_000, 30_000])
@pytest.mark.parametrize("tool", ["color_match", "restore_video", "trim_concat"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(folder: Path, tool: str, file_bytes: int) -> None:
    make(folder)
    with room_for(file_bytes), pytest.raises(UserError, match=r"could not be written: no room left on the disk"):
        call(folder, tool, threading.Event(), [])
    assert left(folder) == []


@pytest.mark.parametrize("file_bytes", [0, 40])
def test_a_full_disk_costs_scene_cuts_its_table_and_says_so(folder: Path, file_bytes: int) -> None:
    make(folder)
    with room_for(file_bytes), pytest.raises(UserError, match=r"shots.json could not be written: no room left"):
        call(folder, "scene_cuts", threading.Event(), [])
    assert left(folder) == []


def test_a_full_disk_at_the_very_end_is_told_too(folder: Path) -> None:
    make(folder)
    call(folder, "trim_concat", threading.Event(), [])
    size = max((folder / path).stat().st_size for path in left(folder))
    clear(folder)
    with room_for(size - 200), pytest.raises(UserError, match="no room left on the disk"):
        call(folder, "trim_concat", threading.Event(), [])
    assert left(folder) == []
