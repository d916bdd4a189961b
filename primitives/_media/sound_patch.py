"""Write changed sound back into a film: pictures and all else go over packet by packet, and so does the sound
outside the change where its codec allows.

- PCM: the bytes of the changed samples are replaced in their packets.
- AAC, AC-3, Opus in steady packets: only packets that the change touches are encoded anew, in place of the old
  ones and with their times. Neighbouring packets overlap, so the first and last new ones code sound that did
  not change; how well they meet the old ones is measured afterwards.
- Anything else, or where the ends do not meet: the whole track is encoded anew, in time with the old one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

import av
import av.error
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.codec import Codec, CodecContext
from av.codec.codec import UnknownCodecError
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.stream import Stream

from primitives._base import Call, UserError
from primitives._media.encode import AUDIO_ENCODERS, CONTAINERS
from primitives._media.sound_source import Samples, SoundSource
from primitives._media.source import audio_stream, open_media

SOUND_CONTAINERS = {
    ".wav": "wav",
    ".flac": "flac",
    ".mp3": "mp3",
    ".m4a": "ipod",
    ".aac": "adts",
    ".ogg": "ogg",
    ".opus": "ogg",
    ".mpeg": "mpeg",
    ".w64": "w64",
}
OVERLAPPING = {"aac": 1, "ac3": 1, "opus": 5}
"""Codecs whose packets can be replaced, with the packets that a decoder needs until it forgets what came before."""
MEETS_DB = 18.0
"""How far below the sound the difference must lie where new packets meet old ones."""
_NEAR_SILENCE = 10 ** (-75 / 10)
_RUN_UP = 4
"""Packets that an encoder is fed before the first one that is kept."""
_MOST_BITS = {"aac": 192_000, "opus": 160_000, "ac3": 192_000, "mp3": 160_000, "mp2": 192_000, "vorbis": 160_000}
_LEAST_BITS = {"aac": 96_000, "opus": 64_000, "ac3": 96_000, "mp3": 96_000, "mp2": 96_000, "vorbis": 96_000}
_OTHER_ENCODERS = {"vorbis": "libvorbis", "mp2": "mp2", "eac3": "eac3", "alac": "alac", "wmav2": "wmav2"}
_LOSSLESS = ("flac", "alac", "pcm_")
_NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
_COPIED_KINDS = frozenset({"video", "audio", "subtitle"})
AnyPacket: TypeAlias = "Packet[Any]"


@dataclass(frozen=True, eq=False)
class SoundChange:
    """New samples for `[first, last)`: `blocks()` gives them in order, `[channels, samples]`, as often as asked."""

    first: int
    last: int
    blocks: Callable[[], Iterator[Samples]]


@dataclass(frozen=True)
class PatchReport:
    """How the sound was written."""

    how: Literal["samples", "packets", "encoded"]
    """`samples`: replaced in PCM; `packets`: only those around the change are new; `encoded`: the whole track is."""
    packets: int
    packets_copied: int
    notes: tuple[str, ...]


def write_sound(source: SoundSource, change: SoundChange, output: Path, call: Call) -> PatchReport:
    """Write the file with its sound changed; nothing is left behind when it fails or is cancelled."""
    suffix = output.suffix.lower()
    container = {**CONTAINERS, **SOUND_CONTAINERS}.get(suffix)
    if container is None:
        known = ", ".join([*CONTAINERS, *SOUND_CONTAINERS])
        raise UserError(f"Files ending in {suffix or 'nothing'} cannot be written. Use {known}.")
    with call.workspace.atomic(output) as part:
        job = _Job(source, change, container, call)
        report = job.replaced(part)
        if report is None:
            report = job.encoded(part)
    return report


class _Job:
    def __init__(self, source: SoundSource, change: SoundChange, container: str, call: Call) -> None:
        self.source, self.change, self.container, self.call = source, change, container, call
        self.name, self.notes = source.name, list[str]()

    def replaced(self, part: Path) -> PatchReport | None:
        """Write with only the touched packets new; None where that is not possible or did not work out."""
        plan = self._plan()
        if plan is None:
            return None
        first, last, packets = plan
        try:
            with _opened(part, self.container) as out:
                self._copy(out, first, last, packets)
        except (av.error.FFmpegError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise _no_room(part) from None
            return None
        total = len(self.source.pts)
        if not self.source.bytes_per_sample and not self._meets(part, first, last):
            self.notes.append("new and old packets did not meet well, so the whole track was encoded anew")
            return None
        how: Literal["samples", "packets"] = "samples" if self.source.bytes_per_sample else "packets"
        return PatchReport(how, total, total - (last - first), tuple(self.notes))

    def _plan(self) -> tuple[int, int, Iterator[bytes]] | None:
        """The packets `[first, last)` to replace, and their new payloads in order."""
        source, change = self.source, self.change
        if not source.steady or change.first >= change.last or self.container in {"mpegts", "adts", "mpeg", "avi"}:
            return None
        places = source.places
        if source.bytes_per_sample:
            first = int(np.searchsorted(places, change.first, side="right")) - 1
            last = int(np.searchsorted(places[:-1], change.last))
            return max(0, first), last, self._pcm_payloads(max(0, first), last)
        overlap = OVERLAPPING.get(source.facts.codec)
        size = source.frame_size
        if overlap is None or not size:
            return None
        first = int(np.searchsorted(places, change.first - overlap * size, side="right")) - 1
        last = int(np.searchsorted(places[:-1], change.last)) + overlap - 1
        if first < 1 or last > len(source.pts) - 1 or last - first > 0.9 * len(source.pts):
            return None  # the ends of a track carry an encoder's delay and padding
        encoder = self._matching_encoder()
        return (first, last, self._new_payloads(encoder, first, last)) if encoder is not None else None

    def _matching_encoder(self) -> AudioCodecContext | None:
        """An encoder whose packets fit between the old ones; None where the stream's header differs from its own."""
        facts = self.source.facts
        if facts.layout not in {"mono", "stereo", "5.1", "5.1(side)"}:
            return None
        encoder = _audio_encoder(AUDIO_ENCODERS[facts.codec], facts.codec, self.source)
        with open_media(self.source.path, self.name) as container:
            stream = audio_stream(container)
            assert stream is not None
            header = stream.codec_context.extradata or b""
            if facts.codec == "aac":
                encoder.options = {"aac_pns": "0"}
            try:
                encoder.open()
            except (av.error.FFmpegError, ValueError):
                return None
            same = {"aac": header[:2] == (encoder.extradata or b"")[:2] and len(header) >= 2}
            fits = encoder.frame_size == self.source.frame_size and same.get(facts.codec, True)
        return encoder if fits else None

    def _mixed(self, first: int, last: int) -> Iterator[Samples]:
        """The samples `[first, last)` with the change in them."""
        source, change, check = self.source, self.change, self.call.check
        size = source.facts.rate_hz
        yield from source.blocks(first, min(last, change.first), size, check)
        yield from change.blocks()
        yield from source.blocks(change.last, last, size, check)

    def _pcm_payloads(self, first: int, last: int) -> Iterator[bytes]:
        """The packets with the changed samples' bytes replaced; all else in them stays as it is."""
        source, change, block = self.source, self.change, self.source.bytes_per_sample
        encoder = _audio_encoder(source.facts.codec, source.facts.codec, source)
        fresh = _Bytes(_encoded(encoder, change.blocks(), source, change.first))
        for number, old in enumerate(self._payloads(first, last), first):
            begin = max(0, change.first - int(source.places[number])) * block
            end = min(len(old), (change.last - int(source.places[number])) * block)
            yield old[:begin] + fresh.take(end - begin) + old[end:]

    def _payloads(self, first: int, last: int) -> Iterator[bytes]:
        with open_media(self.source.path, self.name) as container:
            stream = audio_stream(container)
            assert stream is not None
            for number, packet in enumerate(_sound_packets(container, stream)):
                if number >= last:
                    return
                if number >= first:
                    yield bytes(packet)

    def _new_payloads(self, encoder: AudioCodecContext, first: int, last: int) -> Iterator[bytes]:
        source, size = self.source, self.source.frame_size
        begin = int(source.places[first]) - _RUN_UP * size + self._delay()
        end = int(source.places[last]) + (_RUN_UP + 2) * size
        made = _encoded(encoder, self._mixed(begin, end), source, begin)
        at, wanted = begin, [int(place) for place in source.places[first:last]]
        for packet in made:
            at = packet.pts if packet.pts is not None else at
            if at in wanted:
                yield bytes(packet)
            at += size

    def _delay(self) -> int:
        """Samples by which this codec's encoder comes late."""
        encoder = _audio_encoder(AUDIO_ENCODERS[self.source.facts.codec], self.source.facts.codec, self.source)
        quiet = np.zeros((self.source.facts.channels, 4 * self.source.frame_size), np.float32)
        made = next(_encoded(encoder, iter([quiet]), self.source, 0))
        return -(made.pts or 0)

    def _copy(self, out: OutputContainer, first: int, last: int, payloads: Iterator[bytes]) -> None:
        """Every packet of the source, with the payloads of `[first, last)` of the sound replaced."""
        with open_media(self.source.path, self.name) as container:
            sound = audio_stream(container)
            assert sound is not None
            streams = self._streams(container, out)
            number = -1
            for packet in _wanted(container, list(streams)):
                self._tell(packet)
                target = streams[packet.stream_index]
                if packet.stream_index == sound.index:
                    number += 1
                    if first <= number < last:
                        packet = _with_payload(packet, next(payloads))
                packet.stream = target
                out.mux(packet)

    def _streams(self, container: InputContainer, out: OutputContainer, but: int = -1) -> dict[int, Stream]:
        """A stream like each one that is copied, by its number in the source."""
        made: dict[int, Stream] = {}
        left_out = 0
        for stream in container.streams:
            if stream.index == but:
                continue
            try:
                if stream.type not in _COPIED_KINDS or (stream.type == "subtitle" and self.container in {"mp4", "mov"}):
                    raise ValueError("not copied")
                made[stream.index] = out.add_stream_from_template(stream)
            except (ValueError, av.error.FFmpegError):
                left_out += 1
        if left_out:
            self.notes.append(f"{left_out} other streams (subtitles, data) were left out")
        return made

    def _tell(self, packet: AnyPacket) -> None:
        if packet.pts is not None and packet.time_base is not None:
            total = float(self.source.scan.duration)
            done = float(packet.pts * packet.time_base - self.source.scan.origin)
            self.call.progress(max(0.0, min(done, total)), total, "writing")

    def _meets(self, part: Path, first: int, last: int) -> bool:
        """Whether the written file sounds like the source where new packets meet old ones."""
        from primitives._media.sound_source import open_sound

        source, size, check = self.source, self.source.frame_size, self.call.check
        written = open_sound(part, self.name, check)
        if (written.first, written.last) != (source.first, source.last):
            self.notes.append("the container moved the sound")
            return False

        def error(begin: int, count: int) -> float:
            old, new = (one.read(begin, begin + count, check).astype(np.float64) for one in (source, written))
            return float(np.mean((new - old) ** 2) / (np.mean(old**2) + _NEAR_SILENCE))

        allowed = 10 ** (-MEETS_DB / 10)
        head, tail = int(source.places[first]), int(source.places[last])
        # Noise that a decoder makes up differs each time: even copied packets further on then differ by so much.
        made_up = error(tail + 2 * size, 4 * size)
        return error(head - size, 2 * size) <= allowed and error(tail, 2 * size) <= max(allowed, 4 * made_up)

    def encoded(self, part: Path) -> PatchReport:
        """Write with the whole track encoded anew."""
        source = self.source
        codec = _codec_for(source, self.container)
        if codec != source.facts.codec:
            self.notes.append(f"{source.facts.codec} cannot be written there, {codec} is")
        try:
            with _opened(part, self.container) as out, open_media(source.path, self.name) as container:
                self._encode_into(out, container, codec)
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise _no_room(part) from None
            raise _unwritable(codec, self.container, error) from error
        except (av.error.FFmpegError, ValueError) as error:
            raise _unwritable(codec, self.container, error) from error
        return PatchReport("encoded", len(source.pts), 0, tuple(self.notes))

    def _encode_into(self, out: OutputContainer, container: InputContainer, codec: str) -> None:
        source, sound = self.source, audio_stream(container)
        assert sound is not None
        streams = self._streams(container, out, but=sound.index)
        encoder = {**AUDIO_ENCODERS, **_OTHER_ENCODERS}.get(codec, codec)
        fresh = out.add_stream(encoder, rate=source.facts.rate_hz, layout=source.facts.layout)
        assert isinstance(fresh, AudioStream)
        _settle(fresh.codec_context, codec, source)
        span = source.heard(self.call.check)
        begin, end = min(span.start, self.change.first), max(span.stop, self.change.last)
        made = _encoded(fresh.codec_context, self._mixed(begin, end), source, begin)
        if self.container == "adts":  # has no place for an encoder's delay
            made = (packet for packet in made if (packet.pts or 0) >= begin)
        heard = next(made, None)

        def mux_heard() -> None:
            nonlocal heard
            assert heard is not None
            shift = round(source.scan.origin / heard.time_base)
            heard.pts = None if heard.pts is None else heard.pts + shift
            heard.dts = None if heard.dts is None else heard.dts + shift
            heard.stream = fresh
            out.mux(heard)
            self.call.check()
            heard = next(made, None)

        for packet in _wanted(container, list(streams)):
            self._tell(packet)
            packet_time = (packet.dts if packet.dts is not None else packet.pts or 0) * packet.time_base
            while heard is not None and (heard.dts or 0) * heard.time_base + source.scan.origin <= packet_time:
                mux_heard()
            packet.stream = streams[packet.stream_index]
            out.mux(packet)
        while heard is not None:
            mux_heard()


def _audio_encoder(name: str, codec: str, source: SoundSource) -> AudioCodecContext:
    encoder = CodecContext.create(name, "w")
    assert isinstance(encoder, AudioCodecContext)
    encoder.sample_rate, encoder.layout = source.facts.rate_hz, source.facts.layout
    _settle(encoder, codec, source)
    return encoder


def _settle(encoder: AudioCodecContext, codec: str, source: SoundSource) -> None:
    formats = [one.name for one in encoder.codec.audio_formats or []]
    if formats:
        deep = source.facts.codec.startswith(("pcm_s24", "pcm_s32", "pcm_f")) or "s16" not in formats
        wanted = ["fltp", "flt", "s32", "s32p"] if deep else ["fltp", "flt", "s16", "s16p"]
        encoder.format = next((one for one in [*wanted, *formats] if one in formats), formats[0])
    if codec in _MOST_BITS:
        own = source.facts.bit_rate_bps if codec == source.facts.codec else 0
        most, least = (bits[codec] * source.facts.channels for bits in (_MOST_BITS, _LEAST_BITS))
        encoder.bit_rate = min(most, max(least, own or 0))
    encoder.time_base = Fraction(1, source.facts.rate_hz)


def _codec_for(source: SoundSource, container: str) -> str:
    """The source's codec where it can be written, else one that the container holds."""
    codec, rate = source.facts.codec, source.facts.rate_hz
    name = {**AUDIO_ENCODERS, **_OTHER_ENCODERS}.get(codec, codec)
    try:
        encoder = Codec(name, "w")
    except UnknownCodecError:
        return _fallback(container)
    rates = list(encoder.audio_rates or [])
    return codec if not rates or rate in rates else _fallback(container)


def _fallback(container: str) -> str:
    return {"webm": "opus", "ogg": "flac", "wav": "pcm_s16le", "w64": "pcm_s16le", "mp3": "mp3"}.get(container, "aac")


def _encoded(
    encoder: AudioCodecContext, blocks: Iterator[Samples], source: SoundSource, first: int
) -> Iterator[AnyPacket]:
    """Samples from place `first` on, encoded; packet times count samples from the film's time 0."""
    rate, layout = source.facts.rate_hz, source.facts.layout
    at, resampler = first, None
    for block in blocks:
        if not block.shape[1]:
            continue
        frame = AudioFrame.from_ndarray(np.ascontiguousarray(np.clip(block, -1, 1)), format="fltp", layout=layout)
        frame.sample_rate, frame.time_base, frame.pts = rate, Fraction(1, rate), at
        at += block.shape[1]
        if resampler is None:
            if not encoder.is_open:
                encoder.open()
            resampler = AudioResampler(encoder.format, layout, rate, frame_size=encoder.frame_size or None)
        for made in resampler.resample(frame):
            yield from encoder.encode(made)
    if resampler is not None:
        for made in resampler.resample(None):
            yield from encoder.encode(made)
        yield from encoder.encode(None)


class _Bytes:
    """Encoded PCM, taken as many bytes at a time as wanted."""

    def __init__(self, packets: Iterator[AnyPacket]) -> None:
        self._packets, self._waiting = packets, bytearray()

    def take(self, count: int) -> bytes:
        while len(self._waiting) < count:
            self._waiting += bytes(next(self._packets))
        taken = bytes(self._waiting[:count])
        del self._waiting[:count]
        return taken


def _wanted(container: InputContainer, indexes: list[int]) -> Iterator[AnyPacket]:
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


def _sound_packets(container: InputContainer, stream: AudioStream) -> Iterator[AnyPacket]:
    return _wanted(container, [stream.index])


def _with_payload(old: AnyPacket, payload: bytes) -> AnyPacket:
    made: AnyPacket = Packet(payload)
    made.time_base, made.pts, made.dts, made.duration = old.time_base, old.pts, old.dts, old.duration
    made.is_keyframe = True
    return made


@contextmanager
def _opened(path: Path, container_format: str) -> Iterator[OutputContainer]:
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


def _no_room(path: Path) -> UserError:
    return UserError(f"{path.parent.name}/ has no room left on the disk. Free some space, then try again.")


def _unwritable(codec: str, container: str, error: BaseException) -> UserError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return UserError(f"The sound could not be written as {codec} in {container} ({why}). Use an output ending in .mkv.")
