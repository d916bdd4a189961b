"""The builders: the one list. A new family is a module with `plan` and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.footage import Footage
from avb_mcp.tasks.suite import TaskPlan
from primitives._base import UserError
from primitives._task import Family

COMMON = frozenset({"seed", "count", "prefix"})


class Builder(Protocol):
    """What a builder module offers."""

    def plan(self, footage: Sequence[Footage], request: BuildRequest) -> list[TaskPlan]: ...


@dataclass(frozen=True)
class Known:
    module: str
    """Imported when it is asked for."""
    options: frozenset[str]
    """The fields of `BuildRequest` that it reads, besides the common ones."""


BUILDERS: dict[Family, Known] = {
    Family.REPAIR: Known("avb_mcp.tasks.builders.repair", frozenset({"kinds", "scheme", "min_s", "max_s"})),
    Family.SEQUENCING: Known(
        "avb_mcp.tasks.builders.sequencing", frozenset({"min_clips", "max_clips", "overview", "cut_inside"})
    ),
    Family.ASSEMBLY: Known(
        "avb_mcp.tasks.builders.assembly",
        frozenset({"slots", "distractors", "variables", "shot_list", "generator"}),
    ),
    Family.REPURPOSE: Known("avb_mcp.tasks.builders.repurpose", frozenset({"brief", "rubric", "delivery"})),
}


def family_named(name: str) -> Family:
    if name not in list(Family):
        raise UserError(f"There is no family {name!r} to build. Use {', '.join(BUILDERS)}.")
    return Family(name)


def plan_tasks(family: Family, footage: Sequence[Footage], request: BuildRequest) -> list[TaskPlan]:
    """What the family's builder makes of the footage; options that it does not read are refused."""
    known = BUILDERS[family]
    unused = sorted(request.model_fields_set - known.options - COMMON)
    if unused:
        useful = ", ".join(option_named(name) for name in sorted(known.options))
        raise UserError(f"{option_named(unused[0])} has no use for {family} tasks, which take {useful}. Leave it out.")
    builder = cast(Builder, importlib.import_module(known.module))
    return builder.plan(footage, request)


def left_out(family: Family, footage: Sequence[Footage], request: BuildRequest) -> list[str]:
    """What the plan leaves out and why, a sentence each; only repair tasks come in kinds."""
    if family is not Family.REPAIR:
        return []
    from avb_mcp.tasks.builders import repair

    return repair.left_out(footage, request)


def option_named(field: str) -> str:
    """A field as the command line calls it."""
    return "--" + field.replace("_", "-")
