"""Every attack: the one list. A new family is a file and one line here."""

from __future__ import annotations

from typing import Any

from avb_mcp.attacks import assembly, order, repair, repair_v3, repurpose
from avb_mcp.attacks._base import Target
from primitives._base import UserError

ATTACKS: tuple[Target[Any], ...] = (
    *order.TARGETS,
    *assembly.TARGETS,
    *repair_v3.TARGETS,
    *repair.TARGETS,
    *repurpose.TARGETS,
)


def families() -> list[str]:
    return list(dict.fromkeys(target.family for target in ATTACKS))


def targets_of(family: str) -> tuple[Target[Any], ...]:
    """One family's targets, or all of them for an empty name."""
    if family and family not in families():
        raise UserError(f"There is no family {family!r} to attack. Use {', '.join(families())}.")
    return tuple(target for target in ATTACKS if family in ("", target.family))
