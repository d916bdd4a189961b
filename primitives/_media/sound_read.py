"""Read a file's sound in flat memory, to the sample: at its own rate or another, in mono, stereo or as it is.

Time 0 is the film's own (its first frame; its first sample where there are no pictures), so a sample's place is
its time times the rate. Sound that starts late or has holes is filled with silence; damage is a hole like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import av.error
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.layout import AudioLayout
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.packet import Packet
from numpy.typing import NDArray

from primitives._base import UserError
from primitives._media.scan import scan
from primitives._media.source import audio_stream, open_media

Samples = NDArray[np.float32]
"""`[channels, samples]`, full scale is 1."""
PREROLL = Fraction(1, 2)
"""Seconds to decode before a cut: the first packet after a seek decodes wrongly."""
GAP = Fraction(1, 50)
"""A jump in timestamps from here on is a hole in the sound, not rounding."""
SIDE_LEVEL = 0.7071
"""How loud what is neither left nor right, or not in front, comes into a mix of fewer channels."""


def read_sound(
    path: Path, name: str, start_s: float, end_s: float, rate_hz: int, channels: int | None, check: Callable[[], None]
) -> Samples:
    """The sound of `[start_s, end_s)` at once; for ranges that may stand in memory. See `sound_blocks`."""
    return np.concatenate(list(sound_blocks(path, name, start_s, end_s, rate_hz, channels, 10.0, check)), axis=1)


def sound_blocks(
    path: Path,
    name: str,
    start_s: float,
    end_s: float,
    rate_hz: int | None,
    channels: int | None,
    block_s: float,
    check: Callable[[], None],
) -> Iterator[Samples]:
    """The sound of `[start_s, end_s)` in blocks of `block_s`, the last one shorter: exactly as many samples as asked.

    `rate_hz` None keeps the rate, `channels` None keeps the channels (1 and 2 mix down, never louder than the source).
    Refuses a file without sound.
    """
    with open_media(path, name) as container:
        stream = audio_stream(container)
        if stream is None or scan(path, name, check).sound is None:
            raise UserError(f"{name} has no sound. Use a file with sound.")
        rate_hz = rate_hz or stream.codec_context.sample_rate
        channels = channels or stream.codec_context.channels
    first = round(start_s * rate_hz)
    left, size = max(0, round(end_s * rate_hz) - first), max(1, round(block_s * rate_hz))
    waiting: list[Samples] = []
    held = 0
    for chunk in _converted(path, name, Fraction(first, rate_hz), rate_hz, channels, check):
        waiting.append(chunk)
        held += chunk.shape[1]
        while held >= min(size, left) > 0:
            joined = np.concatenate(waiting, axis=1)
            block, rest = joined[:, : min(size, left)], joined[:, min(size, left) :]
            yield block
            left, waiting, held = left - block.shape[1], [rest], rest.shape[1]
        if left == 0:
            return
    waiting.append(np.zeros((channels, left - held), np.float32))
    joined = np.concatenate(waiting, axis=1)
    yield from (joined[:, at : at + size] for at in range(0, left, size))


def _converted(
    path: Path, name: str, start: Fraction, rate_hz: int, channels: int, check: Callable[[], None]
) -> Iterator[Samples]:
    """Sound from `start` on, mixed down first, for what is thrown away need not be resampled."""
    planar = AudioResampler(format="fltp")
    resampler: AudioResampler | None = None
    mix: Samples | None = None
    for frame in frames_from(path, name, start, check):
        for made in planar.resample(frame):
            data = np.asarray(made.to_ndarray(), np.float32)
            if data.shape[0] != channels:
                mix = mixing(made.layout, channels) if mix is None else mix
                data = mix @ data
            if made.sample_rate == rate_hz:
                yield data
                continue
            resampler = resampler or AudioResampler(format="fltp", rate=rate_hz)
            mixed = AudioFrame.from_ndarray(np.ascontiguousarray(data), "fltp", _layout(channels))
            mixed.sample_rate = made.sample_rate
            yield from (np.asarray(part.to_ndarray(), np.float32) for part in resampler.resample(mixed))
    if resampler is not None:
        yield from (np.asarray(part.to_ndarray(), np.float32) for part in resampler.resample(None))


def _layout(channels: int) -> str:
    return {1: "mono", 2: "stereo"}.get(channels, f"{channels}c")


def mixing(layout: AudioLayout, channels: int) -> Samples:
    """What each source channel gives to each of one or two mixed ones; every row adds up to 1."""
    names = [channel.name for channel in layout.channels]
    left = np.array([_share(name, "L") for name in names])
    right = np.array([_share(name, "R") for name in names])
    rows = np.array([left / (left.sum() or 1), right / (right.sum() or 1)])
    if channels == 1:
        rows = rows.mean(axis=0, keepdims=True)
    if channels not in (1, 2) or not rows.any(axis=1).all():
        rows = np.full((channels, len(names)), 1 / len(names))
    return rows.astype(np.float32)


def _share(name: str, side: str) -> float:
    if "LFE" in name:
        return 0.0
    if name.endswith(("L", "R")) or name in ("FLC", "FRC"):
        return (1.0 if name[0] in "FD" else SIDE_LEVEL) * (side in name[-2:])
    return SIDE_LEVEL


def frames_from(path: Path, name: str, start: Fraction, check: Callable[[], None]) -> Iterator[AudioFrame]:
    """Decoded frames cut so that the first sample is the one at `start`; holes are filled with silence."""
    found = scan(path, name, check)
    with open_media(path, name) as container:
        stream = audio_stream(container)
        if stream is None or found.sound is None:
            return
        assert stream.time_base is not None
        rate, channels = stream.codec_context.sample_rate, stream.codec_context.channels
        place = round(start * rate)
        container.seek(round((max(start - PREROLL, Fraction(0)) + found.origin) / stream.time_base), stream=stream)
        expected: int | None = None
        for packet in container.demux(stream):
            check()
            for frame in _decode(packet):
                if (frame.sample_rate, frame.layout.nb_channels) != (rate, channels):
                    continue  # damage that decodes as another kind of sound: a hole like any other
                here = expected or 0
                if frame.pts is not None and frame.time_base is not None:
                    stamped = round((frame.pts * frame.time_base - found.origin) * rate)
                    here = expected if expected is not None and abs(stamped - expected) < GAP * rate else stamped
                expected = here + frame.samples
                if expected > place:
                    yield from _placed(frame, here, place, rate)
                    place = expected


def _decode(packet: Packet[AudioStream]) -> list[AudioFrame]:
    try:
        return packet.decode()
    except av.error.FFmpegError:
        return []  # the end, or damage: the hole is filled with silence


def _placed(frame: AudioFrame, here: int, place: int, rate: int) -> Iterator[AudioFrame]:
    """A frame that starts at `here`, so that what comes out starts at `place`."""
    if here == place:
        frame.pts = None
        yield frame
        return
    data = frame.to_ndarray()
    planar, channels = frame.format.is_planar, frame.layout.nb_channels
    if here < place:
        data = data[:, (place - here) * (1 if planar else channels) :]
        yield _frame(data, frame, rate)
        return
    for at in range(place, here, rate):  # timestamps may claim a hole of any length
        samples = min(rate, here - at)
        yield _frame(np.zeros((data.shape[0], samples * (1 if planar else channels)), data.dtype), frame, rate)
    frame.pts = None
    yield frame


def _frame(data: NDArray[np.generic], like: AudioFrame, rate: int) -> AudioFrame:
    made = AudioFrame.from_ndarray(np.ascontiguousarray(data), format=like.format.name, layout=like.layout.name)
    made.sample_rate = rate
    return made
