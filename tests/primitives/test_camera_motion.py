"""camera_motion: what the camera did is told from what moved in front of it, in films whose camera is known."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives._camera.judge import judge
from primitives._camera.steps import LOOK_PX, Steps
from primitives._camera.subject import subject_height
from primitives._camera.track import CELLS, explain
from primitives._cuts import Transition
from primitives._media.shots import Changes
from primitives._text import MAX_CHARACTERS, as_text
from primitives.camera_motion import DEFAULT_ROWS, CameraMotionResult, ShotMotion, list_stretches
from primitives.registry import by_name
from tests.camera_shots import SIZE_PX, Aim, moving, scenery, seen, shot, unsteady
from tests.media import make_film, make_sound, real_clip
from tests.scenery import FPS, Picture, write

Run = Callable[..., Answer]


def rows(answer: Answer) -> list[ShotMotion]:
    assert isinstance(answer.result, CameraMotionResult)
    return answer.result.rows


def told(answer: Answer) -> list[tuple[str, str | None]]:
    return [(row.movement, row.direction) for row in rows(answer)]


@pytest.mark.parametrize(
    ("aims", "movement", "direction"),
    [
        (moving(), "static", None),
        (moving(x=0.2), "pan", "right"),
        (moving(x=-0.05), "pan", "left"),
        (moving(y=-0.15), "tilt", "up"),
        (moving(y=0.15), "tilt", "down"),
        (moving(zoom=0.15), "zoom", "in"),
        (moving(zoom=-0.08), "zoom", "out"),
        (moving(turn_deg=8), "roll", "clockwise"),
        (moving(turn_deg=-8), "roll", "counterclockwise"),
        (unsteady(), "handheld", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_movement_and_direction_are_those_of_the_camera(
    folder: Path, run: Run, aims: list[Aim], movement: str, direction: str | None
) -> None:
    write(folder / "materials/a.mp4", shot(1, aims), sound=False)
    answer = run("camera_motion", path="materials/a.mp4")
    assert told(answer) == [(movement, direction)]
    assert rows(answer)[0].confidence > 0.5


def test_speeds_are_in_the_units_that_they_say(folder: Path, run: Run) -> None:
    write(folder / "materials/pan.mp4", shot(2, moving(x=0.2)), sound=False)
    write(folder / "materials/zoom.mp4", shot(3, moving(zoom=0.15)), sound=False)
    write(folder / "materials/roll.mp4", shot(4, moving(turn_deg=8)), sound=False)
    pan, zoom, roll = rows(run("camera_motion", paths=[f"materials/{name}.mp4" for name in ("pan", "zoom", "roll")]))
    assert pan.pan_per_s == pytest.approx(0.2 * 180 / 320, rel=0.05)
    assert [speed for _, speed in pan.speeds] == pytest.approx([0.1125] * 5, rel=0.1)
    assert zoom.zoom_per_s == pytest.approx(np.expm1(0.15), rel=0.08)
    assert roll.roll_deg_per_s == pytest.approx(8, rel=0.05)
    assert (pan.tilt_per_s, pan.zoom_per_s) == (None, None)
    assert [row.clip for row in (pan, zoom, roll)] == [f"materials/{name}.mp4" for name in ("pan", "zoom", "roll")]


def with_subject(frames: list[Picture], step_px: float) -> list[Picture]:
    """Something textured that covers a quarter of the picture and crosses it."""
    body = scenery(99, 110, 140)
    result = []
    for number, frame in enumerate(frames):
        left = int(20 + number * step_px)
        picture = frame.copy()
        picture[30:170, left : left + 110] = body[:, : max(0, min(110, SIZE_PX[0] - left))]
        result.append(picture)
    return result


def test_a_subject_that_crosses_is_not_the_camera(folder: Path, run: Run) -> None:
    write(folder / "materials/still.mp4", with_subject(shot(5, moving()), 4), sound=False)
    write(folder / "materials/pan.mp4", with_subject(shot(6, moving(x=0.25)), 3), sound=False)
    still, pan = rows(run("camera_motion", paths=["materials/still.mp4", "materials/pan.mp4"]))
    assert (still.movement, pan.movement, pan.direction) == ("static", "pan", "right")
    x, y, width, height = still.own_motion_box
    assert 0.6 <= height <= 0.95 and x < 0.4 and width > 0.4 and y + height > 0.8
    assert still.subject_height == pytest.approx(140 / 180, abs=0.1) and pan.subject_height is None


def test_something_that_fills_the_picture_and_goes_again_is_not_the_camera(folder: Path, run: Run) -> None:
    lorry, frames = scenery(98, 304, 300), []
    for number, frame in enumerate(shot(9, moving(75))):
        tall = np.concatenate([np.zeros((500, 320, 3), np.uint8), frame, np.zeros((500, 320, 3), np.uint8)])
        top = 700 - 10 * number
        if top > 0:
            tall[top : top + 300, 8:312] = lorry
        frames.append(tall[500:680])
    write(folder / "materials/a.mp4", frames, sound=False)
    assert told(run("camera_motion", path="materials/a.mp4", by_shot=False)) == [("static", None)]


def test_a_pan_there_and_back_is_no_still_camera(folder: Path, run: Run) -> None:
    there = moving(40, x=0.3)
    write(folder / "materials/a.mp4", shot(10, [*there, *reversed(there)]), sound=False)
    assert rows(run("camera_motion", path="materials/a.mp4", by_shot=False))[0].movement == "pan"


def test_a_camera_that_travels_moves_near_things_further(folder: Path, run: Run) -> None:
    far, near = scenery(7), scenery(8)
    frames = []
    for ahead, aim in enumerate(moving(x=0.12)):
        picture = seen(far, aim)
        close = seen(near, replace(aim, x=2.4 * aim.x))
        for left in range(-240, 560, 80):
            at = round(left - 2.4 * 0.12 * 180 * ahead / FPS) % 800 - 80
            part = slice(max(0, at), max(0, min(320, at + 40)))
            picture[60:, part] = close[60:, part]
        frames.append(picture)
    write(folder / "materials/a.mp4", frames, sound=False)
    assert told(run("camera_motion", path="materials/a.mp4")) == [("truck", "right")]


def test_every_shot_has_a_row_and_a_range_has_its_own(folder: Path, run: Run) -> None:
    frames = shot(11, moving(x=0.2)) + shot(12, moving()) + shot(13, moving(zoom=-0.15))
    write(folder / "materials/a.mp4", frames, sound=False)
    answer = run("camera_motion", path="materials/a.mp4")
    assert told(answer) == [("pan", "right"), ("static", None), ("zoom", "out")]
    assert [row.start_s for row in rows(answer)] == [0.0, 1.6, 3.2]
    assert rows(answer)[-1].end_s == 4.8
    part = run("camera_motion", path="materials/a.mp4", start_s=1.6, end_s=3.2)
    assert told(part) == [("static", None)]
    assert len(rows(run("camera_motion", path="materials/a.mp4", by_shot=False))) == 1
    page = run("camera_motion", path="materials/a.mp4", offset=1, limit=1)
    assert told(page) == [("static", None)]
    assert isinstance(page.result, CameraMotionResult) and page.result.next == "offset=2 for rows 3 to 3"


def test_what_was_seen_is_kept_and_serves_scene_cuts_too(folder: Path, run: Run) -> None:
    write(folder / "materials/a.mp4", shot(11, moving(x=0.2)) + shot(12, moving()), sound=False)

    def worked(tool: str) -> bool:
        messages: list[str] = []
        call = Call(Workspace(folder), on_progress=lambda done, total, message: messages.append(message))
        by_name()[tool].call({"path": "materials/a.mp4"}, call)
        return bool(messages)

    assert [worked("camera_motion"), worked("camera_motion"), worked("scene_cuts")] == [True, False, False]
    for store in (folder / ".avb/cache").glob("*camera*"):
        store.write_bytes(b"PK damaged")
    assert told(run("camera_motion", path="materials/a.mp4")) == [("pan", "right"), ("static", None)]


def test_the_picture_has_a_cell_a_row(folder: Path, run: Run) -> None:
    write(folder / "materials/a.mp4", shot(11, moving(x=0.2)) + shot(12, moving()), sound=False)
    answer = run("camera_motion", path="materials/a.mp4", picture=True)
    assert answer.image is not None
    picture = cv2.imdecode(np.frombuffer(answer.image.data, np.uint8), cv2.IMREAD_COLOR).astype(int)
    green = (picture[..., 1] - np.maximum(picture[..., 0], picture[..., 2])) > 60
    assert green.mean() > 0.005


def test_where_nothing_can_be_followed_the_answer_is_unclear(folder: Path, run: Run) -> None:
    flat = [np.full((180, 320, 3), 16 + number, np.uint8) for number in range(30)]
    write(folder / "materials/flat.mp4", flat, sound=False)
    make_film(folder / "materials/one.mp4", frames=1)
    make_film(folder / "materials/tiny.mp4", frames=20, size=(16, 16))
    answer = run("camera_motion", paths=[f"materials/{name}.mp4" for name in ("flat", "one", "tiny")])
    assert {row.movement for row in rows(answer)} == {"unclear"}
    assert isinstance(answer.result, CameraMotionResult) and "look with frame_grid" in answer.result.notes[-1]


def test_mistakes_are_sentences(folder: Path, run: Run) -> None:
    make_sound(folder / "materials/a.wav")
    make_film(folder / "materials/a.mp4", frames=25)
    for arguments, sentence in (
        ({"path": "materials/a.wav"}, "materials/a.wav has no video, only sound"),
        ({"path": "materials/a.mp4", "start_s": 4}, r"start_s=4.0 is past the end of materials/a.mp4 \(1.000 s\)"),
        ({"path": "materials/a.mp4", "offset": 3}, "offset=3 is past the last of 1 rows"),
        ({"paths": ["materials/a.mp4"], "end_s": 1}, "paths are whole clips"),
        ({}, "Give either path"),
    ):
        with pytest.raises(UserError, match=sentence):
            run("camera_motion", **arguments)


def test_a_call_that_nobody_wants_any_more_stops(folder: Path) -> None:
    write(folder / "materials/a.mp4", shot(11, moving(x=0.2)), sound=False)
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        by_name()["camera_motion"].call({"path": "materials/a.mp4"}, Call(Workspace(folder), stop=stop))
    assert not list((folder / ".avb").rglob("*camera*"))


def test_a_dissolve_belongs_to_neither_shot() -> None:
    changes = Changes(range(100), (Transition("dissolve", 50, 44, 56, 0.9), Transition("cut", 80, 80, 80, 0.2)))
    assert list_stretches(changes, by_shot=True) == [(range(50), range(44)), (range(50, 100), range(56, 100))]
    assert list_stretches(changes, by_shot=False) == [(range(100), range(100))]


def test_the_border_outweighs_a_subject_that_fills_the_middle() -> None:
    chance = np.random.default_rng(3)
    x, y = chance.uniform(-0.88, 0.88, 200), chance.uniform(-0.5, 0.5, 200)
    points = x + 1j * y
    subject = (np.abs(x) < 0.45) & (np.abs(y) < 0.45)
    ends = np.where(subject, points + 0.05j, 1.02 * points + 0.03)
    step = explain(points, ends, 16 / 9, 1 / 180)
    assert step.growth == pytest.approx(1.02, abs=2e-3) and step.shift == pytest.approx(0.03, abs=2e-3)
    assert not step.fits[subject].any() and step.fits[~subject].all()


def steps_of(moves: np.ndarray) -> tuple[Steps, np.ndarray]:
    count = len(moves)
    frames = np.stack([np.arange(count), np.arange(1, count + 1)], axis=1) * 2
    cells = np.ones((count, CELLS[0] * CELLS[1]), np.uint8)
    looks = np.zeros((0, LOOK_PX[0] * LOOK_PX[1]), np.uint8)
    return Steps(
        frames, moves, np.ones(count), np.full(count, np.nan), cells, 16 / 9, looks, np.zeros(0, np.int64)
    ), frames / 25


def test_a_pan_there_and_back_is_a_pan_and_two_movements_are_both_named() -> None:
    back = np.zeros((40, 4))
    back[:20, 0], back[20:, 0] = -0.02, 0.02
    assert (judge(*steps_of(back)).movement, judge(*steps_of(back)).direction) == ("pan", "right and left")
    both = np.zeros((40, 4))
    both[:, 0], both[:, 1] = -0.02, 0.012
    verdict = judge(*steps_of(both))
    assert (verdict.movement, verdict.direction, verdict.also) == ("pan", "right", ("tilt up",))


def test_a_full_page_stays_within_what_harnesses_show() -> None:
    row = ShotMotion(
        clip="materials/clips/a_clip_with_a_name.mp4", shot=10, start_s=1000.123, end_s=1001.123,
        movement="handheld", direction="counterclockwise", confidence=0.55, also=["tilt down"], pan_per_s=-0.1234,
        tilt_per_s=-0.1234, zoom_per_s=-0.1234, roll_deg_per_s=-10.12, shake=None,
        speeds=[[1000.12, -0.123]] * 5, own_motion_box=[], subject_height=None,
    )  # fmt: skip
    page = CameraMotionResult(path=None, row_count=500, rows=[row] * DEFAULT_ROWS, picture=None, next=None, notes=[])
    assert len(as_text(page)) < MAX_CHARACTERS


def test_what_moves_before_a_still_camera_has_a_height_and_a_still_picture_none() -> None:
    still, _ = steps_of(np.zeros((40, 4)))
    looks = np.full((10, LOOK_PX[1], LOOK_PX[0]), 120, np.uint8)
    shown = replace(still, look_frames=np.arange(0, 40, 4))
    assert subject_height(replace(shown, looks=looks.reshape(10, -1)), range(40)) is None
    for number in range(10):
        looks[number, 7:21, 10 + number : 22 + number] = 200
    assert subject_height(replace(shown, looks=looks.reshape(10, -1)), range(40)) == 0.5
    assert subject_height(replace(shown, looks=looks.reshape(10, -1)), range(4)) is None


@pytest.mark.parametrize("clip", ["talking_head/jwpIntro.mp4", "talking_head/grid_bbaf2n.mpg"])
def test_of_somebody_who_talks_head_and_shoulders_are_measured(folder: Path, run: Run, clip: str) -> None:
    path = folder / "materials" / Path(clip).name
    path.write_bytes(real_clip(clip).read_bytes())
    height = rows(run("camera_motion", path=f"materials/{path.name}", by_shot=False))[0].subject_height
    assert height is not None and 0.7 <= height <= 1.0


@pytest.mark.parametrize(
    ("clip", "movement", "direction"),
    [("odd/mp_fire2.mp4", "pan", "left"), ("talking_head/jwpIntro.mp4", "static", None)],
)
def test_real_clips_as_seen_by_eye(folder: Path, run: Run, clip: str, movement: str, direction: str | None) -> None:
    """The first is stored upside down and shown turned."""
    path = folder / "materials" / Path(clip).name
    path.write_bytes(real_clip(clip).read_bytes())
    assert told(run("camera_motion", path=f"materials/{path.name}", by_shot=False)) == [(movement, direction)]
