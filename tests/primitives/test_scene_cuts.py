"""scene_cuts: shots are found to the frame, and told apart by how they begin."""

import json
import threading
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives._media.scan import scan
from primitives._media.thumbs import film_thumbs, plan_runs
from primitives._text import as_text
from primitives.registry import by_name
from primitives.scene_cuts import SceneCutsResult, Shot
from tests.media import make_film, make_sound

Run = Callable[..., Answer]
Pixels = NDArray[np.uint8]
FPS = 25


def scene(seed: int, frames: int, width: int = 160, height: int = 90) -> list[Pixels]:
    """A shot of its own colours and forms that slowly slides."""
    coarse = np.random.default_rng(seed).integers(20, 236, (5, 9, 3), dtype=np.uint8)
    ground = cv2.resize(coarse, (width + frames, height), interpolation=cv2.INTER_CUBIC)
    return [np.ascontiguousarray(ground[:, n // 3 : n // 3 + width]) for n in range(frames)]


def mixed(before: list[Pixels], after: list[Pixels]) -> list[Pixels]:
    """As many frames of dissolve as both have."""
    shares = [(n + 1) / (len(before) + 1) for n in range(len(before))]
    return [cv2.addWeighted(a, 1 - s, b, s, 0) for a, b, s in zip(before, after, shares, strict=True)]


def faded(shot: list[Pixels], level: int, backwards: bool) -> list[Pixels]:
    flat = np.full_like(shot[0], level)
    shares = [(n + 1) / len(shot) for n in range(len(shot))]
    weights = [1 - s for s in shares] if not backwards else shares
    return [cv2.addWeighted(picture, w, flat, 1 - w, 0) for picture, w in zip(shot, weights, strict=True)]


def write(
    path: Path, pictures: Iterable[Pixels], codec: str = "libx264", pix_fmt: str = "yuv420p", gop: int = 50
) -> Path:
    options = {"preset": "ultrafast", "g": str(gop)} if codec == "libx264" else {}
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=FPS, options=options)
        stream.pix_fmt = pix_fmt
        for number, picture in enumerate(pictures):
            if number == 0:
                stream.height, stream.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def shots(answer: Answer) -> list[Shot]:
    assert isinstance(answer.result, SceneCutsResult)
    return answer.result.shots


def begins(answer: Answer) -> list[tuple[int, str]]:
    return [(shot.frame, shot.begins) for shot in shots(answer)]


@pytest.fixture
def edited(folder: Path) -> str:
    """Cut at 40, dissolve over 75 to 95, fade through black over 125 to 149, cut at 185."""
    a, b, c, d, e = (scene(seed, 60) for seed in range(5))
    pictures = a[:40] + b[:35] + mixed(b[35:55], c[:20]) + c[20:50]
    pictures += faded(c[50:60], 0, False) + [np.zeros_like(c[0])] * 4 + faded(d[:10], 0, True) + d[10:46] + e[:40]
    write(folder / "materials/a.mp4", pictures)
    return "materials/a.mp4"


def test_cut_dissolve_and_fade_are_told_apart_at_their_frames(edited: str, run: Run) -> None:
    answer = run("scene_cuts", path=edited)
    found = shots(answer)
    assert [shot.begins for shot in found] == ["start", "cut", "dissolve", "fade", "cut"]
    assert (found[1].frame, found[4].frame) == (40, 185)
    assert found[1].start_s == 1.6
    assert found[2].change_s == pytest.approx([75 / FPS, 95 / FPS], abs=0.09)
    assert found[3].change_s == pytest.approx([125 / FPS, 149 / FPS], abs=0.13)
    assert [shot.end_s for shot in found] == [*(shot.start_s for shot in found[1:]), 225 / FPS]
    assert all(shot.strength is not None and shot.strength > 0.5 for shot in found[1:])


def test_a_range_gives_the_changes_inside_it(edited: str, run: Run) -> None:
    answer = run("scene_cuts", path=edited, start_s=2.0, end_s=5.0)
    assert begins(answer)[0] == (50, "start")
    assert [shot.begins for shot in shots(answer)] == ["start", "dissolve"]
    assert shots(answer)[-1].end_s == 5.0
    whole = {shot.frame for shot in shots(run("scene_cuts", path=edited))}
    assert shots(answer)[1].frame in whole


def test_what_was_found_is_kept_until_the_film_changes(edited: str, folder: Path, run: Run) -> None:
    def worked() -> tuple[bool, list[tuple[int, str]]]:
        told: list[str] = []
        call = Call(Workspace(folder), on_progress=lambda done, total, message: told.append(message))
        answer = by_name()["scene_cuts"].call({"path": edited}, call)
        return bool(told), begins(answer)

    first, again = worked(), worked()
    assert (first[0], again[0]) == (True, False)
    assert again[1] == first[1]
    write(folder / edited, scene(7, 30) + scene(8, 30))
    assert worked() == (True, [(0, "start"), (30, "cut")])


def test_kept_findings_that_are_damaged_are_found_anew(edited: str, folder: Path, run: Run) -> None:
    first = begins(run("scene_cuts", path=edited))
    (store,) = (folder / ".avb/cache").glob("*.json")
    store.write_text("[{", encoding="utf-8")
    assert begins(run("scene_cuts", path=edited)) == first


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_flash_is_no_cut(folder: Path, run: Run, length: int) -> None:
    pictures = scene(1, 80)
    for n in range(40, 40 + length):
        pictures[n] = cv2.addWeighted(pictures[n], 0.1, np.full_like(pictures[n], 255), 0.9, 0)
    write(folder / "materials/a.mp4", pictures)
    assert begins(run("scene_cuts", path="materials/a.mp4")) == [(0, "start")]


def test_a_whip_pan_and_a_change_of_light_are_no_cuts(folder: Path, run: Run) -> None:
    wide = scene(3, 1, width=640)[0]
    places = [0] * 20 + [n * 48 for n in range(10)] + [480] * 20
    pan = [np.ascontiguousarray(wide[:, left : left + 160]) for left in places]
    light = [cv2.convertScaleAbs(pan[-1], alpha=1 - 0.05 * min(n, 10)) for n in range(40)]
    write(folder / "materials/a.mp4", pan + light)
    assert begins(run("scene_cuts", path="materials/a.mp4")) == [(0, "start")]


def test_letterbox_bars_hide_neither_cut_nor_fade_to_white(folder: Path, run: Run) -> None:
    a, b, c = (scene(seed, 60) for seed in (11, 12, 13))
    pictures = a[:40] + b[:40] + faded(b[40:50], 255, False) + faded(c[:10], 255, True) + c[10:50]
    for picture in pictures:
        picture[:12] = picture[-12:] = 0
    write(folder / "materials/a.mp4", pictures)
    answer = run("scene_cuts", path="materials/a.mp4")
    assert [shot.begins for shot in shots(answer)] == ["start", "cut", "fade"]
    assert abs(shots(answer)[2].frame - 90) <= 2


def test_a_film_that_opens_and_closes_in_black_has_one_shot(folder: Path, run: Run) -> None:
    shot = scene(5, 60)
    black = [np.zeros_like(shot[0])] * 5
    write(
        folder / "materials/a.mp4", black + faded(shot[:12], 0, True) + shot[12:48] + faded(shot[48:], 0, False) + black
    )
    answer = run("scene_cuts", path="materials/a.mp4")
    assert begins(answer) == [(0, "fade")]
    assert isinstance(answer.result, SceneCutsResult)
    assert shots(answer)[0].change_s == pytest.approx([0, 17 / FPS], abs=0.09)
    assert answer.result.closing_fade_s == pytest.approx([53 / FPS, 70 / FPS], abs=0.09)


def test_sensitivity_moves_the_line_between_sure_and_doubtful(folder: Path, run: Run) -> None:
    near = scene(21, 30)
    far = [cv2.addWeighted(picture, 0.8, scene(22, 1)[0], 0.2, 0) for picture in near]
    write(folder / "materials/a.mp4", near + far)
    counts = [
        len(shots(run("scene_cuts", path="materials/a.mp4", sensitivity=sensitivity)))
        for sensitivity in (0.0, 0.2, 0.5, 0.8)
    ]
    assert counts[0] == 1
    assert counts == sorted(counts)
    assert counts[-1] == 2


@pytest.mark.parametrize("pix_fmt", ["gray", "yuv444p", "yuv420p10le", "bgr0"])
def test_every_kind_of_pixel_is_read(folder: Path, run: Run, pix_fmt: str) -> None:
    write(folder / "materials/a.mkv", scene(1, 12) + scene(2, 12), codec="ffv1", pix_fmt=pix_fmt)
    assert begins(run("scene_cuts", path="materials/a.mkv")) == [(0, "start"), (12, "cut")]


def test_a_long_list_is_paged_and_written_whole(folder: Path, run: Run) -> None:
    """Longer than one window of thumbnails, so that cuts at the seams are counted once."""
    pictures = (picture for n in range(130) for picture in scene(n, 40, 64, 36))
    write(folder / "materials/a.mp4", pictures, gop=100)
    answer = run("scene_cuts", path="materials/a.mp4", limit=100, offset=20)
    result = answer.result
    assert isinstance(result, SceneCutsResult)
    assert [(shot.shot, shot.frame) for shot in result.shots] == [(n + 1, 40 * n) for n in range(20, 120)]
    assert (result.shot_count, result.cuts, result.next) == (130, 129, "offset=120 for shots 121 to 130")
    assert result.table == "work/a.shots.json"
    table = json.loads((folder / "work/a.shots.json").read_text(encoding="utf-8"))
    assert [row["frame"] for row in table] == [40 * n for n in range(130)]
    default = run("scene_cuts", path="materials/a.mp4")
    assert len(as_text(default.result)) <= 8_000
    with pytest.raises(UserError, match=r"offset=130 is past the last of 130 shots. Use 0 <= offset < 130."):
        run("scene_cuts", path="materials/a.mp4", offset=130)


def test_the_sheet_shows_each_shot_clear_of_the_one_before(folder: Path, run: Run) -> None:
    red, blue, green = (np.full((90, 160, 3), colour, np.uint8) for colour in ((0, 0, 220), (220, 0, 0), (0, 160, 0)))
    for picture, seed in ((red, 1), (blue, 2), (green, 3)):
        picture[20:70, 40:120] = scene(seed, 1)[0][20:70, 40:120]
    pictures = [red] * 30 + [blue] * 30 + mixed([blue] * 16, [green] * 16) + [green] * 30
    write(folder / "materials/a.mp4", pictures)
    answer = run("scene_cuts", path="materials/a.mp4", sheet=True)
    assert [shot.begins for shot in shots(answer)] == ["start", "cut", "dissolve"]
    assert answer.image is not None
    sheet = cv2.imdecode(np.frombuffer(answer.image.data, np.uint8), cv2.IMREAD_COLOR)
    assert sheet is not None
    hues = [
        bool(((sheet[:, :, c] > 100) & (np.delete(sheet, c, axis=2).max(axis=2) < 70)).mean() > 0.08) for c in range(3)
    ]
    assert hues == [True, True, True]


def test_thumbnails_do_not_depend_on_where_decoding_starts(tmp_path: Path) -> None:
    film = make_film(
        tmp_path / "a.mp4", frames=620, size=(96, 54), options={"bf": "3", "g": "30", "x264-params": "open-gop=1"}
    )
    found = scan(film, "a.mp4", lambda: None)
    assert found.video is not None
    assert len(plan_runs(found.video, range(620), workers=2)) == 3
    whole = np.concatenate(list(film_thumbs(film, "a.mp4", found, range(620), lambda frames: None)))
    assert whole.shape == (620, 3, 18, 32)
    for start, stop in ((0, 7), (100, 131), (229, 260), (600, 620)):
        part = np.concatenate(list(film_thumbs(film, "a.mp4", found, range(start, stop), lambda frames: None)))
        assert np.array_equal(part, whole[start:stop]), (start, stop)


def test_cancelling_stops_the_search_and_leaves_nothing(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=600, size=(96, 54), options={"preset": "ultrafast"})
    stop = threading.Event()
    call = Call(Workspace(folder), on_progress=lambda done, total, message: stop.set(), stop=stop)
    with pytest.raises(Cancelled):
        by_name()["scene_cuts"].call({"path": "materials/a.mp4"}, call)
    assert [path for path in folder.rglob("*") if path.is_file()] == [folder / "materials/a.mp4"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"start_s": 9}, r"start_s=9.0 is past the end of materials/a.mp4 \(1.000 s\). Use 0 <= start_s < 1.000."),
        ({"start_s": 2, "end_s": 1}, "end_s=1.0 must be greater than start_s=2.0."),
        ({"limit": 101}, "limit=101"),
        ({"path": "materials/s.wav"}, "materials/s.wav has no video, only sound."),
    ],
)
def test_what_cannot_be_done_is_said(folder: Path, run: Run, arguments: dict[str, object], sentence: str) -> None:
    make_film(folder / "materials/a.mp4", frames=25, size=(64, 36))
    make_sound(folder / "materials/s.wav")
    with pytest.raises(UserError, match=sentence):
        run("scene_cuts", **{"path": "materials/a.mp4", **arguments})


def test_one_frame_is_one_shot(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=1, size=(64, 36))
    assert begins(run("scene_cuts", path="materials/a.mp4")) == [(0, "start")]
