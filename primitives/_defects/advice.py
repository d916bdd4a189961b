"""What to call next for a finding. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from primitives._defects.common import Finding

Arguments = dict[str, Any]


def advice(finding: Finding, path: str, has_picture: bool) -> str:
    """The tool that repairs or checks a finding, with its arguments."""
    tool, more = _ADVICE[finding.kind](finding)
    if not has_picture and tool in {"trim_concat", "restore_video", "frame_grid"}:
        tool, more = "listen", {}
    window = {"start_s": round(finding.start_s, 3), "end_s": round(finding.end_s, 3)}
    arguments: Arguments = {"path": path, **({} if {"segments", "drop"} & set(more) else window), **more}
    return f"{tool} {json.dumps(arguments)}"


def _freeze(finding: Finding) -> tuple[str, Arguments]:
    """Frames that were put in are cut out; frames that stand in place of others are made anew."""
    return "restore_video", {"kind": "unfreeze" if finding.evidence.get("jump_after", 0) > 2 else "drop_repeats"}


def _cut_out(finding: Finding) -> tuple[str, Arguments]:
    return "trim_concat", {"drop": [[round(finding.start_s, 3), round(finding.end_s, 3)]]}


def _level(finding: Finding) -> tuple[str, Arguments]:
    start_s, end_s = round(finding.start_s, 3), round(finding.end_s, 3)
    gain_db = round(-finding.evidence.get("change_db", 0.0), 1)
    inner = {"start_s": start_s, "end_s": end_s, "gain_db": gain_db}
    return "trim_concat", {"segments": [{"end_s": start_s}, inner, {"start_s": end_s}]}


def _moved(finding: Finding) -> tuple[str, Arguments]:
    """The stretch goes to where it continues what is there, or to the place of another one and that to its own."""
    to_s = finding.evidence.get("belongs_at_s")
    start_s, end_s = round(finding.start_s, 3), round(finding.end_s, 3)
    if to_s is None:
        return _traded(finding)
    order = [
        {"end_s": start_s},
        {"start_s": end_s, "end_s": to_s},
        {"start_s": start_s, "end_s": end_s},
        {"start_s": to_s},
    ]
    return "trim_concat", {"segments": order}


def _traded(finding: Finding) -> tuple[str, Arguments]:
    other = tuple(finding.evidence.get(f"trades_places_{word}_s", 0.0) for word in ("with", "until"))
    if not other[1]:
        return "frame_grid", {}
    first, last = sorted(((round(finding.start_s, 3), round(finding.end_s, 3)), other))
    order = [(0.0, first[0]), last, (first[1], last[0]), first]
    pieces = [{"start_s": a, "end_s": b} for a, b in order if b > a]
    return "trim_concat", {"segments": [*pieces, {"start_s": last[1]}]}


def _plain(tool: str, **more: Any) -> Callable[[Finding], tuple[str, Arguments]]:
    return lambda _: (tool, more)


_ADVICE: dict[str, Callable[[Finding], tuple[str, Arguments]]] = {
    "freeze": _freeze,
    "repeat": _plain("restore_video", kind="drop_repeats"),
    "black": _cut_out,
    "colour": _plain("color_match"),
    "blur": _plain("restore_video", kind="deblur"),
    "softness": _plain("restore_video", kind="upscale"),
    "noise": _plain("denoise"),
    "echo": _plain("restore_audio", kind="dereverb"),
    "clipping": _plain("restore_audio", kind="declip"),
    "level": _level,
    "dropout": _plain("listen"),
    "desync": _plain("restore_audio", kind="retime"),
    "out_of_order": _moved,
}
