"""Documentation made from the code, for the cog blocks in README.md and docs/: it cannot go stale unnoticed.

`python -m avb_mcp.docs` writes the JSON Schemas in docs/schemas/.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel

from avb_mcp.cli_tasks import build
from avb_mcp.tasks.answers import Answer
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.registry import BUILDERS, option_named
from avb_mcp.tasks.check.approvals import Approvals
from avb_mcp.tasks.defects.registry import DEFECTS
from avb_mcp.tasks.spec import Suite
from harness_configs.registry import HARNESSES
from primitives._schema import input_schema
from primitives._task import Task
from primitives.registry import PRIMITIVES
from verifiers.registry import VERIFIERS

DEFECT_FILES = "avb_mcp.tasks.defects"
"""Every defect is a file there, under its own name."""


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


SCHEMAS: dict[str, type[BaseModel]] = {"task": Task, "answer": Answer, "suite": Suite, "approvals": Approvals}
"""The files of a suite, by the names of their schemas."""


def schema_texts() -> dict[str, str]:
    """The JSON Schemas of a suite's files, by file name."""
    return {
        f"{name}.schema.json": json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
        for name, model in SCHEMAS.items()
    }


def field_table(name: str) -> str:
    """The top fields of one of a suite's files."""
    schema = SCHEMAS[name].model_json_schema()
    required = schema.get("required", [])
    rows = [
        f"| `{field}` | {_told(schema, prop)} | {_need(field in required, prop)} |"
        for field, prop in schema["properties"].items()
    ]
    return "\n".join(["| field | meaning | |", "|---|---|---|", *rows]) + "\n"


def _told(schema: dict[str, Any], prop: dict[str, Any]) -> str:
    """What a field says of itself, or what the thing that it holds does."""
    inner = prop.get("items", prop).get("$ref", "").rsplit("/", 1)[-1]
    return _line(prop.get("description") or schema.get("$defs", {}).get(inner, {}).get("description", ""))


def _need(required: bool, prop: dict[str, Any]) -> str:
    default = prop.get("default")
    return "required" if required else "" if default in (None, "", []) or isinstance(default, dict) else f"`{default}`"


def build_table() -> str:
    """The options of `avb-mcp build`, and which families read them."""
    told = get_type_hints(build, include_extras=True)
    rows = []
    for name in BuildRequest.model_fields:
        readers = [family.value for family, known in BUILDERS.items() if name in known.options] or ["all"]
        meaning = told[name].__metadata__[0].help.removeprefix(f"{readers[0]}: ")
        rows.append(f"| `{option_named(name)}` | {', '.join(readers)} | {_line(meaning)} |")
    return "\n".join(["| option | families | meaning |", "|---|---|---|", *rows]) + "\n"


def defect_table() -> str:
    """One row per defect."""
    rows = []
    for defect in DEFECTS:
        needs = [f"{defect.needs.shots} shots"] if defect.needs.shots > 1 else []
        needs += ["sound"] if defect.needs.sound else []
        rows.append(f"| `{defect.name}` | {defect.scheme} | {', '.join(needs)} | {_summary(defect.name)} |")
    return "\n".join(["| kind | scheme | needs | what happens |", "|---|---|---|---|", *rows]) + "\n"


def _summary(name: str) -> str:
    module = importlib.import_module(f"{DEFECT_FILES}.{name}")
    return _line((module.__doc__ or "").strip().split("\n\n")[0])


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")


def main() -> None:
    folder = Path(__file__).resolve().parents[1] / "docs" / "schemas"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schema_texts().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
