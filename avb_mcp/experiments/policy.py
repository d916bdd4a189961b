"""An agent without a model as a program of its own, so that it runs, and is watched, like any other.

python -m avb_mcp.experiments.policy autopilot --workspace DIR --brief TEXT [--disable a,b] [--enable a,b]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from avb_mcp.agents._base import Seat
from avb_mcp.agents._client import serve
from avb_mcp.agents.registry import agents_named
from primitives.registry import PRIMITIVES, select


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("agent")
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--brief", required=True)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--enable", default="")
    parser.add_argument("--disable", default="")
    given = parser.parse_args()
    (agent,) = agents_named([given.agent])
    kept = {primitive.name for primitive in select(_names(given.enable), _names(given.disable))}
    without = [primitive.name for primitive in PRIMITIVES if primitive.name not in kept]
    with serve(given.workspace, without) as tools:
        agent.act(Seat(given.workspace, given.brief, tools, given.answers))


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    main()
