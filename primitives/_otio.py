"""An edit as an OpenTimelineIO timeline: plain JSON that editors import. Pure functions over numbers.

A cross-fade is written as editors mean it: the cut lies in its middle, and the transition reaches into the
material on both sides of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True)
class OtioClip:
    """One piece of an edit, in frames of its film."""

    name: str
    url: str
    first_frame: int
    frames: Fraction
    """How long it plays: with a speed of its own, other than the frames it uses up."""
    frame_rate: Fraction
    film_frames: int
    speed: Fraction
    join: str
    """How it goes over into the next: cut, fade or dip."""
    join_frames: int
    muted: bool
    gain_db: float
    sound_url: str | None
    sound_start: Fraction


def timeline_json(name: str, clips: Sequence[OtioClip]) -> str:
    """The file's text: a picture track and a sound track."""
    tracks = [_track("Video", clips), _track("Audio", clips)]
    stack = {"OTIO_SCHEMA": "Stack.1", "name": "tracks", "children": tracks, **_empty()}
    timeline = {"OTIO_SCHEMA": "Timeline.1", "name": name, "metadata": {}, "tracks": stack}
    return json.dumps(timeline, indent=1, ensure_ascii=False)


def _track(kind: str, clips: Sequence[OtioClip]) -> dict[str, Any]:
    children: list[dict[str, Any]] = []
    head = 0  # frames of the clip that the transition before it has taken
    for number, clip in enumerate(clips):
        last = number + 1 == len(clips)
        fades = clip.join == "fade" and not last
        tail = clip.join_frames // 2 if fades else 0
        children.append(_clip(kind, clip, head, tail))
        head = clip.join_frames - tail if fades else 0
        if clip.join != "cut" and not last:
            children.append(_transition(clip))
    return {"OTIO_SCHEMA": "Track.1", "name": kind, "kind": kind, "children": children, **_empty()}


def _clip(kind: str, clip: OtioClip, head: int, tail: int) -> dict[str, Any]:
    start: Fraction = clip.first_frame + head * clip.speed
    length = clip.frames - head - tail
    url = clip.url
    if kind == "Audio" and clip.sound_url is not None:
        url, start = clip.sound_url, clip.sound_start * clip.frame_rate + head * clip.speed
    reference: dict[str, Any] = {"OTIO_SCHEMA": "ExternalReference.1", "target_url": quote(url), "metadata": {}}
    reference["available_range"] = _range(0, clip.film_frames, clip.frame_rate) if url == clip.url else None
    if kind == "Audio" and clip.muted:
        reference = {"OTIO_SCHEMA": "MissingReference.1", "metadata": {}, "name": "silence"}
    effects = []
    if clip.speed != 1:
        warp = {"OTIO_SCHEMA": "LinearTimeWarp.1", "effect_name": "LinearTimeWarp", "name": "speed", "metadata": {}}
        effects.append({**warp, "time_scalar": float(clip.speed)})
    return {
        "OTIO_SCHEMA": "Clip.2",
        **_empty(),
        "name": clip.name,
        "source_range": _range(start, length, clip.frame_rate),
        "media_references": {"DEFAULT_MEDIA": reference},
        "active_media_reference_key": "DEFAULT_MEDIA",
        "effects": effects,
        "metadata": {"avb_mcp": {"gain_db": clip.gain_db}} if kind == "Audio" and clip.gain_db else {},
    }


def _transition(clip: OtioClip) -> dict[str, Any]:
    out = clip.join_frames // 2
    return {
        "OTIO_SCHEMA": "Transition.1",
        "name": clip.join,
        "transition_type": "SMPTE_Dissolve" if clip.join == "fade" else "Custom_Transition",
        "in_offset": _time(clip.join_frames - out, clip.frame_rate),
        "out_offset": _time(out, clip.frame_rate),
        "metadata": {} if clip.join == "fade" else {"avb_mcp": {"kind": "dip to black"}},
    }


def _empty() -> dict[str, Any]:
    return {"metadata": {}, "source_range": None, "effects": [], "markers": [], "enabled": True}


def _range(start: Fraction | int, duration: Fraction | int, rate: Fraction) -> dict[str, Any]:
    return {
        "OTIO_SCHEMA": "TimeRange.1",
        "start_time": _time(start, rate),
        "duration": _time(duration, rate),
    }


def _time(value: Fraction | int, rate: Fraction) -> dict[str, Any]:
    return {"OTIO_SCHEMA": "RationalTime.1", "value": float(value), "rate": float(rate)}
