"""The rubric linter: every fault is found where it is, and a sound rubric is left in peace."""

from __future__ import annotations

import json

import pytest

from verifiers.lint import Finding, Severity, lint, main
from verifiers.video_repurpose.lints.brief import read_brief
from verifiers.video_repurpose.lints.reach import Interval

BRIEF = """Cut a 60-second vertical recap of the attached film (the source is 1920x1080, 92 minutes long).
Deliver final.mp4 at 1080x1920, 30 fps. Hook the viewer in the first 3 seconds, end on a 2-second title."""


def check(item_id, kind, weight=1, criterion="", **params):
    return {
        "id": item_id, "criterion": criterion, "pillar": 0, "weight": weight,
        "dispatch": "python", "kind": kind, "params": params,
    }  # fmt: skip


def question(item_id, text, weight=1):
    return {
        "id": item_id,
        "criterion": text,
        "pillar": 2,
        "weight": weight,
        "dispatch": "llm",
        "prompt": text,
    }


def compound(item_id, *stages):
    return {
        "id": item_id,
        "criterion": "Pace",
        "pillar": 1,
        "weight": 1,
        "dispatch": "compound",
        "stages": stages,
    }


def found(rubric, brief=None, task=None):
    return {(finding.code, finding.where) for finding in lint(rubric, brief, task)}


SOUND = [
    check("length", "ffprobe_duration_range", min=59, max=61),
    check("size", "ffprobe_resolution_eq", width=1080, height=1920),
    check("rate", "ffprobe_fps_range", min=29.9, max=30.1),
    check("light", "ffmpeg_brightness_at_times", times=[1, 30, 58], min_brightness=40, min_passing=2),
    check("median", "scenedetect_median_shot_duration", min=1, max=4),
    check("longest", "scenedetect_max_shot_duration", max_seconds=8),
    question("arc", "The recap has a clear beginning, middle and end"),
    question("missing girl", "The missing girl's return is shown and the wrong man is freed"),
    question("no-watermark", "No watermark is visible at any time", weight=-2),
    question("not-spoiled", "The recap does not reveal who the murderer is", weight=-3),
    compound(
        "pace",
        {"dispatch": "python", "kind": "ffprobe_audio_streams", "params": {"min": 1}, "save_as": "streams"},
        {"dispatch": "llm", "prompt": "Given {streams}, does the music fit?"},
    ),
]


def test_a_sound_rubric_with_its_brief_has_no_findings():
    assert lint(SOUND, BRIEF, {"brief": BRIEF, "deliverables": [{"name": "final.mp4"}]}) == []


def test_an_object_around_the_items_changes_nothing():
    assert lint({"items": SOUND}, BRIEF) == []


@pytest.mark.parametrize("rubric", [None, 3, "text", {}, {"items": 1}])
def test_what_is_no_rubric_is_said_to_be_none(rubric):
    assert found(rubric) == {("not-a-rubric", "rubric")}


def test_a_finding_carries_severity_code_place_and_a_sentence():
    (finding,) = lint([question("a", "Is it?"), question("a", "Is it?")])
    assert finding == Finding(
        Severity.ERROR, "duplicate-id", "a", "2 items share this id, so labels cannot tell them apart"
    )


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"id": "x"}, "malformed-item"),
        ({"id": "x", "dispatch": "oracle"}, "malformed-item"),
        ({"id": "x", "dispatch": "llm", "prompt": "Is it?", "weigth": 3}, "unknown-field"),
        ({"id": "x", "dispatch": "llm", "prompt": " "}, "no-question"),
        ({"id": "x", "dispatch": "llm", "prompt": "Is it?", "pillar": 4}, "unknown-pillar"),
        ({"id": "x", "dispatch": "llm", "prompt": "Is it?", "weight": 0}, "no-effect"),
        (check("x", "vibe_check"), "unknown-kind"),
        (check("x", "ffprobe_duration_range", min=1), "bad-params"),
        (check("x", "ffprobe_duration_range", min=1, max=2, tolerance=1), "unknown-param"),
    ],
)
def test_faults_of_shape_are_found_at_their_item(item, code):
    assert found([question("ok", "Is it?"), item]) == {(code, "x")}


def test_an_item_without_an_id_is_named_by_its_number():
    assert found([question("ok", "Is it?"), {"dispatch": "llm"}]) == {("malformed-item", "item 2")}


def test_a_rubric_without_a_positive_weight_has_nothing_to_earn():
    assert ("no-positive-weight", "rubric") in found([question("a", "No logo is shown", weight=-1)])


@pytest.mark.parametrize(
    "text",
    [
        "The recap has a clear emotional arc",
        "Dialogue is clear and well balanced against the music",
        "Captures the final race",
    ],
)
def test_a_negative_weight_on_a_desirable_item_is_wrong_polarity(text):
    assert found([question("ok", "Is it?"), question("x", text, weight=-2)]) == {("polarity", "x")}
    assert found([question("x", text, weight=2)]) == set()


@pytest.mark.parametrize("text", ["Contains a visible watermark", "Audio is out of sync with the picture"])
@pytest.mark.parametrize("weight", [2, -2])
def test_a_described_fault_is_wrong_under_either_sign(text, weight):
    findings = lint([question("ok", "Is it?"), question("x", text, weight=weight)])
    assert [(finding.code, finding.where, finding.severity) for finding in findings] == [
        ("polarity", "x", Severity.ERROR)
    ]


def test_a_negative_weight_on_a_fault_is_wrong_because_its_absence_would_be_punished():
    (finding,) = lint([question("ok", "Is it?"), question("x", "The recap fabricates dialogue", weight=-3)])
    assert "its absence is punished" in finding.sentence


@pytest.mark.parametrize(
    "text",
    [
        "No fabricated dialogue",
        "The recap is free of watermarks",
        "Never shows the ending",
        "The recap must stay within 60 seconds",
        "Doesn't contain glitches",
    ],
)
def test_a_penalty_worded_as_a_guard_is_fine(text):
    assert found([question("ok", "Is it?"), question("x", text, weight=-2)]) == set()


UNREACHABLE = [
    check("x", "ffprobe_duration_range", min=70, max=60),
    check("x", "ffprobe_fps_range", min=30, max=24),
    check("x", "ffprobe_audio_streams", min=2, max=1),
    check("x", "ffprobe_audio_channels_eq", channels=0),
    check("x", "ffprobe_duration_range", min=-5, max=-1),
    check("x", "ffmpeg_loudness_lufs_range", min=-14, max=-16),
    check("x", "ffmpeg_audio_loudness_min", threshold_db=0),
    check("x", "ffmpeg_blackdetect_max_run", max_seconds=-1),
    check("x", "librosa_silence_max_run", max_seconds=-0.1),
    check("x", "scenedetect_median_shot_duration", min=4, max=2),
    check("x", "ffprobe_resolution_in", options=[]),
    check("x", "ffprobe_video_codec_in", codecs=[]),
    check("x", "ffprobe_format_in", substrings=[]),
    check("x", "ffmpeg_brightness_at_times", times=[1, 2], min_brightness=40, min_passing=3),
    check("x", "ffmpeg_brightness_at_times", times=[1], min_brightness=255),
]


@pytest.mark.parametrize("item", UNREACHABLE)
def test_an_item_that_no_film_can_pass_is_unreachable(item):
    assert found([question("ok", "Is it?"), item]) == {("unreachable", "x")}


def test_times_beyond_the_allowed_duration_are_unreachable_or_at_least_mentioned():
    length = check("length", "ffprobe_duration_range", min=59, max=61)
    late = check("x", "ffmpeg_brightness_at_times", times=[1, 90], min_brightness=40)
    assert found([length, late]) == {("unreachable", "x")}
    spare = check("x", "ffmpeg_brightness_at_times", times=[1, 90], min_brightness=40, min_passing=1)
    assert found([length, spare]) == {("time-beyond-end", "x")}


def test_a_median_shot_longer_than_the_film_is_unreachable():
    length = check("length", "ffprobe_duration_range", min=5, max=10)
    assert found([length, check("x", "scenedetect_median_shot_duration", min=11)]) == {("unreachable", "x")}


def test_an_excluded_end_as_long_as_the_film_always_passes():
    length = check("length", "ffprobe_duration_range", min=5, max=10)
    item = check("x", "ffmpeg_freeze_max_run", max_seconds=1, exclude_last_seconds=10)
    assert found([length, item]) == {("always-passes", "x")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            ("ffprobe_duration_range", {"min": 50, "max": 60}),
            ("ffprobe_duration_range", {"min": 61, "max": 70}),
        ),
        (("ffprobe_fps_range", {"min": 23, "max": 25}), ("ffprobe_fps_range", {"min": 30})),
        (
            ("ffprobe_resolution_eq", {"width": 1, "height": 2}),
            ("ffprobe_resolution_in", {"options": [[2, 1]]}),
        ),
        (("ffprobe_video_codec_in", {"codecs": ["H264"]}), ("ffprobe_video_codec_in", {"codecs": ["hevc"]})),
        (
            ("scenedetect_median_shot_duration", {"min": 5}),
            ("scenedetect_max_shot_duration", {"max_seconds": 4}),
        ),
        (("ffprobe_audio_streams", {"eq": 0}), ("ffmpeg_loudness_lufs_range", {"min": -20})),
    ],
)
def test_items_that_exclude_each_other_are_a_contradiction_at_the_later_one(first, second):
    rubric = [check("a", first[0], **first[1]), check("b", second[0], **second[1])]
    assert found(rubric) == {("contradiction", "b")}
    assert found(rubric[::-1]) == {("contradiction", "a")}


def test_nested_and_touching_ranges_are_no_contradiction():
    rubric = [
        check("a", "ffprobe_duration_range", min=50, max=70),
        check("b", "ffprobe_duration_range", min=58, max=62),
        check("c", "ffprobe_duration_range", min=62, max=80),
        check("d", "ffprobe_video_codec_in", codecs=["h264", "hevc"]),
        check("e", "ffprobe_video_codec_in", codecs=["hevc", "av1"]),
    ]
    assert found(rubric) == set()


def test_a_placeholder_that_no_earlier_stage_saves_is_found():
    streams = {
        "dispatch": "python",
        "kind": "ffprobe_audio_streams",
        "params": {"min": 1},
        "save_as": "streams",
    }
    ask = {"dispatch": "llm", "prompt": "Given {strems}?"}
    assert found([compound("x", streams, ask)]) == {
        ("unfilled-placeholder", "x stage 2"),
        ("unused-evidence", "x stage 2"),
    }
    late = {"dispatch": "llm", "prompt": "Given {streams}?"}
    assert found([compound("x", late, streams)]) == {
        ("unfilled-placeholder", "x stage 1"),
        ("unreachable-stage", "x stage 1"),
    }


def test_a_placeholder_may_name_the_kind_of_a_stage_that_saves_under_no_name():
    streams = {"dispatch": "python", "kind": "ffprobe_audio_streams", "params": {"min": 1}}
    assert found([compound("x", streams, {"dispatch": "llm", "prompt": "{ffprobe_audio_streams}?"})]) == set()


def test_a_placeholder_in_a_plain_question_is_never_filled():
    assert found([question("x", "Given {streams}, is it good?")]) == {("unfilled-placeholder", "x")}


def test_two_stages_that_save_one_name_and_a_compound_without_a_question_are_mentioned():
    streams = {"dispatch": "python", "kind": "ffprobe_audio_streams", "params": {"min": 1}, "save_as": "s"}
    assert found([compound("x", streams, streams)]) == {("saved-twice", "x stage 2"), ("no-question", "x")}


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


def test_a_task_that_delivers_no_film_cannot_be_judged_by_a_rubric():
    task = {"deliverables": [{"name": "solution.json"}]}
    assert found([question("ok", "Is it?")], None, task) == {("no-film", "task")}


def test_the_command_prints_findings_as_json_and_exits_by_severity(tmp_path, capsys):
    rubric, brief = tmp_path / "rubric.json", tmp_path / "brief.md"
    rubric.write_text(json.dumps([check("x", "ffprobe_duration_range", min=80, max=100)]), encoding="utf-8")
    brief.write_text(BRIEF, encoding="utf-8")
    assert main([str(rubric)]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main([str(rubric), "--brief", str(brief)]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["severity"], finding["code"], finding["where"]) == ("error", "brief-duration", "x")
    assert main([str(tmp_path / "absent.json")]) == 2
