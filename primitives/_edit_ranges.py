"""Ranges of a film as a caller writes them, in frames: pure functions over timestamps."""

from __future__ import annotations

from fractions import Fraction

from primitives._base import UserError
from primitives._media.timeline import Timeline

END_SLACK_S = 0.02
"""An end may exceed the film by this much: printed times are rounded, and sound runs a little longer."""


def segment_frames(timeline: Timeline, start_s: float, end_s: float | None, name: str, duration_s: float) -> range:
    """The frames of `[start_s, end_s)`, or a sentence where the film does not reach. Pure."""
    shown_s = float(timeline.duration)
    if start_s >= shown_s:
        raise UserError(f"start_s={start_s} is past the end of {name} ({shown_s:.3f} s). Use start_s < {shown_s:.3f}.")
    if end_s is not None and end_s > max(shown_s, duration_s) + END_SLACK_S:
        raise UserError(
            f"end_s={end_s} is past the end of {name} ({shown_s:.3f} s). Use end_s <= {shown_s:.3f}, or leave it out."
        )
    return timeline.frames_in(start_s, min(end_s if end_s is not None else shown_s, shown_s))


def kept_frames(timeline: Timeline, drop: list[list[float]], name: str) -> list[range]:
    """What is left of a film when ranges are cut out, in order. Pure."""
    dropped = [segment_frames(timeline, start, end, name, float(timeline.duration)) for start, end in sorted(drop)]
    kept, at = [], 0
    for frames in dropped:
        if frames.start > at:
            kept.append(range(at, frames.start))
        at = max(at, frames.stop)
    if at < len(timeline):
        kept.append(range(at, len(timeline)))
    if not kept:
        raise UserError(f"drop leaves nothing of {name} ({float(timeline.duration):.3f} s). Drop less.")
    return kept


def frame_rate(fps: float) -> Fraction:
    """The exact rate that a decimal one means: 29.97 is 30000/1001."""
    for whole in (24, 30, 48, 60, 120):
        if abs(fps - whole * 1000 / 1001) < 0.003:
            return Fraction(whole * 1000, 1001)
    return Fraction(str(fps)).limit_denominator(1001)
