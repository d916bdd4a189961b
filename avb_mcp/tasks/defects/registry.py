"""Every defect, one line each; the order is the order in which a suite goes through them."""

from __future__ import annotations

from typing import Any

from avb_mcp.tasks.defects import (
    background_noise,
    blur,
    buffering,
    clipping,
    colour_grade,
    colour_shift,
    combined,
    desync_constant,
    desync_drift,
    desync_window,
    duplicate_segment,
    filler_words,
    frozen_picture,
    frozen_scene,
    lost_sharpness,
    noise_floor,
    repeated_frames,
    room_echo,
    scene_swap_adjacent,
    scene_swap_gapped,
    shot_swap,
    wrong_sentences,
)
from avb_mcp.tasks.defects._base import Defect

DEFECTS: tuple[Defect[Any], ...] = (
    background_noise.DEFECT,
    room_echo.DEFECT,
    clipping.DEFECT,
    colour_shift.DEFECT,
    blur.DEFECT,
    lost_sharpness.DEFECT,
    shot_swap.DEFECT,
    filler_words.DEFECT,
    repeated_frames.DEFECT,
    wrong_sentences.DEFECT,
    frozen_scene.DEFECT,
    frozen_picture.DEFECT,
    buffering.DEFECT,
    scene_swap_gapped.DEFECT,
    scene_swap_adjacent.DEFECT,
    colour_grade.DEFECT,
    noise_floor.DEFECT,
    duplicate_segment.DEFECT,
    desync_constant.DEFECT,
    desync_window.DEFECT,
    desync_drift.DEFECT,
    combined.DEFECT,
)


def by_name() -> dict[str, Defect[Any]]:
    """Defects by name; two of one name are a mistake of ours."""
    found = {defect.name: defect for defect in DEFECTS}
    if len(found) != len(DEFECTS):
        raise ValueError("two defects have the same name")
    return found
