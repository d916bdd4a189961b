"""A file's sound at its own rate and layout, counted by sample: where every packet lies, and reading any stretch.

Timestamps of some containers are rounded to milliseconds. Where packets follow each other without a hole,
samples are counted from the first one instead, so that what is read once and written back meets itself exactly.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import av.error
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.packet import Packet
from numpy.typing import NDArray

from primitives._base import UserError
from primitives._media.film import SoundFacts, sound_facts
from primitives._media.scan import Scan, scan
from primitives._media.source import audio_stream, container_name, open_media

Samples = NDArray[np.float32]
"""`[channels, samples]`, full scale at 1."""
_PREROLLS_S = (0.5, 5.0, None)
"""Seconds to decode before a stretch, since decoders need a run-up; more where seeking lands too late."""
_SLACK_S = 0.002
"""Rounded timestamps are off by less."""
_HOLE_S = 0.02
_CHECK_EVERY = 512
MAX_CHANNELS = 16


@dataclass(frozen=True, eq=False)
class SoundSource:
    """The sound of a file. Positions count samples from the film's time 0."""

    path: Path
    name: str
    container: str
    scan: Scan
    facts: SoundFacts
    pts: NDArray[np.int64]
    """Of each packet, in the stream's time base."""
    places: NDArray[np.int64]
    """The first sample of each packet, and the end of the last one."""
    steady: bool
    """The packets follow each other without a hole."""
    bytes_per_sample: int
    """Of all channels together; 0 where the codec is not plain PCM."""
    _spans: list[range] = field(default_factory=list, repr=False)
    """What `heard` found, once it did."""

    @property
    def first(self) -> int:
        """The first sample."""
        return int(self.places[0])

    @property
    def last(self) -> int:
        """The sample after the last one."""
        return int(self.places[-1])

    @cached_property
    def frame_size(self) -> int:
        """Samples in a packet where all hold the same number, else 0."""
        sizes = np.diff(self.places)
        return int(sizes[0]) if len(sizes) and np.all(sizes[:-1] == sizes[0]) else 0

    def heard(self, check: Callable[[], None]) -> range:
        """The samples that decode: without the delay and padding that an encoder added."""
        if not self._spans:
            head = next(self.parts(self.first, self.last, check), None)
            ends = [
                place + part.shape[1] for place, part in self.parts(self.last - self.facts.rate_hz, self.last, check)
            ]
            self._spans.append(range(head[0] if head else self.first, ends[-1] if ends else self.last))
        return self._spans[0]

    def place(self, time_s: float) -> int:
        """The sample at a time."""
        return round(time_s * self.facts.rate_hz)

    def read(self, first: int, last: int, check: Callable[[], None]) -> Samples:
        """The samples `[first, last)`; silence wherever the file has none."""
        made = np.zeros((self.facts.channels, max(0, last - first)), np.float32)
        for place, part in self.parts(first, last, check):
            made[:, place - first : place - first + part.shape[1]] = part
        return made

    def parts(self, first: int, last: int, check: Callable[[], None]) -> Iterator[tuple[int, Samples]]:
        """Decoded stretches of `[first, last)` in order, each with its first sample; holes are left out."""
        reached = first
        for place, part in self._decoded(first, check):
            if place >= last:
                return
            begin, end = max(reached, place), min(last, place + part.shape[1])
            if end > begin:
                yield begin, part[:, begin - place : end - place]
                reached = end

    def blocks(self, first: int, last: int, size: int, check: Callable[[], None]) -> Iterator[Samples]:
        """The samples `[first, last)` in blocks of `size`, holes filled with silence."""
        block, at = np.zeros((self.facts.channels, size), np.float32), first
        for place, part in self.parts(first, last, check):
            while place + part.shape[1] > at + size:
                room = max(0, at + size - place)
                block[:, size - room :] = part[:, :room]
                yield block
                block, at = np.zeros_like(block), at + size
                place, part = place + room, part[:, room:]
            block[:, place - at : place - at + part.shape[1]] = part
        while at < last:
            yield block[:, : min(size, last - at)]
            block, at = np.zeros_like(block), at + size

    def _decoded(self, first: int, check: Callable[[], None]) -> Iterator[tuple[int, Samples]]:
        # Without steady packets only counting from the beginning gives one place to each sample.
        for preroll_s in _PREROLLS_S if self.steady else (None,):
            found = self._decoded_from(None if preroll_s is None else first / self.facts.rate_hz - preroll_s, check)
            head = next(found, None)
            if head is None or (head[0] > max(first, self.first) and preroll_s is not None):
                continue
            yield head
            yield from found
            return

    def _decoded_from(self, start_s: float | None, check: Callable[[], None]) -> Iterator[tuple[int, Samples]]:
        resampler = AudioResampler(format="fltp")
        with open_media(self.path, self.name) as container:
            stream = audio_stream(container)
            assert stream is not None and stream.time_base is not None
            if start_s is not None and start_s > float(self.first / self.facts.rate_hz):
                try:
                    container.seek(round((Fraction(start_s) + self.scan.origin) / stream.time_base), stream=stream)
                except av.error.FFmpegError:
                    return
            expected: int | None = None
            for packet in _until_damage(container.demux(stream)):
                check()
                for frame in _decode(packet):
                    if (frame.sample_rate, frame.layout.nb_channels) != (self.facts.rate_hz, self.facts.channels):
                        continue  # damage that decodes as another kind of sound
                    place = self._place_of(frame, expected)
                    expected = place + frame.samples
                    for made in resampler.resample(frame):
                        yield place, np.asarray(made.to_ndarray(), np.float32)

    def _place_of(self, frame: AudioFrame, expected: int | None) -> int:
        if frame.pts is None or frame.time_base is None:
            return expected if expected is not None else self.first
        rate = self.facts.rate_hz
        stamped = round((frame.pts * frame.time_base - self.scan.origin) * rate)
        if expected is not None and abs(stamped - expected) < _HOLE_S * rate:
            return expected
        if not self.steady:
            return stamped
        # A frame begins where its packet does, or ends there when its head (an encoder's delay) is cut off.
        after = int(np.clip(np.searchsorted(self.places, stamped), 1, len(self.places) - 1))
        near = [int(place) for place in self.places[after - 1 : after + 1]]
        candidates = near + [place - frame.samples for place in near]
        best = min(candidates, key=lambda place: abs(place - stamped))
        return best if abs(best - stamped) <= _SLACK_S * rate else stamped


def open_sound(path: Path, name: str, check: Callable[[], None]) -> SoundSource:
    """The sound of a file, or a sentence why there is none to work on."""
    found = scan(path, name, check)
    facts = sound_facts(path, name) if found.sound is not None else None
    if facts is None or found.sound is None:
        raise UserError(f"{name} has no sound. Use a file with sound; probe lists the streams.")
    if not facts.rate_hz or not 0 < facts.channels <= MAX_CHANNELS:
        raise UserError(f"The sound of {name} ({facts.codec}) does not decode here. Use AAC, MP3, Opus, FLAC or PCM.")
    with open_media(path, name) as container:
        stream = audio_stream(container)
        assert stream is not None
        block = _bytes_per_sample(stream)
        pts, sizes = _packets(container.demux(stream), stream, block, check)
        if not len(pts):
            raise UserError(f"{name} holds no sound that can be read. Use a file that has been written completely.")
        places, steady = _places(pts, sizes, stream, found.origin, facts.rate_hz)
        return SoundSource(
            path, name, container_name(container, path), found, facts, pts, places, steady, block if steady else 0
        )


def _packets(
    packets: Iterator[Packet[AudioStream]], stream: AudioStream, block: int, check: Callable[[], None]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Timestamp and number of samples of each packet."""
    pts, sizes = array("q"), array("q")
    assert stream.time_base is not None
    rate = stream.codec_context.sample_rate
    framed = 0 if block else stream.codec_context.frame_size or 0
    for number, packet in enumerate(_until_damage(packets)):
        if number % _CHECK_EVERY == 0:
            check()
        if not packet.size or packet.pts is None:
            continue
        pts.append(packet.pts)
        sizes.append(
            packet.size // block if block else framed or round((packet.duration or 0) * stream.time_base * rate)
        )
    return np.frombuffer(pts, np.int64).copy(), np.frombuffer(sizes, np.int64).copy()


def _places(
    pts: NDArray[np.int64], sizes: NDArray[np.int64], stream: AudioStream, origin: Fraction, rate_hz: int
) -> tuple[NDArray[np.int64], bool]:
    """Where the packets lie by counting, or by their stamps where counting disagrees."""
    assert stream.time_base is not None
    step = float(stream.time_base * rate_hz)
    stamped = pts * step - float(origin * rate_hz)
    counted = np.concatenate([[0], np.cumsum(sizes)])
    first = round(float(np.median(stamped - counted[:-1]))) if step > 1 else round(float(stamped[0]))
    steady = bool(np.all(sizes[:-1] > 0) and np.max(np.abs(stamped - first - counted[:-1])) <= _SLACK_S * rate_hz)
    if not steady and len(pts) > 2:  # durations may be rounded too: perhaps all packets hold the same number
        size = round(float(stamped[-1] - stamped[0]) / (len(pts) - 1))
        counted = np.arange(len(pts) + 1) * size
        steady = bool(size > 0 and np.max(np.abs(stamped - stamped[0] - counted[:-1])) <= _SLACK_S * rate_hz)
        first = round(float(np.median(stamped - counted[:-1])))
    if steady:
        return counted + first, True
    ends = np.rint(stamped).astype(np.int64)
    return np.append(ends, ends[-1] + max(1, int(sizes[-1]))), False


def _bytes_per_sample(stream: AudioStream) -> int:
    context = stream.codec_context
    if not context.name.startswith("pcm_") or context.name in {"pcm_bluray", "pcm_dvd"}:
        return 0
    bits = {"pcm_alaw": 8, "pcm_mulaw": 8}.get(context.name)
    bits = bits or int("".join(letter for letter in context.name if letter.isdigit()) or 0)
    return bits // 8 * context.channels


def _decode(packet: Packet[AudioStream]) -> list[AudioFrame]:
    try:
        return packet.decode()
    except av.error.FFmpegError:
        return []  # the end, or damage: a hole


def _until_damage(packets: Iterator[Packet[AudioStream]]) -> Iterator[Packet[AudioStream]]:
    try:
        yield from packets
    except av.error.FFmpegError:
        return
