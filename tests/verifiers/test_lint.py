"""The rubric linter: every fault is found where it is, and a sound rubric is left in peace."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verifiers.rubrics import BRIEF, check, compound, found, question
from verifiers.lint import Finding, Severity, lint, main
from verifiers.video_repurpose.kinds import KINDS
from verifiers.video_repurpose.schema import parse_rubric

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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
params = st.dictionaries(
    st.sampled_from(["min", "max", "eq", "width", "height", "options", "codecs", "substrings", "times"]),
    json_values,
)
steps = st.fixed_dictionaries(
    {"dispatch": st.sampled_from(["python", "llm", "compound"])},
    optional={
        "id": st.text(max_size=3),
        "criterion": st.text(max_size=9) | json_values,
        "weight": st.integers(-3, 3) | json_values,
        "pillar": st.integers(-1, 5) | json_values,
        "kind": st.sampled_from(sorted(KINDS)),
        "params": params | json_values,
        "prompt": st.text(alphabet="a{}_ ", max_size=9),
        "stages": st.lists(
            st.fixed_dictionaries(
                {"dispatch": st.sampled_from(["python", "llm"])},
                optional={"kind": st.sampled_from(sorted(KINDS)), "params": params, "save_as": json_values},
            ),
            max_size=3,
        ),
    },
)


@settings(max_examples=200, deadline=None)
@given(st.lists(steps | json_values, max_size=4) | json_values, st.text(max_size=40))
def test_no_json_value_whatever_breaks_the_linter_and_what_it_passes_the_scorer_reads(rubric, brief):
    findings = lint(rubric, brief)
    fatal = {"not-a-rubric", "malformed-item", "no-positive-weight"}
    if not fatal & {finding.code for finding in findings}:
        assert len(parse_rubric(rubric)) >= 1
