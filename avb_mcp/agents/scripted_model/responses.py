"""OpenAI Responses: `POST .../v1/responses`."""

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
    offered = []
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            offered += [OfferedTool(name=inner["name"], namespace=tool["name"]) for inner in tool["tools"]]
        else:
            offered.append(OfferedTool(name=tool.get("name") or tool["type"]))
    return offered


def result_count(body: Body) -> int:
    return sum(item.get("type") == "function_call_output" for item in blocks(body.get("input")))


def images(body: Body) -> list[DeliveredImage]:
    items = blocks(body.get("input"))
    content = [block for item in items for key in ("content", "output") for block in blocks(item.get(key))]
    urls = [block["image_url"] for block in content if block.get("type") == "input_image"]
    return [image for url in urls for image in image_from_data_url(url)]


def answer(reply: Reply, body: Body, usage: Usage) -> Body:
    return {**_response(body), "status": "completed", "output": [_item(reply, body)], "usage": _usage(usage)}


def events(reply: Reply, body: Body, usage: Usage) -> Iterator[Event]:
    item = _item(reply, body)
    for number, (kind, fields) in enumerate(_steps(reply, item, body, usage)):
        yield Event(name=kind, data={"type": kind, "sequence_number": number, **fields})


def _steps(reply: Reply, item: Body, body: Body, usage: Usage) -> Iterator[tuple[str, Body]]:
    at = {"item_id": item["id"], "output_index": 0}
    opened = {**item, "status": "in_progress"}
    yield "response.created", {"response": _response(body)}
    if isinstance(reply, Call):
        arguments = item["arguments"]
        yield "response.output_item.added", {"output_index": 0, "item": {**opened, "arguments": ""}}
        yield "response.function_call_arguments.delta", {**at, "delta": arguments}
        yield "response.function_call_arguments.done", {**at, "arguments": arguments}
    else:
        part = {**at, "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield "response.output_item.added", {"output_index": 0, "item": {**opened, "content": []}}
        yield "response.content_part.added", {**part, "part": empty}
        yield "response.output_text.delta", {**part, "delta": reply.text}
        yield "response.output_text.done", {**part, "text": reply.text}
        yield "response.content_part.done", {**part, "part": item["content"][0]}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": answer(reply, body, usage)}


def _item(reply: Reply, body: Body) -> Body:
    step = result_count(body) + 1
    if isinstance(reply, Call):
        namespace = {"namespace": reply.tool.namespace} if reply.tool.namespace else {}
        return {
            "type": "function_call",
            "id": f"fc_{step:04d}",
            "call_id": reply.id,
            "name": reply.tool.name,
            **namespace,
            "arguments": json.dumps(reply.arguments),
            "status": "completed",
        }
    return {
        "type": "message",
        "id": f"msg_{step:04d}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
    }


def _response(body: Body) -> Body:
    return {
        "id": f"resp_{result_count(body) + 1:04d}",
        "object": "response",
        "created_at": 0,
        "model": body.get("model"),
        "status": "in_progress",
        "output": [],
    }


def _usage(usage: Usage) -> Body:
    return {
        "input_tokens": usage.all_input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.all_output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.all_input_tokens + usage.all_output_tokens,
    }
