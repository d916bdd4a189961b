"""Documentation made from the code, for the cog blocks in README.md and docs/: it cannot go stale unnoticed."""

from __future__ import annotations

import importlib
from typing import Any

from harness_configs.registry import HARNESSES
from primitives._schema import input_schema
from primitives.registry import PRIMITIVES
from verifiers.registry import VERIFIERS


def tool_table() -> str:
    """One row per tool."""
    rows = [f"| `{primitive.name}` | {primitive.description} |" for primitive in PRIMITIVES]
    return "\n".join(["| tool | what it does |", "|---|---|", *rows]) + "\n"


def setup_lines() -> str:
    """The command that adds the server to each harness."""
    commands = {f"avb-mcp setup {name} --workspace task/ --write": known.title for name, known in HARNESSES.items()}
    width = max(len(command) for command in commands)
    lines = [f"{command:<{width}}   # {title}" for command, title in commands.items()]
    return "\n".join(["```", *lines, "```"]) + "\n"


def tool_reference() -> str:
    """Every tool with every argument."""
    return "\n".join(_section(primitive) for primitive in PRIMITIVES)


def _section(primitive: Any) -> str:
    schema = input_schema(primitive.request)
    rows = [_row(name, prop, name in schema.get("required", [])) for name, prop in schema["properties"].items()]
    kind = "reads only" if primitive.read_only else "writes below work/ and outputs/"
    answer = "text and one JPEG" if primitive.returns_image else "text"
    head = f"## {primitive.name}\n\n{primitive.title}: {kind}, answers with {answer}.\n\n{primitive.description}\n"
    return "\n".join([head, "| argument | type | meaning |", "|---|---|---|", *rows, ""])


def _row(name: str, prop: dict[str, Any], required: bool) -> str:
    kind = prop["type"] if prop["type"] != "array" else f"list of {prop['items']['type']}"
    return f"| `{name}`{' (required)' if required else ''} | {kind} | {prop.get('description', '')} |"


def verifier_table() -> str:
    """One row per verifier, with its command line."""
    rows = []
    for name, module in VERIFIERS.items():
        summary = (importlib.import_module(f"verifiers.{name}").__doc__ or "").strip().splitlines()[0]
        rows.append(f"| `{name}` | {summary} | `python -m {module} --help` |")
    return "\n".join(["| verifier | what it judges | command line |", "|---|---|---|", *rows]) + "\n"
