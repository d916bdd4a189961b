"""What `camera_motion` says about clips, as figures of the picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from avb_mcp.agents._client import Tools

AT_ONCE = 30


@dataclass(frozen=True)
class Movement:
    """A camera's movement over a clip, per second, in the tool's words."""

    length_s: float
    pan: float = 0.0
    tilt: float = 0.0
    zoom: float = 0.0
    roll_deg: float = 0.0

    def figures(self, aspect: float) -> npt.NDArray[np.float64]:
        """What the picture does from the first frame to the last: growth, turn clockwise (radians), and how far it
        goes right and down, in half heights."""
        rates = (math.log1p(self.zoom), -math.radians(self.roll_deg), -2 * aspect * self.pan, 2 * self.tilt)
        return np.array(rates) * self.length_s


def watch_cameras(tools: Tools, paths: Sequence[str]) -> dict[str, Movement]:
    """The movements of the clips for which the tool is listed and tells one."""
    found: dict[str, Movement] = {}
    if "camera_motion" not in tools:
        return found
    for first in range(0, len(paths), AT_ONCE):
        reply = tools.try_call("camera_motion", paths=list(paths[first : first + AT_ONCE]), by_shot=False)
        if reply.is_error:
            continue
        found |= {row["clip"]: movement_of(row) for row in reply.data["rows"] if row["movement"] != "unclear"}
    return found


def movement_of(row: Mapping[str, Any]) -> Movement:
    """A row of the answer; figures that are left out are next to nothing."""
    return Movement(
        row["end_s"] - row["start_s"],
        row.get("pan_per_s", 0.0),
        row.get("tilt_per_s", 0.0),
        row.get("zoom_per_s", 0.0),
        row.get("roll_deg_per_s", 0.0),
    )
