"""The request model is the schema: portable JSON Schema out, one-sentence errors in.

Harnesses differ in what they accept (MCP.md's rules): schemas here are flat and inlined, without `$ref`,
`anyOf` or null; an optional argument is one that may be left out.
"""

from __future__ import annotations

import difflib
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from primitives._base import Request, UserError

ModelT = TypeVar("ModelT", bound=Request)


def input_schema(model: type[Request]) -> dict[str, Any]:
    """The portable JSON Schema of a request model."""
    raw = model.model_json_schema()
    schema = _portable(raw, raw.get("$defs", {}))
    return {
        "type": "object",
        "properties": schema.get("properties", {}),
        **({"required": schema["required"]} if "required" in schema else {}),
        "additionalProperties": False,
    }


def _portable(node: Any, definitions: dict[str, Any]) -> Any:
    """Inline references, drop titles and nulls."""
    if isinstance(node, list):
        return [_portable(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[-1]]
        return _portable({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    if "anyOf" in node:
        kinds = [kind for kind in node["anyOf"] if kind != {"type": "null"}]
        if len(kinds) != 1:
            raise ValueError(f"a request field has several types, which not every harness accepts: {node}")
        return _portable({**{k: v for k, v in node.items() if k != "anyOf"}, **kinds[0]}, definitions)
    kept = {k: v for k, v in node.items() if k not in {"title", "$defs"} and not (k == "default" and v in (None, []))}
    if "properties" in kept:
        kept["properties"] = {name: _portable(prop, definitions) for name, prop in kept["properties"].items()}
        kept.pop("description", None)
    return {k: (v if k == "properties" else _portable(v, definitions)) for k, v in kept.items()}


def parse(model: type[ModelT], arguments: dict[str, Any]) -> ModelT:
    """The request, or one sentence that names the argument, the value, the rule and the way out."""
    try:
        # Models often send null for an argument they mean to leave out.
        return model.model_validate({name: value for name, value in arguments.items() if value is not None})
    except ValidationError as error:
        raise UserError(" ".join(_sentence(model, detail) for detail in error.errors()[:3])) from None


def _sentence(model: type[BaseModel], detail: ErrorDetails) -> str:
    where = ".".join(str(part) for part in detail["loc"]) or "the arguments"
    if detail["type"] == "extra_forbidden":
        return _unknown(model, str(detail["loc"][-1]), where)
    if detail["type"] == "missing":
        return f"Argument {where} is required."
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    given = repr(detail["input"])
    given = given if len(given) <= 80 else given[:77] + "..."
    rule = detail["msg"].removeprefix("Input ").rstrip(".")
    return f"{where}={given}: {rule}."


def _unknown(model: type[BaseModel], name: str, where: str) -> str:
    known = list(model.model_fields)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]}? " if close else ""
    return f"Unknown argument {where[:80]}. {hint}Known: {', '.join(known)}."
