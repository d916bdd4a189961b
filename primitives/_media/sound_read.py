"""Read a file's sound in flat memory, to the sample: at its own rate or another, in mono, stereo or as it is.

Time 0 is the film's own (its first frame; its first sample where there are no pictures), so a sample's place is
its time times the rate. Sound that starts late or has holes is filled with silence; damage is a hole like any other.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import floor
from pathlib import Path

import av.error
import numpy as np
from av.audio.fifo import AudioFifo
from av.audio.frame import AudioFrame
from av.audio.layout import AudioLayout
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

from primitives._base import UserError
from primitives._media.scan import first_sample, scan
from primitives._media.source import audio_stream, open_media, video_stream

Samples = NDArray[np.float32]
"""`[channels, samples]`, full scale is 1."""
Channels = list[NDArray[np.float32]]
"""The same, each channel by itself."""
PREROLL = Fraction(1, 2)
"""Seconds to decode before a cut: the first packet after a seek decodes wrongly."""
GAP_A_SECOND = 50
"""A jump in timestamps of this part of a second is a hole in the sound, not rounding."""
SIDE_LEVEL = 0.7071
"""How loud what is neither left nor right, or not in front, comes into a mix of fewer channels."""
_MOST_ERRORS = 100_000


def read_sound(
    path: Path, name: str, start_s: float, end_s: float, rate_hz: int, channels: int | None, check: Callable[[], None]
) -> Samples:
    """The sound of `[start_s, end_s)` at once; for ranges that may stand in memory. See `sound_blocks`."""
    blocks = list(sound_blocks(path, name, start_s, end_s, rate_hz, channels, 10.0, check))
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((channels or 1, 0), np.float32)


def sound_blocks(
    path: Path,
    name: str,
    start_s: float,
    end_s: float | None,
    rate_hz: int | None,
    channels: int | None,
    block_s: float,
    check: Callable[[], None],
) -> Iterator[Samples]:
    """The sound of `[start_s, end_s)` in blocks of `block_s`, the last one shorter: exactly as many samples as asked.

    `end_s` None stops where the sound does. `rate_hz` None keeps the rate, `channels` None keeps the channels (1 and 2
    mix down, never louder than the source). Refuses a file without sound.
    """
    own_rate_hz, own_channels = sound_kind(path, name)
    rate_hz, channels = rate_hz or own_rate_hz, channels or own_channels
    first = round(start_s * rate_hz)
    size = max(1, round(block_s * rate_hz))
    step = size if rate_hz == own_rate_hz else None
    chunks = _converted(path, name, Fraction(first, rate_hz), rate_hz, channels, step, check)
    if end_s is None:
        return _regrouped(chunks, size, sys.maxsize)
    silence = itertools.repeat(np.zeros((channels, size), np.float32))
    return _regrouped(itertools.chain(chunks, silence), size, round(end_s * rate_hz) - first)


def sound_channels(
    path: Path, name: str, rate_hz: int, start_s: float, end_s: float | None, size: int, check: Callable[[], None]
) -> Iterator[Channels]:
    """As `sound_blocks`, in blocks of `size` samples at the sound's own `rate_hz`, without a copy: for hours of it.

    Nothing comes where nothing decodes.
    """
    first, channels = round(start_s * rate_hz), 0
    left = sys.maxsize if end_s is None else round(end_s * rate_hz) - first
    planar = AudioResampler(format="fltp")
    for frame in frames_from(path, name, Fraction(first, rate_hz), check, size):
        for made in [frame] if frame.format.name == "fltp" else planar.resample(frame):
            block = [np.frombuffer(memoryview(plane), np.float32, made.samples) for plane in made.planes]
            if made.samples < size and end_s is not None:
                block = [np.pad(channel, (0, size - made.samples)) for channel in block]
            yield [channel[:left] for channel in block]
            left, channels = left - len(block[0]), len(block)
        if left <= 0:
            return
    while channels and end_s is not None and left > 0:
        yield [np.zeros(min(size, left), np.float32)] * channels
        left -= size


def sound_kind(path: Path, name: str) -> tuple[int, int]:
    """Rate and channels of the sound; refuses a file without any."""
    with open_media(path, name) as container:
        stream = _sounding(container, name)
        return stream.codec_context.sample_rate, stream.codec_context.channels


def _sounding(container: InputContainer, name: str) -> AudioStream:
    stream = audio_stream(container)
    if stream is None or not stream.codec_context.sample_rate:
        raise UserError(f"{name} has no sound. Use a file with sound.")
    return stream


def _regrouped(chunks: Iterable[Samples], size: int, total: int) -> Iterator[Samples]:
    """Chunks of any length as blocks of one, until `total` samples have come or there are no more."""
    waiting: list[Samples] = []
    held, left = 0, total
    for chunk in chunks:
        waiting.append(chunk)
        held += chunk.shape[1]
        while held >= min(size, left):
            if left <= 0:
                return
            joined = np.concatenate(waiting, axis=1) if len(waiting) > 1 else waiting[0]
            block, rest = np.split(joined, [min(size, left)], axis=1)
            yield block
            left, held = left - block.shape[1], rest.shape[1]
            waiting = [rest] if held else []
    if held:
        yield np.concatenate(waiting, axis=1)


def _converted(
    path: Path, name: str, start: Fraction, rate_hz: int, channels: int, step: int | None, check: Callable[[], None]
) -> Iterator[Samples]:
    """Sound from `start` on, mixed down first, for what is thrown away need not be resampled."""
    planar = AudioResampler(format="fltp")
    resampler = AudioResampler(format="fltp", rate=rate_hz)
    mix: Samples | None = None
    resampled = False
    for frame in frames_from(path, name, start, check, step):
        for made in [frame] if frame.format.name == "fltp" else planar.resample(frame):
            data = np.asarray(made.to_ndarray(), np.float32)
            if data.shape[0] != channels:
                mix = mixing(made.layout, channels) if mix is None else mix
                data = _mixed(data, mix)
            if made.sample_rate == rate_hz:
                yield data
                continue
            mixed = AudioFrame.from_ndarray(np.ascontiguousarray(data), "fltp", _layout(channels))
            mixed.sample_rate, resampled = made.sample_rate, True
            yield from (np.asarray(part.to_ndarray(), np.float32) for part in resampler.resample(mixed))
    if resampled:
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


def _mixed(data: Samples, mix: Samples) -> Samples:
    """Channels added up by their shares; by hand, for a linear algebra library's threads would spin for it."""
    return np.stack([sum(share * channel for share, channel in zip(row, data, strict=True)) for row in mix])


def _share(name: str, side: str) -> float:
    if "LFE" in name:
        return 0.0
    if name.endswith(("L", "R")) or name in ("FLC", "FRC"):
        return (1.0 if name[0] in "FD" else SIDE_LEVEL) * (side in name[-2:])
    return SIDE_LEVEL


def frames_from(
    path: Path, name: str, start: Fraction, check: Callable[[], None], samples: int | None = None
) -> Iterator[AudioFrame]:
    """The sound as frames of `samples` (about a second without), the last one shorter, the first one from `start` on.

    Holes are filled with silence.
    """
    with open_media(path, name) as container:
        stream = audio_stream(container)
        if stream is None:
            return
        assert stream.time_base is not None
        origin, rate = _origin(container, path, name, check), stream.codec_context.sample_rate
        _seek(container, stream, start - PREROLL + origin)
        size = samples or rate
        joined = AudioFifo()  # thousands of small frames cost more to hand over than to decode
        for _ in _placed(container, stream, _Stamp(stream, origin), round(start * rate), joined):
            check()
            yield from joined.read_many(size)
        yield from joined.read_many(size, partial=True)


def _seek(container: InputContainer, stream: AudioStream, time: Fraction) -> None:
    """Go to a time, before 0 as well: there lies the packet that primes a decoder, without which 20 ms are wrong."""
    assert stream.time_base is not None
    try:
        container.seek(round(time / stream.time_base), stream=stream)
    except av.error.FFmpegError:  # some containers know no time before 0
        container.seek(max(0, round(time / stream.time_base)), stream=stream)


def _placed(
    container: InputContainer, stream: AudioStream, stamp: _Stamp, place: int, joined: AudioFifo
) -> Iterator[None]:
    """Decode into `joined` without a gap, from sample `place` on; stops now and then for it to be emptied."""
    rate, channels = stream.codec_context.sample_rate, stream.codec_context.channels
    hole, now_and_then, start, step = rate // GAP_A_SECOND, rate // 2, *stamp.line
    expected: int | None = None
    due = 0
    for frame in _decoded(container, stream):  # this runs for every frame of a film: plain numbers only
        if frame is None or (expected is None and (frame.sample_rate, frame.layout.nb_channels) != (rate, channels)):
            expected = None
            continue
        pts = frame.pts
        if expected is not None and (pts is None or -hole < (pts - start) * step - expected < hole):
            here = expected  # timestamps are rounded, samples are not
        else:
            here = stamp.sample(pts)
        after = here + frame.samples
        try:
            if here == place:
                frame.pts = None
                joined.write(frame)
            elif after > place:
                for part in _cut(frame, here, place, rate):
                    joined.write(part)
                    yield
        except ValueError:  # damage that decodes as another kind of sound: a hole like any other
            expected = None
            continue
        expected = after
        if after > place:
            place = after
        if after >= due:
            due = after + now_and_then
            yield


class _Stamp:
    """The sample at which a frame claims to start."""

    def __init__(self, stream: AudioStream, origin: Fraction) -> None:
        assert stream.time_base is not None
        self._step, self._start = stream.time_base * stream.codec_context.sample_rate, origin / stream.time_base

    @property
    def line(self) -> tuple[float, float]:
        """The timestamp of sample 0, and samples for each step of it."""
        return float(self._start), float(self._step)

    def sample(self, pts: int | None) -> int:
        return 0 if pts is None else floor((pts - self._start) * self._step + Fraction(1, 2))


def _origin(container: InputContainer, path: Path, name: str, check: Callable[[], None]) -> Fraction:
    """The container's time of time 0, from its head where that says it: as `scan` finds it in the whole."""
    video, audio = video_stream(container, name), audio_stream(container)
    if video is None and audio is not None and audio.start_time is not None:
        assert audio.time_base is not None
        return first_sample(path, name, audio.start_time * audio.time_base)
    return scan(path, name, check).origin


def _decoded(container: InputContainer, stream: AudioStream) -> Iterator[AudioFrame | None]:
    """Decoded frames; None where something does not decode."""
    decode = stream.codec_context.decode
    for _ in range(_MOST_ERRORS):
        try:
            for packet in container.demux(stream):
                yield from decode(packet)
            return
        except av.error.FFmpegError:
            yield None


def _cut(frame: AudioFrame, here: int, place: int, rate: int) -> Iterator[AudioFrame]:
    """A frame that starts at `here`, cut or led by silence so that what comes out starts at `place`."""
    data = frame.to_ndarray()
    planar, channels = frame.format.is_planar, frame.layout.nb_channels
    if here < place:
        yield _frame(data[:, (place - here) * (1 if planar else channels) :], frame, rate)
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


def sound_length_about(path: Path, name: str, check: Callable[[], None]) -> float:
    """When the sound ends, in seconds: by the header where there is nothing but sound, else counted."""
    with open_media(path, name) as container:
        stream = _sounding(container, name)
        if stream.duration and stream.time_base and video_stream(container, name) is None:
            return float(stream.duration * stream.time_base)
    found = scan(path, name, check)
    if found.sound is None:
        raise UserError(f"{name} has no sound that can be read. Use a file with sound.")
    return float(found.sound.end)
