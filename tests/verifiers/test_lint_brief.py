"""The linter on a rubric and its brief: contradictions are found, prose about other things is left alone."""

from __future__ import annotations

import pytest

from tests.verifiers.rubrics import BRIEF, check, compound, found, question
from verifiers.video_repurpose.lints.brief import read_brief
from verifiers.video_repurpose.lints.reach import Interval


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (check("x", "ffprobe_duration_range", min=80, max=100), "brief-duration"),
        (check("x", "ffprobe_resolution_eq", width=1920, height=1080), "brief-resolution"),
        (check("x", "ffprobe_resolution_in", options=[[720, 1280], [540, 960]]), "brief-resolution"),
        (check("x", "ffprobe_fps_range", min=23.9, max=24.1), "brief-fps"),
        (check("x", "ffprobe_fps_range", min=50), "brief-fps"),
    ],
)
def test_a_rubric_that_contradicts_the_brief_is_found(item, code):
    assert found([question("ok", "Is it?"), item], BRIEF) == {(code, "x")}
    assert found([question("ok", "Is it?"), item], None, {"brief": BRIEF}) == {(code, "x")}
    assert found([question("ok", "Is it?"), item]) == set()


def test_a_stage_of_a_compound_item_is_held_against_the_brief_as_well():
    wrong = {"dispatch": "python", "kind": "ffprobe_duration_range", "params": {"min": 80, "max": 100}}
    assert found([compound("x", wrong, {"dispatch": "llm", "prompt": "Is it?"})], BRIEF) == {
        ("brief-duration", "x stage 1")
    }


def test_a_rubric_stricter_than_the_brief_is_mentioned():
    item = check("x", "ffprobe_duration_range", min=59, max=61)
    assert found([item], "Total duration between 50 and 70 seconds.") == {("stricter-than-brief", "x")}


@pytest.mark.parametrize(
    ("brief", "seconds"),
    [
        ("Make a 60-second recap of the film.", Interval(60, 60)),
        ("Make a sixty-second teaser.", Interval(60, 60)),
        ("The final video must be 90 seconds long.", Interval(90, 90)),
        ("Duration: 55–65 seconds", Interval(55, 65)),
        ("Length: 1.5 to 2 minutes.", Interval(90, 120)),
        ("Runtime between 45 and 60 s", Interval(45, 60)),
        ("Total length: at most 2 minutes", Interval(0, 120)),
        ("an under 90-second promo", Interval(0, 90)),
        ("Duration of 60 s ± 2", Interval(58, 62)),
        ("Length: about 100 seconds", Interval(90, 110)),
        ("Running time of at least 30 seconds", Interval(30, float("inf"))),
        ("The final video must be between 55 and 65 seconds.", Interval(55, 65)),
        ("Make a 60 second video at 1920x1080, 30fps", Interval(60, 60)),
        ("MP4, H.264, 1080p, 60 seconds", Interval(60, 60)),
        ("A vertical recap (45s) of the source", Interval(45, 45)),
        ("Keep it to 90 seconds or less", Interval(0, 90)),
        ("2 minutes max", Interval(0, 120)),
        ("Runtime: 1:30", Interval(90, 90)),
        ("A 30-second teaser about the 1960s", Interval(30, 30)),
    ],
)
def test_a_plain_statement_of_length_is_understood(brief, seconds):
    assert read_brief(brief).durations_s == (seconds,)


@pytest.mark.parametrize(
    "brief",
    [
        "The source film is 92 minutes long.",
        "The source (1080p, 24 fps, 92 minutes long) is attached; the source is 4K, 92 minutes long.",
        "Hook the viewer in the first 3 seconds.",
        "Each shot is at most 4 seconds long.",
        "End on a 2-second title card.",
        "Hold the last frame for 5 seconds.",
        "Use scenes from the 1960s.",
        "A video about the 1960s in 9:16.",
        "Use the speech at the 90 second mark of the video.",
    ],
)
def test_lengths_of_the_source_or_of_parts_are_left_alone(brief):
    assert read_brief(brief).durations_s == ()


@pytest.mark.parametrize(
    ("brief", "width", "height", "clashes"),
    [
        ("Deliver in 1080p.", 1920, 1080, False),
        ("Deliver in 1080p.", 1080, 1920, False),
        ("Deliver in 1080p.", 1280, 720, True),
        ("A vertical cut for phones.", 1920, 1080, True),
        ("A vertical cut for phones.", 1080, 1920, False),
        ("A 16:9 cut.", 1080, 1920, True),
        ("Turn the 16:9 picture into 9:16.", 1920, 1080, False),
        ("The source is 1920x1080.", 1080, 1920, False),
        ("Deliver 1280 × 720.", 1280, 720, False),
        ("Deliver in 4K.", 3840, 2160, False),
        ("Deliver in 4K.", 1920, 1080, True),
        ("Make it good.", 640, 360, False),
    ],
)
def test_resolution_words_are_held_against_the_rubric(brief, width, height, clashes):
    item = check("x", "ffprobe_resolution_eq", width=width, height=height)
    assert (("brief-resolution", "x") in found([item], brief)) is clashes


def test_film_rates_and_their_broadcast_twins_are_one_wish():
    item = check("x", "ffprobe_fps_range", min=23.97, max=23.98)
    assert found([item], "Deliver at 24 fps.") == set()
    assert found([item], "Deliver at 25 fps.") == {("brief-fps", "x")}
