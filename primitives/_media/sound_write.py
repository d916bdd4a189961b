"""The sound of a written film: copied untouched when nothing about it changes, else mixed and encoded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.packet import Packet
from av.stream import Stream

from primitives._edit import Piece, Sound
from primitives._edit_plan import Layout, keeps_times
from primitives._media.encode import Target, audio_encoder_settings
from primitives._media.film import Film, SoundFacts
from primitives._media.sound_track import JOIN_FADE, SoundPiece, mix
from primitives._media.source import audio_stream, open_media

_COPYABLE_CONTAINERS = frozenset({"mp4", "mov", "mkv", "webm"})


def sound_unchanged(pieces: Sequence[Piece], films: Sequence[Film], target: Target) -> bool:
    """Whether the pieces are one whole film with its own sound, so that its packets may go over as they are."""
    film, sound, at = films[0], films[0].sound, 0
    if sound is None or target.sound is None or film.container not in _COPYABLE_CONTAINERS:
        return False
    if (sound.codec, sound.rate_hz, sound.layout) != (target.sound.codec, target.sound.rate_hz, target.sound.layout):
        return False
    for piece, own in zip(pieces, films, strict=True):
        plain = piece.sound == Sound() and piece.join.kind != "fade" and piece.join.kind != "dip"
        if own.path != film.path or not plain or not keeps_times(piece, own.timeline, target.grid_fps):
            return False
        if piece.frames.start != at:
            return False
        at = piece.frames.stop
    return at == len(film.timeline)


def add_copied_sound(
    container: OutputContainer, film: Film, check: Callable[[], None]
) -> Iterator[Packet[AudioStream]]:
    """A stream like the film's sound, and its packets."""
    with open_media(film.path, film.name) as source:
        template = audio_stream(source)
        assert template is not None
        stream = container.add_stream_from_template(template)

    def packets() -> Iterator[Packet[AudioStream]]:
        with open_media(film.path, film.name) as source:
            own = audio_stream(source)
            assert own is not None and own.time_base is not None
            shift = round(film.scan.origin / own.time_base)
            for packet in source.demux(own):
                check()
                if not packet.size or packet.pts is None or packet.dts is None:
                    continue
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                packet.stream = stream
                yield packet

    return packets()


def add_encoded_sound(
    container: OutputContainer,
    pieces: Sequence[Piece],
    films: Sequence[Film],
    layout: Layout,
    sound: SoundFacts,
    check: Callable[[], None],
) -> Iterator[Packet[Stream]]:
    """A new stream and its packets: the edit's sound, encoded once."""
    encoder, bit_rate = audio_encoder_settings(sound)
    # Beside the default coder, which models hearing, this one stays nearer to the wave (5 to 9 dB) for less work.
    options = {"aac_coder": "fast"} if encoder == "aac" else None
    stream = container.add_stream(encoder, rate=sound.rate_hz, options=options, layout=sound.layout)
    assert isinstance(stream, AudioStream)
    if bit_rate:
        stream.bit_rate = bit_rate
    end = layout.placed[-1].start + layout.placed[-1].length
    track = sound_pieces(pieces, films, layout)

    def packets() -> Iterator[Packet[Stream]]:
        at = 0
        for chunk in mix(track, sound, end, check):
            if not chunk.shape[1]:
                continue
            samples = np.ascontiguousarray(np.clip(chunk, -1, 1))
            frame = AudioFrame.from_ndarray(samples, format="fltp", layout=sound.layout)
            frame.sample_rate, frame.time_base, frame.pts = sound.rate_hz, Fraction(1, sound.rate_hz), at
            at += chunk.shape[1]
            yield from stream.encode(frame)
        yield from stream.encode(None)

    return packets()


def sound_pieces(pieces: Sequence[Piece], films: Sequence[Film], layout: Layout) -> list[SoundPiece]:
    """The track of an edit: one stretch for each piece, with the fades of its joins; straight neighbours joined."""
    track: list[SoundPiece] = []
    for number, (piece, film, placed) in enumerate(zip(pieces, films, layout.placed, strict=True)):
        wanted = piece.sound
        silent = wanted.mute or (wanted.instead is None and film.sound is None)
        own = SoundPiece(
            path=None if silent else wanted.instead or film.path,
            name=wanted.instead_name or film.name,
            start=placed.start,
            length=placed.length,
            source_start=wanted.instead_start_s if wanted.instead else placed.source_start,
            speed=Fraction(1) if wanted.instead else placed.source_length / placed.length,
            gain=10 ** (wanted.gain_db / 20),
        )
        if track and _goes_on(track[-1], own, pieces[number - 1]):
            track[-1] = replace(track[-1], length=track[-1].length + own.length)
            continue
        if track:
            track[-1], own = _joined(track[-1], own, pieces[number - 1])
        track.append(own)
    return track


def _goes_on(before: SoundPiece, after: SoundPiece, piece: Piece) -> bool:
    """Whether a sound simply continues over a cut."""
    same = (before.path, before.speed, before.gain) == (after.path, after.speed, after.gain)
    reached = before.source_start + before.length * before.speed
    return piece.join.kind == "cut" and same and (before.path is None or reached == after.source_start)


def _joined(before: SoundPiece, after: SoundPiece, piece: Piece) -> tuple[SoundPiece, SoundPiece]:
    """Both sides of a join with their fades."""
    if piece.join.kind == "fade":
        overlap = before.start + before.length - after.start
        return replace(before, fade_out=overlap), replace(after, fade_in=overlap)
    if piece.join.kind == "dip":
        half = piece.join.seconds / 2
        return (
            replace(before, fade_out=min(half, before.length / 2)),
            replace(after, fade_in=min(half, after.length / 2)),
        )
    reach = min(JOIN_FADE, before.length / 2, after.length / 2) / 2
    return (
        replace(before, handle_out=reach, fade_out=2 * reach),
        replace(after, handle_in=reach, fade_in=2 * reach),
    )
