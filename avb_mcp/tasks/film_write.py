"""Write a film, by one path for all builders: the same pictures and sound give the same bytes, and nothing else shows.

No creation time, no name of an encoder, a fixed number of encoder threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.codec.context import Flags
from av.container import OutputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from primitives._media.film import Colour

RATE_HZ = 48_000
LIMITED_RANGE = 1
_UNKNOWN = 2
_SOUND_CHUNK = 4096

PLAIN = Colour(LIMITED_RANGE, _UNKNOWN, _UNKNOWN, _UNKNOWN)

Image = npt.NDArray[np.uint8]
"""One picture as planar YUV 4:2:0 (I420): luma rows, then both chroma planes."""
Sound = npt.NDArray[np.float32]
"""`[channels, samples]` at 48 kHz."""


@dataclass(frozen=True)
class Export:
    """How a film is written. Two films written alike differ in nothing but what they show."""

    crf: int = 17
    preset: str = "veryfast"
    audio_bit_rate_bps: int = 96_000
    """Per channel."""
    colour: Colour = PLAIN


EXPORT = Export()


def write_film(
    path: Path, pictures: Iterable[Image], fps: Fraction, sound: Sound | None, export: Export = EXPORT
) -> int:
    """Write an mp4 (H.264, AAC) whose bytes depend on nothing but what is given; the number of frames written.

    The sound is written to its full length: give as much of it as there are pictures.
    """
    source = iter(pictures)
    first = next(source, None)
    if first is None:
        raise ValueError("a film needs at least one picture")
    with av.open(str(path), "w", format="mp4", container_options={"fflags": "+bitexact"}) as writer:
        video = _video_stream(writer, first, fps, export)
        track = _Track(writer, sound, export) if sound is not None else None
        count = 0
        for count, picture in enumerate(_chained(first, source), 1):
            frame = VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = count - 1, 1 / fps
            writer.mux(video.encode(frame))
            if track is not None:
                track.write_until(round(count / fps * RATE_HZ))
        writer.mux(video.encode(None))
        if track is not None:
            track.finish()
    return count


def _chained(first: Image, rest: Iterator[Image]) -> Iterator[Image]:
    yield first
    yield from rest


class _Track:
    """The sound of a film being written, kept in step with the pictures."""

    def __init__(self, writer: OutputContainer, sound: Sound, export: Export) -> None:
        self._writer, self._sound, self._at = writer, sound, 0
        self._layout = layout_of(len(sound))
        # The fast coder takes half the time at the same fidelity.
        stream = writer.add_stream("aac", rate=RATE_HZ, layout=self._layout, options={"aac_coder": "fast"})
        assert isinstance(stream, AudioStream)
        stream.bit_rate = export.audio_bit_rate_bps * len(sound)
        stream.codec_context.flags |= Flags.bitexact
        self._stream = stream

    def write_until(self, end: int) -> None:
        """Encode whole chunks up to a sample."""
        while self._at + _SOUND_CHUNK <= min(end, self._sound.shape[1]):
            self._encode(self._at + _SOUND_CHUNK)

    def finish(self) -> None:
        """Encode the rest."""
        while self._at < self._sound.shape[1]:
            self._encode(min(self._at + _SOUND_CHUNK, self._sound.shape[1]))
        self._writer.mux(self._stream.encode(None))

    def _encode(self, until: int) -> None:
        samples = np.ascontiguousarray(np.clip(self._sound[:, self._at : until], -1.0, 1.0), dtype=np.float32)
        frame = AudioFrame.from_ndarray(samples, format="fltp", layout=self._layout)
        frame.sample_rate, frame.time_base, frame.pts = RATE_HZ, Fraction(1, RATE_HZ), self._at
        self._writer.mux(self._stream.encode(frame))
        self._at = until


def _video_stream(writer: OutputContainer, picture: Image, fps: Fraction, export: Export) -> VideoStream:
    # The number of threads decides the bits, so that it is fixed and not the machine's.
    options = {"preset": export.preset, "crf": str(export.crf), "threads": "2", "x264-params": "sliced-threads=0"}
    stream = writer.add_stream("libx264", rate=fps, options=options)
    assert isinstance(stream, VideoStream)
    context = stream.codec_context
    context.flags |= Flags.bitexact
    context.width, context.height, context.pix_fmt = picture.shape[1], picture.shape[0] * 2 // 3, "yuv420p"
    context.sample_aspect_ratio = Fraction(1)
    context.color_range, context.color_primaries = export.colour.range, export.colour.primaries
    context.color_trc, context.colorspace = export.colour.transfer, export.colour.space
    context.time_base = 1 / fps
    return stream


def layout_of(channels: int) -> str:
    """libav's name of one or two channels."""
    return "mono" if channels == 1 else "stereo"
