"""The coded pictures of an H.264 film: where copying may start, and reading them without decoding.

Copying starts at IDR pictures only, told by their NAL type: the keyframe flag also marks recovery points of
open groups, whose leading pictures lean on the group before.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av.error
import numpy as np
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from primitives._base import UserError
from primitives._media import h264
from primitives._media.source import open_media, video_stream
from primitives._media.timeline import Timeline

_CHECK_EVERY = 512
_SEEK_BACK = (0, 16, 128, 2048)
"""Frames to seek further back when the container lands after the wanted picture."""


@dataclass(frozen=True, eq=False)
class PacketIndex:
    """The coded pictures of a film in decoding order."""

    pts: NDArray[np.int64]
    shown: NDArray[np.int64]
    """For each packet the number of the frame that it shows; -1 where an edit list hides it or it is damaged."""
    idr: NDArray[np.bool_]
    length_bytes: int
    sets: h264.ParameterSets
    one_set: bool
    """Every parameter set keeps one meaning throughout the film."""

    @property
    def facts(self) -> h264.SequenceFacts:
        """The facts of the film's first sequence parameter set."""
        return h264.sequence_facts(next(iter(self.sets.sps.values())))


def index_packets(path: Path, name: str, timeline: Timeline, check: Callable[[], None]) -> PacketIndex:
    """One pass over the packets. Raises NotH264 where they are not what the container promises."""
    pts, usable, idr = array("q"), bytearray(), bytearray()
    with open_media(path, name) as container:
        stream = video_stream(container, name)
        assert stream is not None
        length_bytes, sets = h264.read_extradata(stream.codec_context.extradata or b"")
        one_set = True
        for number, packet in enumerate(_until_damage(container.demux(stream))):
            if number % _CHECK_EVERY == 0:
                check()
            if not packet.size or packet.pts is None:
                continue
            nals = list(h264.split(bytes(packet), length_bytes))
            kinds = {h264.nal_type(nal) for nal in nals}
            if not kinds.isdisjoint({h264.SPS, h264.PPS}):
                found = h264.parameter_sets(nals)
                one_set = one_set and not found.clashes_with(sets)
                sets = sets.with_sets(found)
            pts.append(packet.pts)
            usable.append(not packet.is_discard and not packet.is_corrupt)
            idr.append(h264.IDR in kinds)
    if not sets.sps or not sets.pps:
        raise h264.NotH264("the film carries no parameter sets")
    times = np.frombuffer(pts, dtype=np.int64).copy()
    shown = np.searchsorted(timeline.pts, times)
    known = (shown < len(timeline)) & (timeline.pts[np.minimum(shown, len(timeline) - 1)] == times)
    known &= np.frombuffer(usable, dtype=np.uint8).astype(bool)
    return PacketIndex(
        pts=times,
        shown=np.where(known, shown, -1),
        idr=np.frombuffer(idr, dtype=np.uint8).astype(bool),
        length_bytes=length_bytes,
        sets=sets,
        one_set=one_set,
    )


class PacketReader:
    """Coded pictures of one film, read by their place in decoding order; the file stays open."""

    def __init__(self, container: InputContainer, stream: VideoStream, index: PacketIndex, step_pts: int) -> None:
        self._container, self._stream, self._index, self._step_pts = container, stream, index, step_pts

    def run(self, first: int, last: int) -> Iterator[bytes]:
        """The packets `[first, last)` as length-prefixed NAL units without parameter sets."""
        at = first
        for packet in self._from(first):
            if packet.pts != self._index.pts[at]:
                raise UserError("The film changed while it was read, or reads differently each time. Try again.")
            yield self._payload(packet)
            at += 1
            if at == last:
                return
        raise UserError(f"The film ended at packet {at} of {last} while it was read. Try again.")

    def _from(self, first: int) -> Iterator[Packet[VideoStream]]:
        wanted = int(self._index.pts[first])
        for back in _SEEK_BACK:
            try:
                self._container.seek(wanted - back * self._step_pts, stream=self._stream, backward=True)
            except av.error.FFmpegError:
                continue
            packets = (p for p in _until_damage(self._container.demux(self._stream)) if p.size and p.pts is not None)
            for number, packet in enumerate(packets):
                if packet.pts == wanted:
                    yield packet
                    yield from packets
                    return
                if number > first:
                    break
                if packet.pts is not None and packet.is_keyframe and self._place(packet.pts) > first:
                    break

    def _place(self, pts: int) -> int:
        """The place of a timestamp in decoding order; -1 when no packet carries it."""
        found = np.flatnonzero(self._index.pts == pts)
        return int(found[0]) if len(found) else -1

    def _payload(self, packet: Packet[VideoStream]) -> bytes:
        payload = bytes(packet)
        nals = list(h264.split(payload, self._index.length_bytes))
        kept = [nal for nal in nals if h264.nal_type(nal) not in (h264.SPS, h264.PPS)]
        if self._index.length_bytes == h264.LENGTH_BYTES and len(kept) == len(nals):
            return payload
        return h264.length_prefixed(kept)


@contextmanager
def packet_reader(path: Path, name: str, index: PacketIndex, timeline: Timeline) -> Iterator[PacketReader]:
    """An open film to copy coded pictures from."""
    with open_media(path, name) as container:
        stream = video_stream(container, name)
        assert stream is not None
        yield PacketReader(container, stream, index, int(timeline.step_pts))


def _until_damage(packets: Iterator[Packet[VideoStream]]) -> Iterator[Packet[VideoStream]]:
    try:
        yield from packets
    except av.error.FFmpegError:
        return
