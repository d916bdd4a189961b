"""Codex prints items as JSON lines; tokens are in `turn.completed`, and after a kill only in its rollout file.

Codex counts cached and written tokens into its input, and reasoning into its output.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness_configs._base import FinishedRun, ReadBack, Step, TokenUsage
from harness_configs._records import content_text, count, image_count, json_lines, shortened, table


def read_back(run: FinishedRun) -> ReadBack:
    steps: list[Step] = []
    errors: list[str] = []
    usage: dict[str, Any] = {}
    for line in json_lines(run.stdout):
        if line.get("type") == "item.completed":
            steps += _step(table(line.get("item")))
        elif line.get("type") == "turn.completed":
            usage = table(line.get("usage"))
        elif line.get("type") in ("error", "turn.failed"):
            errors.append(shortened(line.get("message") or table(line.get("error")).get("message") or line))
    rollout = _rollout(run.home)
    messages = [step.text for step in steps if step.kind == "message"]
    counted = usage or rollout.usage
    return ReadBack(
        final_message=messages[-1] if messages else "",
        usage=_usage(counted) if counted else None,
        turns=rollout.requests,
        steps=tuple(steps),
        errors=tuple(errors),
    )


def _step(item: dict[str, Any]) -> list[Step]:
    kind = item.get("type")
    if kind == "agent_message":
        return [Step(kind="message", text=shortened(item.get("text", "")))]
    if kind == "mcp_tool_call":
        content = table(item.get("result")).get("content")
        failed = item.get("status") != "completed" or item.get("error") is not None
        return [
            Step(
                kind="tool_call",
                tool=f"mcp__{item.get('server')}.{item.get('tool')}",
                arguments=shortened(item.get("arguments")),
                text=shortened(content_text(content) or table(item.get("error")).get("message", "")),
                failed=failed,
                images=image_count(content),
            )
        ]
    if kind == "command_execution":
        return [
            Step(
                kind="tool_call",
                tool="exec_command",
                arguments=shortened(item.get("command", "")),
                text=shortened(item.get("aggregated_output", "")),
                failed=item.get("exit_code") not in (0, None),
            )
        ]
    if kind == "file_change":
        return [Step(kind="tool_call", tool="apply_patch", arguments=shortened(item.get("changes")))]
    return []


class _Rollout:
    """The rollout file: the running total, and how often the model was asked."""

    def __init__(self, text: str) -> None:
        totals = [table(table(line.get("payload")).get("info")) for line in json_lines(text) if _counts(line)]
        totals = [total for total in totals if total.get("total_token_usage")]
        self.usage = table(totals[-1]["total_token_usage"]) if totals else {}
        self.requests = len(totals) or None


def _rollout(home: Path) -> _Rollout:
    files = sorted((home / ".codex" / "sessions").rglob("rollout-*.jsonl"))
    return _Rollout(files[-1].read_text(encoding="utf-8", errors="replace") if files else "")


def _counts(line: dict[str, Any]) -> bool:
    return line.get("type") == "event_msg" and table(line.get("payload")).get("type") == "token_count"


def _usage(usage: dict[str, Any]) -> TokenUsage:
    cached, written = count(usage.get("cached_input_tokens")), count(usage.get("cache_write_input_tokens"))
    reasoning = count(usage.get("reasoning_output_tokens"))
    return TokenUsage(
        input=max(0, count(usage.get("input_tokens")) - cached - written),
        cached=cached,
        cache_write=written,
        output=max(0, count(usage.get("output_tokens")) - reasoning),
        reasoning=reasoning,
    )
