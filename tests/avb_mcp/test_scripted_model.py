"""The scripted model plays its calls over every protocol and shows what it was sent."""

from __future__ import annotations

import gzip
import http.client
import json

import pytest

from avb_mcp.agents.scripted_model.script import OfferedTool, Script, ToolCall, Usage, matching_tool
from avb_mcp.agents.scripted_model.server import ScriptedModel
from tests.avb_mcp.dialects import DIALECTS, JPEG, Body, Dialect

SCRIPT = Script(calls=(ToolCall(tool="frame_grid", arguments={"path": "a.mp4", "count": 4}),), final_text="seen")
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def _post(model: ScriptedModel, path: str, body: Body, **headers: str) -> tuple[int, str]:
    payload = json.dumps(body).encode()
    if headers.get("content-encoding") == "gzip":
        payload = gzip.compress(payload)
    connection = http.client.HTTPConnection(model.base_url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, payload, {"content-type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def _ask(model: ScriptedModel, dialect: Dialect, body: Body, *, stream: bool) -> Body:
    if not stream:
        _, text = _post(model, dialect.path, body)
        answer: Body = json.loads(text)
        return answer
    _, text = _post(model, dialect.streaming_path, {**body, "stream": True})
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return dialect.streamed([json.loads(line) for line in lines if line != "[DONE]"])


@every_dialect
@pytest.mark.parametrize("stream", [False, True])
def test_the_script_is_played_call_by_call_and_ends_with_its_text(dialect: Dialect, stream: bool) -> None:
    with ScriptedModel(SCRIPT) as model:
        first = _ask(model, dialect, dialect.first, stream=stream)
        second = _ask(model, dialect, dialect.second, stream=stream)

    assert dialect.called(first) == (dialect.offered, {"path": "a.mp4", "count": 4})
    assert dialect.said(second) == "seen"


@every_dialect
def test_requests_are_kept_with_the_tools_offered_and_the_images_delivered(dialect: Dialect) -> None:
    with ScriptedModel(SCRIPT) as model:
        _ask(model, dialect, dialect.first, stream=True)
        _ask(model, dialect, dialect.second, stream=False)
        first, second = model.requests

    assert dialect.offered in first.tool_names
    assert (first.result_count, first.images) == (0, ())
    assert second.body == dialect.second
    assert second.result_count == 1
    assert [(image.media_type, image.data) for image in second.images] == [("image/jpeg", JPEG)]


@every_dialect
def test_a_script_that_wants_a_tool_that_is_not_offered_says_so(dialect: Dialect) -> None:
    with ScriptedModel(Script(calls=(ToolCall(tool="submit"),))) as model:
        answer = _ask(model, dialect, dialect.first, stream=False)

    assert dialect.said(answer).startswith("The script wants 'submit'; offered: ")
    assert dialect.offered in dialect.said(answer)


@every_dialect
def test_a_request_without_tools_does_not_advance_the_script(dialect: Dialect) -> None:
    with ScriptedModel(SCRIPT) as model:
        errand = _ask(model, dialect, {**dialect.first, "tools": []}, stream=False)
        first = _ask(model, dialect, dialect.first, stream=False)

    assert dialect.said(errand) == "scripted"
    assert dialect.called(first)[0] == dialect.offered


@pytest.mark.parametrize("stream", [False, True])
def test_usage_is_stated_in_each_protocols_own_buckets(stream: bool) -> None:
    usage = Usage(
        input_tokens=1, cache_read_tokens=20, cache_write_tokens=300, output_tokens=4000, reasoning_tokens=50000
    )
    with ScriptedModel(SCRIPT, usage) as model:
        answers = {name: _ask(model, dialect, dialect.first, stream=stream) for name, dialect in DIALECTS.items()}

    assert answers["anthropic"]["usage"] == {
        "input_tokens": 1,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 300,
        "output_tokens": 54000,
        "output_tokens_details": {"thinking_tokens": 50000},
    }
    assert answers["responses"]["usage"] == {
        "input_tokens": 321,
        "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 300},
        "output_tokens": 54000,
        "output_tokens_details": {"reasoning_tokens": 50000},
        "total_tokens": 54321,
    }
    assert answers["chat"]["usage"] == {
        "prompt_tokens": 321,
        "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 300},
        "completion_tokens": 54000,
        "completion_tokens_details": {"reasoning_tokens": 50000},
        "total_tokens": 54321,
    }
    assert answers["gemini"]["usageMetadata"] == {
        "promptTokenCount": 321,
        "cachedContentTokenCount": 20,
        "candidatesTokenCount": 4000,
        "thoughtsTokenCount": 50000,
        "totalTokenCount": 54321,
    }


def test_compressed_and_chunked_requests_are_understood_and_unknown_encodings_refused() -> None:
    dialect = DIALECTS["chat"]
    with ScriptedModel(SCRIPT) as model:
        compressed = _post(model, dialect.path, dialect.first, **{"content-encoding": "gzip"})
        refused, sentence = _post(model, dialect.path, dialect.first, **{"content-encoding": "zstd"})
        connection = http.client.HTTPConnection(model.base_url.removeprefix("http://"), timeout=10)
        text = json.dumps(dialect.first).encode()
        connection.request("POST", dialect.path, iter([text[:9], text[9:]]), encode_chunked=True)
        chunked = connection.getresponse().status
        connection.close()
        kept = [request.body for request in model.requests]

    assert (compressed[0], chunked, refused) == (200, 200, 415)
    assert "zstd is not understood" in sentence
    assert kept == [dialect.first, dialect.first]


def test_token_counts_and_unknown_addresses_are_answered_and_not_kept() -> None:
    with ScriptedModel(SCRIPT) as model:
        assert _post(model, "/v1/messages/count_tokens", {}) == (200, '{"input_tokens": 1000}')
        assert _post(model, "/v1beta/models/m:countTokens", {}) == (200, '{"totalTokens": 1000}')
        status, sentence = _post(model, "/v1/embeddings", {})
        assert (status, model.requests) == (404, [])

    assert "nothing is served at /v1/embeddings" in sentence


def test_a_tool_is_found_behind_a_prefix_but_never_guessed_between_two() -> None:
    prefixed = OfferedTool(name="avb__probe")
    other = OfferedTool(name="other__probe")
    exact = OfferedTool(name="probe", namespace="mcp__avb")

    assert matching_tool("probe", [prefixed]) == prefixed
    assert matching_tool("probe", [prefixed, exact]) == exact
    assert matching_tool("probe", [prefixed, other]) is None
    assert matching_tool("robe", [prefixed]) is None
