"""Entries of a released profile's `injection`. Times are seconds of the broken film; scenes are the source's."""

from __future__ import annotations

from typing import Any

from avb_mcp.tasks.defects._base import Stretch

FROZEN, SWAP, GRADE = "v01_frozen_scene", "v03_scene_swap", "v04_color_grade_shift"
NOISE, DUPLICATE, DESYNC = "v05_noise_floor_spike", "v06_duplicate_segment", "v07_audio_video_desync"


def scenes(stretch: Stretch) -> list[dict[str, Any]]:
    """The profile's list of scenes."""
    return [
        {"index": number, "start_s": shot.start_s, "end_s": shot.end_s} for number, shot in enumerate(stretch.shots)
    ]


def reported_s(stretch: Stretch, frame: int) -> float:
    """When a frame appears, to the millisecond: a report cannot say it any better, so that none can be better."""
    return round(stretch.seconds(frame), 3)


def injection(
    stretch: Stretch, variant: str, span: tuple[int, int], scene: int | None, more: dict[str, Any]
) -> dict[str, Any]:
    """One defect over frames `[first, last)` of the broken film, in a scene of the source or all over it."""
    first, last = span
    found: dict[str, Any] = {
        "variant": variant,
        "start_s": reported_s(stretch, first),
        "end_s": reported_s(stretch, last),
        "duration_s": reported_s(stretch, last - first),
    }
    if scene is not None:
        found |= {"target_scene_index": scene, "target_scene": scenes(stretch)[scene]}
    return found | more


def widest_scene(stretch: Stretch, first: int, last: int) -> int:
    """The scene that has most of some frames."""
    shared = [min(last, shot.last) - max(first, shot.first) for shot in stretch.shots]
    return shared.index(max(shared))
