"""Open a media file safely, or say in one sentence why not.

A file given by a model may be a playlist that reads other files, a header that claims a gigantic picture,
or no media at all. libav is held to local files and to self-contained formats; pixel, stream and packet
counts are bounded before anything is decoded.

libav's log level is never touched: PyAV is silent by default, and setting any level installs a callback
that waits for Python while a closing decoder's threads hold it up, which deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import av.error
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from primitives._base import UserError

SAFE_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,asf,flv,mxf,gif,wav,w64,aiff,mp3,flac,ogg,aac"
)
MAX_PIXELS = 8192 * 8192
MAX_STREAMS = 64
WAV_PROBE_BYTES = 65_536
"""libav looks through so much of a wav for other codecs in its guise. By its own limit, 5 MB, each opening would cost
40 ms."""
READABLE = "Readable: mp4, mov, mkv, webm, mpeg, ts, avi, wmv, flv, mxf, gif, wav, mp3, m4a, flac, ogg."
_SCRIPTS = (b"#EXTM3U", b"ffconcat", b"[playlist]", b"<?xml", b"<MPD", b"<smil", b"<ASX")


@contextmanager
def open_media(path: Path, name: str) -> Iterator[InputContainer]:
    """The opened container. `name` is the path as the caller wrote it, for sentences."""
    head = _head(path, name)
    options = {
        "protocol_whitelist": "file",
        "format_whitelist": SAFE_FORMATS,
        "max_streams": str(MAX_STREAMS),
    }
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        options["probesize"] = str(WAV_PROBE_BYTES)
    try:
        container = av.open(str(path), options=options, metadata_errors="ignore")
    except av.error.FFmpegError as error:
        raise UserError(_unreadable(name, error)) from None
    with container:
        if not container.streams.video and not container.streams.audio:
            raise UserError(f"{name} holds neither video nor audio. {READABLE}")
        yield container


def video_stream(container: InputContainer, name: str, threads: int | None = None) -> VideoStream | None:
    """The film's picture: the first video stream that is not a cover image. Bounded before any decoding."""
    for stream in container.streams.video:
        if stream.disposition & (Disposition.attached_pic | Disposition.timed_thumbnails):
            continue
        context = stream.codec_context
        if context is None:
            raise UserError(f"The video codec of {name} is not supported here. Use H.264, HEVC, VP9 or AV1.")
        if context.width * context.height > MAX_PIXELS:
            raise UserError(f"{name} claims {context.width}x{context.height} pixels; at most {MAX_PIXELS} are decoded.")
        if not context.is_open:
            context.options = {**context.options, "max_pixels": str(MAX_PIXELS)}
            context.thread_type = "AUTO"
            context.thread_count = threads or 0
        return stream
    return None


def audio_stream(container: InputContainer) -> AudioStream | None:
    """The film's sound: the first audio stream."""
    return container.streams.audio[0] if container.streams.audio else None


def container_name(container: InputContainer, path: Path) -> str:
    """The everyday name of the container: libav names whole families at once."""
    names = container.format.name.split(",")
    if "mp4" in names:
        return "mov" if container.metadata.get("major_brand", "").strip() == "qt" else "mp4"
    if "webm" in names:
        return "webm" if path.suffix.lower() == ".webm" else "mkv"
    return names[0]


def codec_name(name: str) -> str:
    """The codec's own name where libav names its decoder."""
    return {
        "libdav1d": "av1",
        "mp3float": "mp3",
        "mp2float": "mp2",
        "libvpx-vp9": "vp9",
        "libopus": "opus",
    }.get(name, name)


def _head(path: Path, name: str) -> bytes:
    """The first bytes of a file that may be media."""
    with path.open("rb") as file:
        head = file.read(512)
    if not head:
        raise UserError(f"{name} is empty (0 bytes). Use a media file that has been written completely.")
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_SCRIPTS):
        raise UserError(f"{name} is a playlist or script that refers to other files, which is refused. Use the media.")
    return head


def _unreadable(name: str, error: av.error.FFmpegError) -> str:
    if isinstance(error, av.error.PermissionError):
        return f"{name} cannot be opened: permission denied."
    return f"{name} is not readable media (unknown, unsupported, or damaged at its head). {READABLE}"
