"""Start copying in the middle of a group of pictures: which coded pictures go over, which are written without loss.

A coded picture can be copied behind a new start when everything it leans on is there, sample for sample and at the
same place of its reference lists. The first pictures lean on what was left out; they are written as they decode
(`pcm`), until the rest leans on them only. Numbers (frame count, order count) are then written anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from primitives._media.h264 import NotH264
from primitives._media.pcm import Head
from primitives._media.slices import B_SLICE, Reader, Slice

MOST_PCM_BYTES = 48_000_000
"""What the pictures without loss of one splice may take; beyond that an encoder does better."""


@dataclass(frozen=True)
class Coded:
    """A coded picture: its frame and its slice headers."""

    packet: int
    frame: int
    slices: tuple[Slice, ...]


@dataclass(frozen=True)
class Step:
    """One picture to write, in decoding order: copied under new numbers, or without loss under `head`."""

    packet: int
    frame: int
    copied: bool
    head: Head


@dataclass
class Reference:
    packet: int
    frame_num: int
    poc: int


@dataclass
class Buffer:
    """The decoder's reference pictures (8.2.4, 8.2.5), progressive and short-term only."""

    size: int
    count: int
    """Frame numbers run up to this."""
    pictures: list[Reference] = field(default_factory=list)
    """In decoding order, which is that of frame numbers."""

    def lists(self, head: Slice, frame_num: int, poc: int) -> tuple[list[int | None], list[int | None]]:
        """The packets in the two reference lists, as far as they are used."""
        if head.kind == B_SLICE:
            before = sorted((p for p in self.pictures if p.poc < poc), key=lambda p: -p.poc)
            after = sorted((p for p in self.pictures if p.poc > poc), key=lambda p: p.poc)
            starts = [before + after, after + before]
            if len(starts[1]) > 1 and starts[0] == starts[1]:
                starts[1] = [starts[1][1], starts[1][0], *starts[1][2:]]
        else:
            starts = [self.pictures[::-1], []]
        first, second = (
            self._changed(start, head.changes[n], head.active[n], frame_num) for n, start in enumerate(starts)
        )
        return first, second

    def _number(self, picture: Reference, frame_num: int) -> int:
        return picture.frame_num - (self.count if picture.frame_num > frame_num else 0)

    def _changed(
        self, start: list[Reference], steps: tuple[tuple[int, int], ...], used: int, frame_num: int
    ) -> list[int | None]:
        packets: list[int | None] = [*(p.packet for p in start[:used])]
        packets += [None] * (used - len(packets))
        predicted = frame_num
        for place, (operation, value) in enumerate(steps):
            predicted = (predicted + (value if operation else -value)) % self.count
            wanted = predicted - (self.count if predicted > frame_num else 0)
            found = next((p.packet for p in self.pictures if self._number(p, frame_num) == wanted), None)
            rest = [p for p in packets[place:] if p != found]
            packets = [*packets[:place], found, *rest][:used]
        return packets

    def named(self, distances: tuple[int, ...], frame_num: int) -> list[int | None]:
        """The packets of the pictures at distances; None where one is not there."""
        return [
            next((p.packet for p in self.pictures if frame_num - self._number(p, frame_num) == distance), None)
            for distance in distances
        ]

    def mark(self, head: Slice, picture: Reference, strict: bool = True, lost: bool = False) -> None:
        """Take a reference picture in, by its own orders (`strict`: which must make sense) or instead of the oldest."""
        if head.idr:
            self.pictures.clear()
        elif head.unmarked is not None and not lost:
            gone = self.named(head.unmarked, picture.frame_num)
            if strict and None in gone:
                raise NotH264("a reference is missing")
            self.pictures = [p for p in self.pictures if p.packet not in gone]
        while len(self.pictures) >= max(self.size, 1):
            del self.pictures[0]
        self.pictures.append(picture)


@dataclass(frozen=True)
class _Leans:
    """The packets that a picture leans on, and those that it lets go."""

    first: list[int | None]
    second: list[int | None]
    gone: list[int | None]


def _leans(buffer: Buffer, head: Slice, frame_num: int, poc: int) -> _Leans:
    return _Leans(*buffer.lists(head, frame_num, poc), buffer.named(head.unmarked or (), frame_num))


class Orders:
    """Order counts of pictures in decoding order (8.2.1)."""

    def __init__(self, reader: Reader) -> None:
        self._type, self._span = reader.sequence.poc_type, 1 << reader.sequence.poc_bits
        self._last, self._decoded = 0, 0

    def of(self, head: Slice) -> int:
        if self._type == 2:
            # Shown in decoding order: only the order matters.
            self._decoded = 0 if head.idr else self._decoded + 2
            return self._decoded
        if head.idr:
            self._last = 0
        high, low = self._last - self._last % self._span, self._last % self._span
        if head.poc_lsb < low and low - head.poc_lsb >= self._span // 2:
            high += self._span
        elif head.poc_lsb > low and head.poc_lsb - low > self._span // 2:
            high -= self._span
        if head.reference:
            self._last = high + head.poc_lsb
        return high + head.poc_lsb


def plan_splice(group: Sequence[Coded], frames: range, reader: Reader) -> list[Step] | None:
    """How to write frames of a group whose first picture is an IDR picture; None where it cannot be done well.

    Of the group all pictures up to the last wanted one are given, in decoding order.
    """
    try:
        steps = _Splicer(reader, frames).steps(group)
    except NotH264:
        return None
    size = sum(not step.copied for step in steps) * reader.sequence.picture_bytes
    return steps if size <= MOST_PCM_BYTES else None


class _Splicer:
    """Decodes two streams in mind: the old one, and the one that is to be written."""

    def __init__(self, reader: Reader, frames: range) -> None:
        size, count = reader.sequence.reference_frames, 1 << reader.sequence.frame_num_bits
        self._reader, self._frames, self._count = reader, frames, count
        self._old, self._new = Buffer(size, count), Buffer(size, count)
        self._steps: list[Step] = []
        self._as_coded: set[int | None] = set()
        self._origin: int | None = None
        self._last_num, self._last_was_reference = 0, False

    def steps(self, group: Sequence[Coded]) -> list[Step]:
        orders = Orders(self._reader)
        pocs = [orders.of(coded.slices[0]) for coded in group]
        first = next(number for number, coded in enumerate(group) if coded.frame == self._frames.start)
        started = False
        for number, coded in enumerate(group):
            wanted = coded.frame in self._frames
            if coded.slices[0].idr and number:
                raise NotH264("a group within the group")
            if wanted and not started:
                started = True
                self._start(group[first], pocs[first])
            leans = [_leans(self._old, head, head.frame_num, pocs[number]) for head in coded.slices]
            if coded.slices[0].reference:
                self._old.mark(coded.slices[0], Reference(coded.packet, coded.slices[0].frame_num, pocs[number]))
            if wanted and number != first:
                self._write(coded, pocs[number], leans)
        return self._steps

    def _start(self, coded: Coded, poc: int) -> None:
        self._origin = poc
        self._new.pictures = [Reference(coded.packet, 0, 0)]
        self._last_num, self._last_was_reference = 0, True
        head = Head(True, True, coded.slices[0].set_id, 0, 0, ())
        self._steps.append(Step(coded.packet, coded.frame, False, head))

    def _write(self, coded: Coded, poc: int, leans: list[_Leans]) -> None:
        assert self._origin is not None
        head, new_poc = coded.slices[0], poc - self._origin
        number = (self._last_num + self._last_was_reference) % self._count
        copied = self._can_copy(coded, number, new_poc, leans)
        if copied:
            self._as_coded.add(coded.packet)
        picture = Reference(coded.packet, number, new_poc)
        gone: tuple[int, ...] = ()
        if head.reference and copied:
            self._new.mark(head, picture)
        elif head.reference:
            kept = {p.packet for p in self._old.pictures}
            leaving = [p for p in self._new.pictures if p.packet not in kept]
            gone = tuple((number - p.frame_num) % self._count for p in leaving)
            self._new.pictures = [p for p in self._new.pictures if p.packet in kept] + [picture]
        self._last_num, self._last_was_reference = number, head.reference
        poc_lsb = new_poc % (1 << self._reader.sequence.poc_bits)
        made = Head(False, head.reference, head.set_id, number, poc_lsb, gone)
        self._steps.append(Step(coded.packet, coded.frame, copied, made))

    def _can_copy(self, coded: Coded, number: int, poc: int, leans: list[_Leans]) -> bool:
        """Whether a picture finds what it leans on. B pictures also lean on the motion of the first one after them."""
        for head, old in zip(coded.slices, leans, strict=True):
            if _leans(self._new, head, number, poc) != old or None in {*old.first, *old.second}:
                return False
            if head.kind == B_SLICE and old.second[0] not in self._as_coded:
                return False
        return True
