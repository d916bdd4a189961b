"""autopilot: solves what the typed tools alone can solve, without any model and without the answers.

It gets what a harness gives a model: the brief as text, and the tools. It opens no file itself, not even in its own
workspace. It is the floor that a model must beat, and a measure of how good the primitives are; a primitive that is
not listed is done without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from avb_mcp.agents._base import Agent, Seat
from avb_mcp.agents._client import Tools
from avb_mcp.agents.autopilot import assembly, repair, repurpose, sequencing

Policy = Callable[[str, Tools, Sequence[str]], None]
"""Brief, tools, materials."""

POLICIES: Mapping[str, Policy] = {
    "assembly": assembly.solve,
    "repair": repair.solve,
    "repurpose": repurpose.solve,
    "sequencing": sequencing.solve,
}


def act(seat: Seat) -> None:
    solve(seat.brief, seat.tools)


def solve(brief: str, tools: Tools) -> None:
    """Ask what there is and what is wanted, then let the family's policy work."""
    listing = tools.call("probe").data
    materials = [item["path"] for item in listing["media"] if item["path"].startswith("materials/")]
    found = re.search(r"\((\w+)\)$", listing.get("task", ""))
    policy = POLICIES.get(found[1] if found else "")
    if policy is not None:
        policy(brief, tools, materials)


AGENT = Agent("autopilot", act)
