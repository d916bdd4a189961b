"""The facts by which a media deliverable is judged: decoded to its end, once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import av.error

from primitives._media.scan import scan
from primitives._media.source import audio_stream, codec_name, container_name, open_media, video_stream


@dataclass(frozen=True)
class MediaFacts:
    """What a file is, as gates need it."""

    container: str
    duration_s: float
    video_codec: str | None
    width_px: int | None
    height_px: int | None
    fps: float | None
    audio_codec: str | None
    audio_rate_hz: int | None


def facts(path: Path, name: str, check: Callable[[], None]) -> MediaFacts:
    """The facts of a file, from its headers and its packets."""
    found = scan(path, name, check)
    with open_media(path, name) as container:
        video, audio = video_stream(container, name), audio_stream(container)
        has_video = video is not None and found.video is not None
        return MediaFacts(
            container=container_name(container, path),
            duration_s=float(found.duration),
            video_codec=codec_name(video.codec_context.name) if has_video and video else None,
            width_px=video.codec_context.width if has_video and video else None,
            height_px=video.codec_context.height if has_video and video else None,
            fps=float(found.video.frame_rate) if found.video is not None else None,
            audio_codec=codec_name(audio.codec_context.name) if audio else None,
            audio_rate_hz=audio.codec_context.sample_rate if audio else None,
        )


def decode_damage(path: Path, name: str, progress: Callable[[float, float, str], None]) -> int:
    """Decode picture and sound to the end; how many packets did not decode."""
    total_s = float(scan(path, name, lambda: None).duration)
    damaged = 0
    with open_media(path, name) as container:
        streams = [s for s in (video_stream(container, name), audio_stream(container)) if s is not None]
        packets = container.demux(streams)
        while True:
            try:
                packet = next(packets)
                if packet.pts is not None and packet.time_base is not None:
                    progress(min(float(packet.pts * packet.time_base), total_s), total_s, f"decoding {name}")
                packet.decode()
            except StopIteration:
                return damaged
            except av.error.EOFError:
                continue
            except av.error.FFmpegError:
                damaged += 1
                if damaged > 1000:
                    return damaged


def payload_digest(path: Path, name: str, check: Callable[[], None]) -> str:
    """A digest of the coded picture and sound alone, so that a re-muxed copy is still known as a copy."""
    digests: dict[int, hashlib._Hash] = {}
    with open_media(path, name) as container:
        streams = [s for s in (video_stream(container, name), audio_stream(container)) if s is not None]
        try:
            for packet in container.demux(streams):
                check()
                if packet.size:
                    digests.setdefault(packet.stream_index, hashlib.sha256()).update(packet)
        except av.error.FFmpegError:
            pass  # damage after which nothing is read: what came before is compared
    return "+".join(digests[index].hexdigest() for index in sorted(digests))


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
