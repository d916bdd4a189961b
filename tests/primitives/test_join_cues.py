"""join_scores by what is written and said: clocks that go on, captions that stay, sentences that go on."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from avb_mcp.tasks.footage import write_film
from primitives._base import Answer, UserError
from primitives._joins.speech import LIMITS, speech_evidence
from primitives._joins.text import BACKWARDS, GOES_ON, Sign, Signs, text_evidence
from primitives._reading.engine import Box
from primitives.join_scores import JoinScoresResult
from tests.avb_mcp.tasks.shot_films import FPS
from tests.media import real_clip
from tests.scenery import landscape
from tests.speech import model_folder, mono

Run = Callable[..., Answer]
CORNER, BELOW = Box(50, 50, 300, 120), Box(100, 800, 900, 900)
needs_ocr = pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason="the extra `ocr` is not installed")


def clock(outermost: str, inside: str, apart_s: float = 2.0) -> Signs:
    return Signs((Sign(outermost, CORNER, 0.99),), (Sign(inside, CORNER, 0.99),), apart_s, 0.04)


def caption(*texts: str) -> Signs:
    return Signs(tuple(Sign(text, BELOW, 0.99) for text in texts))


@pytest.mark.parametrize(
    ("end", "start", "told"),
    [
        (clock("12:07", "12:05"), clock("12:08", "12:10"), GOES_ON),
        (clock("12:07", "12:05"), clock("12:07", "12:09"), GOES_ON),
        (clock("T 0410", "T 0360"), clock("T 0411", "T 0461"), GOES_ON),
        (clock("0:03", "0:05"), clock("0:02", "0:00"), GOES_ON),
        (clock("12:07", "12:05"), clock("11:30", "11:32"), BACKWARDS),
        (clock("0:03", "0:05"), clock("0:09", "0:07"), BACKWARDS),
    ],
    ids=["clock", "clock within its second", "frames", "countdown", "clock runs back", "countdown runs up"],
)
def test_a_number_that_moves_goes_on_or_runs_back(end: Signs, start: Signs, told: float) -> None:
    assert text_evidence([end], [start])[0, 0] == told


def test_a_clock_that_is_ahead_says_the_less_the_longer_it_is() -> None:
    end = clock("12:07", "12:05")
    soon, late, hours = text_evidence(
        [end], [clock("12:11", "12:13"), clock("12:40", "12:42"), clock("19:07", "19:09")]
    )[0]
    assert GOES_ON > soon > late > hours > BACKWARDS


def test_a_number_whose_speeds_do_not_fit_was_misread_and_says_nothing() -> None:
    assert text_evidence([clock("12:07", "12:05")], [clock("12:08", "88:10")])[0, 0] == 0


def test_a_score_may_rise_and_does_not_fall() -> None:
    told = text_evidence(
        [clock("HOME 2 1", "HOME 2 1")], [clock("HOME 3 1", "HOME 3 1"), clock("HOME 1 1", "HOME 1 1")]
    )
    assert told[0, 0] > 0 > told[0, 1]


def test_a_caption_on_both_sides_speaks_for_a_join_and_a_mark_on_all_clips_does_not() -> None:
    ends = [caption("to be continued"), *[caption()] * 5]
    starts = [caption("to be continued"), *[caption()] * 5]
    told = text_evidence(ends, starts)
    assert told[0, 0] > 1 and told[0, 1] < 0 and told[1, 0] < 0 and told[1, 1] == 0
    assert not text_evidence([caption("CHANNEL")] * 4, [caption("CHANNEL")] * 4).any()


def test_what_was_read_unsurely_says_nothing() -> None:
    doubtful = Signs((Sign("12:07", CORNER, 0.6),), (Sign("12:05", CORNER, 0.6),), 2.0, 0.04)
    assert not text_evidence([doubtful], [clock("11:00", "11:02")]).any()


def test_speech_tells_pairs_apart_and_not_clips_that_are_easy_to_read() -> None:
    easy = np.array([[-0.2, -0.9, -0.9], [-0.3, -1.0, -1.0], [-0.3, -1.0, -1.0]])
    assert np.abs(speech_evidence(easy)).max() < 1e-9
    fits = easy.copy()
    fits[1, 2] += 0.6
    told = speech_evidence(fits)
    assert told[1, 2] == told.max() and 0 < told[1, 2] <= LIMITS[1]
    fits[0, 0] = np.nan
    assert speech_evidence(fits)[0, 0] == 0


ORDER = (3, 0, 4, 1, 2)
SHOT_FRAMES = 40


def clock_film(folder: Path, order: Sequence[int] = ORDER) -> list[str]:
    """Five silent shots that have nothing in common but a running clock, named out of order; the names in order."""
    face, names = cv2.FontFace("sans"), []
    for shot, name in enumerate(order):
        ground = landscape(40 + shot, 320 + 2 * SHOT_FRAMES, 180)
        pictures = []
        for number in range(SHOT_FRAMES):
            picture = ground[:, 2 * number : 2 * number + 320].copy()
            tenths = 5400 + round((shot * SHOT_FRAMES + number) / FPS * 10)
            cv2.rectangle(picture, (10, 8), (132, 40), (0, 0, 0), -1)
            text = f"{tenths // 600}:{tenths // 10 % 60:02d}.{tenths % 10}"
            cv2.putText(picture, text, (16, 34), (255, 255, 255), face, 24, 700)
            pictures.append(np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420), np.uint8))
        write_film(folder / f"materials/{name + 1}.mp4", pictures, FPS, None)
        names.append(f"{name + 1}.mp4")
    return names


def call(run: Run, clips: Sequence[str], **arguments: object) -> JoinScoresResult:
    answer = run("join_scores", paths=[f"materials/{clip}" for clip in sorted(clips)], **arguments)
    assert isinstance(answer.result, JoinScoresResult)
    return answer.result


@needs_ocr
def test_a_running_clock_orders_silent_shots_that_have_nothing_in_common(run: Run, folder: Path) -> None:
    truth = clock_film(folder)
    found = call(run, truth)
    assert found.best_order == truth
    assert "text" in found.cues and all(join.text is not None and join.text > 3 for join in found.joins)
    kept = {path: path.stat().st_mtime_ns for path in (folder / ".avb/cache").glob("*.signs-*")}
    assert len(kept) == 2 * len(truth)
    assert call(run, truth) == found
    assert {path: path.stat().st_mtime_ns for path in (folder / ".avb/cache").glob("*.signs-*")} == kept


def test_without_the_reader_the_order_is_given_and_a_note_says_what_was_not_compared(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = clock_film(folder)
    monkeypatch.setattr(importlib.util, "find_spec", _no_reader(importlib.util.find_spec))
    found = call(run, truth)
    assert sorted(found.best_order) == sorted(truth) and "text" not in found.cues
    assert "open joins were not compared by text: the extra ocr is not installed" in found.notes


def _no_reader(find: Callable[..., object]) -> Callable[..., object]:
    return lambda name, *rest: None if name == "rapidocr" else find(name, *rest)


def test_speech_is_heard_across_open_joins_once_and_says_little(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AVB_WHISPER_MODEL", str(model_folder()))
    wave = np.repeat(mono(real_clip("speech/jfk.wav"))[None], 2, axis=0)
    grey, bounds = np.full((135, 160), 128, np.uint8), (0, 66, 139, 205, 275)
    for number, (first, last) in enumerate(pairwise(bounds)):
        piece = np.repeat(wave[:, first * 640 : last * 640], 3, axis=1)  # 16 kHz as 48 kHz
        write_film(folder / f"materials/{number}.mp4", [grey] * (last - first), Fraction(25), piece)
    clips = [f"{number}.mp4" for number in range(4)]
    found = call(run, clips, cues=["speech"])
    told = [join.speech for join in found.joins]
    assert found.cues == ["speech"] and all(one is not None and LIMITS[0] <= one <= LIMITS[1] for one in told)
    kept = {path: path.stat().st_mtime_ns for path in (folder / ".avb/cache").glob("*.said-*")}
    assert kept and call(run, clips, cues=["speech"]) == found
    assert {path: path.stat().st_mtime_ns for path in (folder / ".avb/cache").glob("*.said-*")} == kept


def test_text_that_was_asked_for_and_cannot_be_read_is_a_sentence(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = clock_film(folder)
    monkeypatch.setattr(importlib.util, "find_spec", _no_reader(importlib.util.find_spec))
    with pytest.raises(UserError, match="extra `ocr`"):
        call(run, truth, cues=["text"])
