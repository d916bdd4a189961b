"""nop: lists the tools, does nothing, hands nothing in. Every task must score it 0."""

from __future__ import annotations

from avb_mcp.agents._base import Agent, Seat


def act(_seat: Seat) -> None:
    """The server is up; that is all."""


AGENT = Agent("nop", act)
