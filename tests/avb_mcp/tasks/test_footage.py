"""Footage: exact frames and samples out of any source, the same bytes for the same film, a sentence for trouble."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from avb_mcp.tasks.footage import EXPORT, RATE_HZ, Image, frames, open_footage, sound, write_film
from primitives._base import UserError
from tests.avb_mcp.tasks.spoken_films import FPS, SHOTS, SIZE, spoken_film
from tests.media import make_film, make_sound, read_number, real_clip


def number_of(picture: Image) -> int:
    return read_number(np.asarray(cv2.cvtColor(picture, cv2.COLOR_YUV2BGR_I420), np.uint8))


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spoken_film(tmp_path_factory.mktemp("spoken") / "film.mp4")


def test_frames_are_exactly_those_asked_for(tmp_path: Path) -> None:
    footage = open_footage(make_film(tmp_path / "film.mp4", frames=60, options={"bf": "3", "g": "24"}))
    assert (footage.frame_count, footage.fps) == (60, 25)
    assert [number_of(picture) for picture in frames(footage, 31, 47)] == list(range(31, 47))


def test_a_variable_rate_is_put_on_an_even_grid_that_shows_what_was_on_screen(tmp_path: Path) -> None:
    times = [Fraction(number, 30) + (Fraction(1, 2) if number >= 20 else 0) for number in range(40)]
    footage = open_footage(make_film(tmp_path / "film.mp4", frames=40, fps=30, times=times))
    shown = [number_of(picture) for picture in frames(footage, 0, footage.frame_count)]
    due = [
        max(n for n, time in enumerate(times) if time <= at / footage.fps + Fraction(1, 900))
        for at in range(len(shown))
    ]
    assert footage.duration_s == pytest.approx(float(times[-1]), abs=0.1)
    assert shown == due


def test_a_turned_film_stands_upright(tmp_path: Path) -> None:
    footage = open_footage(real_clip("odd/rotated_90.mov"))
    assert footage.height_px > footage.width_px
    assert next(frames(footage, 0, 1)).shape == (footage.height_px * 3 // 2, footage.width_px)


def test_wide_pixels_become_square_and_sides_even() -> None:
    footage = open_footage(real_clip("odd/ae_SAR-2by3.mp4"))
    assert footage.width_px % 2 == footage.height_px % 2 == 0
    assert next(frames(footage, 0, 1)).shape == (footage.height_px * 3 // 2, footage.width_px)


def test_cuts_are_where_the_shots_were_joined(spoken: Path) -> None:
    footage = open_footage(spoken)
    assert [shot.first for shot in footage.shots] == [sum(SHOTS[:number]) for number in range(len(SHOTS))]
    assert footage.shots[-1].last == footage.frame_count == sum(SHOTS)
    assert {shot.opening for shot in footage.shots[1:]} == {"cut"}


def test_sound_is_the_asked_samples_and_silence_beyond_the_end(tmp_path: Path) -> None:
    track = (0.2 * np.sin(2 * np.pi * 300 * np.arange(2 * RATE_HZ) / RATE_HZ)).astype(np.float32)[None]
    gray = np.full((96, 64), 128, np.uint8)
    write_film(tmp_path / "film.mp4", [gray] * 32, Fraction(16), track)
    heard = sound(open_footage(tmp_path / "film.mp4"), 0.5, 1.25)
    assert heard is not None and heard.shape == (1, round(0.75 * RATE_HZ))
    expected = track[:, RATE_HZ // 2 : RATE_HZ // 2 + heard.shape[1]]
    assert float(np.corrcoef(heard[0], expected[0])[0, 1]) > 0.99
    late = sound(open_footage(tmp_path / "film.mp4"), 1.5, 3.0)
    assert late is not None and late.shape[1] == round(1.5 * RATE_HZ) and not late[:, -RATE_HZ // 2 :].any()


def test_a_silent_source_has_no_sound(tmp_path: Path) -> None:
    footage = open_footage(make_film(tmp_path / "film.mp4", frames=10))
    assert (footage.channels, footage.rate_hz, sound(footage, 0.0, 0.2)) == (0, None, None)


def test_the_same_film_is_the_same_bytes_and_carries_no_trace_of_when_or_with_what(tmp_path: Path) -> None:
    written = []
    for name in ("a.mp4", "b.mp4"):
        written.append(spoken_film(tmp_path / name, shots=(10, 12)).read_bytes())
    assert written[0] == written[1]
    assert b"Lavf" not in written[0] and b"Lavc" not in written[0]
    with av.open(str(tmp_path / "a.mp4")) as film:
        assert not {"creation_time", "encoder", "title"} & film.metadata.keys()
        assert not {"creation_time", "encoder"} & film.streams.video[0].metadata.keys()


def test_picture_and_sound_of_a_written_film_last_equally_long(tmp_path: Path) -> None:
    path = spoken_film(tmp_path / "film.mp4", shots=(21, 20))
    with av.open(str(path)) as film:
        pictures = sum(1 for _ in film.decode(video=0))
    heard = sound(open_footage(path), 0.0, 41 / float(FPS))
    assert pictures == 41 and heard is not None and np.abs(heard[:, -2000:]).max() > 0


def test_pictures_are_taken_one_by_one(tmp_path: Path) -> None:
    alive: list[int] = []

    class Watched:
        def __init__(self, count: int) -> None:
            self.left = count

        def __iter__(self) -> Watched:
            return self

        def __next__(self) -> Image:
            if not self.left:
                raise StopIteration
            self.left -= 1
            alive.append(self.left)
            return np.full((SIZE[1] * 3 // 2, SIZE[0]), 100, np.uint8)

    assert write_film(tmp_path / "film.mp4", Watched(50), FPS, None, EXPORT) == 50
    assert len(alive) == 50


def test_what_is_no_film_is_refused_with_a_sentence(tmp_path: Path) -> None:
    text = tmp_path / "notes.mp4"
    text.write_text("not a film at all, only words\n" * 40)
    for path, word in (
        (tmp_path / "absent.mp4", "not a file"),
        (tmp_path, "not a file"),
        (text, "not readable media"),
        (make_sound(tmp_path / "voice.wav"), "no video"),
    ):
        with pytest.raises(UserError, match=word):
            open_footage(path)


def test_a_damaged_stretch_is_refused_when_it_is_read(tmp_path: Path, spoken: Path) -> None:
    broken = tmp_path / "film.mp4"
    shutil.copyfile(spoken, broken)
    data = bytearray(broken.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 30_000] = bytes(30_000)
    broken.write_bytes(data)
    with pytest.raises(UserError, match="damaged"):
        footage = open_footage(broken)
        list(frames(footage, 0, footage.frame_count))
