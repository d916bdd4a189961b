"""Gemini: `POST .../models/<model>:generateContent` and `:streamGenerateContent?alt=sse`."""

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
)


def offered_tools(body: Body) -> list[OfferedTool]:
    groups = [group.get("functionDeclarations") or [] for group in body.get("tools") or []]
    return [OfferedTool(name=declared["name"]) for group in groups for declared in group]


def result_count(body: Body) -> int:
    return sum("functionResponse" in part for part in _parts(body))


def images(body: Body) -> list[DeliveredImage]:
    nested = [part["functionResponse"].get("parts") or [] for part in _parts(body) if "functionResponse" in part]
    parts = _parts(body) + [part for group in nested for part in group]
    inline = [part["inlineData"] for part in parts if "inlineData" in part]
    return [
        DeliveredImage(media_type=data["mimeType"], data=base64.b64decode(data["data"]))
        for data in inline
        if data["mimeType"].startswith("image/")
    ]


def answer(reply: Reply, body: Body, usage: Usage) -> Body:
    content = {"role": "model", "parts": [_part(reply, body)]}
    return {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": usage.all_input_tokens,
            "cachedContentTokenCount": usage.cache_read_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "thoughtsTokenCount": usage.reasoning_tokens,
            "totalTokenCount": usage.all_input_tokens + usage.all_output_tokens,
        },
        "modelVersion": "scripted",
        "responseId": f"response-{result_count(body) + 1:04d}",
    }


def events(reply: Reply, body: Body, usage: Usage) -> Iterator[Event]:
    yield Event(answer(reply, body, usage))


def _parts(body: Body) -> list[Body]:
    return [part for content in body.get("contents", []) for part in content.get("parts", [])]


def _part(reply: Reply, body: Body) -> Body:
    if isinstance(reply, Call):
        call = {"id": reply.id, "name": reply.tool.name, "args": reply.arguments}
        # Newer models sign their calls, and the CLI drops an unsigned one from the history.
        return {"functionCall": call, "thoughtSignature": base64.b64encode(b"scripted").decode()}
    wants_json = body.get("generationConfig", {}).get("responseMimeType") == "application/json"
    # The CLI's own errands (who speaks next, which model) ask for JSON.
    return {"text": json.dumps({"reasoning": reply.text, "next_speaker": "user"}) if wants_json else reply.text}
