"""Count what is really in a file: one pass over its packets, nothing decoded.

Headers lie (truncated files, edit lists, variable rates); packets do not. The pass gives every frame's
timestamp and keyframe, the extent of the sound, and what went wrong on the way.
"""

from __future__ import annotations

import os
from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from threading import Lock

import av.error
import numpy as np
from av.container import InputContainer

from primitives._base import UserError
from primitives._media.source import audio_stream, open_media, video_stream
from primitives._media.timeline import Timeline

MAX_FRAMES = 20_000_000
TOLD_SHORT_S = Fraction(1, 2)
"""A header may overstate the duration by this much before it is worth a note."""
LONGEST_PRIMING_S = Fraction(1, 5)
_CHECK_EVERY = 512
_REMEMBERED = 32


@dataclass(frozen=True)
class SoundExtent:
    """Where the sound begins and ends, in seconds of the film's own time."""

    start: Fraction
    end: Fraction


@dataclass(frozen=True, eq=False)
class Scan:
    """What a pass over the packets found."""

    video: Timeline | None
    sound: SoundExtent | None
    duration: Fraction
    ordered_decode: bool
    """Timestamps had to be taken from decoded frames; seeking by packets is not possible."""
    notes: tuple[str, ...]
    origin: Fraction
    """The container's time of time 0: of the first frame, or of the first sample without pictures."""

    def pictures(self, name: str, start_s: float | None) -> Timeline:
        """The frames, for a caller who wants them from `start_s` on; refuses a file that has none there."""
        if self.video is None:
            raise UserError(f"{name} has no video, only sound. Use a file with pictures.")
        length_s = float(self.video.duration)
        if start_s is not None and start_s >= length_s:
            raise UserError(
                f"start_s={start_s} is past the end of {name} ({length_s:.3f} s). Use 0 <= start_s < {length_s:.3f}."
            )
        return self.video


@dataclass
class _Packets:
    """What the demuxer gave, in decode order."""

    pts: array[int] = field(default_factory=lambda: array("q"))
    keys: bytearray = field(default_factory=bytearray)
    video_end: int = 0
    missing_pts: int = 0
    hidden: int = 0
    """Frames that an edit list leaves out."""
    audio_start: int | None = None
    audio_end: int = 0
    broken: str = ""


_scans: OrderedDict[tuple[str, int, int], Scan] = OrderedDict()
_lock = Lock()


def scan(path: Path, name: str, check: Callable[[], None]) -> Scan:
    """The scan of a file; remembered while the file stays the same."""
    status = path.stat()
    key = (os.fspath(path), status.st_size, status.st_mtime_ns)
    with _lock:
        if key in _scans:
            _scans.move_to_end(key)
            return _scans[key]
    with open_media(path, name) as container:
        found = _scan(container, path, name, check)
    with _lock:
        _scans[key] = found
        while len(_scans) > _REMEMBERED:
            _scans.popitem(last=False)
    return found


def _scan(container: InputContainer, path: Path, name: str, check: Callable[[], None]) -> Scan:
    packets = _demux(container, name, check)
    video, audio = video_stream(container, name), audio_stream(container)
    notes = [packets.broken] if packets.broken else []
    timeline, ordered = None, False
    if video is not None and (packets.pts or packets.missing_pts):
        assert video.time_base is not None
        ordered = bool(packets.missing_pts) or len(set(packets.pts)) < len(packets.pts)
        if ordered:
            timeline = _timeline_by_decoding(path, name, check)
            notes.append("the container lacks frame times; they were taken by decoding")
        else:
            timeline = _timeline(packets, video.time_base)
        if video.frames > len(timeline) + packets.hidden:
            notes.append(f"the header claims {video.frames} frames, {len(timeline)} are there")
    if timeline is None and packets.audio_start is None:
        raise UserError(f"{name} holds no complete frame or sample. Use a file that has been written completely.")
    sound, origin = None, Fraction(0)
    if timeline is not None:
        origin = int(timeline.pts[0]) * timeline.time_base
    if audio is not None and packets.audio_start is not None:
        assert audio.time_base is not None
        start, end = packets.audio_start * audio.time_base, packets.audio_end * audio.time_base
        if timeline is None:
            origin = start = max(start, first_sample(path, name, start))
        sound = SoundExtent(start - origin, end - origin)
    duration = max(timeline.duration if timeline else Fraction(0), sound.end if sound else Fraction(0))
    claimed = Fraction(container.duration or 0, 1_000_000)
    if not {"mp4", "webm", "avi"}.isdisjoint(container.format.name.split(",")) and claimed > duration + TOLD_SHORT_S:
        notes.append(f"the header claims {float(claimed):.3f} s, {float(duration):.3f} s are there")
    return Scan(timeline, sound, duration, ordered, tuple(notes), origin)


def _demux(container: InputContainer, name: str, check: Callable[[], None]) -> _Packets:
    video, audio = video_stream(container, name), audio_stream(container)
    video_index = video.index if video is not None else -1
    found, cut_off = _Packets(), False
    try:
        for number, packet in enumerate(container.demux([s for s in (video, audio) if s is not None])):
            if number % _CHECK_EVERY == 0:
                check()
            if packet.size == 0:
                continue
            if packet.is_discard:
                found.hidden += packet.stream_index == video_index
            elif packet.stream_index != video_index:
                if packet.pts is not None:
                    found.audio_start = packet.pts if found.audio_start is None else min(found.audio_start, packet.pts)
                    found.audio_end = max(found.audio_end, packet.pts + (packet.duration or 0))
            elif packet.pts is None:
                found.missing_pts += 1
            else:
                found.pts.append(packet.pts)
                found.keys.append(packet.is_keyframe)
                cut_off = packet.is_corrupt
                found.video_end = max(found.video_end, packet.pts + (packet.duration or 0))
            if len(found.pts) > MAX_FRAMES:
                raise UserError(f"{name} holds more than {MAX_FRAMES} frames, which is more than is read here.")
    except av.error.FFmpegError:
        found.broken = "the file is damaged or cut short; what could be read was used"
    if cut_off and len(found.pts) > 1:
        found.pts.pop()
        found.keys.pop()
        found.broken = "the file is cut short; what is there was used"
    return found


def first_sample(path: Path, name: str, start: Fraction) -> Fraction:
    """When the first sample is heard: coders put a moment of nothing before it, which decoders leave out again."""
    with open_media(path, name) as container:
        try:
            frame = next(container.decode(audio=0), None)
        except av.error.FFmpegError:
            return start
        if frame is None or frame.pts is None or frame.time_base is None:
            return start
        first = frame.pts * frame.time_base
        return first if first - start < LONGEST_PRIMING_S else start


def _timeline(packets: _Packets, time_base: Fraction) -> Timeline:
    """Frames in shown order, each with the keyframe from which it can be decoded."""
    pts = np.frombuffer(packets.pts, dtype=np.int64).copy()
    keys = np.frombuffer(packets.keys, dtype=np.uint8).astype(bool)
    if not keys.any():
        keys[0] = True
    numbers = np.arange(len(pts))
    latest = np.maximum.accumulate(np.where(keys, numbers, -1))
    # A frame shown before the keyframe it follows in the file (a leading picture of an open group) leans on
    # the group before it, so decoding has to start one keyframe earlier.
    leading = (latest >= 0) & (pts < pts[latest])
    earlier = np.where(latest > 0, latest[np.maximum(latest - 1, 0)], 0)
    start = np.where(leading, earlier, latest)
    decode_from = np.where(start >= 0, pts[np.maximum(start, 0)], pts[0])
    order = np.argsort(pts, kind="stable")
    shown = pts[order]
    step = int(np.median(np.diff(shown))) if len(shown) > 1 else 1
    end = max(packets.video_end, int(shown[-1]) + (step if packets.video_end <= shown[-1] else 0))
    return Timeline(shown, time_base, end, decode_from[order])


def _timeline_by_decoding(path: Path, name: str, check: Callable[[], None]) -> Timeline:
    """For containers whose packets carry no usable times: decode once and take the frames' own."""
    times = array("q")
    with open_media(path, name) as container:
        stream = video_stream(container, name)
        assert stream is not None and stream.time_base is not None
        step = round(1 / ((stream.average_rate or Fraction(25)) * stream.time_base)) or 1
        try:
            for frame in container.decode(stream):
                check()
                after = times[-1] + 1 if times else None
                pts = frame.pts if frame.pts is not None else (times[-1] + step if times else 0)
                times.append(pts if after is None else max(pts, after))
        except av.error.FFmpegError:
            pass  # what decoded before the damage is the film
        if not times:
            raise UserError(f"{name} holds no frame that decodes. Use a file that has been written completely.")
        shown = np.frombuffer(times, dtype=np.int64).copy()
        return Timeline(shown, stream.time_base, int(shown[-1]) + step, np.full_like(shown, shown[0]))
