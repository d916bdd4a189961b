"""Slice headers of H.264 (7.3.3): what a coded picture leans on, and its numbers written anew.

Only what progressive film of ordinary encoders uses is read; anything else raises NotH264, and the caller encodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from primitives._media.h264 import HIGH_PROFILES, Bits, NotH264, nal_type

CODED_SLICES = (1, 5)
IDR_SLICE = 5
P_SLICE, B_SLICE, I_SLICE = 0, 1, 2
_HEADER_BYTES, _LONGEST_HEADER_BYTES = 32, 400
_MOST_BITS, _MOST_ACTIVE = 16, 32
"""What the standard allows: bits of a frame's numbers, entries of a reference list."""
Changes = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class Sequence:
    """The parts of a sequence parameter set that slice headers need."""

    frame_num_bits: int
    poc_type: int
    poc_bits: int
    reference_frames: int
    width_mbs: int
    height_mbs: int

    @property
    def picture_bytes(self) -> int:
        """The size of a picture without any compression."""
        return self.width_mbs * self.height_mbs * 384


@dataclass(frozen=True)
class PictureSet:
    """The parts of a picture parameter set that slice headers need."""

    cabac: bool
    poc_present: bool
    active: tuple[int, int]
    weighted_p: bool
    weighted_b: int
    first_qp: int
    deblocking_control: bool
    redundant_count: bool


@dataclass(frozen=True)
class Slice:
    """One slice header."""

    kind: int
    reference: bool
    idr: bool
    set_id: int
    frame_num: int
    poc_lsb: int
    frame_num_at: int
    """Place of the bits of `frame_num` in the unescaped unit; `poc_at` likewise."""
    poc_at: int
    active: tuple[int, int]
    """Entries of the two reference lists that are used."""
    changes: Changes
    """Reordering of each list: (operation, value)."""
    unmarked: tuple[int, ...] | None
    """Distances of pictures that cease to be references; None: the oldest one goes when there is no room."""


def unescaped(nal: bytes) -> bytes:
    return nal.replace(b"\x00\x00\x03", b"\x00\x00")


def escaped(unit: bytes) -> bytes:
    made = re.sub(b"\x00\x00(?=[\x00-\x03])", b"\x00\x00\x03", unit)
    return made + b"\x03" if made.endswith(b"\x00") else made


def read_sequence(sps: bytes) -> Sequence:
    raw = unescaped(sps)
    bits = Bits(raw[4:])
    bits.ue()
    plain = raw[1] not in HIGH_PROFILES or (bits.ue(), bits.ue(), bits.ue(), bits.take(2)) == (1, 0, 0, 0)
    frame_num_bits, poc_type = bits.ue() + 4, bits.ue()
    poc_bits = bits.ue() + 4 if poc_type == 0 else 0
    references, gaps = bits.ue(), bits.take(1)
    width, height, frames_only = bits.ue() + 1, bits.ue() + 1, bits.take(1)
    if max(frame_num_bits, poc_bits) > _MOST_BITS:
        raise NotH264("numbers longer than there are")
    if not plain or poc_type == 1 or gaps or not frames_only:
        raise NotH264("a sequence other than plain progressive 8-bit 4:2:0")
    return Sequence(frame_num_bits, poc_type, poc_bits, references, width, height)


def read_picture_set(pps: bytes) -> tuple[int, PictureSet]:
    """The id of the sequence parameter set that it belongs to, and the set."""
    bits = Bits(unescaped(pps)[1:])
    bits.ue()
    sequence_id = bits.ue()
    cabac, poc_present = bool(bits.take(1)), bool(bits.take(1))
    if bits.ue():
        raise NotH264("slice groups")
    active = bits.ue() + 1, bits.ue() + 1
    weighted_p, weighted_b, first_qp = bool(bits.take(1)), bits.take(2), 26 + bits.se()
    bits.se(), bits.se()
    deblocking, _, redundant = bool(bits.take(1)), bits.take(1), bool(bits.take(1))
    return sequence_id, PictureSet(cabac, poc_present, active, weighted_p, weighted_b, first_qp, deblocking, redundant)


class Reader:
    """Reads slice headers of one film."""

    def __init__(self, sps: dict[int, bytes], pps: dict[int, bytes]) -> None:
        found = {number: read_picture_set(unit) for number, unit in pps.items()}
        used = {sequence for sequence, _ in found.values()}
        if len(used) != 1 or not used <= sps.keys():
            raise NotH264("several sequence parameter sets")
        self.sets = {number: picture for number, (_, picture) in found.items()}
        self.sequence = read_sequence(sps[used.pop()])

    def slice(self, nal: bytes) -> Slice:
        """The header of a slice; nearly all are short."""
        try:
            return self._slice(nal, _HEADER_BYTES)
        except NotH264:
            return self._slice(nal, _LONGEST_HEADER_BYTES)

    def _slice(self, nal: bytes, read_bytes: int) -> Slice:
        bits, sequence = Bits(unescaped(nal[:read_bytes])[1:]), self.sequence
        idr, reference = nal_type(nal) == IDR_SLICE, bool(nal[0] >> 5 & 3)
        bits.ue()
        kind, set_id = bits.ue() % 5, bits.ue()
        if kind not in (P_SLICE, B_SLICE, I_SLICE) or set_id not in self.sets:
            raise NotH264("switching slices or an unknown parameter set")
        pps = self.sets[set_id]
        frame_num_at = 8 + bits.at
        frame_num = bits.take(sequence.frame_num_bits)
        if idr:
            bits.ue()
        poc_at = 8 + bits.at
        poc_lsb = bits.take(sequence.poc_bits) if sequence.poc_bits else 0
        if sequence.poc_type == 0 and pps.poc_present:
            bits.se()
        if pps.redundant_count and bits.ue():
            raise NotH264("redundant pictures")
        active, changes = _lists(bits, kind, pps)
        if (pps.weighted_p and kind == P_SLICE) or (pps.weighted_b == 1 and kind == B_SLICE):
            _skip_weights(bits, active)
        unmarked = _marking(bits, idr) if reference else None
        return Slice(kind, reference, idr, set_id, frame_num, poc_lsb, frame_num_at, poc_at, active, changes, unmarked)


def _lists(bits: Bits, kind: int, pps: PictureSet) -> tuple[tuple[int, int], Changes]:
    if kind == I_SLICE:
        return (0, 0), ((), ())
    if kind == B_SLICE:
        bits.take(1)
    first, second = pps.active
    if bits.take(1):
        first = bits.ue() + 1
        second = bits.ue() + 1 if kind == B_SLICE else second
    active = (first, second if kind == B_SLICE else 0)
    if max(active) > _MOST_ACTIVE:
        raise NotH264("more references than there are")
    changes: list[tuple[tuple[int, int], ...]] = []
    for used in active:
        steps: list[tuple[int, int]] = []
        if used and bits.take(1):
            while (operation := bits.ue()) != 3:
                if operation > 1:
                    raise NotH264("long-term references")
                steps.append((operation, bits.ue() + 1))
        changes.append(tuple(steps))
    return active, tuple(changes)


def _skip_weights(bits: Bits, active: tuple[int, int]) -> None:
    bits.ue(), bits.ue()
    for _ in range(sum(active)):
        if bits.take(1):
            bits.se(), bits.se()
        if bits.take(1):
            bits.se(), bits.se(), bits.se(), bits.se()


def _marking(bits: Bits, idr: bool) -> tuple[int, ...] | None:
    if idr:
        bits.take(1)
        if bits.take(1):
            raise NotH264("long-term references")
        return None
    if not bits.take(1):
        return None
    gone = []
    while operation := bits.ue():
        if operation != 1:
            raise NotH264("long-term references")
        gone.append(bits.ue() + 1)
    return tuple(gone)


def renumbered(nal: bytes, head: Slice, sequence: Sequence, frame_num: int, poc_lsb: int) -> bytes:
    """The same slice under other numbers. All bits stay in place."""
    unit = bytearray(unescaped(nal))
    _put(unit, head.frame_num_at, sequence.frame_num_bits, frame_num)
    if sequence.poc_bits:
        _put(unit, head.poc_at, sequence.poc_bits, poc_lsb)
    return escaped(bytes(unit))


def _put(unit: bytearray, at: int, count: int, value: int) -> None:
    first, last = at // 8, (at + count + 7) // 8
    shift = last * 8 - at - count
    window = int.from_bytes(unit[first:last], "big") & ~(((1 << count) - 1) << shift)
    unit[first:last] = (window | value << shift).to_bytes(last - first, "big")
