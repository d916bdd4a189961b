"""How well one picture follows another across a cut. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from avb_mcp.agents.autopilot._path import Costs
from avb_mcp.agents.autopilot._sheets import Values

LIGHT_WEIGHT = 2.0
UPPER_ROWS = 6
"""Of sixteen: sky, ceiling, lamps."""


@dataclass(frozen=True, eq=False)
class Look:
    """The colours of a picture regardless of where they are, and its light: the rows of its upper part."""

    colours: Values
    light: Values


def look_of(lab: Values) -> Look:
    """Of a tiny picture in Lab."""
    return Look(np.sort(lab.reshape(-1, 3), axis=0), np.asarray(lab[:UPPER_ROWS].mean(axis=1), np.float32))


def join_costs(heads: Sequence[Look], tails: Sequence[Look]) -> Costs:
    """How badly each tail goes with each head. Shots of one scene share their light more than what stands in them."""
    costs = np.zeros((len(tails), len(heads)))
    for a, b in itertools.product(range(len(tails)), range(len(heads))):
        colours = np.abs(tails[a].colours - heads[b].colours).mean()
        costs[a, b] = colours + LIGHT_WEIGHT * np.abs(tails[a].light - heads[b].light).mean()
    return costs
