"""What every harness must be able to read, and what a caller hears about a wrong argument."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primitives._base import UserError
from primitives._schema import input_schema, parse
from primitives.frame_grid import FrameGridRequest
from primitives.registry import PRIMITIVES
from primitives.submit import SubmitRequest

SPEAK_FOR_THEMSELVES = {"width_px", "height_px", "fps", "pixel_format", "audio_codec", "audio_rate_hz"}
"""Arguments whose name says all; a description would only cost tokens."""
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)


def nodes(schema: Any) -> list[Any]:
    if isinstance(schema, dict):
        return [schema, *(found for value in schema.values() for found in nodes(value))]
    return [found for value in schema for found in nodes(value)] if isinstance(schema, list) else []


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda primitive: primitive.name)
def test_schemas_are_portable(primitive: Any) -> None:
    schema = input_schema(primitive.request)
    keys = {key for node in nodes(schema) for key in node}
    assert keys.isdisjoint({"$ref", "$defs", "anyOf", "oneOf", "allOf", "prefixItems", "title"})
    assert all(isinstance(node.get("type", ""), str | dict) for node in nodes(schema))
    assert len(json.dumps(schema)) < 5000
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda primitive: primitive.name)
def test_every_argument_says_what_it_is(primitive: Any) -> None:
    properties = input_schema(primitive.request)["properties"]
    silent = {name for name, schema in properties.items() if not schema.get("description")}
    assert silent <= SPEAK_FOR_THEMSELVES


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"path": "a.mp4", "cuont": 3}, "Unknown argument cuont. Did you mean count? Known: path,"),
        ({"path": "a.mp4", "count": 0}, "count=0: should be greater than or equal to 1."),
        ({"path": "a.mp4", "count": "many"}, "count='many': should be a valid integer"),
        ({"path": "a.mp4", "start_s": float("nan")}, "start_s=nan: should be a finite number."),
        ({"path": "a.mp4", "start_s": 5, "end_s": 5}, "end_s=5.0 must be greater than start_s=5.0."),
        ({"path": "a.mp4", "count": 3, "every_s": 1}, "count and every_s exclude each other."),
        ({"path": "a.mp4", "region": [0, 0, 2, 1]}, "region=[0.0, 0.0, 2.0, 1.0] must be [x, y, width, height]"),
        ({}, "Give either path (one film) or paths (several clips)."),
        ({"path": "a.mp4", "paths": ["b.mp4"]}, "Give either path (one film) or paths (several clips)."),
        ({"paths": ["b.mp4"], "start_s": 1}, "paths goes with count only."),
    ],
)
def test_a_wrong_argument_gets_a_sentence_that_names_the_way_out(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as error:
        parse(FrameGridRequest, arguments)
    assert str(error.value).startswith(sentence)


def test_null_means_left_out() -> None:
    assert parse(FrameGridRequest, {"path": "a.mp4", "count": None, "times_s": None}) == FrameGridRequest(path="a.mp4")


@given(
    st.dictionaries(st.sampled_from([*FrameGridRequest.model_fields, *SubmitRequest.model_fields, "x"]), json_values)
)
def test_any_json_is_either_a_request_or_a_sentence(arguments: dict[str, Any]) -> None:
    for model in (FrameGridRequest, SubmitRequest):
        try:
            assert isinstance(parse(model, arguments), model)
        except UserError as error:
            assert 0 < len(str(error)) < 2000
            assert "\n" not in str(error)
