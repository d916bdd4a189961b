"""Every agent without a model: the one list. The vandal is one agent per trick and task, and not in it."""

from __future__ import annotations

from collections.abc import Sequence

from avb_mcp.agents import autopilot, nop, oracle
from avb_mcp.agents._base import Agent
from primitives._base import UserError

AGENTS: tuple[Agent, ...] = (nop.AGENT, autopilot.AGENT, oracle.AGENT)


def agents_named(names: Sequence[str]) -> list[Agent]:
    """The agents asked for, in that order."""
    known = {agent.name: agent for agent in AGENTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UserError(f"There is no agent {unknown[0]!r}. Use {', '.join(known)} or vandal.")
    return [known[name] for name in dict.fromkeys(names)]
