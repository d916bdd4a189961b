"""OpenCode prints a JSON line per step; each `step_finish` has the tokens of one request."""

from __future__ import annotations

from typing import Any

from harness_configs._base import FinishedRun, ReadBack, Step, TokenUsage
from harness_configs._records import count, json_lines, rows, shortened, table


def read_back(run: FinishedRun) -> ReadBack:
    steps: list[Step] = []
    errors: list[str] = []
    counted: list[dict[str, Any]] = []
    for line in json_lines(run.stdout):
        part = table(line.get("part"))
        if line.get("type") == "text":
            steps.append(Step(kind="message", text=shortened(part.get("text", ""))))
        elif line.get("type") == "tool_use":
            steps.append(_call(part))
        elif line.get("type") == "step_finish":
            counted.append(table(part.get("tokens")))
        elif line.get("type") == "error":
            errors.append(shortened(line.get("error") or line))
    messages = [step.text for step in steps if step.kind == "message"]
    return ReadBack(
        final_message=messages[-1] if messages else "",
        usage=_usage(counted) if counted else None,
        turns=len(counted) or None,
        steps=tuple(steps),
        errors=tuple(errors),
    )


def _call(part: dict[str, Any]) -> Step:
    state = table(part.get("state"))
    return Step(
        kind="tool_call",
        tool=str(part.get("tool")),
        arguments=shortened(state.get("input")),
        text=shortened(state.get("output") or state.get("error") or ""),
        failed=state.get("status") == "error",
        images=sum(str(item.get("mime", "")).startswith("image/") for item in rows(state.get("attachments"))),
    )


def _usage(counted: list[dict[str, Any]]) -> TokenUsage:
    """Input is what no cache held, output is without reasoning. Chat Completions do not tell what was written."""
    return TokenUsage(
        input=sum(count(tokens.get("input")) for tokens in counted),
        cached=sum(count(table(tokens.get("cache")).get("read")) for tokens in counted),
        cache_write=sum(count(table(tokens.get("cache")).get("write")) for tokens in counted),
        output=sum(count(tokens.get("output")) for tokens in counted),
        reasoning=sum(count(tokens.get("reasoning")) for tokens in counted),
    )
