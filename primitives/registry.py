"""The list of primitives. Adding one costs its import and its place here."""

from __future__ import annotations

import difflib
from typing import Any

from primitives import (
    camera_motion,
    color_match,
    denoise,
    find_defects,
    frame_grid,
    join_scores,
    listen,
    probe,
    read_text,
    restore_audio,
    restore_video,
    scene_cuts,
    submit,
    transcribe,
    trim_concat,
)
from primitives._base import Primitive, UserError

PRIMITIVES: tuple[Primitive[Any], ...] = (
    probe.PRIMITIVE,
    frame_grid.PRIMITIVE,
    scene_cuts.PRIMITIVE,
    find_defects.PRIMITIVE,
    transcribe.PRIMITIVE,
    listen.PRIMITIVE,
    read_text.PRIMITIVE,
    camera_motion.PRIMITIVE,
    join_scores.PRIMITIVE,
    trim_concat.PRIMITIVE,
    denoise.PRIMITIVE,
    color_match.PRIMITIVE,
    restore_audio.PRIMITIVE,
    restore_video.PRIMITIVE,
    submit.PRIMITIVE,
)


def by_name(primitives: tuple[Primitive[Any], ...] = PRIMITIVES) -> dict[str, Primitive[Any]]:
    """The primitives by tool name, in listing order; a name used twice is a defect and raises."""
    named = {primitive.name: primitive for primitive in primitives}
    if len(named) != len(primitives):
        raise ValueError(f"a primitive is listed twice: {[primitive.name for primitive in primitives]}")
    return named


def select(enable: list[str], disable: list[str]) -> tuple[Primitive[Any], ...]:
    """The primitives that are switched on: all, or those in `enable`, without those in `disable`."""
    named = by_name()
    for name in (*enable, *disable):
        if name not in named:
            close = difflib.get_close_matches(name, named, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise UserError(f"There is no primitive {name!r}.{hint} Known: {', '.join(named)}.")
    return tuple(p for name, p in named.items() if (not enable or name in enable) and name not in disable)
