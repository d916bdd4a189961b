"""Rubrics and labels as files hold them."""

from __future__ import annotations

import json

import pytest

from verifiers._json import AnswerError
from verifiers.video_repurpose.schema import (
    CompoundItem,
    LlmItem,
    LlmStage,
    PythonItem,
    PythonStage,
    load_labels,
    load_rubric,
    parse_rubric,
)

LLM = {"id": "q", "dispatch": "llm", "prompt": "Is it?"}


@pytest.mark.parametrize(
    "wrap", [lambda items: items, lambda items: {"items": items}, lambda items: {"rubric_items": items}]
)
def test_a_list_and_an_object_with_the_list_are_the_same_rubric(wrap):
    assert parse_rubric(wrap([LLM])) == (LlmItem(id="q", dispatch="llm", prompt="Is it?"),)


def test_nulls_of_the_datasets_union_schema_are_as_good_as_absent():
    row = {
        "id": "d", "criterion": "60 s", "pillar": 0, "weight": 2, "dispatch": "python", "prompt": None,
        "kind": "ffprobe_duration_range", "params": {"min": 59, "max": 61, "codecs": None}, "stages": None,
    }  # fmt: skip
    (item,) = parse_rubric([row])
    assert item == PythonItem(
        id="d", criterion="60 s", weight=2, dispatch="python",
        kind="ffprobe_duration_range", params={"min": 59, "max": 61},
    )  # fmt: skip


def test_an_item_without_weight_and_pillar_weighs_one_in_format():
    (item,) = parse_rubric([LLM])
    assert (item.weight, item.pillar) == (1.0, 0)


def test_a_question_without_a_prompt_asks_its_criterion():
    (item,) = parse_rubric([{"id": "q", "dispatch": "llm", "criterion": "Ends on the reveal"}])
    assert item.question == "Ends on the reveal"


def test_a_stage_without_save_as_goes_by_its_kind():
    stages = [
        {"dispatch": "python", "kind": "ffprobe_audio_streams", "save_as": None},
        {"dispatch": "python", "kind": "ffprobe_audio_streams", "save_as": "streams"},
        {"dispatch": "llm", "prompt": "{streams}?"},
    ]
    (item,) = parse_rubric([{"id": "c", "dispatch": "compound", "stages": stages}])
    assert isinstance(item, CompoundItem)
    assert [stage.saved_name for stage in item.stages if isinstance(stage, PythonStage)] == [
        "ffprobe_audio_streams",
        "streams",
    ]
    assert isinstance(item.stages[-1], LlmStage)


@pytest.mark.parametrize(
    "rubric",
    [
        None,
        "text",
        {},
        {"items": {}},
        [],
        [1],
        [{"id": "", "dispatch": "llm"}],
        [{"dispatch": "llm"}],
        [{"id": "q"}],
        [{"id": "q", "dispatch": "oracle"}],
        [{"id": "q", "dispatch": "python"}],
        [{"id": "q", "dispatch": "llm", "weight": "heavy"}],
        [{"id": "q", "dispatch": "llm", "pillar": -1}],
        [{"id": "q", "dispatch": "compound", "stages": []}],
        [{"id": "q", "dispatch": "compound", "stages": [{"dispatch": "compound"}]}],
    ],
)
def test_a_malformed_rubric_is_refused_with_a_sentence(rubric, tmp_path):
    path = tmp_path / "rubric.json"
    path.write_text(json.dumps(rubric), encoding="utf-8")
    with pytest.raises(AnswerError, match=r"rubric\.json is malformed: .+"):
        load_rubric(path)


@pytest.mark.parametrize("labels", [[], {"a": "yes"}, {"a": 1}, {"a": {"b": True}}])
def test_labels_other_than_true_false_or_null_are_refused(labels, tmp_path):
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(labels), encoding="utf-8")
    with pytest.raises(AnswerError, match="labels"):
        load_labels(path)


def test_labels_hold_true_false_and_null(tmp_path):
    path = tmp_path / "labels.json"
    path.write_text('{"a": true, "b": false, "c": null}', encoding="utf-8")
    assert load_labels(path) == {"a": True, "b": False, "c": None}
