"""read_text: words, frames and places of text that was drawn into films. Reading needs the extra `ocr`."""

import importlib.util
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives._reading.captions import Caption, captions
from primitives._reading.engine import Box, plain
from primitives._reading.follow import TextWatch, Track, same_text, shape_of
from primitives._reading.ink import Letters
from primitives._reading.numbers import clock_s, numbers
from primitives.read_text import ReadTextResult, TextOnScreen
from primitives.registry import by_name
from tests.media import make_film, make_sound, real_clip
from tests.scenery import FPS, Picture, landscape, write

Run = Callable[..., Answer]
needs_ocr = pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason="the extra `ocr` is not installed")


@dataclass(frozen=True)
class Drawn:
    """A text on screen during frames `[first, last)`."""

    text: str
    first: int
    last: int
    corner: tuple[int, int]
    size_px: int = 22


def film(path: Path, count: int, texts: list[Drawn], step_px: int = 2) -> Path:
    """Scenery that slides by, and texts with an outline that stand still before it."""
    world = cv2.GaussianBlur(landscape(3, 360 + step_px * count, 220), (0, 0), 2)
    face, frames = cv2.FontFace("sans"), list[Picture]()
    for number in range(count):
        picture = np.ascontiguousarray(world[10:190, step_px * number : step_px * number + 320])
        for text in texts:
            if text.first <= number < text.last:
                x, y = text.corner
                for shift_x, shift_y in ((-1, 0), (1, 0), (0, -1), (0, 1), (1, 1), (-1, -1)):
                    cv2.putText(picture, text.text, (x + shift_x, y + shift_y), (0, 0, 0), face, text.size_px, 700)
                cv2.putText(picture, text.text, (x, y), (255, 255, 255), face, text.size_px, 700)
        frames.append(picture)
    return write(path, frames, crf=18, sound=False)


def rows(answer: Answer) -> list[TextOnScreen]:
    assert isinstance(answer.result, ReadTextResult)
    return answer.result.captions


def spans(answer: Answer) -> list[tuple[str, int, int]]:
    return [(row.text, row.frame, round(row.end_s * FPS)) for row in rows(answer)]


@needs_ocr
def test_captions_have_their_words_and_their_frames(folder: Path, run: Run) -> None:
    texts = [Drawn("Good morning", 10, 40, (60, 160)), Drawn("See you tomorrow", 40, 66, (40, 160))]
    film(folder / "materials/a.mp4", 80, texts)
    answer = run("read_text", path="materials/a.mp4")
    found = spans(answer)
    assert [text for text, _, _ in found] == ["Good morning", "See you tomorrow"]
    for (_, first, last), truth in zip(found, texts, strict=True):
        assert abs(first - truth.first) <= 1 and abs(last - truth.last) <= 1
    x, y, width, height = rows(answer)[0].box
    assert x < 62 / 320 and x + width > 0.5 and 0.7 < y < 0.8 and 0.1 < height < 0.25


@needs_ocr
def test_a_clock_is_read_second_by_second_with_its_value(folder: Path, run: Run) -> None:
    texts = [Drawn(f"09:{58 + second:02d}" if second < 2 else "10:00", 25 * second, 25 * second + 25, (20, 40), 26)
             for second in range(3)]  # fmt: skip
    film(folder / "materials/a.mp4", 75, [*texts, Drawn("Final lap", 0, 75, (150, 160))])
    answer = run("read_text", path="materials/a.mp4", numbers_only=True)
    assert [row.clock_s for row in rows(answer)] == [598.0, 599.0, 600.0]
    assert [abs(row.frame - 25 * second) <= 1 for second, row in enumerate(rows(answer))] == [True] * 3
    assert spans(run("read_text", path="materials/a.mp4", find="final")) == [("Final lap", 0, 75)]
    top = run("read_text", path="materials/a.mp4", region=[0, 0, 0.5, 0.4], end_s=0.9)
    assert [row.text for row in rows(top)] == ["09:58"]
    assert rows(top)[0].box[1] < 0.2


@needs_ocr
def test_a_film_without_text_has_none_and_is_hardly_searched(folder: Path, run: Run) -> None:
    film(folder / "materials/a.mp4", 75, [])
    answer = run("read_text", path="materials/a.mp4")
    assert rows(answer) == []
    assert isinstance(answer.result, ReadTextResult)
    searched = int(answer.result.notes[-1].split("searched ")[1].split()[0])
    assert searched <= 3


@needs_ocr
def test_a_part_of_the_list_comes_with_a_file_that_has_all(folder: Path, run: Run) -> None:
    film(folder / "materials/a.mp4", 30, [Drawn("One", 0, 30, (20, 40)), Drawn("Two", 0, 30, (200, 160))])
    answer = run("read_text", path="materials/a.mp4", limit=1)
    assert isinstance(answer.result, ReadTextResult) and answer.result.table == "work/a.texts.json"
    kept = json.loads((folder / "work/a.texts.json").read_text(encoding="utf-8"))
    assert [row["text"] for row in kept] == ["One", "Two"]
    assert answer.result.next == "offset=1 for captions 2 to 2"
    with pytest.raises(UserError, match="offset=5 is past the last of 2 captions"):
        run("read_text", path="materials/a.mp4", offset=5)


def test_without_the_extra_a_sentence_gives_the_command(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_film(folder / "materials/a.mp4", frames=5)
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'Run: pip install "avb-mcp\[ocr\]"'):
        run("read_text", path="materials/a.mp4")


def test_mistakes_are_sentences(folder: Path, run: Run) -> None:
    make_sound(folder / "materials/a.wav")
    make_film(folder / "materials/a.mp4", frames=25)
    for arguments, sentence in (
        ({"path": "materials/a.wav"}, "has no video, only sound"),
        ({"path": "materials/a.mp4", "start_s": 3}, r"start_s=3.0 is past the end of materials/a.mp4 \(1.000 s\)"),
        ({"path": "materials/a.mp4", "region": [0, 0, 2, 1]}, "must be .x, y, width, height. inside the picture"),
        ({"path": "materials/a.mp4", "start_s": 0.5, "end_s": 0.2}, "end_s=0.2 must be greater than start_s=0.5"),
    ):
        with pytest.raises(UserError, match=sentence):
            run("read_text", **arguments)


@needs_ocr
def test_a_call_that_nobody_wants_any_more_stops(folder: Path) -> None:
    make_film(folder / "materials/a.mp4", frames=25)
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        by_name()["read_text"].call({"path": "materials/a.mp4"}, Call(Workspace(folder), stop=stop))


@pytest.mark.parametrize(
    ("text", "values", "clock"),
    [
        ("HOME 3 - 2 AWAY", [3, 2], None),
        ("3-2", [3, 2], None),
        ("01:02:03.5", [3723.5], 3723.5),
        ("12:45 Q3", [765], 765),
        ("00:01:02:12", [62], 62),
        ("1,234.5 km at -7 degrees", [1234.5, -7], None),
        ("3,5 %", [3.5], None),
        ("No numbers", [], None),
        ("Take 12", [12], None),
    ],
)
def test_numbers_and_clocks_are_parsed(text: str, values: list[float], clock: float | None) -> None:
    assert numbers(text) == values
    assert clock_s(text) == clock


def test_readings_of_one_text_are_the_same_and_other_digits_are_not() -> None:
    assert same_text("Good morning!", "Good morning")
    assert same_text("Hello  there", "hello there")
    assert not same_text("Lap 12", "Lap 13")
    assert not same_text("Good morning", "Good night all")
    assert shape_of("09:59") == shape_of("10 :00")


def track(text: str, first: int, last: int, box: Box, score: float = 0.9) -> Track:
    return Track(box, text, score, first, (), Letters(np.zeros((4, 4), np.uint8), text), first, last)


def test_lines_that_come_and_go_together_are_one_caption_and_gaps_are_closed() -> None:
    upper, lower = Box(40, 100, 200, 120), Box(50, 124, 190, 144)
    found = captions(
        [
            track("first line", 10, 50, upper),
            track("second line", 11, 50, lower, 0.8),
            track("Lap 3", 0, 20, Box(0, 0, 60, 20)),
            track("Lap 3", 24, 60, Box(0, 0, 60, 20), 0.95),
            track("blink", 5, 6, Box(100, 0, 160, 20), 0.85),
        ],
        fps=25,
    )
    assert found == [
        Caption("Lap 3", 0, 60, Box(0, 0, 60, 20), 0.95),
        Caption("first line\nsecond line", 10, 50, Box(40, 100, 200, 144), 0.8),
    ]


@needs_ocr
def test_a_real_counter_is_read_frame_by_frame(folder: Path, run: Run) -> None:
    (folder / "materials/a.mp4").write_bytes(real_clip("scenedetect/counter.mp4").read_bytes())
    found = rows(run("read_text", path="materials/a.mp4", end_s=0.5, region=[0.6, 0.7, 0.4, 0.3]))
    assert [(row.frame, row.numbers) for row in found] == [(n, [n + 1, n / 10]) for n in range(5)]


def test_a_lone_o_among_numbers_is_a_nought_and_a_word_keeps_its_own() -> None:
    assert plain(" HOME O - 3 AWAY") == "HOME 0 - 3 AWAY"
    assert plain("1O:3o") == "10:30"
    assert plain("O sole mio") == "O sole mio"
    assert plain("Oslo 2 Oporto 1") == "Oslo 2 Oporto 1"


def test_a_still_picture_is_searched_once() -> None:
    class Counted:
        searches = readings = 0

        def boxes(self, _: object) -> list[Box]:
            self.searches += 1
            return []

    reader = Counted()
    watch = TextWatch(reader, 25.0)  # type: ignore[arg-type]
    luma = cv2.cvtColor(landscape(5, 320, 180), cv2.COLOR_RGB2GRAY)
    for number in range(100):
        watch.see(number, luma, lambda: np.zeros((180, 320, 3), np.uint8))
    assert reader.searches == 1
