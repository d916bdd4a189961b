"""Anthropic Messages: `POST .../v1/messages`."""

from __future__ import annotations

import base64
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
)


def offered_tools(body: Body) -> list[OfferedTool]:
    return [OfferedTool(name=tool["name"]) for tool in body.get("tools") or []]


def result_count(body: Body) -> int:
    return len(_tool_results(body))


def images(body: Body) -> list[DeliveredImage]:
    everything = [block for message in body.get("messages", []) for block in blocks(message["content"])]
    inner = [block for result in _tool_results(body) for block in blocks(result.get("content"))]
    return [_image(block) for block in everything + inner if block["type"] == "image"]


def answer(reply: Reply, body: Body, usage: Usage) -> Body:
    return {
        **_message(body, usage),
        "content": [_block(reply)],
        "stop_reason": _stop_reason(reply),
        "usage": _usage(usage, usage.all_output_tokens),
    }


def events(reply: Reply, body: Body, usage: Usage) -> Iterator[Event]:
    if isinstance(reply, Call):
        opened = {**_block(reply), "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
    else:
        opened = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": reply.text}
    yield _event("message_start", message=_message(body, usage))
    yield _event("content_block_start", index=0, content_block=opened)
    yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    yield _event(
        "message_delta",
        delta={"stop_reason": _stop_reason(reply), "stop_sequence": None},
        usage=_usage(usage, usage.all_output_tokens),
    )
    yield _event("message_stop")


def _tool_results(body: Body) -> list[Body]:
    content = [block for message in body.get("messages", []) for block in blocks(message["content"])]
    return [block for block in content if block["type"] == "tool_result"]


def _image(block: Body) -> DeliveredImage:
    source = block["source"]
    return DeliveredImage(media_type=source["media_type"], data=base64.b64decode(source["data"]))


def _block(reply: Reply) -> Body:
    if isinstance(reply, Call):
        return {"type": "tool_use", "id": reply.id, "name": reply.tool.name, "input": reply.arguments}
    return {"type": "text", "text": reply.text}


def _stop_reason(reply: Reply) -> str:
    return "tool_use" if isinstance(reply, Call) else "end_turn"


def _message(body: Body, usage: Usage) -> Body:
    return {
        "id": f"msg_{result_count(body) + 1:04d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(usage, 1),
    }


def _usage(usage: Usage, output_tokens: int) -> Body:
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }


def _event(kind: str, **fields: object) -> Event:
    return Event(name=kind, data={"type": kind, **fields})
