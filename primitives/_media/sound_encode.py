"""Samples into packets of a codec, for sound that is written back."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.codec import Codec, CodecContext
from av.codec.codec import UnknownCodecError
from av.packet import Packet

from primitives._media.encode import AUDIO_ENCODERS
from primitives._media.film import SoundFacts
from primitives._media.sound_source import Samples, SoundSource

AnyPacket: TypeAlias = "Packet[Any]"
_MOST_BITS = {"aac": 192_000, "opus": 160_000, "ac3": 192_000, "mp3": 160_000, "mp2": 192_000, "vorbis": 160_000}
_LEAST_BITS = {"aac": 96_000, "opus": 64_000, "ac3": 96_000, "mp3": 96_000, "mp2": 96_000, "vorbis": 96_000}
_FINER = 1.5
_OTHER_ENCODERS = {"vorbis": "libvorbis", "mp2": "mp2", "eac3": "eac3", "alac": "alac", "wmav2": "wmav2"}


def encoder_name(codec: str) -> str:
    """The encoder that writes a codec."""
    return {**AUDIO_ENCODERS, **_OTHER_ENCODERS}.get(codec, codec)


def audio_encoder(name: str, codec: str, source: SoundSource) -> AudioCodecContext:
    encoder = CodecContext.create(name, "w")
    assert isinstance(encoder, AudioCodecContext)
    encoder.sample_rate, encoder.layout = source.facts.rate_hz, source.facts.layout
    settle(encoder, codec, source)
    return encoder


def settle(encoder: AudioCodecContext, codec: str, source: SoundSource) -> None:
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


def finer_bit_rate(own_bps: int, facts: SoundFacts) -> int:
    """For a short stretch that is coded a second time: at its own rate it would lose as much again."""
    return max(own_bps, min(_MOST_BITS[facts.codec] * facts.channels, round(_FINER * own_bps)))


def codec_for(source: SoundSource, container: str) -> str:
    """The source's codec where it can be written, else one that the container holds."""
    codec, rate = source.facts.codec, source.facts.rate_hz
    name = encoder_name(codec)
    try:
        encoder = Codec(name, "w")
    except UnknownCodecError:
        return _fallback(container)
    rates = list(encoder.audio_rates or [])
    return codec if not rates or rate in rates else _fallback(container)


def _fallback(container: str) -> str:
    return {"webm": "opus", "ogg": "flac", "wav": "pcm_s16le", "w64": "pcm_s16le", "mp3": "mp3"}.get(container, "aac")


def encoded_packets(
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


class TakenBytes:
    """Encoded PCM, taken as many bytes at a time as wanted."""

    def __init__(self, packets: Iterator[AnyPacket]) -> None:
        self._packets, self._waiting = packets, bytearray()

    def take(self, count: int) -> bytes:
        while len(self._waiting) < count:
            self._waiting += bytes(next(self._packets))
        taken = bytes(self._waiting[:count])
        del self._waiting[:count]
        return taken
