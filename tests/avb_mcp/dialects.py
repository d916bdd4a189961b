"""The four wire protocols as a client speaks them: requests before and after a tool result, answers read."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

JPEG = b"\xff\xd8 not really a picture \xff\xd9"
JPEG_BASE64 = base64.b64encode(JPEG).decode()
DATA_URL = f"data:image/jpeg;base64,{JPEG_BASE64}"
Body = dict[str, Any]


@dataclass(frozen=True)
class Dialect:
    """One protocol as a client speaks it: requests before and after the tool result, and how answers read."""

    path: str
    streaming_path: str
    offered: str
    first: Body
    second: Body
    called: Callable[[Body], tuple[str, Any]]
    said: Callable[[Body], str]
    streamed: Callable[[list[Body]], Body]


def _anthropic_streamed(events: list[Body]) -> Body:
    block = dict(events[1]["content_block"])
    delta = events[2]["delta"]
    if block["type"] == "tool_use":
        block["input"] = json.loads(delta["partial_json"])
    else:
        block["text"] = delta["text"]
    return {**events[0]["message"], "content": [block], **events[4]["delta"], "usage": events[4]["usage"]}


def _chat_streamed(chunks: list[Body]) -> Body:
    message: Body = {}
    for chunk in chunks[:3]:
        message |= chunk["choices"][0]["delta"]
    return {"choices": [{"message": message}], "usage": chunks[3]["usage"]}


def _chat_call(body: Body) -> tuple[str, Any]:
    function = body["choices"][0]["message"]["tool_calls"][0]["function"]
    return function["name"], json.loads(function["arguments"])


USER = {"role": "user", "content": "look"}
DIALECTS = {
    "anthropic": Dialect(
        path="/v1/messages?beta=true",
        streaming_path="/v1/messages?beta=true",
        offered="mcp__avb__frame_grid",
        first={"messages": [USER], "tools": [{"name": "mcp__avb__frame_grid"}, {"name": "Bash"}]},
        second={
            "messages": [
                USER,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0001", "name": "x", "input": {}}]},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_0001",
                            "content": [
                                {"type": "text", "text": "sheet"},
                                {
                                    "type": "image",
                                    "source": {"type": "base64", "media_type": "image/jpeg", "data": JPEG_BASE64},
                                },
                            ],
                        }
                    ],
                },
            ],
            "tools": [{"name": "mcp__avb__frame_grid"}],
        },
        called=lambda body: (body["content"][0]["name"], body["content"][0]["input"]),
        said=lambda body: str(body["content"][0]["text"]),
        streamed=_anthropic_streamed,
    ),
    "responses": Dialect(
        path="/v1/responses",
        streaming_path="/v1/responses",
        offered="mcp__avb.frame_grid",
        first={
            "input": [{"type": "message", **USER}],
            "tools": [
                {"type": "function", "name": "exec_command"},
                {"type": "namespace", "name": "mcp__avb", "tools": [{"type": "function", "name": "frame_grid"}]},
            ],
        },
        second={
            "input": [
                {"type": "message", **USER},
                {"type": "function_call", "call_id": "call_0001", "name": "frame_grid", "arguments": "{}"},
                {
                    "type": "function_call_output",
                    "call_id": "call_0001",
                    "output": [
                        {"type": "input_text", "text": "sheet"},
                        {"type": "input_image", "image_url": DATA_URL},
                    ],
                },
            ],
            "tools": [{"type": "function", "name": "frame_grid"}],
        },
        called=lambda body: (
            f"{body['output'][0]['namespace']}.{body['output'][0]['name']}",
            json.loads(body["output"][0]["arguments"]),
        ),
        said=lambda body: str(body["output"][0]["content"][0]["text"]),
        streamed=lambda events: dict(events[-1]["response"]),
    ),
    "chat": Dialect(
        path="/v1/chat/completions",
        streaming_path="/v1/chat/completions",
        offered="avb_frame_grid",
        first={"messages": [USER], "tools": [{"type": "function", "function": {"name": "avb_frame_grid"}}]},
        second={
            "messages": [
                USER,
                {"role": "tool", "tool_call_id": "call_0001", "content": "sheet"},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": DATA_URL}}]},
            ],
            "tools": [{"type": "function", "function": {"name": "avb_frame_grid"}}],
        },
        called=_chat_call,
        said=lambda body: str(body["choices"][0]["message"]["content"]),
        streamed=_chat_streamed,
    ),
    "gemini": Dialect(
        path="/v1beta/models/m:generateContent",
        streaming_path="/v1beta/models/m:streamGenerateContent?alt=sse",
        offered="mcp_avb_frame_grid",
        first={
            "contents": [{"role": "user", "parts": [{"text": "look"}]}],
            "tools": [{"functionDeclarations": [{"name": "mcp_avb_frame_grid"}]}],
        },
        second={
            "contents": [
                {"role": "user", "parts": [{"text": "look"}]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "mcp_avb_frame_grid", "response": {"output": "sheet"}}},
                        {"inlineData": {"mimeType": "image/jpeg", "data": JPEG_BASE64}},
                    ],
                },
            ],
            "tools": [{"functionDeclarations": [{"name": "mcp_avb_frame_grid"}]}],
        },
        called=lambda body: (
            body["candidates"][0]["content"]["parts"][0]["functionCall"]["name"],
            body["candidates"][0]["content"]["parts"][0]["functionCall"]["args"],
        ),
        said=lambda body: str(body["candidates"][0]["content"]["parts"][0]["text"]),
        streamed=lambda events: events[0],
    ),
}
