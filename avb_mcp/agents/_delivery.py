"""What a film must be when it is handed in, and how to cut one out of a source with the typed tools alone.

`Delivery` is filled from a rubric (by the oracle) or from the words of a brief (by the autopilot); what happens
then is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from avb_mcp.agents._client import ToolRefused, Tools

MIN_SHOT_S, USUAL_SHOT_S = 1.0, 4.0
EDGE_S = 0.2
"""Kept from the ends of a duration range: containers round."""
SPARE_PEAK_DB = 1.0
SHOT_ROOM = 0.9
"""Shots are cut shorter than allowed: a detector may place a cut late."""


@dataclass(frozen=True)
class Span:
    """[start_s, end_s) of the source."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Delivery:
    """Requirements; None is whatever the source is."""

    min_s: float | None = None
    max_s: float | None = None
    width_px: int | None = None
    height_px: int | None = None
    min_fps: float | None = None
    max_fps: float | None = None
    video_codec: str | None = None
    audio_codec: str | None = None
    container: str | None = None
    min_lufs: float | None = None
    max_lufs: float | None = None
    max_shot_s: float | None = None

    def length_s(self, source_s: float) -> float:
        """How long the film is to be: the middle of what is allowed, as far as the source goes."""
        low, high = self.min_s or 0.0, self.max_s if self.max_s is not None else source_s
        inner = max(0.0, min(EDGE_S, (high - low) / 4))
        return max(min((low + high) / 2, source_s), min(low + inner, source_s))

    def fps(self, source_fps: float) -> float | None:
        low, high = self.min_fps or 0.0, self.max_fps or float("inf")
        return None if low <= source_fps <= high else max(low, min(source_fps, high))

    def gain_db(self, lufs: float | None, peak_dbtp: float | None) -> float:
        """What brings the sound into the loudness range, or as near as its peaks allow."""
        if lufs is None or (self.min_lufs is None and self.max_lufs is None):
            return 0.0
        low = self.min_lufs if self.min_lufs is not None else (self.max_lufs or 0.0) - 6.0
        high = self.max_lufs if self.max_lufs is not None else low + 6.0
        gain = 0.0 if low + 0.5 <= lufs <= high - 0.5 else (low + high) / 2 - lufs
        room = -SPARE_PEAK_DB - peak_dbtp if peak_dbtp is not None else gain
        least = low + 0.5 - lufs
        return round(min(gain, max(room, least)) if gain > 0 else gain, 2)


def plan_cut(shots: Sequence[Span], length_s: float, longest_s: float | None = None) -> list[Span]:
    """Parts of shots spread over the whole film, in its order, that last `length_s` together. Pure."""
    room_s = SHOT_ROOM * longest_s if longest_s is not None else float("inf")
    usable = [Span(shot.start_s, min(shot.end_s, shot.start_s + room_s)) for shot in shots]
    usable = [shot for shot in usable if shot.length_s >= MIN_SHOT_S] or usable
    count = max(1, min(len(usable), round(length_s / min(USUAL_SHOT_S, room_s))))
    chosen = _spread(usable, count)
    while sum(shot.length_s for shot in chosen) < length_s and count < len(usable):
        count += 1
        chosen = _spread(usable, count)
    if sum(shot.length_s for shot in chosen) < length_s - MIN_SHOT_S:
        chosen = list(shots)  # the limit on shots cannot be kept: the length matters more
    lengths = _shares([shot.length_s for shot in chosen], length_s)
    return [Span(shot.start_s, shot.start_s + part) for shot, part in zip(chosen, lengths, strict=True)]


def _spread(shots: Sequence[Span], count: int) -> list[Span]:
    """So many of the shots, evenly over all."""
    return [shots[int(len(shots) / count * (number + 0.5))] for number in range(count)]


def _shares(rooms: Sequence[float], total: float) -> list[float]:
    """Equal parts of a total, none larger than its room."""
    parts = [0.0] * len(rooms)
    left = min(total, sum(rooms))
    open_ = set(range(len(rooms)))
    while open_ and left > 1e-9:
        equal = left / len(open_)
        full = {at for at in open_ if rooms[at] - parts[at] <= equal}
        for at in full or open_:
            given = min(equal, rooms[at] - parts[at])
            parts[at] += given
            left -= given
        open_ -= full or open_
    return parts


def list_shots(tools: Tools, path: str, duration_s: float) -> list[Span]:
    """The shots of a film; one long one where no tool tells."""
    if "scene_cuts" not in tools:
        return [Span(0.0, duration_s)]
    shots: list[Span] = []
    while True:
        data = tools.call("scene_cuts", path=path, offset=len(shots), limit=100).data
        shots += [Span(shot["start_s"], shot["end_s"]) for shot in data["shots"]]
        if len(shots) >= data["shot_count"]:
            return shots


def cut_to(tools: Tools, source: str, delivery: Delivery, output: str) -> dict[str, Any]:
    """Render a film of the source that meets the delivery; what the tool says about it."""
    facts = tools.call("probe", path=source, loudness=True).data["files"][0]
    sound = facts.get("audio") or {}
    length_s = delivery.length_s(facts["duration_s"])
    spans = plan_cut(list_shots(tools, source, facts["duration_s"]), length_s, delivery.max_shot_s)
    settings: dict[str, Any] = {
        "width_px": delivery.width_px,
        "height_px": delivery.height_px,
        "fps": delivery.fps(facts["video"]["fps"]),
        "video_codec": delivery.video_codec,
        "audio_codec": delivery.audio_codec,
        "output": str(PurePosixPath(output).with_suffix(f".{delivery.container}")) if delivery.container else output,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    gain_db = delivery.gain_db(sound.get("integrated_lufs"), sound.get("true_peak_dbtp"))
    written = _render(tools, source, spans, gain_db, settings)
    heard = tools.call("probe", path=written["written"]["path"], loudness=True).data["files"][0].get("audio") or {}
    more_db = delivery.gain_db(heard.get("integrated_lufs"), heard.get("true_peak_dbtp"))
    return written if not more_db else _render(tools, source, spans, gain_db + more_db, settings)


def _render(
    tools: Tools, source: str, spans: Sequence[Span], gain_db: float, settings: dict[str, Any]
) -> dict[str, Any]:
    segments = [{"start_s": span.start_s, "end_s": span.end_s, "gain_db": gain_db} for span in spans]
    try:
        return tools.call("trim_concat", path=source, segments=segments, **settings).data
    except ToolRefused:
        # A codec or size that the tool does not write: what it can, rather than nothing.
        return tools.call("trim_concat", path=source, segments=segments, output=settings["output"]).data
