"""How alike two picture tracks are, each decoded once, in flat memory (contract, "Edit", video).

Frames are counted in decode order within each 10 s chunk, in both files, and compared by that count. A
sample that the fixed file lacks scores 0 where the source runs on for more than the lag band **(ours)**; the
released code skips what is missing, so that cutting a file off would hide its damage.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from pathlib import Path

from verifiers._container import answer_side
from verifiers._media import DecodedFrame, video_frames
from verifiers._prefetch import prefetched
from verifiers.video_repair_v3.frame_value import Picture, frame_value
from verifiers.video_repair_v3.scoring import (
    LAG_BAND_FRAMES,
    Chunk,
    Sides,
    sample_limit,
    sample_step,
    weighted_mean,
)
from verifiers.video_repair_v3.truth import Window

DEFAULT_RATE = Fraction(24)
HELD_FRAMES = 2 * (2 * LAG_BAND_FRAMES + 1)


@dataclass(frozen=True)
class PlacedFrame:
    """A decoded frame and its count within a chunk; near a chunk's end a frame may have two places."""

    frame: DecodedFrame
    chunk_index: int
    index: int


@dataclass
class ChunkPictures:
    """Frame values of one chunk, inside and outside the window."""

    inside: list[float] = field(default_factory=list)
    outside: list[float] = field(default_factory=list)


def compare_pictures(
    fixed: Path,
    source: Path,
    rates: tuple[Fraction | None, Fraction | None],
    chunks: Sequence[Chunk],
    window: Window | None,
) -> Sides:
    """Both sides of the window over all chunks, weighted by frame count; `rates` are fixed's and source's."""
    fixed_rate = float(rates[0] or rates[1] or DEFAULT_RATE)
    source_rate = float(rates[1] or DEFAULT_RATE)
    values = [ChunkPictures() for _ in chunks]

    def add(chunk_index: int, index: int, value: float) -> None:
        time_s = chunks[chunk_index].start_s + index / fixed_rate
        inside = window is not None and window.start_s <= time_s <= window.end_s
        side = values[chunk_index].inside if inside else values[chunk_index].outside
        side.append(value)

    with (
        prefetched(video_frames(fixed, skip_damaged=True)) as fixed_frames,
        prefetched(answer_side(video_frames(source, skip_damaged=True))) as source_frames,
    ):
        band = _SourceBand(place_frames(source_frames, source_rate, chunks), chunks, source_rate)
        waiting = [deque(sample_places(chunk, fixed_rate)) for chunk in chunks]
        for placed in place_frames(fixed_frames, fixed_rate, chunks):
            places = waiting[placed.chunk_index]
            if not places or placed.index != places[0]:
                continue
            places.popleft()
            candidates = band.around(placed.chunk_index, placed.index)
            if candidates:
                add(placed.chunk_index, placed.index, frame_value(placed.frame, candidates))
        for chunk_index, places in enumerate(waiting):
            for index in places:
                if band.reaches(chunk_index, floor(index * source_rate / fixed_rate) + LAG_BAND_FRAMES):
                    add(chunk_index, index, 0.0)
    return Sides(
        inside=weighted_mean((_mean(chunk.inside), len(chunk.inside)) for chunk in values),
        outside=weighted_mean((_mean(chunk.outside), len(chunk.outside)) for chunk in values),
    )


def sample_places(chunk: Chunk, fps: float) -> range:
    """Which frames of a chunk are compared, by their count in the chunk."""
    step = sample_step(fps)
    return range(0, min(_capacity(chunk, fps), step * sample_limit(chunk)), step)


def place_frames(frames: Iterator[DecodedFrame], fps: float, chunks: Sequence[Chunk]) -> Iterator[PlacedFrame]:
    """Count frames within chunks: a chunk starts at the frame on its start and takes `duration × fps`."""
    origin_s: float | None = None
    opened = 0
    taken: dict[int, int] = {}
    for frame in frames:
        origin_s = frame.time_s if origin_s is None else origin_s
        number = _nearest(frame.time_s - origin_s, fps)
        while opened < len(chunks) and number >= _nearest(chunks[opened].start_s, fps):
            taken[opened] = 0
            opened += 1
        for chunk_index in list(taken):
            yield PlacedFrame(frame, chunk_index, taken[chunk_index])
            taken[chunk_index] += 1
            if taken[chunk_index] >= _capacity(chunks[chunk_index], fps):
                del taken[chunk_index]
        if opened == len(chunks) and not taken:
            return


class _SourceBand:
    """The source frames around the current place, decoded only as far as needed."""

    def __init__(self, frames: Iterator[PlacedFrame], chunks: Sequence[Chunk], fps: float) -> None:
        self._frames = frames
        self._capacities = [_capacity(chunk, fps) for chunk in chunks]
        self._held: dict[int, deque[tuple[int, Picture]]] = {}
        self._counted = [0] * len(chunks)

    def around(self, chunk_index: int, index: int) -> list[tuple[int, Picture]]:
        """(lag, picture) of the chunk's frames within the lag band of `index`, which never goes back."""
        self.reaches(chunk_index, index + LAG_BAND_FRAMES)
        held = self._held.get(chunk_index, deque())
        while held and held[0][0] < index - LAG_BAND_FRAMES:
            held.popleft()
        return [(at - index, picture) for at, picture in held if at <= index + LAG_BAND_FRAMES]

    def reaches(self, chunk_index: int, index: int) -> bool:
        """Whether the source's chunk has a frame of that count; decodes on until that is known."""
        last = min(index, self._capacities[chunk_index] - 1)
        while self._counted[chunk_index] <= last and (placed := next(self._frames, None)) is not None:
            self._hold(placed)
        return self._counted[chunk_index] > index

    def _hold(self, placed: PlacedFrame) -> None:
        held = self._held.setdefault(placed.chunk_index, deque(maxlen=HELD_FRAMES))
        held.append((placed.index, Picture(placed.frame)))
        self._counted[placed.chunk_index] = placed.index + 1
        # Uneven frame times let a chunk run on into the next one, never further than that matters.
        self._held.pop(placed.chunk_index - 2, None)


def _capacity(chunk: Chunk, fps: float) -> int:
    return round(chunk.duration_s * fps)


def _nearest(time_s: float, fps: float) -> int:
    return floor(time_s * fps + 0.5)


def _mean(values: Sequence[float]) -> float | None:
    """Mean of a chunk's side, not below 0 (SSIM may be)."""
    return max(0.0, sum(values) / len(values)) if values else None
