"""Small helpers for reading what harnesses print: JSON lines that may be cut off, texts that may be long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

SHOWN_CHARACTERS = 2000


def json_lines(text: str) -> Iterator[dict[str, Any]]:
    """The objects among the lines; a line that is none (a warning, the half line of a killed run) is passed over."""
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict):
            yield value


def shortened(value: object) -> str:
    """A text, or anything else as JSON, in at most so many characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def table(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[dict[str, Any]]:
    """The objects of a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(value: object) -> int:
    """A number of tokens; 0 for what is none."""
    return value if isinstance(value, int) and value > 0 else 0


def content_text(blocks: object) -> str:
    """The text of MCP or message content, whether it is a string or a list of blocks."""
    if isinstance(blocks, str):
        return blocks
    return "\n".join(
        str(block.get("text", "")) for block in rows(blocks) if block.get("type") in ("text", "input_text")
    )


def image_count(blocks: object) -> int:
    return sum(block.get("type") in ("image", "input_image") for block in rows(blocks))
