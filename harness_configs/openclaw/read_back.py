"""OpenClaw prints one JSON object at its end; what happened on the way is in the SQLite file of its state folder.

Long results (a sheet, for one) are stored compressed there, beside a short form without the content.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any

from harness_configs._base import FinishedRun, ReadBack, Step, TokenUsage
from harness_configs._records import content_text, count, image_count, rows, shortened, table

STATE = PurePosixPath(".avb", "harness", "openclaw-state")
_EVENTS = "SELECT event_json, json_extract(navigation_json, '$.model') FROM transcript_events ORDER BY created_at, seq"


def read_back(run: FinishedRun) -> ReadBack:
    envelope = _envelope(run.stdout)
    messages = [table(event.get("message")) for event in _events(run.workspace / STATE)]
    answers = [message for message in messages if message.get("role") == "assistant"]
    usages = [envelope["usage"]] if table(envelope.get("usage")) else [table(item.get("usage")) for item in answers]
    failed = bool(envelope) and envelope.get("ok") is not True
    return ReadBack(
        final_message=str(envelope.get("final") or ""),
        usage=_usage(usages) if usages else None,
        turns=envelope.get("assistantTurns") or len(answers) or None,
        steps=tuple(_steps(messages)),
        errors=(shortened(envelope.get("error") or envelope.get("status") or "failed"),) if failed else (),
    )


def _envelope(stdout: str) -> dict[str, Any]:
    start = stdout.find("{")
    try:
        return table(json.loads(stdout[start:])) if start >= 0 else {}
    except json.JSONDecodeError:
        return {}


def _events(state: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for file in sorted(state.glob("agents/*/agent/openclaw-agent.sqlite")):
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
                found = database.execute(_EVENTS).fetchall()
        except sqlite3.Error:
            continue  # another version's tables, or a file cut off by a kill: the printed object still counts
        events += [table(json.loads(whole or short)) for whole, short in found if whole or short]
    return events


def _steps(messages: list[dict[str, Any]]) -> list[Step]:
    steps: dict[str, Step] = {}
    for message in messages:
        if message.get("role") == "toolResult":
            _answered(message, steps)
        if message.get("role") != "assistant":
            continue
        for block in rows(message.get("content")):
            if block.get("type") == "toolCall":
                tool, arguments = str(block.get("name")), shortened(block.get("arguments"))
                steps[str(block.get("id"))] = Step(kind="tool_call", tool=tool, arguments=arguments)
            elif block.get("type") == "text":
                steps[f"text {len(steps)}"] = Step(kind="message", text=shortened(block.get("text", "")))
    return list(steps.values())


def _answered(message: dict[str, Any], steps: dict[str, Step]) -> None:
    call = steps.get(str(message.get("toolCallId")))
    if call is not None:
        content = message.get("content")
        outcome = {
            "text": shortened(content_text(content)),
            "failed": bool(message.get("isError")),
            "images": image_count(content),
        }
        steps[str(message["toolCallId"])] = call.model_copy(update=outcome)


def _usage(usages: list[dict[str, Any]]) -> TokenUsage:
    """Input is what no cache held; output has reasoning in it."""
    reasoning = sum(count(usage.get("reasoningTokens")) for usage in usages)
    return TokenUsage(
        input=sum(count(usage.get("input")) for usage in usages),
        cached=sum(count(usage.get("cacheRead")) for usage in usages),
        cache_write=sum(count(usage.get("cacheWrite")) for usage in usages),
        output=max(0, sum(count(usage.get("output")) for usage in usages) - reasoning),
        reasoning=reasoning,
    )
