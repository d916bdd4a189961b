"""`find_defects` on films whose defects are known by construction, and its manners as a tool."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives._text import as_text
from primitives.find_defects import PRIMITIVE, FindDefectsResult
from primitives.scene_cuts import SceneCutsResult
from tests.media import make_film
from tests.scenery import FPS, changed, grade, landscape, pan, write

FRAMES, WINDOW = 150, range(60, 105)
RATE_HZ = 48_000


def rows(answer: Answer) -> list[tuple[str, float, float]]:
    assert isinstance(answer.result, FindDefectsResult)
    return [(row.kind, row.start_s, row.end_s) for row in answer.result.defects]


def wave(seconds: float, seed: int = 1) -> NDArray[np.float32]:
    """Bursts of coloured noise with pauses, like speech in a quiet room."""
    chance = np.random.default_rng(seed)
    count = round(seconds * RATE_HZ)
    voice = np.convolve(chance.standard_normal(count), np.hanning(64) / 16, "same")
    lengths = chance.integers(RATE_HZ // 16, RATE_HZ // 4, round(8 * seconds))
    spoken = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)[:count]
    smooth = np.convolve(spoken, np.hanning(480) / np.hanning(480).sum(), "same")
    return (0.4 * voice * smooth + 0.0005 * chance.standard_normal(count)).astype(np.float32)


def write_sound(path: Path, samples: NDArray[np.float32]) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=RATE_HZ, layout="mono")
        chunk = av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
        chunk.sample_rate, chunk.pts, chunk.time_base = RATE_HZ, 0, Fraction(1, RATE_HZ)
        container.mux(stream.encode(chunk))
        container.mux(stream.encode(None))
    return path


@pytest.fixture(scope="module")
def clean() -> list[NDArray[np.uint8]]:
    return pan(landscape(4, width_px=640), FRAMES, 2)


def test_a_clean_film_has_no_defects(folder: Path, run: Callable[..., Answer], clean: list[NDArray[np.uint8]]) -> None:
    write(folder / "materials" / "a.mp4", clean)
    answer = run("find_defects", path="materials/a.mp4")
    assert rows(answer) == [] and answer.image is None
    assert "nothing stands out" in as_text(answer.result)


def test_a_grade_is_found_to_the_frame_and_shown(
    folder: Path, run: Callable[..., Answer], clean: list[NDArray[np.uint8]]
) -> None:
    write(folder / "materials" / "a.mp4", changed(clean, WINDOW, grade("contract")), crf=18)
    answer = run("find_defects", path="materials/a.mp4")
    assert rows(answer)[0] == ("colour", WINDOW.start / FPS, WINDOW.stop / FPS)
    assert isinstance(answer.result, FindDefectsResult) and answer.image is not None
    tool, arguments = answer.result.defects[0].next.split(" ", 1)
    assert tool == "color_match"
    assert json.loads(arguments) == {"path": "materials/a.mp4", "start_s": 2.4, "end_s": 4.2}
    drawn = cv2.imdecode(np.frombuffer(answer.image.data, np.uint8), cv2.IMREAD_COLOR)
    assert drawn is not None and drawn.shape[:2] == (answer.image.height_px, answer.image.width_px)


def test_blurred_frames_are_found_to_the_frame(
    folder: Path, run: Callable[..., Answer], clean: list[NDArray[np.uint8]]
) -> None:
    blurred = changed(clean, WINDOW, lambda picture: np.asarray(cv2.GaussianBlur(picture, (0, 0), 3.0)))
    write(folder / "materials" / "a.mp4", blurred, crf=18)
    assert rows(run("find_defects", path="materials/a.mp4"))[0] == ("blur", WINDOW.start / FPS, WINDOW.stop / FPS)


def test_a_held_frame_and_a_second_copy_are_found(
    folder: Path, run: Callable[..., Answer], clean: list[NDArray[np.uint8]]
) -> None:
    held = [*clean[:60], *([clean[59]] * 20), *clean[80:]]
    twice = [*clean[:80], *clean[60:]]
    write(folder / "materials" / "held.mp4", held, crf=18)
    write(folder / "materials" / "twice.mp4", twice, crf=18)
    assert rows(run("find_defects", path="materials/held.mp4"))[0] == ("freeze", 60 / FPS, 80 / FPS)
    assert rows(run("find_defects", path="materials/twice.mp4"))[0] == ("repeat", 80 / FPS, 100 / FPS)


def test_noise_in_a_file_without_pictures_is_found(folder: Path, run: Callable[..., Answer]) -> None:
    samples = wave(12.0)
    samples[5 * RATE_HZ : 8 * RATE_HZ] += 0.03 * np.random.default_rng(2).standard_normal(3 * RATE_HZ).astype(
        np.float32
    )
    write_sound(folder / "materials" / "a.m4a", samples)
    answer = run("find_defects", path="materials/a.m4a")
    kind, start_s, end_s = rows(answer)[0]
    assert kind == "noise" and abs(start_s - 5) < 0.05 and abs(end_s - 8) < 0.05
    assert answer.image is not None


def test_the_film_is_measured_once_and_its_shots_come_with_it(folder: Path, run: Callable[..., Answer]) -> None:
    film = make_film(folder / "materials" / "a.mp4", frames=90, audio="aac")
    first = as_text(run("find_defects", path="materials/a.mp4", doubtful=True).result)
    kept = sorted(path.name.split(".", 1)[1] for path in (folder / ".avb" / "cache").iterdir())
    assert kept == ["changes-1.json", "picture-4.json", "sound-3.json"]
    assert as_text(run("find_defects", path="materials/a.mp4", doubtful=True).result) == first
    shots = run("scene_cuts", path="materials/a.mp4").result
    fresh = make_film(folder / "materials" / "b.mp4", frames=90, audio="aac")
    assert film.stat().st_size == fresh.stat().st_size
    alone = run("scene_cuts", path="materials/b.mp4").result
    assert isinstance(shots, SceneCutsResult) and isinstance(alone, SceneCutsResult)
    assert shots.shots == alone.shots


def test_kept_tracks_that_are_damaged_are_measured_anew(folder: Path, run: Callable[..., Answer]) -> None:
    make_film(folder / "materials" / "a.mp4", frames=60, audio="aac")
    first = as_text(run("find_defects", path="materials/a.mp4", doubtful=True).result)
    for kept in (folder / ".avb" / "cache").iterdir():
        kept.write_bytes(b"PK\x03\x04 not an archive")
    assert as_text(run("find_defects", path="materials/a.mp4", doubtful=True).result) == first


@pytest.mark.parametrize("container", ["webm", "mkv", "mpg"])
def test_other_containers_and_films_without_sound_are_read(
    folder: Path, run: Callable[..., Answer], container: str
) -> None:
    codec = {"webm": "libvpx-vp9", "mkv": "libx264", "mpg": "mpeg2video"}[container]
    make_film(folder / "materials" / f"a.{container}", frames=30, codec=codec)
    result = run("find_defects", path=f"materials/a.{container}").result
    assert isinstance(result, FindDefectsResult)
    assert "there is no sound" in result.notes and "noise" not in result.searched


def test_a_film_of_one_frame_is_not_too_short(folder: Path, run: Callable[..., Answer]) -> None:
    make_film(folder / "materials" / "a.mp4", frames=1)
    assert rows(run("find_defects", path="materials/a.mp4")) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kinds": ["flicker"]}, "kinds"),
        ({"start_s": 5, "end_s": 4}, "end_s=4.0 must be greater than start_s=5.0"),
        ({"start_s": 99}, "start_s=99.0 is past the end"),
        ({"limit": 0}, "limit=0"),
    ],
)
def test_bad_arguments_get_a_sentence(
    folder: Path, run: Callable[..., Answer], arguments: dict[str, object], sentence: str
) -> None:
    make_film(folder / "materials" / "a.mp4", frames=10)
    with pytest.raises(UserError, match=sentence.replace("(", r"\(")):
        run("find_defects", path="materials/a.mp4", **arguments)


def test_a_cancelled_search_stops(folder: Path) -> None:
    make_film(folder / "materials" / "a.mp4", frames=50, audio="aac")
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        PRIMITIVE.call({"path": "materials/a.mp4"}, Call(Workspace(folder), stop=stop))
    assert not (folder / ".avb" / "cache").exists()
