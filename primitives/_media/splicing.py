"""Write unchanged frames that lie in the middle of a group of pictures, bit for bit: see `splice`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primitives._base import UserError
from primitives._edit_plan import Encoded, Span
from primitives._media import h264
from primitives._media.film import Film
from primitives._media.frames import decode_straight
from primitives._media.levels import picture_fits
from primitives._media.packets import PacketIndex, PacketReader
from primitives._media.pcm import pcm_picture
from primitives._media.planes import read_planes
from primitives._media.slices import CODED_SLICES, Reader, renumbered
from primitives._media.splice import Coded, Step, plan_splice

MOST_PACKETS = 20_000
"""Longer groups are encoded: everything after the splice has to be read and numbered anew."""


@dataclass(frozen=True, eq=False)
class Spliced:
    """Frames of a span that follow each other, and how each goes over."""

    span: Span
    steps: list[Step]
    reader: Reader

    @property
    def pcm_frames(self) -> int:
        return sum(not step.copied for step in self.steps)

    @property
    def pcm_bytes(self) -> int:
        return self.pcm_frames * self.reader.sequence.picture_bytes

    @property
    def delay(self) -> int:
        """How far timestamps run ahead of decoding."""
        ticks = self.span.ticks
        order = np.array([step.frame for step in self.steps]) - int(self.span.frames[0])
        return int(np.max(ticks - ticks[order]))


def unchanged_apart(block: Encoded) -> list[Encoded]:
    """The block in parts: runs of unchanged frames, each for itself, and the rest."""
    parts: list[Encoded] = []
    for span in block.spans:
        if not span.straight and parts and not parts[-1].unchanged:
            parts[-1] = Encoded((*parts[-1].spans, span))
        else:
            parts.append(Encoded((span,), span.straight))
    return parts


def plan_spliced(span: Span, index: PacketIndex, packets: PacketReader, check: Callable[[], None]) -> Spliced | None:
    """The splice that writes a straight span; None where it has to be encoded."""
    frames = range(int(span.frames[0]), int(span.frames[-1]) + 1)
    wanted = np.flatnonzero((index.shown >= frames.start) & (index.shown < frames.stop))
    starts = np.flatnonzero(index.idr)
    starts = starts[starts <= wanted[0]] if len(wanted) == len(frames) else starts[:0]
    if not len(starts) or wanted[-1] - starts[-1] > MOST_PACKETS:
        return None
    if beyond_level(index):
        return None
    try:
        reader = Reader(index.sets.sps, index.sets.pps)
        first, group = int(starts[-1]), []
        for number, payload in enumerate(packets.run(first, int(wanted[-1]) + 1), first):
            check()
            heads = tuple(reader.slice(nal) for nal in _slices(payload))
            if not heads:
                return None
            group.append(Coded(number, int(index.shown[number]), heads))
    except h264.NotH264:
        return None
    steps = plan_splice(group, frames, reader)
    return Spliced(span, steps, reader) if steps else None


def beyond_level(index: PacketIndex) -> bool:
    """Whether a picture without loss is larger than the film's level lets a picture be."""
    try:
        size = Reader(index.sets.sps, index.sets.pps).sequence.picture_bytes
    except h264.NotH264:
        return False
    return not picture_fits(index.facts.profile_idc, index.facts.level_idc, size)


def _slices(payload: bytes) -> Iterator[bytes]:
    return (nal for nal in h264.split(payload, h264.LENGTH_BYTES) if h264.nal_type(nal) in CODED_SLICES)


def spliced_packets(
    block: Spliced, film: Film, packets: PacketReader, sets: bytes, check: Callable[[], None]
) -> Iterator[tuple[int, bool, bytes]]:
    """Timestamps, whether an IDR picture, and payloads in decoding order."""
    whole = sorted(step.frame for step in block.steps if not step.copied)
    shown = decode_straight(film.path, film.name, film.scan, whole, check, cropped=False)
    pictures: dict[int, list[NDArray[np.uint8]]] = {}
    for one in shown:
        if one.number != one.wanted:
            raise UserError(f"Frame {one.wanted} of {film.name} does not decode. Leave that part out.")
        pictures[one.number] = read_planes(one.frame)
    copied = [step.packet for step in block.steps if step.copied]
    payloads = enumerate(packets.run(copied[0], copied[-1] + 1), copied[0]) if copied else iter(())
    first = int(block.span.frames[0])
    for step in block.steps:
        check()
        head, sequence = step.head, block.reader.sequence
        if step.copied:
            payload = next(payload for number, payload in payloads if number == step.packet)
            payload = _renumbered(payload, step, block.reader)
        else:
            unit = pcm_picture(pictures.pop(step.frame), head, sequence, block.reader.sets[head.set_id])
            payload = h264.length_prefixed([unit])
        yield int(block.span.ticks[step.frame - first]), head.idr, sets + payload if head.idr else payload


def _renumbered(payload: bytes, step: Step, reader: Reader) -> bytes:
    nals = []
    for nal in h264.split(payload, h264.LENGTH_BYTES):
        if h264.nal_type(nal) in CODED_SLICES:
            nal = renumbered(nal, reader.slice(nal), reader.sequence, step.head.frame_num, step.head.poc_lsb)
        nals.append(nal)
    return h264.length_prefixed(nals)
