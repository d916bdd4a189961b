"""Packets from one file into another: those of the streams that are kept, with times, and the file they go to."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import av
import av.error
from av.container import InputContainer, OutputContainer
from av.packet import Packet

from primitives._base import UserError
from primitives._media.sound_encode import AnyPacket

NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})


def wanted_packets(container: InputContainer, indexes: list[int]) -> Iterator[AnyPacket]:
    """The packets of some streams that can be written, until damage."""
    streams = [container.streams[index] for index in indexes]
    clocks = {stream.index: _Clock(stream.type == "video") for stream in streams}
    try:
        for packet in container.demux(streams) if streams else ():
            if packet.size and packet.pts is not None:
                yield from clocks[packet.stream_index].timed(packet)
    except av.error.FFmpegError:
        pass  # what came before the damage is written
    for clock in clocks.values():
        yield from clock.rest()


class _Clock:
    """Gives packets of one stream the decoding times that some containers leave out."""

    def __init__(self, reorders: bool) -> None:
        self._reorders, self._waiting = reorders, list[AnyPacket]()
        self._last: int | None = None

    def timed(self, packet: AnyPacket) -> Iterator[AnyPacket]:
        if packet.dts is None and not self._reorders:
            packet.dts = packet.pts
        if packet.dts is None and self._last is None:
            self._waiting.append(packet)  # its time follows from the first one that has any
            return
        if packet.dts is None:
            packet.dts = min(packet.pts or 0, (self._last or 0) + max(1, packet.duration or 1))
        yield from self._before(packet.dts)
        self._last = packet.dts
        yield packet

    def rest(self) -> Iterator[AnyPacket]:
        yield from self._before(min((packet.pts or 0 for packet in self._waiting), default=0))

    def _before(self, dts: int) -> Iterator[AnyPacket]:
        for number, packet in enumerate(self._waiting):
            packet.dts = dts - (len(self._waiting) - number) * max(1, packet.duration or 1)
            yield packet
        self._waiting.clear()


def with_payload(old: AnyPacket, payload: bytes) -> AnyPacket:
    made: AnyPacket = Packet(payload)
    made.time_base, made.pts, made.dts, made.duration = old.time_base, old.pts, old.dts, old.duration
    made.is_keyframe = True
    return made


@contextmanager
def opened_output(path: Path, container_format: str) -> Iterator[OutputContainer]:
    """The file to write; emptied before it is closed when writing stops early, since closing may take long."""
    options = {"movflags": "+faststart"} if container_format in {"mp4", "mov", "ipod"} else {}
    container = av.open(str(path), "w", format=container_format, container_options=options)
    try:
        yield container
    except BaseException:
        if path.exists():
            os.truncate(path, 0)
        with suppress(av.error.FFmpegError, ValueError):
            container.close()
        raise
    container.close()


def no_room(path: Path) -> UserError:
    return UserError(f"{path.parent.name}/ has no room left on the disk. Free some space, then try again.")


def unwritable(codec: str, container: str, error: BaseException) -> UserError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return UserError(f"The sound could not be written as {codec} in {container} ({why}). Use an output ending in .mkv.")
