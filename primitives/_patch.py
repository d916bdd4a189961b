"""Change the frames of one range of a film and leave the rest alone: what its repairs have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from primitives._base import Call, UserError

if TYPE_CHECKING:
    from primitives._edit import Change, Piece, RenderReport
    from primitives._media.film import Film
    from primitives._media.timeline import Timeline


def asked_frames(timeline: Timeline, start_s: float, end_s: float | None, name: str, prefix: str = "") -> range:
    """The frames of `[start_s, end_s)`, or a sentence. A range may reach past the end by a frame, no further."""
    duration_s = float(timeline.duration)
    if start_s >= duration_s:
        raise UserError(
            f"{prefix}start_s={start_s} is past the end of {name} ({duration_s:.3f} s). "
            f"Use 0 <= {prefix}start_s < {duration_s:.3f}."
        )
    step_s = float(timeline.step_pts * timeline.time_base)
    if end_s is not None and end_s > duration_s + step_s:
        raise UserError(f"{prefix}end_s={end_s} is past the end of {name}. Use {prefix}end_s <= {duration_s:.3f}.")
    return timeline.frames_in(start_s, min(end_s if end_s is not None else duration_s, duration_s))


def span_s(timeline: Timeline, frames: range) -> tuple[float, float]:
    """When a range of frames begins and ends."""
    end = timeline.time_of(frames.stop) if frames.stop < len(timeline) else timeline.duration
    return round(float(timeline.time_of(frames.start)), 3), round(float(end), 3)


def default_output(film: Film, word: str) -> str:
    """A name in work/ beside which the source is not mistaken; of a kind that can be written."""
    from primitives._media.encode import CONTAINERS

    suffix = film.path.suffix.lower()
    return f"work/{film.path.stem}_{word}{suffix if suffix in CONTAINERS else '.mp4'}"


def feathered(timeline: Timeline, frames: range, feather_s: float) -> Callable[[int], float]:
    """How much of a change a frame gets: rising from the first frame of the range, falling to its last."""
    start_s, end_s = span_s(timeline, frames)

    def share(number: int) -> float:
        if feather_s <= 0:
            return 1.0
        step_s = float(timeline.step_pts * timeline.time_base)
        middle_s = float(timeline.time_of(number)) + step_s / 2
        return max(0.0, min(1.0, (middle_s - start_s) / feather_s, (end_s - middle_s) / feather_s))

    return share


def patch(film: Film, frames: range, change: Change, output: Path, call: Call) -> RenderReport:
    """Write the film with the frames of a range changed; other frames and the sound go over as they are."""
    from primitives._edit import OutputSpec
    from primitives._media.render import render

    return render(patched(film, frames, change), output, OutputSpec(quality="best"), call)


def patched(film: Film, frames: range, change: Change) -> list[Piece]:
    """The film as pieces: before, changed, after."""
    from primitives._edit import Piece

    parts = [range(frames.start), frames, range(frames.stop, len(film.timeline))]
    return [Piece(film.path, film.name, part, change if part == frames else None) for part in parts if len(part)]
