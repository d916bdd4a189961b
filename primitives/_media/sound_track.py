"""The sound of an edit: each piece cut to the sample, joined with short cross-fades, mixed as one stream.

Every piece's place is rounded once from its exact time, so joins do not add up to drift. At a cut both
sounds run on for a moment beyond it and cross there: no click, and nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av.error
import av.filter
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler

from primitives._base import UserError
from primitives._media.film import SoundFacts
from primitives._media.scan import scan
from primitives._media.sound_read import Samples, frames_from

JOIN_FADE = Fraction(1, 200)
"""Seconds over which the sounds on both sides of a cut cross."""
_CHUNK = 4096


@dataclass(frozen=True)
class SoundPiece:
    """A stretch of sound at its place in the written film; `path` None is silence. All in exact seconds."""

    path: Path | None
    name: str
    start: Fraction
    length: Fraction
    source_start: Fraction
    speed: Fraction = Fraction(1)
    gain: float = 1.0
    fade_in: Fraction = Fraction(0)
    """Seconds over which the sound rises, from the handle's beginning on."""
    fade_out: Fraction = Fraction(0)
    handle_in: Fraction = Fraction(0)
    """Seconds that the sound begins before its start, to cross with the piece before."""
    handle_out: Fraction = Fraction(0)


def mix(pieces: list[SoundPiece], sound: SoundFacts, end: Fraction, check: Callable[[], None]) -> Iterator[Samples]:
    """The whole track as chunks of `[channels, samples]`, from 0 to `end` seconds."""
    total = round(end * sound.rate_hz)
    waiting = np.zeros((sound.channels, 0), np.float32)
    at = 0  # the place of waiting[0]
    for number, piece in enumerate(pieces):
        place = round((piece.start - piece.handle_in) * sound.rate_hz)
        for chunk in _shaped(piece, sound, check):
            check()
            chunk, place = (chunk[:, -place:], 0) if place < 0 else (chunk, place)
            waiting = _added(waiting, place - at, chunk)
            place += chunk.shape[1]
            following = pieces[number + 1] if number + 1 < len(pieces) else None
            safe = round((following.start - following.handle_in) * sound.rate_hz) if following else total
            ready = min(place, safe) - at
            if ready >= _CHUNK:
                yield waiting[:, :ready]
                waiting, at = waiting[:, ready:], at + ready
    if at + waiting.shape[1] < total:
        waiting = _added(waiting, total - at, np.zeros((sound.channels, 0), np.float32))
    yield waiting[:, : total - at]


def _added(waiting: Samples, offset: int, chunk: Samples) -> Samples:
    """`chunk` mixed onto `waiting` from a place on; grows as needed."""
    missing = offset + chunk.shape[1] - waiting.shape[1]
    if missing > 0:
        waiting = np.concatenate([waiting, np.zeros((chunk.shape[0], missing), np.float32)], axis=1)
    waiting[:, offset : offset + chunk.shape[1]] += chunk
    return waiting


def _shaped(piece: SoundPiece, sound: SoundFacts, check: Callable[[], None]) -> Iterator[Samples]:
    """A piece with its handles, gain and fades, exactly as long as its place in the film."""
    first = round((piece.start - piece.handle_in) * sound.rate_hz)
    count = round((piece.start + piece.length + piece.handle_out) * sound.rate_hz) - first
    rise, fall = round(piece.fade_in * sound.rate_hz), round(piece.fade_out * sound.rate_hz)
    at = 0
    for chunk in _exactly(_decoded(piece, sound, check), count, sound.channels):
        last = at + chunk.shape[1]
        shaped = chunk * np.float32(piece.gain)
        if at < rise:
            shaped *= np.clip((np.arange(at, last) + 0.5) / rise, 0, 1).astype(np.float32)
        if last > count - fall:
            shaped *= np.clip((count - np.arange(at, last) - 0.5) / fall, 0, 1).astype(np.float32)
        yield shaped
        at = last


def _exactly(chunks: Iterator[Samples], count: int, channels: int) -> Iterator[Samples]:
    """Exactly `count` samples: cut off or filled up with silence."""
    left = count
    for chunk in chunks:
        if chunk.shape[1] >= left:
            yield chunk[:, :left]
            return
        left -= chunk.shape[1]
        yield chunk
    while left > 0:
        size = min(left, _CHUNK)
        yield np.zeros((channels, size), np.float32)
        left -= size


def _decoded(piece: SoundPiece, sound: SoundFacts, check: Callable[[], None]) -> Iterator[Samples]:
    """The source's sound from the piece's start (handle included) on, at the target's rate and layout."""
    if piece.path is None:
        return
    start = piece.source_start - piece.handle_in * piece.speed
    resampler = AudioResampler(format="fltp", layout=sound.layout, rate=sound.rate_hz)
    tempo = _Tempo(piece.speed, sound) if piece.speed != 1 else None
    for frame in frames_from(piece.path, piece.name, start, check):
        for made in resampler.resample(frame):
            yield from tempo.push(made) if tempo else (_samples(made),)
    for made in resampler.resample(None):
        yield from tempo.push(made) if tempo else (_samples(made),)
    if tempo:
        yield from tempo.finish()


class _Tempo:
    """Plays faster or slower at the same pitch."""

    def __init__(self, speed: Fraction, sound: SoundFacts) -> None:
        self._graph = av.filter.Graph()
        node = self._graph.add_abuffer(
            sample_rate=sound.rate_hz, format="fltp", layout=sound.layout, time_base=Fraction(1, sound.rate_hz)
        )
        self._rate, self._fed = sound.rate_hz, 0
        for factor in tempo_steps(float(speed)):
            step = self._graph.add("atempo", f"{factor:.9f}")
            node.link_to(step)
            node = step
        # The tempo filter answers in packed samples; everything here is planar.
        planar = self._graph.add("aformat", "sample_fmts=fltp")
        node.link_to(planar)
        node = planar
        sink = self._graph.add("abuffersink")
        node.link_to(sink)
        self._graph.configure()

    def push(self, frame: AudioFrame) -> Iterator[Samples]:
        frame.pts, frame.time_base = self._fed, Fraction(1, self._rate)
        self._fed += frame.samples
        self._graph.push(frame)
        yield from self._drain()

    def finish(self) -> Iterator[Samples]:
        self._graph.push(None)
        yield from self._drain()

    def _drain(self) -> Iterator[Samples]:
        while True:
            try:
                made = self._graph.pull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            assert isinstance(made, AudioFrame)
            yield _samples(made)


def _samples(frame: AudioFrame) -> Samples:
    return np.asarray(frame.to_ndarray(), dtype=np.float32)


def tempo_steps(speed: float) -> list[float]:
    """Factors between a half and two whose product is the speed: one tempo filter does no more at good quality."""
    steps = []
    while speed > 2 or speed < 0.5:
        steps.append(2.0 if speed > 2 else 0.5)
        speed /= steps[-1]
    return [*steps, speed]


def sound_length(path: Path, name: str, check: Callable[[], None]) -> Fraction:
    """When a file's sound ends; refuses a file without any."""
    found = scan(path, name, check)
    if found.sound is None:
        raise UserError(f"{name} has no sound. Use a file with sound, or leave it out.")
    return found.sound.end
