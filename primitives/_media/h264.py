"""H.264 as bytes: NAL units, parameter sets and the `avcC` record. Pure functions; nothing is decoded.

Copied and newly encoded pictures can share one stream when each refers to its own parameter sets: the
source's keep their ids, the encoder's get ids that no source uses, and one `avcC` record carries them all.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

IDR, SPS, PPS, SPS_EXTENSION = 5, 7, 8, 13
LENGTH_BYTES = 4
_START_CODE = re.compile(b"\x00\x00\x00?\x01")
HIGH_PROFILES = frozenset({100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135})
PROFILE_NAMES = {66: "baseline", 77: "main", 88: "main", 100: "high", 110: "high10", 122: "high422", 244: "high444"}


class NotH264(ValueError):
    """The bytes are not the H.264 that their container promises."""


@dataclass(frozen=True)
class ParameterSets:
    """Sequence and picture parameter sets, by id."""

    sps: dict[int, bytes]
    pps: dict[int, bytes]

    def clashes_with(self, other: ParameterSets) -> bool:
        """Whether the two give one id different contents."""
        return any(
            mine.get(number, theirs[number]) != theirs[number]
            for mine, theirs in ((self.sps, other.sps), (self.pps, other.pps))
            for number in theirs
        )

    def with_sets(self, other: ParameterSets) -> ParameterSets:
        """Both together; where an id occurs twice, `self` wins."""
        return ParameterSets({**other.sps, **self.sps}, {**other.pps, **self.pps})

    def in_band(self) -> bytes:
        """The sets as length-prefixed NAL units, to stand before a picture."""
        return length_prefixed([*self.sps.values(), *self.pps.values()])


@dataclass(frozen=True)
class SequenceFacts:
    """What an encoder has to match, read from a sequence parameter set."""

    profile_idc: int
    level_idc: int
    chroma_format: int
    bit_depth: int
    frames_only: bool
    """No field or MBAFF coding: progressive."""


def nal_type(nal: bytes | memoryview) -> int:
    """The type of a NAL unit."""
    return nal[0] & 31


def split(payload: bytes, length_bytes: int) -> Iterator[bytes]:
    """The NAL units of a packet; `length_bytes` is 0 for start codes (Annex B)."""
    if length_bytes == 0:
        yield from (nal for nal in (part.rstrip(b"\x00") for part in _START_CODE.split(payload)) if nal)
        return
    at = 0
    while at + length_bytes <= len(payload):
        size = int.from_bytes(payload[at : at + length_bytes], "big")
        at += length_bytes
        if size and at < len(payload):
            yield payload[at : at + size]
        at += size


def length_prefixed(nals: list[bytes]) -> bytes:
    """NAL units as an MP4 or Matroska packet holds them."""
    return b"".join(struct.pack(">I", len(nal)) + nal for nal in nals)


def parameter_sets(nals: list[bytes]) -> ParameterSets:
    """The parameter sets among NAL units; the last of an id counts."""
    return ParameterSets(
        {Bits(nal[4:12]).ue(): nal for nal in nals if nal_type(nal) == SPS and len(nal) > 4},
        {Bits(nal[1:9]).ue(): nal for nal in nals if nal_type(nal) == PPS and len(nal) > 1},
    )


def read_extradata(extradata: bytes) -> tuple[int, ParameterSets]:
    """How packets delimit their NAL units (bytes of length, 0 for start codes), and the sets up front."""
    if not extradata:
        return 0, ParameterSets({}, {})
    if extradata[0] != 1:
        return 0, parameter_sets(list(split(extradata, 0)))
    try:
        sps, at = _read_sets(extradata, 6, extradata[5] & 31)
        pps, _ = _read_sets(extradata, at + 1, extradata[at])
    except IndexError:
        raise NotH264("the avcC record is cut short") from None
    return (extradata[4] & 3) + 1, parameter_sets(sps + pps)


def _read_sets(data: bytes, at: int, count: int) -> tuple[list[bytes], int]:
    sets = []
    for _ in range(count):
        size = int.from_bytes(data[at : at + 2], "big")
        sets.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return [nal for nal in sets if nal], at


def build_avcc(sets: ParameterSets) -> bytes:
    """The decoder configuration that carries all the sets; its profile and level are those of the most demanding."""
    all_sps = list(sets.sps.values())
    facts = [sequence_facts(nal) for nal in all_sps]
    top = max(range(len(facts)), key=lambda number: (facts[number].profile_idc, facts[number].level_idc))
    level = max(fact.level_idc for fact in facts)
    head = bytes([1, all_sps[top][1], all_sps[top][2], level, 0xFF, 0xE0 | len(all_sps)])
    record = head + b"".join(struct.pack(">H", len(nal)) + nal for nal in all_sps)
    record += bytes([len(sets.pps)]) + b"".join(struct.pack(">H", len(nal)) + nal for nal in sets.pps.values())
    if facts[top].profile_idc in HIGH_PROFILES:
        depth = facts[top].bit_depth - 8
        record += bytes([0xFC | facts[top].chroma_format, 0xF8 | depth, 0xF8 | depth, 0])
    return record


def sequence_facts(sps: bytes) -> SequenceFacts:
    """Profile, level, sample format and scan of a sequence parameter set (H.264, 7.3.2.1.1)."""
    raw = re.sub(b"\x00\x00\x03", b"\x00\x00", sps)
    bits = Bits(raw[4:])
    profile, level, chroma, depth = raw[1], raw[3], 1, 8
    bits.ue()  # id
    if profile in HIGH_PROFILES:
        chroma = bits.ue()
        if chroma == 3:
            bits.take(1)
        depth = 8 + bits.ue()
        bits.ue()  # bit depth of chroma
        bits.take(1)
        if bits.take(1):
            _skip_scaling(bits, 8 if chroma != 3 else 12)
    bits.ue()  # bits of frame_num
    order = bits.ue()
    if order == 0:
        bits.ue()
    elif order == 1:
        bits.take(1)
        bits.ue(), bits.ue()
        for _ in range(bits.ue()):
            bits.ue()
    bits.ue()  # reference frames
    bits.take(1)
    bits.ue(), bits.ue()  # size in macroblocks
    return SequenceFacts(profile, level, chroma, depth, bool(bits.take(1)))


def _skip_scaling(bits: Bits, lists: int) -> None:
    for number in range(lists):
        if not bits.take(1):
            continue
        last = following = 8
        for _ in range(16 if number < 6 else 64):
            if following:
                following = (last + bits.se()) % 256
            last = following or last


class Bits:
    """Reads bits and Exp-Golomb numbers."""

    def __init__(self, data: bytes) -> None:
        self._text = f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}" if data else ""
        self.at = 0
        """How many bits were read."""

    def take(self, count: int) -> int:
        """The next bits as a number."""
        value = self._text[self.at : self.at + count]
        if len(value) < count:
            raise NotH264("a parameter set is cut short")
        self.at += count
        return int(value, 2)

    def ue(self) -> int:
        """An unsigned Exp-Golomb number."""
        one = self._text.find("1", self.at)
        zeros = one - self.at
        end = one + zeros + 1
        if one < 0 or end > len(self._text):
            raise NotH264("a parameter set is cut short")
        self.at = end
        return int(self._text[one:end], 2) - 1 if zeros else 0

    def se(self) -> int:
        """A signed Exp-Golomb number."""
        code = self.ue()
        return (code + 1) // 2 if code % 2 else -(code // 2)
