"""Watch a whole film through contact sheets: per frame a tiny picture, and how sharp a textured part of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from avb_mcp.agents._client import Tools
from avb_mcp.agents._delivery import Span, list_shots
from avb_mcp.agents.autopilot._sheets import MAX_CELLS, Cell, Pixels, Values, look, small_lab

MAX_SHEETS = 24
SHARP_CELLS = 16
"""Cells of a sheet that is looked at for sharpness: large enough to show the film's own pixels."""
REGION_SHARE = 0.4
SHARP_EVERY_S = 0.2
WHOLE_UP_TO_PX = 800
"""Pictures up to this width show their blur in a cell of such a sheet."""
MAX_SHOTS = 40
"""Shots that are looked at for sharpness, the longest first."""


@dataclass(frozen=True, eq=False)
class Watched:
    """A film as far as its pictures tell."""

    path: str
    duration_s: float
    fps: float
    width_px: int
    has_sound: bool
    shots: list[Span]
    times_s: Values
    colours: Values
    """`[frames, 16, 32, 3]` in Lab."""

    @property
    def step_s(self) -> float:
        """How far apart the frames are."""
        return float(self.times_s[1] - self.times_s[0]) if len(self.times_s) > 1 else self.duration_s

    def shot_of(self, time_s: float) -> Span:
        return next((shot for shot in self.shots if time_s < shot.end_s - 1e-6), self.shots[-1])


def watch(tools: Tools, path: str) -> Watched:
    """Every frame of a film, or of a long one every so many."""
    facts = tools.call("probe", path=path).data["files"][0]
    video = facts["video"]
    stride = max(1, -(-video["frame_count"] // (MAX_SHEETS * MAX_CELLS)))
    wanted = [number / video["fps"] for number in range(0, video["frame_count"], stride)]
    cells: list[Cell] = []
    for first in range(0, len(wanted), MAX_CELLS):
        # The middle of a frame's time names it whatever the rounding.
        times_s = [
            min(time_s + 0.4 / video["fps"], facts["duration_s"] - 1e-3) for time_s in wanted[first:][:MAX_CELLS]
        ]
        cells += look(tools, path, times_s=times_s)
    return Watched(
        path,
        facts["duration_s"],
        video["fps"],
        video["width_px"],
        facts.get("audio") is not None,
        list_shots(tools, path, facts["duration_s"]),
        np.array([cell.time_s for cell in cells], np.float32),
        np.stack([small_lab(cell.picture) for cell in cells]),
    )


def watch_sharpness(tools: Tools, film: Watched) -> tuple[Values, Values]:
    """Times, and the logarithm of how much fine detail each shot has at each."""
    times, values = [], []
    for shot in sorted(film.shots, key=lambda span: -span.length_s)[:MAX_SHOTS]:
        count = max(4, min(2 * SHARP_CELLS, int(shot.length_s / SHARP_EVERY_S)))
        wanted = [shot.start_s + shot.length_s * (number + 0.5) / count for number in range(count)]
        where = sharp_region(tools, film, shot)
        for first in range(0, count, SHARP_CELLS):
            for cell in look(tools, film.path, times_s=wanted[first : first + SHARP_CELLS], **where):
                times.append(cell.time_s)
                values.append(detail(cell.picture))
    order = np.argsort(times)
    return np.array(times, np.float32)[order], np.array(values, np.float32)[order]


def sharp_region(tools: Tools, film: Watched, shot: Span) -> dict[str, list[float]]:
    """What part of a shot to look at for sharpness: all of a small picture, the textured part of a large one."""
    if film.width_px <= WHOLE_UP_TO_PX:
        return {}
    times_s = [shot.start_s + shot.length_s * share for share in (0.1, 0.4, 0.6, 0.9)]
    return {"region": textured_region(look(tools, film.path, times_s=times_s))}


def detail(picture: Pixels) -> float:
    """The logarithm of how strong the strongest tenth of the edges is."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32)
    edges = np.abs(cv2.Laplacian(grey, cv2.CV_32F)).ravel()
    strongest = np.partition(edges, -max(1, edges.size // 10))[-max(1, edges.size // 10) :]
    return float(np.log(strongest.mean() + 0.5))


def textured_region(cells: Sequence[Cell]) -> list[float]:
    """The part of the picture that has detail in most of the frames, as [x, y, width, height]."""
    best, most = [0.3, 0.3, REGION_SHARE, REGION_SHARE], -np.inf
    for x in (0.0, 0.3, 0.6):
        for y in (0.0, 0.3, 0.6):
            amounts = []
            for cell in cells:
                height, width = cell.picture.shape[:2]
                part = cell.picture[int(y * height) : int((y + 0.4) * height), int(x * width) : int((x + 0.4) * width)]
                amounts.append(detail(part))
            if (least := min(amounts)) > most:
                best, most = [x, y, REGION_SHARE, REGION_SHARE], least
    return best
