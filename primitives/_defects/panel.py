"""A picture of findings: for each the curve it was seen in with the window marked, and the frames at both ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from primitives._base import Jpeg
from primitives._defects.common import Curve, Finding
from primitives._media.picture import Pixels, resize
from primitives._sheet import encode

WIDTH_PX, ROW_PX, TITLE_PX, GAP_PX = 1240, 150, 26, 6
PLOT_PX = 470
_BACKGROUND, _INK, _FAINT = 24, (235, 235, 235), (120, 120, 120)
_MARK, _LINE = (60, 60, 130), (120, 210, 255)
_WEIGHT = 500


@dataclass(frozen=True, eq=False)
class Row:
    """A finding and the pictures around its ends, by what they are."""

    finding: Finding
    frames: Sequence[tuple[str, Pixels]]


def draw(rows: Sequence[Row], film_s: float) -> Jpeg:
    """One row a finding."""
    height = len(rows) * (ROW_PX + TITLE_PX + GAP_PX) + GAP_PX
    sheet = np.full((height, WIDTH_PX, 3), _BACKGROUND, np.uint8)
    for number, row in enumerate(rows):
        top = GAP_PX + number * (ROW_PX + TITLE_PX + GAP_PX)
        found = row.finding
        title = (
            f"#{number + 1} {found.kind}  {found.start_s:.2f}s - {found.end_s:.2f}s  confidence {found.confidence:.2f}"
        )
        _write(sheet, title, GAP_PX, top + 18, 16)
        top += TITLE_PX
        if found.curve is not None:
            _plot(sheet[top : top + ROW_PX, GAP_PX : GAP_PX + PLOT_PX], found.curve, found, film_s)
        _strip(sheet[top : top + ROW_PX, 2 * GAP_PX + PLOT_PX :], row.frames)
    return encode(sheet)


def shown_range(finding: Finding, film_s: float) -> tuple[float, float]:
    """The part of a film that a plot shows: the window with as much on both sides, at least some seconds."""
    reach = max(4.0, 1.2 * (finding.end_s - finding.start_s))
    return max(0.0, finding.start_s - reach), min(film_s, finding.end_s + reach)


def _plot(area: Pixels, curve: Curve, finding: Finding, film_s: float) -> None:
    start_s, end_s = shown_range(finding, film_s)
    height, width = area.shape[:2]
    area[:] = 36
    bottom = height - 18

    def across(time_s: float) -> int:
        return int(np.clip((time_s - start_s) / max(end_s - start_s, 1e-6), 0, 1) * (width - 1))

    area[:bottom, across(finding.start_s) : across(finding.end_s) + 1] = _MARK
    inside = (curve.times_s >= start_s) & (curve.times_s <= end_s)
    times, values = curve.times_s[inside], np.nan_to_num(curve.values[inside])
    if len(times) > 1:
        low, high = (float(value) for value in np.quantile(values, (0.0, 1.0)))
        share = (values - low) / max(high - low, 1e-6)
        columns = ((times - start_s) / max(end_s - start_s, 1e-6) * (width - 1)).astype(int)
        heights = (bottom - 4 - share * (bottom - 24)).astype(int)
        cv2.polylines(area, [np.column_stack((columns, heights)).astype(np.int32)], False, _LINE, 1, cv2.LINE_AA)
        _write(area, f"{curve.label}: {low:.3g} to {high:.3g}", 4, 13, 12, _INK)
    for place, time_s in enumerate(_ticks(start_s, end_s)):
        cv2.line(area, (across(time_s), bottom), (across(time_s), bottom + 3), _FAINT)
        left = min(across(time_s), width - 46)
        if place % 2 == 0:
            _write(area, f"{time_s:g}s", left, height - 3, 12, _FAINT)


def _ticks(start_s: float, end_s: float) -> list[float]:
    steps = (0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600)
    step = next((s for s in steps if (end_s - start_s) / s <= 10), 1800)
    return [float(t) for t in np.arange(np.ceil(start_s / step) * step, end_s, step)]


def _strip(area: Pixels, frames: Sequence[tuple[str, Pixels]]) -> None:
    """Frames side by side, each under its name."""
    if not frames:
        return
    width = (area.shape[1] - GAP_PX * len(frames)) // len(frames)
    for number, (name, picture) in enumerate(frames):
        room = area[18:, number * (width + GAP_PX) : number * (width + GAP_PX) + width]
        scale = min(room.shape[1] / picture.shape[1], room.shape[0] / picture.shape[0])
        fitted = resize(picture, max(1, int(picture.shape[1] * scale)), max(1, int(picture.shape[0] * scale)))
        room[: fitted.shape[0], : fitted.shape[1]] = fitted
        _write(area, name, number * (width + GAP_PX), 13, 12, _INK)


def _write(area: Pixels, text: str, left: int, base: int, size: int, colour: tuple[int, int, int] = _INK) -> None:
    cv2.putText(area, text, (left, base), colour, cv2.FontFace("sans"), size, _WEIGHT)


def edge_frames(frame_at: Mapping[str, int]) -> list[tuple[str, int]]:
    """Which frames show both ends: the last before, the first and last inside, the first after."""
    first, last, count = frame_at["first"], frame_at["last"], frame_at["count"]
    chosen = [("before", first - 1), ("first", first), ("last", last - 1), ("after", last)]
    return [(name, number) for name, number in chosen if 0 <= number < count]
