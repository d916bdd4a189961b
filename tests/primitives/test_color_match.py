"""color_match: a defect of known colour put into a window of a known film comes out again."""

import threading
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives.color_match import PRIMITIVE, ColorMatchResult
from tests.scenery import changed, grade, landscape, pan, psnr_db, read, read_coded, sound_packets, write

WINDOW = range(20, 40)
START_S, END_S = 0.8, 1.6


def color_match(folder: Path, **arguments: object) -> ColorMatchResult:
    result = answer(folder, **arguments).result
    assert isinstance(result, ColorMatchResult)
    return result


def answer(folder: Path, **arguments: object) -> Answer:
    given = {"path": "materials/a.mp4", "start_s": START_S, "end_s": END_S, **arguments}
    return PRIMITIVE.call(given, Call(Workspace(folder)))


@pytest.mark.parametrize("shift", ["gain", "dark", "gamma", "temperature", "saturation", "contract"])
def test_a_shifted_window_comes_back_to_within_coding_noise(folder: Path, shift: str) -> None:
    truth = pan(landscape(1), 60)
    source = write(folder / "materials/a.mp4", changed(truth, WINDOW, grade(shift)))
    result = color_match(folder)
    assert result.output == "work/a_color.mp4"
    repaired = read(folder / result.output)
    assert len(repaired) == 60
    inside = slice(WINDOW.start, WINDOW.stop)
    before_db, after_db = psnr_db(read(source)[inside], truth[inside]), psnr_db(repaired[inside], truth[inside])
    untouched_db = psnr_db(repaired[:20], truth[:20])
    assert after_db > before_db + 6
    assert after_db > untouched_db - 7, (shift, result.method)
    assert result.psnr_after_db > result.psnr_before_db


def test_frames_outside_stay_bit_for_bit_even_in_the_group_that_the_range_splits(folder: Path) -> None:
    source = write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, grade("contract")))
    result = color_match(folder, end_s=1.48)
    assert result.output is not None
    old, new = read_coded(source), read_coded(folder / result.output)
    same = [number for number in range(60) if np.array_equal(old[number], new[number])]
    assert same == [*range(20), *range(37, 60)]
    assert result.frames == [20, 37]
    assert (result.frames_copied, result.frames_encoded, result.sound) == (43, 17, "copied")
    assert "the defect reaches beyond the range" in result.notes[0]
    assert sound_packets(source) == sound_packets(folder / result.output)


def test_a_window_that_begins_on_a_cut_is_matched_across_its_other_end(folder: Path) -> None:
    truth = [*pan(landscape(1), 20), *pan(landscape(2), 40)]
    write(folder / "materials/a.mp4", changed(truth, WINDOW, grade("contract")))
    result = color_match(folder)
    assert result.output is not None
    assert result.notes[0] == "the end at frame 20 falls on a cut"
    assert result.reference == "the same scene across the ends of the range"
    assert psnr_db(read(folder / result.output)[20:40], truth[20:40]) > 33


def test_a_shot_that_comes_again_is_its_own_reference(folder: Path) -> None:
    first, second = pan(landscape(1), 60), pan(landscape(2), 20)
    truth = [*first[:10], *second[:10], *first[10:30], *second[10:]]
    write(folder / "materials/a.mp4", changed(truth, WINDOW, grade("temperature")))
    result = color_match(folder)
    assert result.output is not None
    assert result.reference == "the same scene elsewhere near the range"
    assert psnr_db(read(folder / result.output)[20:40], truth[20:40]) > 30


def test_where_the_scene_is_seen_nowhere_else_it_says_so(folder: Path) -> None:
    truth = [*pan(landscape(1), 20), *pan(landscape(2), 20), *pan(landscape(3), 20)]
    write(folder / "materials/a.mp4", changed(truth, WINDOW, grade("dark")))
    result = color_match(folder)
    assert result.reference == "the nearest shots as wholes"
    assert "give reference_start_s and reference_end_s of a like shot" in " ".join(result.notes)


def test_an_image_of_the_same_scene_serves_as_reference(folder: Path) -> None:
    truth = pan(landscape(1), 60)
    write(folder / "materials/a.mp4", [grade("contract")(frame) for frame in truth])
    cv2.imwrite(str(folder / "materials/like_this.png"), truth[30][..., ::-1])
    result = color_match(folder, start_s=0, end_s=2.4, reference="materials/like_this.png")
    assert result.output is not None
    assert result.reference == "the same scene in the reference"
    assert psnr_db(read(folder / result.output), truth) > 33


def test_another_film_serves_as_reference(folder: Path) -> None:
    truth = pan(landscape(1), 60)
    write(folder / "materials/a.mp4", [grade("dark")(frame) for frame in truth])
    write(folder / "materials/clean.mp4", truth)
    result = color_match(folder, start_s=0, end_s=2.4, reference="materials/clean.mp4", reference_start_s=1.0)
    assert result.output is not None
    assert psnr_db(read(folder / result.output), truth) > 33


def test_half_the_strength_goes_half_the_way(folder: Path) -> None:
    truth = pan(landscape(1), 60)
    source = write(folder / "materials/a.mp4", changed(truth, WINDOW, grade("dark")))
    result = color_match(folder, strength=0.5)
    assert result.output is not None
    broken, half = np.mean(read(source)[30]), np.mean(read(folder / result.output)[30])
    assert half == pytest.approx((broken + np.mean(truth[30])) / 2, abs=2)


def test_feathered_ends_change_little_and_the_middle_fully(folder: Path) -> None:
    truth = pan(landscape(1), 60)
    source = write(folder / "materials/a.mp4", changed(truth, WINDOW, grade("dark")))
    result = color_match(folder, feather_s=0.2)
    assert result.output is not None
    old, new = read(source), read(folder / result.output)
    gained = [np.mean(new[n]) - np.mean(old[n]) for n in (20, 22, 30, 39)]
    assert gained[0] < 0.3 * gained[2] and gained[3] < 0.3 * gained[2] and gained[0] < gained[1] < gained[2]


def test_a_range_that_is_right_is_left_alone(folder: Path) -> None:
    frame = pan(landscape(1), 1)
    write(folder / "materials/a.mp4", frame * 60)
    with pytest.raises(UserError, match="Nothing was written: the range already matches"):
        color_match(folder)
    assert list((folder / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"start_s": 9.0, "end_s": 10.0}, r"start_s=9.0 is past the end of materials/a.mp4 \(2.400 s\)"),
        ({"end_s": 9.0}, "end_s=9.0 is past the end"),
        ({"start_s": 0.0, "end_s": 2.4}, "The range is all of materials/a.mp4"),
        ({"end_s": 0.5}, "must be greater than start_s"),
        ({"reference": "materials/note.png"}, "not a readable image"),
        ({"output": "materials/a.mp4"}, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(folder: Path, arguments: dict[str, object], sentence: str) -> None:
    write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, grade("dark")))
    (folder / "materials/note.png").write_text("not a picture")
    with pytest.raises(UserError, match=sentence):
        color_match(folder, **arguments)


def test_cancelling_leaves_nothing_behind(folder: Path) -> None:
    write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, grade("dark")))
    stop = threading.Event()

    def listen(done: float, total: float, message: str) -> None:
        if message.startswith("frame 30 "):
            stop.set()

    with pytest.raises(Cancelled):
        PRIMITIVE.call(
            {"path": "materials/a.mp4", "start_s": START_S, "end_s": END_S},
            Call(Workspace(folder), on_progress=listen, stop=stop),
        )
    assert list((folder / "work").iterdir()) == []


def test_the_picture_shows_before_after_and_reference(folder: Path) -> None:
    write(folder / "materials/a.mp4", changed(pan(landscape(1), 60), WINDOW, grade("dark")))
    image = answer(folder).image
    assert image is not None
    sheet = cv2.imdecode(np.frombuffer(image.data, np.uint8), cv2.IMREAD_COLOR)
    assert sheet is not None and sheet.shape[:2] == (image.height_px, image.width_px)
    third = image.width_px // 3
    before, after, reference = (float(np.mean(sheet[40:, n * third : (n + 1) * third])) for n in range(3))
    assert after == pytest.approx(reference, abs=4) and before < after - 20


def test_ten_bit_film_keeps_its_depth(folder: Path, tmp_path: Path) -> None:
    truth = pan(landscape(1), 40)
    path = folder / "materials/a.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=25, options={"crf": "12", "g": "10"})
        video.width, video.height, video.pix_fmt = 320, 180, "yuv420p10le"
        for picture in changed(truth, range(15, 25), grade("dark")):
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(video.encode(None))
    result = color_match(folder, start_s=0.6, end_s=1.0)
    assert result.output is not None
    with av.open(str(folder / result.output)) as container:
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p10le"
    assert psnr_db(read(folder / result.output)[15:25], truth[15:25]) > 33
