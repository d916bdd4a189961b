"""The hard gates that need no answer: what a deliverable must be before anyone looks at how good it is.

Pure functions: facts and a specification in, outcomes out. The verifiers judge again on their own; these
gates only save an agent from a zero it could have avoided.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import JsonValue

from primitives._task import Deliverable, Kind, MediaSpec, extract

if TYPE_CHECKING:
    from primitives._media.inspect import MediaFacts

_BLOCK = re.compile(r"^##\s+Diagnosis\b.*?(?=^##\s|\Z)", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class GateOutcome:
    """One gate; `reason` says what was found and what is allowed when it failed."""

    gate: str
    passed: bool
    reason: str = ""


def _gate(name: str, passed: bool, reason: str) -> GateOutcome:
    return GateOutcome(name, passed, "" if passed else reason)


def specify(spec: MediaSpec, like: MediaFacts | None) -> MediaSpec:
    """The specification with what it takes over from a material filled in; stated fields win."""
    if like is None:
        return spec
    taken = {
        "container": like.container,
        "video_codec": like.video_codec,
        "audio_codec": like.audio_codec,
        "width_px": like.width_px,
        "height_px": like.height_px,
        "fps": like.fps,
        "audio_rate_hz": like.audio_rate_hz,
    }
    return spec.model_copy(update={key: value for key, value in taken.items() if getattr(spec, key) is None})


def media_gates(found: MediaFacts, spec: MediaSpec) -> list[GateOutcome]:
    """Container, codecs, size, frame rate, duration and audio rate against the specification."""
    outcomes = []
    for gate in ("container", "video_codec", "audio_codec", "audio_rate_hz"):
        wanted, given = getattr(spec, gate), getattr(found, gate)
        if wanted is not None:
            outcomes.append(_gate(gate, given == wanted, f"is {given}, must be {wanted}"))
    if spec.width_px is not None and spec.height_px is not None:
        size, wanted_size = (found.width_px, found.height_px), (spec.width_px, spec.height_px)
        outcomes.append(
            _gate(
                "size",
                size == wanted_size,
                f"is {size[0]}x{size[1]}, must be {spec.width_px}x{spec.height_px}",
            )
        )
    if spec.fps is not None:
        close = found.fps is not None and abs(found.fps - spec.fps) <= spec.fps_tolerance
        outcomes.append(_gate("fps", close, f"is {found.fps}, must be {spec.fps:g} ± {spec.fps_tolerance:g}"))
    return outcomes + _duration_gates(found.duration_s, spec)


def _duration_gates(duration_s: float, spec: MediaSpec) -> list[GateOutcome]:
    low, high = spec.min_duration_s, spec.max_duration_s
    if spec.duration_s is not None:
        low, high = spec.duration_s - spec.duration_tolerance_s, spec.duration_s + spec.duration_tolerance_s
    if low is None and high is None:
        return []
    low, high = low if low is not None else 0.0, high if high is not None else float("inf")
    inside = low - 1e-9 <= duration_s <= high + 1e-9
    return [_gate("duration", inside, f"is {duration_s:.3f} s, must be from {low:.3f} to {high:.3f} s")]


def match_clip(given: str, clips: list[str]) -> str | None:
    """The clip that a model means by `3`, `3.mp4` or `materials/clips/3.mp4`."""
    name = PurePosixPath(given.strip()).name
    return next((clip for clip in clips if given == clip or name == PurePosixPath(clip).name), None) or next(
        (clip for clip in clips if PurePosixPath(name).stem == PurePosixPath(clip).stem), None
    )


def ordering_gates(given: list[str], deliverable: Deliverable) -> list[GateOutcome]:
    """Every clip exactly once."""
    matched = [match_clip(name, deliverable.clips) for name in given]
    unknown = [name for name, clip in zip(given, matched, strict=True) if clip is None]
    counts = Counter(clip for clip in matched if clip is not None)
    twice = [clip for clip, count in counts.items() if count > 1]
    missing = [clip for clip in deliverable.clips if clip not in counts]
    faults = (("unknown", unknown), ("twice", twice), ("missing", missing))
    reason = "; ".join(f"{fault}: {', '.join(names[:8])}" for fault, names in faults if names)
    return [_gate("permutation", not reason, f"must name each of the {len(deliverable.clips)} clips once ({reason})")]


def picks_gates(given: list[str], deliverable: Deliverable) -> list[GateOutcome]:
    """One known clip per slot."""
    unknown = [name for name in given if match_clip(name, deliverable.clips) is None]
    known = ", ".join(deliverable.clips[:12])
    return [
        _gate("slots", len(given) == deliverable.slots, f"has {len(given)} picks, must have {deliverable.slots}"),
        _gate("clips", not unknown, f"unknown: {', '.join(unknown[:8])}; choose from {known}"),
    ]


def ranges_gates(ranges: list[list[float]]) -> list[GateOutcome]:
    """Well-formed `[start_s, end_s)` ranges."""
    bad = [pair for pair in ranges if len(pair) != 2 or not 0 <= pair[0] < pair[1]]
    return [_gate("ranges", not bad, f"{bad[:3]} must be [start_s, end_s] with 0 <= start_s < end_s")]


def json_gates(text: str, deliverable: Deliverable) -> list[GateOutcome]:
    """A JSON deliverable, whoever wrote it: it parses, has the task's shape, and its rows pass their gates."""
    try:
        rows = extract(deliverable.template, json.loads(text))
    except (ValueError, RecursionError) as error:
        return [_gate("json", False, f"does not parse: {error}; give the {deliverable.kind} argument")]
    if rows is None:
        return [_gate("shape", False, f"must look like {json.dumps(deliverable.template)}")]
    outcomes = [_gate("json", True, ""), _gate("shape", True, "")]
    if deliverable.kind is Kind.CUTS:
        return outcomes + ranges_gates([[_number(row.get("start_s")), _number(row.get("end_s"))] for row in rows])
    clips = [str(row.get("clip")) for row in rows]
    return outcomes + (ordering_gates if deliverable.kind is Kind.ORDERING else picks_gates)(clips, deliverable)


def _number(value: JsonValue) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def report_gates(text: str, deliverable: Deliverable) -> list[GateOutcome]:
    """A report says something, and holds the diagnosis or the ranges that the task wants in it."""
    outcomes = [_gate("not_empty", bool(text.strip()), "is empty; say what was done")]
    if deliverable.diagnosis:
        blocks = [block for block in _BLOCK.findall(text) if re.search(r"^-\s*\w*start:", block, re.M)]
        outcomes.append(_gate("diagnosis", bool(blocks), "holds no '## Diagnosis' block; give the diagnosis argument"))
    if deliverable.cuts:
        outcomes.append(
            _gate("cut_list", _has_ranges(text), "holds no fenced JSON list of ranges; give the cuts argument")
        )
    return outcomes


def _has_ranges(text: str) -> bool:
    for fenced in _FENCE.findall(text):
        try:
            value = json.loads(fenced)
        except ValueError:
            continue
        if isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            return True
    return False
