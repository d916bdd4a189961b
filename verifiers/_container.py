"""Opening media that may be hostile.

Only real media containers open (`format_whitelist` keeps playlists and concat scripts out, which could read
other files), only from the local disk, with bounded picture size, stream count and duration.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import av
import av.container
import av.stream

from verifiers._files import AnswerError

Item = TypeVar("Item")

MAX_PIXELS = 8192 * 4320
MAX_STREAMS = 32
MAX_DURATION_S = 12 * 3600.0
FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,ogg,flv,asf,mxf,"
    "wav,w64,mp3,flac,aac,aiff,caf,opus,ac3"
)
_OPEN_OPTIONS = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}


class MediaError(Exception):
    """A media file cannot be used; the sentence says which and why."""


@contextmanager
def open_media(path: Path) -> Iterator[av.container.InputContainer]:
    """Open `path` under the limits of this module; libav's errors leave as `MediaError`.

    A symlink is refused: resolve the paths of reference files first, never those of a submission.
    """
    if path.is_symlink() or not path.is_file():
        raise MediaError(f"{path.name} is not a regular file")
    try:
        with av.open(str(path.absolute()), options=_OPEN_OPTIONS) as container:
            _check_limits(path, container)
            yield container
    except (av.FFmpegError, OSError, ValueError, EOFError) as error:
        raise MediaError(f"{path.name} cannot be read as media: {_brief(error)}") from error


def decode(
    container: av.container.InputContainer, stream: av.VideoStream | av.AudioStream, *, skip_damaged: bool
) -> Iterator[object]:
    """Every frame of a stream; `skip_damaged` leaves out what does not decode, as ffmpeg does."""
    try:
        for packet in container.demux(stream):
            try:
                yield from packet.decode()
            except av.InvalidDataError:
                if not skip_damaged:
                    raise
    except av.InvalidDataError:
        if not skip_damaged:
            raise
        yield from stream.decode(None)


def answer_side(items: Iterator[Item]) -> Iterator[Item]:
    """`items` of a reference file, whose trouble is ours: `AnswerError`, never a zero."""
    try:
        yield from items
    except MediaError as error:
        raise AnswerError(f"the reference side: {error}") from error


def origin_s_of(container: av.container.InputContainer) -> float:
    return (container.start_time or 0) / av.time_base


def seconds(ticks: int | None, unit: Fraction | None) -> float | None:
    return None if ticks is None or unit is None else float(ticks * unit)


def _check_limits(path: Path, container: av.container.InputContainer) -> None:
    if len(container.streams) > MAX_STREAMS:
        raise MediaError(f"{path.name} has {len(container.streams)} streams; at most {MAX_STREAMS} are read")
    duration_s = seconds(container.duration, Fraction(1, av.time_base)) or 0.0
    if duration_s > MAX_DURATION_S:
        raise MediaError(f"{path.name} lasts {duration_s:.0f} s; at most {MAX_DURATION_S:.0f} are read")


def _brief(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]
