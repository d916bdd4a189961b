"""The tool list as people and models see it, with its price in tokens."""

from __future__ import annotations

import json
import math
from typing import Any

import mcp_types as types

CHARACTERS_PER_TOKEN = 3.9
"""Measured on these schemas: 4.0 to 4.2 in the o200k and cl100k vocabularies, so this estimate errs upwards."""


def wire(tool: types.Tool) -> dict[str, Any]:
    """A tool as it goes over the wire."""
    return tool.model_dump(by_alias=True, mode="json", exclude_none=True)


def tokens(tool: types.Tool) -> int:
    """What a model pays to know a tool: name, description and input schema, estimated from above."""
    sent = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return math.ceil(len(json.dumps(sent, ensure_ascii=False, separators=(",", ":"))) / CHARACTERS_PER_TOKEN)


def print_table(listed: list[types.Tool]) -> None:
    """The table for people."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("tool", "arguments", "what it does", "tokens"):
        table.add_column(heading, justify="right" if heading == "tokens" else "left", vertical="top")
    for tool in listed:
        arguments = ", ".join(tool.input_schema["properties"])
        table.add_row(tool.name, arguments, tool.description, f"~{tokens(tool)}")
    console = Console()
    console.print(table)
    total = sum(tokens(tool) for tool in listed)
    console.print(f"{len(listed)} tools, ~{total} tokens in all, ~{total // max(1, len(listed))} a tool")
