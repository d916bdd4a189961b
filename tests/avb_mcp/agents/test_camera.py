"""The autopilot's assembly policy and `camera_motion`: the camera's words are picked by what the tool measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from avb_mcp.agents._client import Reply, Tools
from avb_mcp.agents.autopilot._camera import Movement, movement_of, watch_cameras
from avb_mcp.agents.autopilot._storyboard import Slot
from avb_mcp.agents.autopilot.assembly import WORDS, pick, watch_clip
from avb_mcp.tasks.builders._moves import MOVEMENTS, Amounts, Camera, filmed
from avb_mcp.workspace import Workspace
from primitives._base import Call, UserError
from primitives._text import as_text
from primitives.registry import select
from tests.scenery import landscape, write

COUNT = 38
SIZE_PX = (256, 144)


def in_process(folder: Path, disable: list[str]) -> Tools:
    """The tools of a folder, called without a server."""
    named = {primitive.name: primitive for primitive in select([], disable)}

    def send(tool: str, arguments: dict[str, Any]) -> Reply:
        try:
            answer = named[tool].call(arguments, Call(Workspace(folder)))
        except UserError as error:
            return Reply(str(error), is_error=True)
        return Reply(as_text(answer.result), answer.image.data if answer.image else None)

    return Tools(list(named), send)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip for every movement that the assembly builder makes, all of one picture."""
    folder = tmp_path_factory.mktemp("task")
    (folder / "materials").mkdir()
    soft = cv2.GaussianBlur(landscape(4, 480, 270), (0, 0), 1.5)
    still = cv2.cvtColor(cv2.normalize(soft, None, 0, 255, cv2.NORM_MINMAX), cv2.COLOR_RGB2YUV_I420)
    for movement in MOVEMENTS:
        frames = filmed([still] * COUNT, COUNT, Camera(camera_movement=movement), Amounts(), SIZE_PX)
        pictures = [cv2.cvtColor(frame, cv2.COLOR_YUV2RGB_I420) for frame in frames]
        write(folder / "materials" / f"{movement}.mp4", pictures, crf=20, sound=False)
    return folder


def path_of(movement: str) -> str:
    return f"materials/{movement}.mp4"


def test_the_figures_of_a_movement_are_those_that_its_word_stands_for(clips: Path) -> None:
    found = watch_cameras(in_process(clips, []), [path_of(movement) for movement in MOVEMENTS])
    for movement in MOVEMENTS:
        figures = found[path_of(movement)].figures(SIZE_PX[0] / SIZE_PX[1])
        looks = WORDS["camera_movement"][movement]
        off = min(float(np.abs(figures - look[4:]).max()) for look in looks)
        assert off < 0.35, (movement, figures)


@pytest.mark.parametrize(("wanted", "disable"), [("Pan left", []), ("Static", []), ("Pan left", ["camera_motion"])])
def test_the_clip_whose_camera_does_what_the_slot_says_is_picked(clips: Path, wanted: str, disable: list[str]) -> None:
    tools = in_process(clips, disable)
    names = ["Zoom out", "Pan right", wanted] if wanted != "Static" else ["Tilt up", "Static", "Camera roll"]
    paths = [path_of(name) for name in names]
    movements = watch_cameras(tools, paths)
    assert bool(movements) == (not disable)
    candidates = [watch_clip(tools, path, movements.get(path)) for path in paths]
    slot = Slot(shot_size="Medium", camera_angle="Eye level", lens_size="Medium", camera_movement=wanted)
    assert pick(slot, candidates).path == path_of(wanted)


def test_figures_that_a_row_leaves_out_are_nothing() -> None:
    row = {"clip": "a.mp4", "start_s": 0.0, "end_s": 2.0, "movement": "pan", "pan_per_s": -0.2}
    assert movement_of(row) == Movement(2.0, pan=-0.2)
    assert movement_of(row).figures(1.5).tolist() == pytest.approx([0, 0, 1.2, 0])


def test_a_tool_that_refuses_leaves_the_pictures_to_tell(clips: Path) -> None:
    assert watch_cameras(in_process(clips, []), ["materials/absent.mp4"]) == {}
