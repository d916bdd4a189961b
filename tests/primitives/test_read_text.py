"""read_text: words, frames and places of text that was drawn into films. Reading needs the extra `ocr`."""

import importlib.util
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives._reading.captions import Caption, captions
from primitives._reading.digits import Digits, places
from primitives._reading.engine import Box, plain, search_size
from primitives._reading.follow import TextWatch, Track, same_text, shape_of
from primitives._reading.ink import Letters
from primitives._reading.numbers import clock_s, numbers
from primitives._reading.pixels import EdgeWatch, turned_at
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


def lettered(text: str, ground: int) -> np.ndarray:
    crop = np.full((30, 120), ground, np.uint8)
    cv2.putText(crop, text, (4, 24), (250, 250, 250), cv2.FontFace("sans"), 22, 700)
    return crop


def test_pixels_tell_when_a_text_came_and_when_it_became_another() -> None:
    empty, one, other = np.full((30, 120), 60, np.uint8), lettered("12:41", 60), lettered("12:42", 60)
    everywhere = np.full(one.shape, 255, np.uint8)
    letters = Letters(one, "12:41")
    assert not letters.is_other(one, one) and letters.is_other(other, other)
    assert letters.shown_in([empty, empty, one, one]) == 2
    assert turned_at([one, one, other, other], one, other, everywhere) == 2


def test_edges_that_stand_still_and_are_new_are_worth_a_search() -> None:
    watch = EdgeWatch()
    plain = np.full((180, 320), 90, np.uint8)
    written = plain.copy()
    cv2.putText(written, "A caption here", (40, 150), (250, 250, 250), cv2.FontFace("sans"), 24, 700)
    whole = Box(0, 0, 320, 180)
    assert [watch.see(plain) for _ in range(4)] == [None] * 4
    *early, found = [watch.see(written) for _ in range(3)]
    assert early == [None, None] and found is not None
    assert found.overlap(Box(40, 130, 190, 155)) > 0.7 and found.height < 50
    watch.searched(whole)
    assert watch.see(written) is None
    watch.forget(whole)
    assert watch.see(written) == found


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


def test_a_film_that_moves_behind_a_word_does_not_change_it() -> None:
    crop = np.full((40, 200), 90, np.uint8)
    cv2.putText(crop, "HARBOUR", (10, 30), cv2.FONT_HERSHEY_SIMPLEX, 1.0, 255, 3)
    letters = Letters(crop, "HARBOUR")
    for ground in (20, 60, 130, 200):
        moved = np.where(crop > 200, crop, np.uint8(ground))
        assert not letters.is_other(moved, crop) and letters.kept_share(moved) > 0.95
    gone = np.full_like(crop, 90)
    assert letters.is_other(gone, crop) and letters.kept_share(gone) < 0.1
    cut = crop.copy()
    cut[:, 60:80] = 90
    assert letters.is_other(cut, crop) and letters.kept_share(cut) > 0.6


def test_a_stroke_more_makes_another_digit_once_it_stands_still_and_no_other_word() -> None:
    three, eight = np.full((2, 60, 50), 90, np.uint8)
    for crop, digit in ((three, "3"), (eight, "8")):
        cv2.putText(crop, digit, (8, 46), cv2.FONT_HERSHEY_SIMPLEX, 1.5, 255, 4)
    eight = np.maximum(three, eight)
    assert Letters(three, "3").is_other(eight, eight)
    assert not Letters(three, "3").is_other(eight, three)
    assert not Letters(three, "B").is_other(eight, eight)


def test_pixels_that_changed_while_the_text_did_not_are_left_out() -> None:
    crop = lettered("12:41", 60)
    letters, dim = Letters(crop, "12:41"), crop.copy()
    dim[:, 50:90] = 60
    assert letters.is_other(dim, dim)
    letters.ignore([dim])
    assert not letters.is_other(dim, dim) and letters.left_share < 1
    blank = np.full_like(crop, 60)
    letters.ignore([blank])
    assert letters.left_share == 0 and letters.renewed(crop).left_share == 1


def clock_of(text: str) -> tuple[np.ndarray, tuple[float, ...]]:
    """A line of digits, each in a column of 24 pixels, and the middles of those."""
    crop = np.full((44, 24 * len(text)), 60, np.uint8)
    for place, letter in enumerate(text):
        cv2.putText(crop, letter, (24 * place + 3, 32), cv2.FONT_HERSHEY_SIMPLEX, 0.9, 255, 2)
    return crop, tuple(24.0 * place + 12 for place in range(len(text)))


def test_only_a_digit_that_changed_is_read_and_never_again_once_it_is_known() -> None:
    asked: list[str] = []
    answers = iter("12")

    def read(_: object) -> tuple[str, float]:
        asked.append(next(answers))
        return asked[-1], 0.99

    digits = Digits(read)
    shown = ["401", "402", "401", "402", "412"]
    for old, new in pairwise(shown):
        (before, centres), (after, _) = clock_of(old), clock_of(new)
        letters = Letters(before, old)
        others = letters.others(after, after)
        if new == "412":  # nobody has named the nought that stood there
            answers = iter("0")
        now = digits.changed(
            places(old, centres, before.shape[1]), others, (before, letters.ink(before)), (after, letters.ink(after))
        )
        assert now is not None and "".join(place.letter for place in now) == new
    assert asked == ["1", "2", "0"]


def test_where_another_letter_changed_or_the_digit_is_not_clear_the_line_is_read() -> None:
    def changed(old: str, new: str, answer: tuple[str, float]) -> object:
        (before, centres), (after, _) = clock_of(old), clock_of(new)
        letters = Letters(before, old)
        return Digits(lambda _: answer).changed(
            places(old, centres, before.shape[1]),
            letters.others(after, after),
            (before, letters.ink(before)),
            (after, letters.ink(after)),
        )

    assert changed("4A1", "4B1", ("1", 0.99)) is None
    assert changed("401", "402", ("7", 0.99)) is None  # what stood there is not what the text says
    assert changed("401", "402", ("1", 0.5)) is None
    assert changed("401", "777", ("1", 0.99)) is None
    assert places("401", (1.0, 2.0), 72) == []


def test_a_picture_is_searched_a_little_smaller_and_a_small_one_as_it_is() -> None:
    assert search_size(640, 360) == (480, 256)
    assert search_size(320, 180) == (320, 192)
    assert search_size(1920, 1080) == (960, 544)
    assert search_size(640, 20) == (480, 32)


def test_the_frame_of_a_change_is_told_by_the_letters_and_not_by_the_ground() -> None:
    old, new = (np.full((40, 200), 90, np.uint8) for _ in range(2))
    for picture, digit in ((old, "0"), (new, "1")):
        cv2.putText(picture, f"LAP {digit}", (10, 30), cv2.FONT_HERSHEY_SIMPLEX, 1.0, 255, 3)
    letters = Letters(old, "LAP 0")
    new[:, 150:] = 230  # the film behind changes three frames before the digit does
    early = old.copy()
    early[:, 150:] = 230
    assert turned_at([old, early, early, early, new, new], old, new, letters.others(new, new)) == 4


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
