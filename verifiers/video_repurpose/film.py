"""What was measured of one film: headers plus every measure that the rubric asks for, in a single pass.

A *measure* is a small frozen value (what to find out); it starts a *collector* that is shown each decoded
picture and sound frame once. Damaged packets are stepped over, as ffmpeg does, and reported as faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

import av
import av.container
import av.stream
from av.video.reformatter import VideoReformatter

from verifiers._container import MAX_PIXELS, open_media, origin_s_of, seconds
from verifiers._media import DecodedFrame, MediaInfo, media_info

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Picture:
    """One decoded frame and when it is on screen, `[time_s, end_s)` from the start of the file."""

    frame: av.VideoFrame
    pixels: DecodedFrame
    time_s: float
    end_s: float


@dataclass(frozen=True)
class Sound:
    """One decoded block of the first audio stream."""

    frame: av.AudioFrame
    time_s: float | None
    duration_s: float


@dataclass(frozen=True)
class Fault:
    """Something that did not decode cleanly."""

    sentence: str


class Collector(Generic[T_co]):
    """Watches the pass; a subclass says which streams it needs and overrides what it listens to."""

    needs_pictures = False
    needs_sound = False
    needs_every_stream = False

    def see(self, picture: Picture) -> None:
        """A picture of the first video stream, in display order."""

    def hear(self, sound: Sound) -> None:
        """A block of the first audio stream."""

    def fault(self, fault: Fault) -> None:
        """Damage met on the way."""

    def result(self) -> T_co:
        raise NotImplementedError


class Measure(Protocol[T_co]):
    """Something to find out about a film: hashable, so that equal wishes are measured once."""

    def start(self, info: MediaInfo) -> Collector[T_co]: ...


@dataclass(frozen=True)
class Film:
    """The headers and the measured results."""

    info: MediaInfo
    results: Mapping[Measure[Any], object]

    def __getitem__(self, measure: Measure[T]) -> T:
        return cast(T, self.results[measure])


def watch(path: Path, measures: Iterable[Measure[Any]]) -> Film:
    """Measure `path`, decoding only what the measures need and nothing twice; `MediaError` if unreadable."""
    info = media_info(path)
    collectors = {measure: measure.start(info) for measure in measures}
    for event in _events(path, info, tuple(collectors.values())):
        for collector in collectors.values():
            match event:
                case Picture():
                    collector.see(event)
                case Sound():
                    collector.hear(event)
                case Fault():
                    collector.fault(event)
    return Film(info, {measure: collector.result() for measure, collector in collectors.items()})


def _events(
    path: Path, info: MediaInfo, collectors: tuple[Collector[object], ...]
) -> Iterator[Picture | Sound | Fault]:
    with open_media(path) as container:
        streams = _wanted_streams(container, collectors)
        if not streams:
            return
        picture_stream, sound_stream = _first_of(container, "video"), _first_of(container, "audio")
        origin_s = origin_s_of(container)
        tool = VideoReformatter()
        rate = info.video.average_rate or info.video.real_rate if info.video else None
        frame_s = float(1 / rate) if rate else 0.0
        index = 0
        for stream, frame in _decoded(container, streams):
            if isinstance(frame, Fault):
                yield frame
                continue
            if frame.is_corrupt:
                yield Fault(f"a damaged {stream.type} frame")
            time_s = None if frame.time is None else frame.time - origin_s
            if isinstance(frame, av.VideoFrame) and stream is picture_stream:
                shown_s = index * frame_s if time_s is None else time_s
                length_s = seconds(frame.duration or None, frame.time_base) or frame_s
                yield Picture(frame, DecodedFrame(frame, index, shown_s, tool), shown_s, shown_s + length_s)
                index += 1
            elif isinstance(frame, av.AudioFrame) and stream is sound_stream:
                yield Sound(frame, time_s, frame.samples / frame.sample_rate)


def _decoded(
    container: av.container.InputContainer, streams: list[av.stream.Stream]
) -> Iterator[tuple[av.stream.Stream, av.VideoFrame | av.AudioFrame | Fault]]:
    """Frames of `streams` as they come; the end of a damaged file is its last readable packet."""
    packets = container.demux(streams)
    while True:
        try:
            packet = next(packets, None)
        except av.FFmpegError as error:
            yield streams[0], Fault(f"the file cannot be read to its end: {error.strerror}")
            return
        if packet is None:
            return
        if packet.is_corrupt:
            yield packet.stream, Fault(f"a damaged {packet.stream.type} packet")
        try:
            frames = packet.decode()
        except av.FFmpegError as error:
            yield packet.stream, Fault(f"a {packet.stream.type} packet does not decode: {error.strerror}")
            continue
        for frame in frames:
            yield packet.stream, cast(av.VideoFrame | av.AudioFrame, frame)


def _wanted_streams(
    container: av.container.InputContainer, collectors: tuple[Collector[object], ...]
) -> list[av.stream.Stream]:
    every = any(collector.needs_every_stream for collector in collectors)
    wanted: list[av.stream.Stream | None] = []
    if every:
        wanted = [stream for stream in container.streams if stream.type in ("video", "audio")]
    else:
        if any(collector.needs_pictures for collector in collectors):
            wanted.append(_first_of(container, "video"))
        if any(collector.needs_sound for collector in collectors):
            wanted.append(_first_of(container, "audio"))
    streams = [stream for stream in wanted if stream is not None and stream.codec_context]
    for stream in streams:
        if isinstance(stream, av.VideoStream):
            stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
            stream.thread_type = "AUTO"
    return streams


def _first_of(container: av.container.InputContainer, kind: str) -> av.stream.Stream | None:
    cover = av.stream.Disposition.attached_pic
    streams = (stream for stream in container.streams if stream.type == kind and stream.codec_context)
    return next((stream for stream in streams if not stream.disposition & cover), None)
