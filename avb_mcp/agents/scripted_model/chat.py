"""OpenAI Chat Completions: `POST .../v1/chat/completions`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from avb_mcp.agents.scripted_model.script import (
    Body,
    Call,
    DeliveredImage,
    Event,
    OfferedTool,
    Reply,
    Usage,
    blocks,
    image_from_data_url,
)


def offered_tools(body: Body) -> list[OfferedTool]:
    return [OfferedTool(name=tool["function"]["name"]) for tool in body.get("tools") or []]


def result_count(body: Body) -> int:
    return sum(message["role"] == "tool" for message in body.get("messages", []))


def images(body: Body) -> list[DeliveredImage]:
    content = [block for message in body.get("messages", []) for block in blocks(message.get("content"))]
    urls = [block["image_url"]["url"] for block in content if block.get("type") == "image_url"]
    return [image for url in urls for image in image_from_data_url(url)]


def answer(reply: Reply, body: Body, usage: Usage) -> Body:
    message: Body = {"role": "assistant", "content": None}
    message |= {"tool_calls": [_tool_call(reply)]} if isinstance(reply, Call) else {"content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    return {**_head(body), "object": "chat.completion", "choices": [choice], "usage": _usage(usage)}


def events(reply: Reply, body: Body, usage: Usage) -> Iterator[Event]:
    said: Body = (
        {"tool_calls": [{"index": 0, **_tool_call(reply)}]} if isinstance(reply, Call) else {"content": reply.text}
    )
    yield _chunk(body, {"role": "assistant", "content": ""}, None)
    yield _chunk(body, said, None)
    yield _chunk(body, {}, _finish_reason(reply))
    yield Event({**_head(body), "object": "chat.completion.chunk", "choices": [], "usage": _usage(usage)})
    yield Event("[DONE]")


def _tool_call(reply: Call) -> Body:
    function = {"name": reply.tool.name, "arguments": json.dumps(reply.arguments)}
    return {"id": reply.id, "type": "function", "function": function}


def _finish_reason(reply: Reply) -> str:
    return "tool_calls" if isinstance(reply, Call) else "stop"


def _chunk(body: Body, delta: Body, finish_reason: str | None) -> Event:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return Event({**_head(body), "object": "chat.completion.chunk", "choices": [choice]})


def _head(body: Body) -> Body:
    return {"id": f"chatcmpl-{result_count(body) + 1:04d}", "created": 0, "model": body.get("model")}


def _usage(usage: Usage) -> Body:
    return {
        "prompt_tokens": usage.all_input_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens": usage.all_output_tokens,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.all_input_tokens + usage.all_output_tokens,
    }
