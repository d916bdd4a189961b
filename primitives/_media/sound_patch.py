"""Write changed sound back into a film: pictures and all else go over packet by packet, and so does the sound
outside the change where its codec allows.

- PCM: the bytes of the changed samples are replaced in their packets.
- AAC, AC-3, Opus in steady packets: only packets that the change touches are encoded anew, in place of the old
  ones and with their times. Neighbouring packets overlap, so the first and last new ones code sound that did
  not change; how well they meet the old ones is measured afterwards. That all others are bit-identical is checked.
- Anything else, or where the ends do not meet: the whole track is encoded anew, in time with the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import av.error
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.stream import Stream

from primitives._base import Call, UserError
from primitives._media.encode import AUDIO_ENCODERS, CONTAINERS
from primitives._media.sound_check import flaw
from primitives._media.sound_encode import (
    AnyPacket,
    TakenBytes,
    audio_encoder,
    codec_for,
    encoded_packets,
    encoder_name,
    finer_bit_rate,
    settle,
)
from primitives._media.sound_packets import NO_ROOM, no_room, opened_output, unwritable, wanted_packets, with_payload
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
_RUN_UP = 4
"""Packets that an encoder is fed before the first one that is kept."""
_COPIED_KINDS = frozenset({"video", "audio", "subtitle"})


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
            with opened_output(part, self.container) as out:
                self._copy(out, first, last, packets)
        except (av.error.FFmpegError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise no_room(part) from None
            return None
        total = len(self.source.pts)
        samples = range(self.change.first, self.change.last)
        wrong = flaw(self.source, part, range(first, last), samples, self.call.check)
        if wrong is not None:
            self.notes.append(f"{wrong}, so the whole track was encoded anew")
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
        encoder = audio_encoder(AUDIO_ENCODERS[facts.codec], facts.codec, self.source)
        with open_media(self.source.path, self.name) as container:
            stream = audio_stream(container)
            assert stream is not None
            header = stream.codec_context.extradata or b""
            if facts.codec == "aac":
                encoder.options = {"aac_pns": "0"}
                encoder.bit_rate = finer_bit_rate(encoder.bit_rate or 0, facts)
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
        encoder = audio_encoder(source.facts.codec, source.facts.codec, source)
        fresh = TakenBytes(encoded_packets(encoder, change.blocks(), source, change.first))
        for number, old in enumerate(self._payloads(first, last), first):
            begin = max(0, change.first - int(source.places[number])) * block
            end = min(len(old), (change.last - int(source.places[number])) * block)
            yield old[:begin] + fresh.take(end - begin) + old[end:]

    def _payloads(self, first: int, last: int) -> Iterator[bytes]:
        with open_media(self.source.path, self.name) as container:
            stream = audio_stream(container)
            assert stream is not None
            for number, packet in enumerate(wanted_packets(container, [stream.index])):
                if number >= last:
                    return
                if number >= first:
                    yield bytes(packet)

    def _new_payloads(self, encoder: AudioCodecContext, first: int, last: int) -> Iterator[bytes]:
        source, size = self.source, self.source.frame_size
        begin = int(source.places[first]) - _RUN_UP * size + self._delay()
        end = int(source.places[last]) + (_RUN_UP + 2) * size
        made = encoded_packets(encoder, self._mixed(begin, end), source, begin)
        at, wanted = begin, [int(place) for place in source.places[first:last]]
        for packet in made:
            at = packet.pts if packet.pts is not None else at
            if at in wanted:
                yield bytes(packet)
            at += size

    def _delay(self) -> int:
        """Samples by which this codec's encoder comes late."""
        encoder = audio_encoder(AUDIO_ENCODERS[self.source.facts.codec], self.source.facts.codec, self.source)
        quiet = np.zeros((self.source.facts.channels, 4 * self.source.frame_size), np.float32)
        made = next(encoded_packets(encoder, iter([quiet]), self.source, 0))
        return -(made.pts or 0)

    def _copy(self, out: OutputContainer, first: int, last: int, payloads: Iterator[bytes]) -> None:
        """Every packet of the source, with the payloads of `[first, last)` of the sound replaced."""
        with open_media(self.source.path, self.name) as container:
            sound = audio_stream(container)
            assert sound is not None
            streams = self._streams(container, out)
            number = -1
            for packet in wanted_packets(container, list(streams)):
                self._tell(packet)
                target = streams[packet.stream_index]
                if packet.stream_index == sound.index:
                    number += 1
                    if first <= number < last:
                        packet = with_payload(packet, next(payloads))
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

    def encoded(self, part: Path) -> PatchReport:
        """Write with the whole track encoded anew."""
        source = self.source
        codec = codec_for(source, self.container)
        if codec != source.facts.codec:
            self.notes.append(f"{source.facts.codec} cannot be written there, {codec} is")
        try:
            with opened_output(part, self.container) as out, open_media(source.path, self.name) as container:
                self._encode_into(out, container, codec)
        except OSError as error:
            if error.errno in NO_ROOM:
                raise no_room(part) from None
            raise unwritable(codec, self.container, error) from error
        except (av.error.FFmpegError, ValueError) as error:
            raise unwritable(codec, self.container, error) from error
        return PatchReport("encoded", len(source.pts), 0, tuple(self.notes))

    def _encode_into(self, out: OutputContainer, container: InputContainer, codec: str) -> None:
        source, sound = self.source, audio_stream(container)
        assert sound is not None
        streams = self._streams(container, out, but=sound.index)
        encoder = encoder_name(codec)
        fresh = out.add_stream(encoder, rate=source.facts.rate_hz, layout=source.facts.layout)
        assert isinstance(fresh, AudioStream)
        settle(fresh.codec_context, codec, source)
        span = source.heard(self.call.check)
        begin, end = min(span.start, self.change.first), max(span.stop, self.change.last)
        made = encoded_packets(fresh.codec_context, self._mixed(begin, end), source, begin)
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

        for packet in wanted_packets(container, list(streams)):
            self._tell(packet)
            packet_time = (packet.dts if packet.dts is not None else packet.pts or 0) * packet.time_base
            while heard is not None and (heard.dts or 0) * heard.time_base + source.scan.origin <= packet_time:
                mux_heard()
            packet.stream = streams[packet.stream_index]
            out.mux(packet)
        while heard is not None:
            mux_heard()
