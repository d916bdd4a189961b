"""A released profile. Times of its `injection` are seconds of the broken film; scenes are the source's."""

from __future__ import annotations

from typing import Any

from avb_mcp.tasks.defects._base import Damage, Stretch
from avb_mcp.tasks.footage import RATE_HZ

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


def whole(stretch: Stretch, damage: Damage) -> dict[str, Any]:
    """profile.json of a task."""
    footage = stretch.footage
    sound = {"codec": "aac", "sample_rate": RATE_HZ, "channels": footage.channels} if footage.has_sound else None
    truth = damage.injection if "injections" in damage.injection else {"injection": damage.injection}
    return {
        "format": {
            "container": "mp4",
            "codec": "h264",
            "resolution": {"w": footage.width_px, "h": footage.height_px},
            "framerate": str(footage.fps),
            "duration_s": round(stretch.duration_s, 6),
        },
        "narrative": {"scene_list": scenes(stretch)},
        "sound": sound,
        **truth,
    }
