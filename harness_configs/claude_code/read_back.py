"""Claude Code prints its session as JSON lines; only the last one, `result`, has the right token counts."""

from __future__ import annotations

from typing import Any

from harness_configs._base import FinishedRun, ReadBack, Step, TokenUsage
from harness_configs._records import content_text, count, image_count, json_lines, rows, shortened, table


def read_back(run: FinishedRun) -> ReadBack:
    steps: dict[str, Step] = {}
    result: dict[str, Any] = {}
    turns = 0
    offered: tuple[str, ...] | None = None
    for line in json_lines(run.stdout):
        if line.get("type") == "result":
            result = line
        if line.get("subtype") == "init" and isinstance(line.get("tools"), list):
            offered = tuple(sorted(str(tool) for tool in line["tools"]))
        blocks = rows(table(line.get("message")).get("content"))
        if line.get("type") == "assistant":
            turns += 1
            for block in blocks:
                _said(block, steps)
        elif line.get("type") == "user":
            for block in blocks:
                _answered(block, steps)
    failed = bool(result.get("is_error")) or result.get("subtype") not in (None, "success")
    return ReadBack(
        final_message=str(result.get("result") or ""),
        usage=_usage(table(result["usage"])) if "usage" in result else None,
        turns=result.get("num_turns", turns),
        steps=tuple(steps.values()),
        errors=(f"{result.get('subtype')}: {shortened(result.get('result') or '')}",) if failed else (),
        offered_tools=offered,
    )


def _said(block: dict[str, Any], steps: dict[str, Step]) -> None:
    if block.get("type") == "text":
        steps[f"text {len(steps)}"] = Step(kind="message", text=shortened(block.get("text", "")))
    elif block.get("type") == "tool_use":
        name, arguments = str(block.get("name")), shortened(block.get("input"))
        steps[str(block.get("id"))] = Step(kind="tool_call", tool=name, arguments=arguments)


def _answered(block: dict[str, Any], steps: dict[str, Step]) -> None:
    call = steps.get(str(block.get("tool_use_id")))
    if block.get("type") != "tool_result" or call is None:
        return
    content = block.get("content")
    outcome = {
        "text": shortened(content_text(content)),
        "failed": bool(block.get("is_error")),
        "images": image_count(content),
    }
    steps[str(block["tool_use_id"])] = call.model_copy(update=outcome)


def _usage(usage: dict[str, Any]) -> TokenUsage:
    reasoning = count(table(usage.get("output_tokens_details")).get("thinking_tokens"))
    return TokenUsage(
        input=count(usage.get("input_tokens")),
        cached=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")),
        output=count(usage.get("output_tokens")) - reasoning,
        reasoning=reasoning,
    )
