"""Lay an edit out in time and decide what is copied: pure functions over frame numbers and timestamps.

Times are exact rationals; each frame's place in the written film is rounded once, from its exact time, so
that nothing adds up over hundreds of joins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from primitives._edit import Piece, PlacedPiece
from primitives._media.timeline import Timeline

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mix:
    """Frames of a second piece that are blended over a span, and how much of each."""

    piece: int
    frames: Numbers
    shares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Span:
    """Frames of one piece that are treated alike."""

    piece: int
    frames: Numbers
    """Source frame numbers in playing order."""
    ticks: Numbers
    """Their timestamps in the written film."""
    straight: bool
    """Consecutive unchanged frames at their own distances: they may be copied."""
    mix: Mix | None = None
    levels: NDArray[np.float64] | None = None
    """Brightness from 0 (black) to 1."""

    def part(self, start: int, stop: int) -> Span:
        """Some of the frames, by their place in the span."""
        cut = slice(start, stop)
        mix = replace(self.mix, frames=self.mix.frames[cut], shares=self.mix.shares[cut]) if self.mix else None
        levels = self.levels[cut] if self.levels is not None else None
        return replace(self, frames=self.frames[cut], ticks=self.ticks[cut], mix=mix, levels=levels)


@dataclass(frozen=True, eq=False)
class Layout:
    """The written film, frame by frame."""

    placed: tuple[PlacedPiece, ...]
    spans: tuple[Span, ...]
    end_tick: int

    @property
    def ticks(self) -> Numbers:
        """The timestamps of all frames, ascending."""
        return np.concatenate([span.ticks for span in self.spans])


@dataclass(frozen=True, eq=False)
class _Taken:
    """The frames of a piece and when each shows, in units from the piece's start."""

    frames: Numbers
    offsets: Numbers
    unit: Fraction
    length: Fraction
    straight: bool

    def ticks(self, start: Fraction, time_base: Fraction) -> Numbers:
        """Timestamps when the piece starts at `start`: exact times, rounded once."""
        base, step = start / time_base, self.unit / time_base
        scale = base.denominator * step.denominator
        a, b = int(base * scale), int(step * scale)
        ticks = np.array([(2 * (a + b * n) + scale) // (2 * scale) for n in self.offsets.tolist()], dtype=np.int64)
        places = np.arange(len(ticks))
        return np.maximum.accumulate(ticks - places) + places  # frames closer than a tick still follow each other

    def first_from(self, time: Fraction) -> int:
        """The place of the first frame that shows at a time or later, a quarter of a frame forgiven."""
        slack = self.length / len(self.frames) / 4
        return int(np.searchsorted(self.offsets, float((time - slack) / self.unit)))

    def showing_at(self, time: Fraction) -> int:
        """The place of the frame that shows at a time."""
        slack = self.length / len(self.frames) / 4
        return max(0, int(np.searchsorted(self.offsets, float((time + slack) / self.unit), side="right")) - 1)


def keeps_times(piece: Piece, timeline: Timeline, grid_fps: Fraction | None) -> bool:
    """Whether a piece's frames play at their own distances."""
    return piece.speed == 1 and (grid_fps is None or (not timeline.is_vfr and timeline.frame_rate == grid_fps))


def lay_out(
    pieces: Sequence[Piece], timelines: Sequence[Timeline], grid_fps: Fraction | None, time_base: Fraction
) -> Layout:
    """Place every piece. `grid_fps` is the one frame rate to hold; None keeps every film's own times."""
    taken = [_take(piece, timeline, grid_fps) for piece, timeline in zip(pieces, timelines, strict=True)]
    overlaps = [_overlap(pieces[n], taken[n], taken[n + 1]) for n in range(len(taken) - 1)] + [Fraction(0)]
    placed, spans, start = [], [], Fraction(0)
    for number, (piece, frames) in enumerate(zip(pieces, taken, strict=True)):
        before = overlaps[number - 1] if number else Fraction(0)
        own = _spans(number, pieces, taken, start, before, overlaps[number], time_base)
        spans += own
        timeline = timelines[number]
        source_start = timeline.time_of(piece.frames.start)
        source_length = frame_end(timeline, piece.frames.stop - 1) - source_start
        count = sum(len(span.frames) for span in own)
        join = min(piece.join.seconds, frames.length) if piece.join.kind == "dip" else overlaps[number]
        placed.append(PlacedPiece(start, frames.length, source_start, source_length, join, count))
        start += frames.length - overlaps[number]
    end = placed[-1].start + placed[-1].length
    return Layout(tuple(placed), tuple(spans), round(end / time_base))


def frame_end(timeline: Timeline, frame: int) -> Fraction:
    """When a frame gives way to the next."""
    end = int(timeline.pts[frame + 1]) if frame + 1 < len(timeline) else timeline.end_pts
    return (end - int(timeline.pts[0])) * timeline.time_base


def _take(piece: Piece, timeline: Timeline, grid_fps: Fraction | None) -> _Taken:
    start = timeline.time_of(piece.frames.start)
    length = frame_end(timeline, piece.frames.stop - 1) - start
    if keeps_times(piece, timeline, grid_fps):
        frames = np.arange(piece.frames.start, piece.frames.stop)
        offsets = timeline.pts[frames] - timeline.pts[frames[0]]
        return _Taken(frames, offsets, timeline.time_base, length, piece.change is None)
    fps = grid_fps or timeline.frame_rate
    count = max(1, round(length / piece.speed * fps))
    step = float(piece.speed / fps / timeline.time_base)
    wanted = float(timeline.pts[piece.frames.start]) + np.arange(count) * step + float(timeline.step_pts) / 4
    frames = np.searchsorted(timeline.pts, wanted, side="right") - 1
    frames = np.clip(frames, piece.frames.start, piece.frames.stop - 1).astype(np.int64)
    return _Taken(frames, np.arange(count), 1 / fps, count / fps, straight=False)


def _overlap(piece: Piece, taken: _Taken, following: _Taken) -> Fraction:
    """How long a cross-fade really is: whole frames, at most half of either piece."""
    if piece.join.kind != "fade":
        return Fraction(0)
    wanted = min(piece.join.seconds, taken.length / 2, following.length / 2)
    first = taken.first_from(taken.length - wanted)
    return taken.length - int(taken.offsets[first]) * taken.unit if first < len(taken.frames) else Fraction(0)


def _spans(
    number: int,
    pieces: Sequence[Piece],
    taken: Sequence[_Taken],
    start: Fraction,
    before: Fraction,
    after: Fraction,
    time_base: Fraction,
) -> list[Span]:
    """The parts of one piece: what follows a fade, what dips, what is straight, what is mixed with the next."""
    own, piece = taken[number], pieces[number]
    whole = Span(number, own.frames, own.ticks(start, time_base), own.straight)
    first = own.first_from(before) if before else 0
    last = own.first_from(own.length - after) if after else len(own.frames)
    dip_in = pieces[number - 1].join if number and pieces[number - 1].join.kind == "dip" else None
    dip_out = piece.join if piece.join.kind == "dip" and number + 1 < len(pieces) else None
    rise = own.first_from(min(dip_in.seconds / 2, own.length / 2)) if dip_in else first
    fall = own.first_from(own.length - min(dip_out.seconds / 2, own.length / 2)) if dip_out else last
    parts = []
    if dip_in:
        levels = np.arange(rise) / max(1, rise)
        parts.append(replace(whole.part(0, rise), straight=False, levels=levels))
    parts.append(whole.part(rise, fall))
    if dip_out:
        levels = np.arange(last - fall, 0, -1) / (last - fall + 1)
        parts.append(replace(whole.part(fall, last), straight=False, levels=levels))
    if after:
        following = taken[number + 1]
        count = len(own.frames) - last
        times = [int(own.offsets[place]) * own.unit - (own.length - after) for place in range(last, len(own.frames))]
        frames = following.frames[[following.showing_at(time) for time in times]]
        mix = Mix(number + 1, frames, np.arange(1, count + 1) / (count + 1))
        parts.append(replace(whole.part(last, len(own.frames)), straight=False, mix=mix))
    return [part for part in parts if len(part.frames)]


@dataclass(frozen=True)
class CopyRun:
    """Packets `[first_packet, last_packet)` that show exactly the frames `[first_frame, last_frame)`."""

    first_packet: int
    last_packet: int
    first_frame: int
    last_frame: int


def copy_runs(shown: Numbers, starts: Numbers, first_frame: int, last_frame: int) -> list[CopyRun]:
    """The stretches of a frame range that can be copied.

    `shown` gives for each packet in decoding order the frame it shows, `starts` the packets (ascending) at which
    decoding may start afresh. From such a packet on, the longest run is taken whose frames are gapless and inside
    the range; whatever is left over has to be encoded.
    """
    runs: list[CopyRun] = []
    frame = first_frame
    for packet in starts.tolist():
        begin = int(shown[packet])
        if begin < frame or (runs and packet < runs[-1].last_packet):
            continue
        if begin >= last_frame:
            break
        following = shown[packet : packet + (last_frame - begin)]
        outside = np.flatnonzero((following < begin) | (following >= last_frame))
        following = following[: outside[0]] if len(outside) else following
        closed = np.flatnonzero(np.maximum.accumulate(following) == begin + np.arange(len(following)))
        if not len(closed):
            continue
        length = int(closed[-1]) + 1
        runs.append(CopyRun(packet, packet + length, begin, begin + length))
        frame = begin + length
    return runs


@dataclass(frozen=True, eq=False)
class Copied:
    """A run of packets of a span's film."""

    span: Span
    run: CopyRun


@dataclass(frozen=True, eq=False)
class Encoded:
    """Spans that are encoded in one go."""

    spans: tuple[Span, ...]
    unchanged: bool = False
    """Frames of the source as they are, next to copied ones: they should not be told from copies."""


def plan_blocks(spans: Sequence[Span], runs: Sequence[Sequence[CopyRun]]) -> list[Copied | Encoded]:
    """The written film as blocks, given what can be copied of each span. Neighbours to encode are joined."""
    blocks: list[Copied | Encoded] = []
    waiting: list[Span] = []

    def encode(span: Span) -> None:
        if len(span.frames):
            waiting.append(span)

    for span, own in zip(spans, runs, strict=True):
        origin, at = int(span.frames[0]), 0
        for run in own:
            encode(span.part(at, run.first_frame - origin))
            if waiting:
                blocks.append(Encoded(tuple(waiting)))
                waiting.clear()
            blocks.append(Copied(span.part(run.first_frame - origin, run.last_frame - origin), run))
            at = run.last_frame - origin
        encode(span.part(at, len(span.frames)))
    if waiting:
        blocks.append(Encoded(tuple(waiting)))
    return blocks


def copied_delay(shown: Numbers, run: CopyRun, ticks: Numbers) -> int:
    """How far timestamps run ahead of decoding in a copied run."""
    packets = shown[run.first_packet : run.last_packet] - run.first_frame
    return int(np.max(ticks - ticks[packets]))


def encoded_delay(ticks: Numbers, reorder: int) -> int:
    """How far timestamps may run ahead of decoding when an encoder holds back `reorder` frames."""
    if reorder == 0 or len(ticks) < 2:
        return 0
    reach = min(reorder, len(ticks) - 1)
    return int(np.max(ticks[reach:] - ticks[:-reach]))


def merge_spans(spans: Sequence[Span], films: Sequence[object]) -> list[Span]:
    """Join neighbours that go straight on in the same film. `films` tells the film of each piece."""
    merged: list[Span] = []
    for span in spans:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.straight
            and span.straight
            and films[last.piece] == films[span.piece]
            and int(last.frames[-1]) + 1 == int(span.frames[0])
        ):
            frames, ticks = np.concatenate([last.frames, span.frames]), np.concatenate([last.ticks, span.ticks])
            merged[-1] = replace(last, frames=frames, ticks=ticks)
        else:
            merged.append(span)
    return merged
