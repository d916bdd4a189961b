"""restore_video: defects put into a window of a known film come out again, to the frame where time is concerned."""

import threading
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives.restore_video import PRIMITIVE, RestoreVideoResult
from tests.scenery import Picture, changed, landscape, pan, psnr_db, read, read_coded, sound_packets, write

WINDOW = range(20, 40)
INSIDE = slice(20, 40)


def answer(folder: Path, kind: str, **arguments: object) -> Answer:
    given = {"path": "materials/a.mp4", "start_s": 0.8, "end_s": 1.6, "kind": kind, **arguments}
    return PRIMITIVE.call(given, Call(Workspace(folder)))


def restore(folder: Path, kind: str, **arguments: object) -> RestoreVideoResult:
    result = answer(folder, kind, **arguments).result
    assert isinstance(result, RestoreVideoResult)
    return result


def softened(picture: Picture) -> Picture:
    height, width = picture.shape[:2]
    small = cv2.resize(picture, (width // 3, height // 3), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.uint8)


def blurred(picture: Picture) -> Picture:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 1.5), dtype=np.uint8)


@pytest.mark.parametrize(
    ("kind", "defect", "gain_db"), [("deblur", blurred, 2.0), ("upscale", softened, 0.5), ("sharpen", blurred, 0.7)]
)
def test_lost_sharpness_comes_back(
    folder: Path, kind: str, defect: Callable[[Picture], Picture], gain_db: float
) -> None:
    truth = pan(landscape(1), 60)
    source = write(folder / "materials/a.mp4", changed(truth, WINDOW, defect), crf=16)
    result = restore(folder, kind)
    before_db = psnr_db(read(source)[INSIDE], truth[INSIDE])
    after_db = psnr_db(read(folder / result.output)[INSIDE], truth[INSIDE])
    assert after_db > before_db + gain_db
    assert result.after > result.before


def test_frames_outside_and_the_sound_are_copies(folder: Path) -> None:
    source = write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, blurred))
    result = restore(folder, "deblur")
    old, new = read_coded(source), read_coded(folder / result.output)
    assert [n for n in range(60) if not np.array_equal(old[n], new[n])] == list(WINDOW)
    assert (result.frames_copied, result.frames_encoded, result.sound) == (40, 20, "copied")
    assert sound_packets(source) == sound_packets(folder / result.output)


def test_only_the_region_changes(folder: Path) -> None:
    source = write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, blurred), crf=6)
    result = restore(folder, "deblur", region=[0.5, 0.0, 0.5, 1.0])
    old, new = read(source)[30].astype(int), read(folder / result.output)[30].astype(int)
    assert np.abs(old - new)[:, :150].mean() < 1.5 < 3 < np.abs(old - new)[:, 170:].mean()


def test_a_sharp_range_is_left_alone(folder: Path) -> None:
    write(folder / "materials/a.mp4", pan(landscape(1), 1) * 60)
    with pytest.raises(UserError, match="Nothing was written: deblur would not help"):
        restore(folder, "deblur")
    assert list((folder / "work").iterdir()) == []


def test_flicker_is_steadied(folder: Path) -> None:
    truth = pan(landscape(1), 60)
    gains = np.random.default_rng(5).uniform(0.85, 1.1, 60)
    broken = [
        np.clip(frame * gains[n], 0, 255).astype(np.uint8) if n in WINDOW else frame for n, frame in enumerate(truth)
    ]
    source = write(folder / "materials/a.mp4", broken)
    result = restore(folder, "deflicker")

    def jumps(frames: list[Picture]) -> float:
        return float(np.abs(np.diff([frame.mean() for frame in frames[20:40]])).mean())

    assert jumps(read(folder / result.output)) < 0.2 * jumps(read(source))
    assert result.after < 0.3 * result.before
    assert result.around is not None and result.around < result.before


def frozen(truth: list[Picture], first: int, last: int) -> list[Picture]:
    """Frames `[first, last)` show the one before them."""
    return [truth[first - 1] if first <= n < last else frame for n, frame in enumerate(truth)]


def test_frozen_frames_are_replaced_to_the_frame_and_the_film_keeps_its_length(folder: Path) -> None:
    truth = pan(landscape(1, width_px=520), 60, step_px=3)
    source = write(folder / "materials/a.mp4", frozen(truth, 25, 33), crf=16)
    result = restore(folder, "unfreeze")
    assert [(run.first, run.last) for run in result.stretches] == [(25, 33)]
    repaired = read(folder / result.output)
    assert len(repaired) == 60 and result.sound == "copied"
    assert psnr_db(repaired[25:33], truth[25:33]) > psnr_db(read(source)[25:33], truth[25:33]) + 8


def test_an_inserted_freeze_is_cut_out_with_its_sound(folder: Path) -> None:
    truth = pan(landscape(1, width_px=520), 50, step_px=3)
    write(folder / "materials/a.mp4", [*truth[:25], *[truth[24]] * 10, *truth[25:]], crf=16)
    result = restore(folder, "drop_repeats")
    assert [(run.first, run.last) for run in result.stretches] == [(25, 35)]
    repaired = read(folder / result.output)
    assert len(repaired) == 50 and result.duration_s == pytest.approx(2.0, abs=0.03)
    assert psnr_db(repaired, truth) > 33


def test_a_stretch_that_plays_twice_loses_its_second_copy(folder: Path) -> None:
    truth = pan(landscape(1, width_px=520), 60, step_px=3)
    write(folder / "materials/a.mp4", [*truth[:30], *truth[18:30], *truth[30:]], crf=16)
    result = restore(folder, "drop_repeats", start_s=1.0, end_s=1.8)
    assert [(run.first, run.last) for run in result.stretches] == [(30, 42)]
    assert psnr_db(read(folder / result.output), truth) > 33


def test_dropping_with_the_sound_kept_leaves_it_whole(folder: Path) -> None:
    truth = pan(landscape(1, width_px=520), 50, step_px=3)
    write(folder / "materials/a.mp4", [*truth[:25], *[truth[24]] * 10, *truth[25:]], crf=16)
    cut, kept = restore(folder, "drop_repeats"), restore(folder, "drop_repeats", keep_audio=True, output="work/k.mp4")
    assert len(read(folder / kept.output)) == len(read(folder / cut.output)) == 50
    assert kept.sound == "encoded"


def test_a_freeze_before_a_cut_cannot_be_filled_and_says_what_can_be_done(folder: Path) -> None:
    first, second = pan(landscape(1, width_px=520), 25, 3), pan(landscape(2, width_px=520), 25, 3)
    write(folder / "materials/a.mp4", [*first, *[first[-1]] * 10, *second])
    with pytest.raises(UserError, match=r"comes another shot, nothing lies between\. Use kind drop_repeats"):
        restore(folder, "unfreeze")


@pytest.mark.parametrize("kind", ["unfreeze", "drop_repeats"])
def test_moving_frames_are_not_taken_for_frozen_ones(folder: Path, kind: str) -> None:
    write(folder / "materials/a.mp4", pan(landscape(1, width_px=520), 60, step_px=3))
    with pytest.raises(UserError, match="Nothing was written: no frame"):
        restore(folder, kind)
    assert list((folder / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kind": "deblur", "start_s": 9, "end_s": 10}, "start_s=9.0 is past the end"),
        ({"kind": "deblur", "start_s": 0, "end_s": 2.4}, "nothing sharp is left to learn from"),
        ({"kind": "deblur", "keep_audio": True}, "keep_audio goes with kind drop_repeats only"),
        ({"kind": "unfreeze", "region": [0, 0, 1, 1]}, "region does not go with kind unfreeze"),
        ({"kind": "unfreeze", "strength": 0.5}, "strength does not go with kind unfreeze"),
        ({"kind": "deblur", "region": [0.5, 0, 0.8, 1]}, "inside the picture"),
        ({"kind": "stabilise"}, "kind='stabilise'"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(folder: Path, arguments: dict[str, object], sentence: str) -> None:
    write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, blurred))
    with pytest.raises(UserError, match=sentence):
        answer(folder, **arguments)  # type: ignore[arg-type]


def test_cancelling_leaves_nothing_behind(folder: Path) -> None:
    write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, blurred))
    stop = threading.Event()

    def listen(done: float, total: float, message: str) -> None:
        if message.startswith("frame 30 "):
            stop.set()

    arguments = {"path": "materials/a.mp4", "start_s": 0.8, "end_s": 1.6, "kind": "deblur"}
    with pytest.raises(Cancelled):
        PRIMITIVE.call(arguments, Call(Workspace(folder), on_progress=listen, stop=stop))
    assert list((folder / "work").iterdir()) == []
