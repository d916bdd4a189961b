"""Decode exact frames: plan purely which keyframes to start from, then read each stretch once.

On the way to a wanted frame, frames that no other frame depends on are skipped unseen. A frame that does
not decode (damage) is answered with the nearest one that does, under its own number.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import av.error
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from primitives._base import UserError
from primitives._cores import core_count
from primitives._media.needed import Sparing
from primitives._media.scan import Scan
from primitives._media.source import open_media, video_stream
from primitives._media.timeline import Timeline

READ_ON_FRAMES = 12
"""Frames that are cheaper to decode through than to seek over."""
SKIPPING_DECODERS = frozenset({"h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4"})
"""Decoders that take the order to skip packet by packet; others read it once, when they open."""
WHOLE_FRAME_FORMATS = frozenset({"mov", "mp4", "matroska", "webm"})
"""Containers in which a packet is a frame; elsewhere it may be one of two fields."""
MIN_STRETCHES = 4
"""From so many scattered stretches on, they are shared out among the cores."""
SMALL_PIXELS = 1280 * 720
TRIES = 3
"""Keyframes to try, going back, before a damaged stretch is given up."""

UsedT = TypeVar("UsedT")


@dataclass(frozen=True)
class Stretch:
    """Wanted frames (by number, ascending) that are decoded in one go from one keyframe."""

    decode_from_pts: int
    frames: tuple[int, ...]


@dataclass(frozen=True)
class Shown:
    """A decoded frame: the number that was wanted and the number that it is."""

    wanted: int
    number: int
    frame: VideoFrame


def plan_stretches(timeline: Timeline, wanted: Sequence[int]) -> list[Stretch]:
    """Group wanted frames by the keyframe they need; read on where the next keyframe is near."""
    stretches: list[Stretch] = []
    for number in sorted(set(wanted)):
        start = int(timeline.decode_from[number])
        if stretches:
            last = stretches[-1]
            reached = int(timeline.pts[last.frames[-1]])
            if start <= reached or timeline.index_of(start) - last.frames[-1] <= READ_ON_FRAMES:
                stretches[-1] = Stretch(last.decode_from_pts, (*last.frames, number))
                continue
        stretches.append(Stretch(start, (number,)))
    return stretches


def decode_frames(
    path: Path, name: str, scan: Scan, wanted: Sequence[int], check: Callable[[], None]
) -> Iterator[Shown]:
    """The wanted frames in shown order. Memory stays flat: use each before asking for the next."""
    timeline = _timeline(scan, name)
    if scan.ordered_decode:
        return _by_counting(path, name, sorted(set(wanted)), check)
    return _decode_stretches(path, name, timeline, plan_stretches(timeline, wanted), check)


def decode_straight(
    path: Path,
    name: str,
    scan: Scan,
    wanted: Sequence[int],
    check: Callable[[], None],
    cropped: bool = True,
    lean: bool = False,
) -> Iterator[Shown]:
    """Frames (ascending) that lie close together, decoded in one go from the first to the last.

    Not cropped, they come in whole macroblocks, with what lies beyond the picture's edges. Lean, small pictures are
    decoded on one core, for a decoder's own threads cost a fifth more there.
    """
    timeline = _timeline(scan, name)
    if scan.ordered_decode:
        return _by_counting(path, name, list(wanted), check)
    stretch = Stretch(int(timeline.decode_from[wanted[0]]), tuple(wanted))
    return _decode_stretches(path, name, timeline, [stretch], check, cropped=cropped, lean=lean)


def map_frames(
    path: Path,
    name: str,
    scan: Scan,
    wanted: Sequence[int],
    use: Callable[[Shown], UsedT],
    check: Callable[[], None],
) -> list[UsedT]:
    """What `use` makes of each wanted frame, in shown order; scattered frames are decoded on all cores.

    A decoder's own threads cost more than they bring on short stretches, so each core gets every n-th part of
    the film and decodes it alone. `use` runs in those threads.
    """
    timeline = _timeline(scan, name)
    stretches = plan_stretches(timeline, wanted)
    if scan.ordered_decode or len(stretches) < MIN_STRETCHES:
        return [use(shown) for shown in decode_frames(path, name, scan, wanted, check)]
    workers = min(core_count(), len(stretches))
    parts = [stretches[len(stretches) * n // workers : len(stretches) * (n + 1) // workers] for n in range(workers)]

    def work(part: list[Stretch]) -> list[UsedT]:
        return [use(shown) for shown in _decode_stretches(path, name, timeline, part, check, threads=1)]

    with ThreadPoolExecutor(workers) as pool:
        return [used for results in pool.map(work, parts) for used in results]


def _timeline(scan: Scan, name: str) -> Timeline:
    if scan.video is None:
        raise UserError(f"{name} has no video. Use a file with pictures.")
    return scan.video


def _decode_stretches(
    path: Path,
    name: str,
    timeline: Timeline,
    stretches: list[Stretch],
    check: Callable[[], None],
    threads: int | None = None,
    cropped: bool = True,
    lean: bool = False,
) -> Iterator[Shown]:
    with open_media(path, name) as container:
        stream = video_stream(container, name, threads)
        assert stream is not None
        if lean and stream.width * stream.height <= SMALL_PIXELS:
            stream.codec_context.thread_count = 1
        if not cropped:
            stream.codec_context.options = {**stream.codec_context.options, "apply_cropping": "0"}
        sparing = Sparing(stream.codec_context.extradata if stream.codec_context.name == "h264" else None)
        for stretch in stretches:
            yield from _decode_stretch(container, stream, timeline, stretch, sparing, check)


def _decode_stretch(
    container: InputContainer,
    stream: VideoStream,
    timeline: Timeline,
    stretch: Stretch,
    sparing: Sparing,
    check: Callable[[], None],
) -> Iterator[Shown]:
    waiting = deque((int(timeline.pts[number]), number) for number in stretch.frames)
    last: VideoFrame | None = None
    last_pts = 0
    for start_pts in _starts(timeline, stretch.decode_from_pts):
        for frame in _frames_from(container, stream, timeline, start_pts, {pts for pts, _ in waiting}, sparing):
            check()
            if frame is None or frame.pts is None:
                continue
            last, last_pts = frame, frame.pts  # kept here: whoever uses the frame may stamp it anew
            while waiting and waiting[0][0] <= last_pts:
                yield Shown(waiting.popleft()[1], timeline.index_of(last_pts), frame)
            if not waiting:
                return
        if last is not None:
            break
    if last is not None:
        for _, number in waiting:
            yield Shown(number, timeline.index_of(last_pts), last)


def _starts(timeline: Timeline, start_pts: int) -> Iterator[int]:
    """The keyframe to decode from, then earlier ones in case nothing after it decodes."""
    for _ in range(TRIES):
        yield start_pts
        before = timeline.index_of(start_pts) - 1
        if before < 0:
            return
        start_pts = int(timeline.decode_from[before])


def decode_from(
    container: InputContainer, stream: VideoStream, timeline: Timeline, start_pts: int
) -> Iterator[VideoFrame]:
    """Every frame from the keyframe at `start_pts` on, to the end of the film."""
    stream.codec_context.skip_frame = "DEFAULT"
    for packet in _packets_from(container, stream, timeline, start_pts):
        yield from _decode(packet)
    yield from _flush(stream)


def _frames_from(
    container: InputContainer,
    stream: VideoStream,
    timeline: Timeline,
    start_pts: int,
    wanted_pts: set[int],
    sparing: Sparing,
) -> Iterator[VideoFrame | None]:
    """Frames from a keyframe on, wanted ones never skipped; None while a packet gives none."""
    context = stream.codec_context
    skips = context.name in SKIPPING_DECODERS
    whole = not WHOLE_FRAME_FORMATS.isdisjoint(container.format.name.split(","))
    missing: set[int | None] = {*wanted_pts}
    packets = _packets_from(container, stream, timeline, start_pts)
    for packet, spared in sparing.marked(packets, wanted_pts if whole else set()):
        passes = skips and packet.size and packet.pts not in wanted_pts
        context.skip_frame = "BIDIR" if spared else "NONREF" if passes else "DEFAULT"
        frames = _decode(packet)
        yield from frames if frames else (None,)
        missing.discard(packet.pts)
        if whole and not missing:
            break  # the decoder has all it needs; what it holds back for reordering comes out by flushing
    # A damaged end comes without the demuxer's own flush, and frames still wait inside the decoder.
    yield from _flush(stream)


def _packets_from(
    container: InputContainer, stream: VideoStream, timeline: Timeline, start_pts: int
) -> Iterator[Packet[VideoStream]]:
    """Packets from the keyframe at `start_pts`, or from an earlier one where the format seeks roughly."""
    step = int(timeline.step_pts)
    for back in (0, 16 * step, 128 * step, 2048 * step):
        try:
            container.seek(start_pts - back, stream=stream, backward=True)
        except av.error.FFmpegError:
            break
        packets = _until_damage(container.demux(stream))
        first = next((packet for packet in packets if packet.is_keyframe or not packet.size), None)
        # A timestamp after a rough seek is a guess until a keyframe confirms it.
        if first is not None and first.pts is not None and first.pts <= start_pts and timeline.has_start(first.pts):
            yield first
            yield from packets
            return
    with contextlib.suppress(av.error.FFmpegError):
        container.seek(int(timeline.pts[0]) - 2048 * step, stream=stream, backward=True)
    yield from _until_damage(container.demux(stream))


def _until_damage(packets: Iterator[Packet[VideoStream]]) -> Iterator[Packet[VideoStream]]:
    try:
        yield from packets
    except av.error.FFmpegError:
        return


def _decode(packet: Packet[VideoStream]) -> list[VideoFrame]:
    try:
        return [frame for frame in packet.decode() if isinstance(frame, VideoFrame)]
    except av.error.EOFError:
        return []
    except av.error.FFmpegError:
        return []  # a damaged packet: the frames around it still decode


def _flush(stream: VideoStream) -> list[VideoFrame]:
    """The frames that still wait inside the decoder. They come without a time base, which packets would give."""
    try:
        frames = list(stream.codec_context.decode(None))
    except av.error.FFmpegError:
        return []
    for frame in frames:
        if stream.time_base is not None:
            frame.time_base = stream.time_base
    return frames


def _by_counting(path: Path, name: str, wanted: list[int], check: Callable[[], None]) -> Iterator[Shown]:
    waiting = deque(wanted)
    for number, frame in enumerate(frames_by_counting(path, name)):
        check()
        if waiting and waiting[0] == number:
            yield Shown(waiting.popleft(), number, frame)
        if not waiting:
            return


def frames_by_counting(path: Path, name: str) -> Iterator[VideoFrame]:
    """For containers without usable times: every frame from the start, to be counted."""
    with open_media(path, name) as container:
        stream = video_stream(container, name)
        assert stream is not None
        for packet in _until_damage(container.demux(stream)):
            yield from _decode(packet)
