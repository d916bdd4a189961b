"""Change the sound of one range of a file and leave the rest alone: what its repairs have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from primitives._base import Call, UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from primitives._media.sound_patch import PatchReport
    from primitives._media.sound_source import SoundSource
    from primitives._sound.blocks import Change
    from primitives._sound.localise import Kind

    Mono = NDArray[np.float32]

SHORTEST_S = 0.1
SAMPLE_S = 6.0
"""Of a long range, so many seconds from its middle are judged."""
BESIDE_S = 3.0
"""Seconds on each side that the range is compared with."""
_SLACK_S = 0.05
_SILENT_DB = -85.0


@dataclass(frozen=True)
class Range:
    """Samples `[first, last)` of a file, given by the caller or found."""

    first: int
    last: int
    found: bool


def asked(source: SoundSource, start_s: float | None, end_s: float | None, call: Call) -> Range:
    """The asked range, or a sentence; one end left out means that end of the sound."""
    rate, span = source.facts.rate_hz, source.heard(call.check)
    length_s = span.stop / rate
    if start_s is not None and start_s >= length_s:
        raise UserError(
            f"start_s={start_s} is past the end of the sound of {source.name} ({length_s:.3f} s). "
            f"Use 0 <= start_s < {length_s:.3f}."
        )
    longest_s = max(length_s, float(source.scan.duration)) + _SLACK_S
    if end_s is not None and end_s > longest_s:
        raise UserError(f"end_s={end_s} is past the end of {source.name}. Use end_s <= {length_s:.3f}.")
    first = span.start if start_s is None else max(span.start, source.place(start_s))
    last = span.stop if end_s is None else min(span.stop, source.place(end_s))
    if last - first < SHORTEST_S * rate:
        raise UserError(
            f"The range is {max(0, last - first) / source.facts.rate_hz:.5f} s of sound ({source.name} has sound from "
            f"{max(0.0, span.start / rate):.3f} to {length_s:.3f} s); at least {SHORTEST_S} s is needed."
        )
    return Range(first, last, False)


def found(source: SoundSource, kind: Kind, word: str, call: Call) -> Range:
    """The stretch that stands out by a defect, or a sentence."""
    from primitives._sound.localise import GRID_S, SURE, Courses, find_stretch

    courses, rate = Courses(kind), source.facts.rate_hz
    span = source.heard(call.check)
    step = round(GRID_S * rate) * 200
    total = max(1, len(span))
    for number, block in enumerate(source.blocks(span.start, span.stop, step, call.check)):
        call.progress(number * step, total, f"looking for {word}")
        if block.shape[1] >= rate // 4:
            courses.add(block.mean(axis=0), rate)
    stretch = courses.cut_off()
    if stretch is None and len(span) > 4 * rate:
        stretch = find_stretch(courses.course(), either_sign=kind == "level")
    if stretch is None or abs(stretch.contrast) < SURE[kind]:
        raise UserError(
            f"No stretch of {source.name} stands out by {word}. Look with listen, then give start_s and end_s."
        )
    offset = span.start
    return Range(offset + round(stretch.start_s * rate), offset + round(stretch.end_s * rate), True)


def mono(source: SoundSource, first: int, last: int, call: Call) -> Mono:
    """The samples of a stretch, channels mixed."""
    import numpy as np

    return np.asarray(source.read(first, last, call.check).mean(axis=0), np.float32)


def sample_of(source: SoundSource, part: Range, call: Call, longest_s: float = SAMPLE_S) -> Mono:
    """The range, or its middle where it is long; refuses silence."""
    from primitives._sound.common import rms_db

    size = round(longest_s * source.facts.rate_hz)
    middle = (part.first + part.last) // 2
    first, last = max(part.first, middle - size // 2), min(part.last, middle + size // 2)
    made = mono(source, first, last, call)
    if rms_db(made - made.mean()) < _SILENT_DB:
        raise UserError(
            f"{source.name} is silent from {first / source.facts.rate_hz:.2f} to {last / source.facts.rate_hz:.2f} s. "
            "Nothing was written. Use listen to see where there is sound."
        )
    return made


def beside(source: SoundSource, part: Range, call: Call, reach_s: float = BESIDE_S) -> Mono:
    """The sound just before and after the range, one after the other."""
    import numpy as np

    span, reach = source.heard(call.check), round(reach_s * source.facts.rate_hz)
    before = mono(source, max(span.start, part.first - reach), part.first, call)
    after = mono(source, part.last, min(span.stop, part.last + reach), call)
    return np.concatenate([before, after])


def default_output(source: SoundSource, word: str) -> str:
    """A name in work/ beside which the source is not mistaken; of a kind that can be written."""
    from primitives._media.encode import CONTAINERS
    from primitives._media.sound_patch import SOUND_CONTAINERS

    suffix = source.path.suffix.lower()
    known = suffix in CONTAINERS or suffix in SOUND_CONTAINERS
    return f"work/{source.path.stem}_{word}{suffix if known else '.mkv'}"


def write_range(
    source: SoundSource, part: Range, change: Change, context_s: float, output: Path, call: Call
) -> PatchReport:
    """Write the file with the range changed block by block."""
    from primitives._sound.blocks import in_blocks

    rate = source.facts.rate_hz

    def blocks() -> Iterator[NDArray[np.float32]]:
        def read(first: int, last: int) -> NDArray[np.float32]:
            call.check()
            return source.read(first, last, call.check)

        return in_blocks(read, part.first, part.last, rate, change, context_s)

    return write_blocks(source, part, blocks, output, call)


def write_blocks(
    source: SoundSource, part: Range, blocks: Callable[[], Iterator[NDArray[np.float32]]], output: Path, call: Call
) -> PatchReport:
    """Write the file with new samples in the range, and see that the result opens and is as long."""
    from primitives._media.sound_patch import SoundChange, write_sound
    from primitives._media.sound_source import open_sound

    report = write_sound(source, SoundChange(part.first, part.last, blocks), output, call)
    if report.how != "encoded":
        return report  # its packets were compared one by one
    written = open_sound(output, call.workspace.relative(output), call.check)
    before, after = source.heard(call.check), written.heard(call.check)
    off_s = max(abs(before.start - after.start), abs(before.stop - after.stop)) / source.facts.rate_hz
    if off_s > 0.1:
        raise UserError(
            f"{call.workspace.relative(output)} came out {off_s:.2f} s off in its sound. Use an output ending in .mkv."
        )
    return report


def how_written(report: PatchReport) -> str:
    """How the sound was written, as results say it."""
    if report.how == "encoded":
        return "the whole track was encoded anew"
    if report.how == "samples":
        return "PCM: samples outside the range are bit-identical (checked)"
    return (
        f"packets outside the range are bit-identical (checked): {report.packets_copied} of {report.packets} copied, "
        f"{report.packets - report.packets_copied} new around the range"
    )
