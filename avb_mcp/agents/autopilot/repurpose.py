"""Cut a film to what the brief asks for: shots from all over the source, in length, size, codecs and loudness.

What the brief says in numbers is read from its words; what it says about the story needs a model. When `submit` names
a gate that does not pass, the rule in its sentence is taken over and the film is cut once more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from avb_mcp.agents._client import Tools
from avb_mcp.agents._delivery import Delivery, cut_to

OUTPUT = "work/final.mp4"
_NUMBER = r"([-−–]?\d+(?:\.\d+)?)"
_TO = r"\s*(?:and|to|-|–|—|\.\.)\s*"
_SECONDS, _MINUTES = r"\s*(?:s|sec|secs|second|seconds)\b", r"\s*(?:min|mins|minute|minutes)\b"
_VIDEO_CODECS = {"h264": r"h\.?264|avc", "hevc": r"h\.?265|hevc", "vp9": r"vp9", "av1": r"\bav1\b"}
_AUDIO_CODECS = {"aac": r"\baac\b", "opus": r"\bopus\b", "mp3": r"\bmp3\b", "flac": r"\bflac\b"}
_CONTAINERS = {"mp4": r"\bmp4\b", "mov": r"\bmov\b|quicktime", "mkv": r"\bmkv\b|matroska", "webm": r"\bwebm\b"}


def solve(brief: str, tools: Tools, materials: Sequence[str]) -> None:
    source = _longest(tools, materials)
    wanted = read_brief(brief)
    refused = _hand_in(tools, source, wanted)
    again = learn(wanted, refused)
    if again != wanted:
        _hand_in(tools, source, again)


def _longest(tools: Tools, materials: Sequence[str]) -> str:
    """The film to cut: the longest one with pictures."""
    lengths = {}
    for path in materials:
        facts = tools.call("probe", path=path).data["files"][0]
        if facts.get("video"):
            lengths[path] = facts["duration_s"]
    if not lengths:
        raise ValueError("there is no film among the materials")
    return max(lengths, key=lambda path: lengths[path])


def _hand_in(tools: Tools, source: str, wanted: Delivery) -> list[str]:
    """Cut and submit; the gates that did not pass."""
    written = cut_to(tools, source, wanted, OUTPUT)
    told: dict[str, Any] = tools.call(
        "submit", files=[written["written"]["path"]], report=_report(source, written), replace=True
    ).data
    return [sentence for item in told["deliverables"] for sentence in item.get("failed", [])]


def _report(source: str, written: dict[str, Any]) -> str:
    rows = [
        f"| {number} | {row['source_start_s']:.2f} | {row['source_end_s']:.2f} | {row['start_s']:.2f} |"
        for number, row in enumerate(written["edit"], 1)
    ]
    return "\n".join(
        [
            "# What was done",
            f"Shots from all over {source}, in their order: {written['written']['duration_s']:.2f} s, "
            f"{written['written']['video']}.",
            "",
            "| shot | source from (s) | source to (s) | plays at (s) |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def read_brief(text: str) -> Delivery:
    """The requirements that a brief states in numbers. Pure."""
    low_s, high_s = _length(text)
    size = re.search(r"\b(\d{2,4})\s*[x×]\s*(\d{2,4})\b", text)
    low_lufs, high_lufs = _loudness(text)
    shot = re.search(rf"no (?:single )?shot (?:is |runs |lasts )?(?:longer|more) than {_NUMBER}{_SECONDS}", text, re.I)
    low_fps, high_fps = _rate(text)
    return Delivery(
        min_s=low_s,
        max_s=high_s,
        width_px=int(size[1]) if size else None,
        height_px=int(size[2]) if size else None,
        min_fps=low_fps,
        max_fps=high_fps,
        video_codec=_named(text, _VIDEO_CODECS),
        audio_codec=_named(text, _AUDIO_CODECS),
        container=_named(text, _CONTAINERS),
        min_lufs=low_lufs,
        max_lufs=high_lufs,
        max_shot_s=float(shot[1]) if shot else None,
    )


def learn(wanted: Delivery, refused: Sequence[str]) -> Delivery:
    """The requirements with what the gates of submit said. Pure."""
    for sentence in refused:
        if found := re.search(rf"duration: .*must be from {_NUMBER} to {_NUMBER} s", sentence):
            wanted = replace(wanted, min_s=float(found[1]), max_s=float(found[2]))
        elif found := re.search(r"duration: .*must be from ([\d.]+) to inf", sentence):
            wanted = replace(wanted, min_s=float(found[1]), max_s=None)
        elif found := re.search(r"size: .*must be (\d+)x(\d+)", sentence):
            wanted = replace(wanted, width_px=int(found[1]), height_px=int(found[2]))
        elif found := re.search(r"fps: .*must be ([\d.]+)", sentence):
            wanted = replace(wanted, min_fps=float(found[1]), max_fps=float(found[1]))
        elif found := re.search(r"(video_codec|audio_codec): .*must be (\w+)", sentence):
            codec = {found[1]: found[2]}
            wanted = replace(wanted, video_codec=codec.get("video_codec", wanted.video_codec))
            wanted = replace(wanted, audio_codec=codec.get("audio_codec", wanted.audio_codec))
    return wanted


def _length(text: str) -> tuple[float | None, float | None]:
    """The allowed duration, from a sentence that is about the film and not about a single shot."""
    for sentence in re.split(r"(?<=[.!?;])\s+|\n", text):
        if re.search(r"\b(shot|silence|silent|black|freeze|frozen|still|pause|source|original)", sentence, re.I):
            continue
        for unit, factor in ((_SECONDS, 1.0), (_MINUTES, 60.0)):
            if found := re.search(rf"{_NUMBER}(?:{unit})?{_TO}{_NUMBER}{unit}", sentence, re.I):
                return float(found[1]) * factor, float(found[2]) * factor
            if found := re.search(rf"(?:at most|up to|under|no longer than|within) {_NUMBER}{unit}", sentence, re.I):
                return None, float(found[1]) * factor
            if found := re.search(rf"(?:at least|no shorter than) {_NUMBER}{unit}", sentence, re.I):
                return float(found[1]) * factor, None
            if found := re.search(rf"{_NUMBER}[- ]?{unit.removeprefix(chr(92) + 's*')}", sentence, re.I):
                return float(found[1]) * factor * 0.95, float(found[1]) * factor * 1.05
    return None, None


def _loudness(text: str) -> tuple[float | None, float | None]:
    signed = r"[-−–]\s?(\d+(?:\.\d+)?)"
    if found := re.search(rf"{signed}(?:\s*LUFS)?\s*(?:and|to|\.\.)\s*{signed}\s*LUFS", text, re.I):
        values = sorted((-float(found[1]), -float(found[2])))
        return values[0], values[1]
    if found := re.search(rf"{signed}\s*LUFS(?:\s*[±]\s*(\d+(?:\.\d+)?))?", text, re.I):
        around = float(found[2] or 1.0)
        return -float(found[1]) - around, -float(found[1]) + around
    return None, None


def _rate(text: str) -> tuple[float | None, float | None]:
    unit = r"\s*(?:fps|frames per second|frames a second)"
    if found := re.search(rf"(\d+(?:\.\d+)?)(?:{unit})?{_TO}(\d+(?:\.\d+)?){unit}", text, re.I):
        return float(found[1]), float(found[2])
    if found := re.search(rf"(at least )?(\d+(?:\.\d+)?){unit}", text, re.I):
        return float(found[2]), None if found[1] else float(found[2])
    return None, None


def _named(text: str, names: dict[str, str]) -> str | None:
    """The first of these things that the text names."""
    places = {name: found.start() for name, pattern in names.items() if (found := re.search(pattern, text, re.I))}
    return min(places, key=lambda name: places[name]) if places else None
