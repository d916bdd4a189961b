"""Which coded pictures a wanted one does not lean on, so that a decoder may pass over them: H.264 only.

Frames that nothing leans on are known by a flag. Others only matter to their neighbours: B pictures that other B
pictures lean on, but no P picture does. The slice headers tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from av.packet import Packet
from av.video.stream import VideoStream

from primitives._media import h264
from primitives._media.slices import B_SLICE, CODED_SLICES, Reader, Slice
from primitives._media.splice import Buffer, Orders, Reference

MOST_WANTED = 4
MOST_PICTURES = 600
_TELLING, _LEAST_SHARE = 60, 0.1
"""From a stretch of so many pictures on, the share of references that must be spared for the search to pay."""
Lists = tuple[list[int | None], list[int | None]]


@dataclass(frozen=True)
class _Picture:
    """A reference or wanted picture: its headers, and the places of those in its reference lists."""

    heads: list[Slice]
    poc: int
    lists: list[Lists]

    @property
    def is_b(self) -> bool:
        return all(head.kind == B_SLICE for head in self.heads)


class Sparing:
    """Finds the pictures of a film's groups that may be skipped; gives up where it does not pay."""

    def __init__(self, extradata: bytes | None) -> None:
        self._reader: Reader | None = None
        try:
            self._length_bytes, sets = h264.read_extradata(extradata or b"")
            self._reader = Reader(sets.sps, sets.pps)
        except h264.NotH264:
            return

    def marked(
        self, packets: Iterator[Packet[VideoStream]], wanted_pts: set[int]
    ) -> Iterator[tuple[Packet[VideoStream], bool]]:
        """Packets, and whether each may be passed over on the way to the wanted frames."""
        stretch: list[Packet[VideoStream]] = []
        missing: set[int | None] = {*wanted_pts}
        if self._reader is not None and 0 < len(wanted_pts) <= MOST_WANTED:
            for packet in itertools.islice(packets, MOST_PICTURES):
                stretch.append(packet)
                missing.discard(packet.pts)
                if not missing:
                    break
        spared: frozenset[int] = frozenset()
        if stretch and not missing:
            wanted = [place for place, packet in enumerate(stretch) if packet.pts in wanted_pts]
            spared = self.spared([bytes(packet) for packet in stretch], wanted)
        yield from ((packet, place in spared) for place, packet in enumerate(stretch))
        yield from ((packet, False) for packet in packets)

    def spared(self, payloads: Sequence[bytes], wanted: Sequence[int]) -> frozenset[int]:
        """Places of B pictures that no wanted one leans on, in a stretch in decoding order from a keyframe on."""
        try:
            pictures = self._pictures(payloads, frozenset(wanted))
        except h264.NotH264:
            self._reader = None
            return frozenset()
        needed = _needed(pictures, wanted)
        buffer = self._buffer()
        spared = _far_from_needed(pictures, needed, buffer.size + 1)
        if len(payloads) >= _TELLING and len(spared) < _LEAST_SHARE * len(pictures):
            self._reader = None
        return spared if _decodes(pictures, needed, spared, buffer) else frozenset()

    def _buffer(self) -> Buffer:
        assert self._reader is not None
        sequence = self._reader.sequence
        return Buffer(sequence.reference_frames, 1 << sequence.frame_num_bits)

    def _pictures(self, payloads: Sequence[bytes], wanted: frozenset[int]) -> dict[int, _Picture]:
        assert self._reader is not None
        buffer, orders = self._buffer(), Orders(self._reader)
        pictures: dict[int, _Picture] = {}
        for place, payload in enumerate(payloads):
            heads = self._heads(payload, place in wanted)
            if not heads:
                continue
            if not place and not heads[0].idr:
                raise h264.NotH264("the stretch does not start with an IDR picture")
            poc = orders.of(heads[0])
            lists = _lists(buffer, heads, poc)
            if any(None in listed for pair in lists for listed in pair):
                raise h264.NotH264("a reference is missing")
            pictures[place] = _Picture(heads, poc, lists)
            if heads[0].reference:
                buffer.mark(heads[0], Reference(place, heads[0].frame_num, poc))
        return pictures

    def _heads(self, payload: bytes, wanted: bool) -> list[Slice]:
        """The slice headers of a picture; none of one that nothing leans on and that is not wanted."""
        assert self._reader is not None
        units = [unit for unit in h264.split(payload, self._length_bytes) if h264.nal_type(unit) in CODED_SLICES]
        if not units:
            raise h264.NotH264("a packet without a picture")
        return [self._reader.slice(unit) for unit in units] if wanted or units[0][0] >> 5 & 3 else []


def _lists(buffer: Buffer, heads: list[Slice], poc: int) -> list[Lists]:
    return [([], []) if head.idr else buffer.lists(head, head.frame_num, poc) for head in heads]


def _needed(pictures: dict[int, _Picture], wanted: Sequence[int]) -> set[int]:
    """The wanted pictures and all that they lean on, directly or not."""
    needed, waiting = set(wanted), list(wanted)
    while waiting:
        listed = {place for pair in pictures[waiting.pop()].lists for one in pair for place in one if place is not None}
        waiting += listed - needed
        needed |= listed
    return needed


def _far_from_needed(pictures: dict[int, _Picture], needed: set[int], margin: int) -> frozenset[int]:
    """B pictures that are not needed, nor among the last references before a B picture that is.

    A decoder orders the references of B pictures by time, which it does not know of those it passed over.
    """
    order = list(pictures)
    near = {
        place
        for number, needed_place in enumerate(order)
        if needed_place in needed and pictures[needed_place].is_b
        for place in order[max(0, number - margin) : number]
    }
    return frozenset(place for place, picture in pictures.items() if picture.is_b) - needed - near


def _decodes(pictures: dict[int, _Picture], needed: set[int], spared: frozenset[int], buffer: Buffer) -> bool:
    """Whether the needed pictures find their references where the spared ones were only counted."""
    for place, picture in pictures.items():
        head = picture.heads[0]
        if place in needed:
            if _lists(buffer, picture.heads, picture.poc) != picture.lists:
                return False
            if picture.is_b and any(reference.packet in spared for reference in buffer.pictures):
                return False
        if head.reference:
            buffer.mark(head, Reference(place, head.frame_num, picture.poc), strict=False, lost=place in spared)
    return True
