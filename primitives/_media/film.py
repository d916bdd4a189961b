"""A film as an edit sees it: what its picture and sound are, counted, with its packets when they can be copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from av.audio.stream import AudioStream

from primitives._base import UserError
from primitives._media import h264
from primitives._media.frames import decode_frames
from primitives._media.packets import PacketIndex, index_packets
from primitives._media.scan import Scan, scan
from primitives._media.source import audio_stream, codec_name, container_name, open_media, video_stream
from primitives._media.timeline import Timeline

_PROGRESSIVE = (0, 1)
"""libav's field orders `unknown` and `progressive`."""
_BOTTOM_FIRST = (3, 5)


@dataclass(frozen=True)
class Colour:
    """How numbers mean colours, as libav counts it; 2 is `unspecified`, range 0 likewise."""

    range: int
    primaries: int
    transfer: int
    space: int


@dataclass(frozen=True)
class PictureFacts:
    """A film's picture."""

    codec: str
    width_px: int
    height_px: int
    pixel_format: str
    pixel_aspect: Fraction
    rotation_deg: int
    """Counter-clockwise, as libav gives it: 0, 90, 180 or 270."""
    colour: Colour
    interlaced: bool
    bottom_first: bool

    def same_samples(self, other: PictureFacts) -> bool:
        """Whether pictures of both can stand in one stream."""
        return (
            (self.width_px, self.height_px, self.pixel_format, self.pixel_aspect, self.rotation_deg)
            == (other.width_px, other.height_px, other.pixel_format, other.pixel_aspect, other.rotation_deg)
        ) and self.colour == other.colour


@dataclass(frozen=True)
class SoundFacts:
    """A film's sound."""

    codec: str
    rate_hz: int
    layout: str
    channels: int
    bit_rate_bps: int | None


@dataclass(frozen=True, eq=False)
class Film:
    """A file that an edit takes pieces from."""

    path: Path
    name: str
    container: str
    scan: Scan
    timeline: Timeline
    picture: PictureFacts
    sound: SoundFacts | None
    other_streams: int


def open_film(path: Path, name: str, check: Callable[[], None]) -> Film:
    """The facts of a film, or a sentence why it cannot be edited."""
    found = scan(path, name, check)
    if found.video is None:
        raise UserError(f"{name} has no video. Use a file with pictures.")
    first = next(decode_frames(path, name, found, [0], check), None)
    if first is None:
        raise UserError(f"No frame of {name} decodes. Use a file that has been written completely.")
    with open_media(path, name) as container:
        stream, audio = video_stream(container, name), audio_stream(container)
        assert stream is not None
        context, frame = stream.codec_context, first.frame
        order = int(context.field_order)
        picture = PictureFacts(
            codec=codec_name(context.name),
            width_px=frame.width,
            height_px=frame.height,
            pixel_format=frame.format.name,
            pixel_aspect=stream.sample_aspect_ratio or Fraction(1),
            rotation_deg=round(frame.rotation) % 360,
            colour=Colour(
                int(context.color_range), int(context.color_primaries), int(context.color_trc), int(context.colorspace)
            ),
            interlaced=order not in _PROGRESSIVE or bool(frame.interlaced_frame),
            bottom_first=order in _BOTTOM_FIRST,
        )
        sound = _sound(audio) if audio is not None and found.sound is not None else None
        others = len(container.streams) - 1 - (audio is not None)
        return Film(path, name, container_name(container, path), found, found.video, picture, sound, others)


def sound_facts(path: Path, name: str) -> SoundFacts | None:
    """What a file's sound is; None without any."""
    with open_media(path, name) as container:
        audio = audio_stream(container)
        return _sound(audio) if audio is not None else None


def _sound(stream: AudioStream) -> SoundFacts:
    context = stream.codec_context
    return SoundFacts(
        codec_name(context.name), context.sample_rate, context.layout.name, context.channels, context.bit_rate or None
    )


def copyable(film: Film, check: Callable[[], None]) -> PacketIndex | str:
    """The film's packets, or why none can be copied."""
    if film.picture.codec != "h264":
        return f"{film.name} is {film.picture.codec}, only H.264 is copied"
    if film.scan.ordered_decode:
        return f"{film.name} carries no usable frame times"
    if film.picture.interlaced:
        return f"{film.name} is interlaced"
    try:
        index = index_packets(film.path, film.name, film.timeline, check)
        facts = index.facts
    except h264.NotH264 as error:
        return f"{film.name}: {error}"
    if not facts.frames_only:
        return f"{film.name} is coded for interlaced pictures"
    if facts.profile_idc not in h264.PROFILE_NAMES:
        return f"{film.name} has H.264 profile {facts.profile_idc}, which is not matched here"
    if facts.chroma_format == 3:
        return f"{film.name} is 4:4:4, which decoders read by the encoder's version, so that it cannot be mixed"
    if not index.one_set:
        return f"{film.name} changes its parameter sets on the way"
    return index
