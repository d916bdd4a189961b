"""Gemini CLI prints its session as JSON lines; `result` has the totals, of which thoughts are the unnamed rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness_configs._base import FinishedRun, ReadBack, Step, TokenUsage
from harness_configs._records import count, json_lines, rows, shortened, table


def read_back(run: FinishedRun) -> ReadBack:
    steps: dict[str, Step] = {}
    said: list[str] = []
    errors: list[str] = []
    stats: dict[str, Any] = {}
    for line in json_lines(run.stdout):
        kind = line.get("type")
        if kind == "tool_use":
            said.clear()
            tool, arguments = str(line.get("tool_name")), shortened(line.get("parameters"))
            steps[str(line.get("tool_id"))] = Step(kind="tool_call", tool=tool, arguments=arguments)
        elif kind == "tool_result":
            _answered(line, steps)
        elif kind == "message" and line.get("role") == "assistant":
            said.append(str(line.get("content", "")))
            steps[f"text {len(steps)}"] = Step(kind="message", text=shortened(line.get("content", "")))
        elif kind == "error":
            errors.append(shortened(line.get("message") or line))
        elif kind == "result":
            stats = table(line.get("stats"))
            if line.get("status") not in (None, "success"):
                errors.append(shortened(line.get("error") or line))
    session = _session(run.home)
    messages = _messages(session)
    for call_id, images in _images(session).items():
        if call_id in steps:
            steps[call_id] = steps[call_id].model_copy(update={"images": images})
    return ReadBack(
        final_message="".join(said),
        usage=_usage(stats) if stats else _counted(messages),
        turns=len(messages) or None,
        steps=tuple(steps.values()),
        errors=tuple(errors),
    )


def _answered(line: dict[str, Any], steps: dict[str, Step]) -> None:
    call = steps.get(str(line.get("tool_id")))
    if call is not None:
        text = line.get("output") or table(line.get("error")).get("message") or ""
        outcome = {"text": shortened(text), "failed": line.get("status") != "success"}
        steps[str(line["tool_id"])] = call.model_copy(update=outcome)


def _usage(stats: dict[str, Any]) -> TokenUsage:
    prompt, visible = count(stats.get("input_tokens")), count(stats.get("output_tokens"))
    cached = count(stats.get("cached"))
    return TokenUsage(
        input=max(0, prompt - cached),
        cached=cached,
        output=visible,
        reasoning=max(0, count(stats.get("total_tokens")) - prompt - visible),
    )


def _session(home: Path) -> list[dict[str, Any]]:
    """The lines of the session file."""
    files = sorted((home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl"))
    return list(json_lines(files[-1].read_text(encoding="utf-8", errors="replace"))) if files else []


def _messages(session: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tokens of each answer of the model; the last state of each counts."""
    answers = {str(line.get("id")): line for line in session if line.get("type") == "gemini" and line.get("tokens")}
    return [table(answer["tokens"]) for answer in answers.values()]


def _images(session: list[dict[str, Any]]) -> dict[str, int]:
    """How many images follow the result of each call."""
    found: dict[str, int] = {}
    for line in session:
        call_id = ""
        for part in rows(line.get("content")) if line.get("type") == "user" else []:
            response = table(part.get("functionResponse"))
            call_id = str(response.get("id")) if response else call_id
            nested = sum("inlineData" in inner for inner in rows(response.get("parts")))
            found[call_id] = found.get(call_id, 0) + ("inlineData" in part) + nested
    return found


def _counted(messages: list[dict[str, Any]]) -> TokenUsage | None:
    """The same from the session file, for a run that was stopped before it printed its totals."""
    if not messages:
        return None
    cached = sum(count(tokens.get("cached")) for tokens in messages)
    return TokenUsage(
        input=max(0, sum(count(tokens.get("input")) for tokens in messages) - cached),
        cached=cached,
        output=sum(count(tokens.get("output")) for tokens in messages),
        reasoning=sum(count(tokens.get("thoughts")) for tokens in messages),
    )
