"""Thumbnails of every frame at hardly more than the cost of decoding: cells picked out of the decoded planes.

No conversion and no scaling: each plane is read at a grid of places. The film is decoded in runs from keyframe to
keyframe, one decoder thread each, on all cores; that takes less work than one decoder with many threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from av.video.reformatter import Interpolation
from av.video.stream import VideoStream
from numpy.typing import NDArray

from primitives._cores import core_count
from primitives._media.frames import decode_from, frames_by_counting
from primitives._media.scan import Scan
from primitives._media.source import open_media, video_stream
from primitives._media.timeline import Timeline
from primitives._signature import COLUMNS, PLANES, ROWS, Ints, Thumbs

RUN_FRAMES = (240, 1440)
"""Frames that are decoded in one go, at least and at most."""
_AT_ONCE = 64
_FINE = (2 * ROWS, 2 * COLUMNS)
_LUMA = _FINE[0] * _FINE[1]
_CHROMA = ROWS * COLUMNS
_PLANAR = ("yuv4", "yuvj4", "yuva4", "gray")

MadeT = TypeVar("MadeT", covariant=True)
Report = Callable[[int], None]
"""Told how many more frames are done; raises where nobody wants them any more."""


class Gather(Protocol[MadeT]):
    """Makes something of the frames of one run, which it sees in shown order."""

    def see(self, frame: VideoFrame) -> None: ...
    def made(self, shown: Ints) -> MadeT:
        """The run's result, where `shown` says for each of its frames which of the seen ones stands for it."""
        ...


def film_thumbs(path: Path, name: str, scan: Scan, frames: range, report: Report) -> Iterator[Thumbs]:
    """Thumbnails of a range of frames, in shown order, in pieces. A frame that does not decode repeats the last."""
    return film_runs(path, name, scan, frames, report, ThumbGather, smooth=False)


def film_runs(
    path: Path,
    name: str,
    scan: Scan,
    frames: range,
    report: Report,
    gather: Callable[[], Gather[MadeT]],
    smooth: bool = True,
) -> Iterator[MadeT]:
    """What `gather` makes of each run of frames, in shown order. Without `smooth` decoding is a little cheaper, and
    block edges stay visible in some frames."""
    assert scan.video is not None
    if scan.ordered_decode:
        yield from _counted(path, name, frames, report, gather)
        return
    timeline = scan.video
    workers = core_count()
    waiting: deque[Future[MadeT]] = deque()
    with _Readers(path, name, smooth) as readers, ThreadPoolExecutor(workers) as pool:
        try:
            for run in plan_runs(timeline, frames, workers):
                waiting.append(pool.submit(_run, readers, timeline, run, report, gather))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def plan_runs(timeline: Timeline, frames: range, workers: int) -> list[range]:
    """A range of frames in pieces that begin at keyframes, long enough to be worth a seek."""
    least = min(max(len(frames) // (2 * workers), RUN_FRAMES[0]), RUN_FRAMES[1])
    own_start = np.flatnonzero(timeline.decode_from == timeline.pts)
    starts = [frames.start]
    for start in own_start[(own_start > frames.start) & (own_start < frames.stop)].tolist():
        if start - starts[-1] >= least:
            starts.append(start)
    return [range(a, b) for a, b in zip(starts, [*starts[1:], frames.stop], strict=True)]


class _Readers:
    """Opened containers, as many as are used at the same time. Opening a long film is not cheap."""

    def __init__(self, path: Path, name: str, smooth: bool) -> None:
        self._path, self._name, self._smooth = path, name, smooth
        self._idle: list[tuple[InputContainer, VideoStream]] = []
        self._lock = threading.Lock()
        self._opened = ExitStack()

    def __enter__(self) -> _Readers:
        return self

    def __exit__(self, *_: object) -> None:
        self._idle.clear()
        self._opened.close()

    @contextmanager
    def borrow(self) -> Iterator[tuple[InputContainer, VideoStream]]:
        with self._lock:
            reader = self._idle.pop() if self._idle else self._open()
        yield reader
        with self._lock:
            self._idle.append(reader)

    def _open(self) -> tuple[InputContainer, VideoStream]:
        container = self._opened.enter_context(open_media(self._path, self._name))
        stream = video_stream(container, self._name, threads=1)
        assert stream is not None
        if not self._smooth:
            # Frames that hardly any other leans on need no smoothing of block edges to be told apart.
            context = stream.codec_context
            context.options = {**context.options, "skip_loop_filter": "bidir"}
        return container, stream


def _run(
    readers: _Readers, timeline: Timeline, run: range, report: Report, gather: Callable[[], Gather[MadeT]]
) -> MadeT:
    made = gather()
    places: list[int] = []
    first_pts = int(timeline.pts[run.start])
    with readers.borrow() as (container, stream):
        for frame in decode_from(container, stream, timeline, int(timeline.decode_from[run.start])):
            if frame.pts is None or frame.pts < first_pts:
                report(0)
                continue
            place = timeline.index_of(frame.pts) - run.start
            if place >= len(run):
                break
            if places and place <= places[-1]:
                continue
            report(1)
            made.see(frame)
            places.append(place)
    return made.made(_shown(places, len(run)))


def _shown(places: list[int], length: int) -> Ints:
    """Frames that did not decode show what was seen last, or first."""
    return np.maximum(np.searchsorted(np.array(places), np.arange(length), side="right") - 1, 0)


def _counted(
    path: Path, name: str, frames: range, report: Report, gather: Callable[[], Gather[MadeT]]
) -> Iterator[MadeT]:
    """For containers without usable times: every frame from the start, by counting."""
    made, seen = gather(), 0
    for number, frame in enumerate(frames_by_counting(path, name)):
        report(1)
        if number >= frames.stop:
            break
        if number >= frames.start:
            made.see(frame)
            seen += 1
        if seen == RUN_FRAMES[0]:
            yield made.made(np.arange(seen))
            made, seen = gather(), 0
    if seen:
        yield made.made(np.arange(seen))


class ThumbGather:
    """Gathers thumbnails."""

    def __init__(self) -> None:
        self._sampler = Sampler()
        self._cells: list[NDArray[np.uint8]] = []

    def see(self, frame: VideoFrame) -> None:
        cells = np.empty(_LUMA + 2 * _CHROMA, np.uint8)
        self._sampler.sample(frame, cells)
        self._cells.append(cells)

    def made(self, shown: Ints) -> Thumbs:
        cells = self._cells or [np.zeros(_LUMA + 2 * _CHROMA, np.uint8)]
        return pooled(np.stack([cells[place] for place in shown]))


def pooled(cells: NDArray[np.uint8]) -> Thumbs:
    """Sampled cells as thumbnails: luma is sampled twice as finely and averaged, against noise and moiré."""
    thumbs = np.empty((len(cells), PLANES, ROWS, COLUMNS), np.uint8)
    for at in range(0, len(cells), _AT_ONCE):
        some = cells[at : at + _AT_ONCE]
        fine = some[:, :_LUMA].reshape(-1, *_FINE).astype(np.uint16)
        high = fine[:, ::2] + fine[:, 1::2]
        thumbs[at : at + _AT_ONCE, 0] = (high[:, :, ::2] + high[:, :, 1::2]) >> 2
        thumbs[at : at + _AT_ONCE, 1:] = some[:, _LUMA:].reshape(-1, 2, ROWS, COLUMNS)
    return thumbs


class Sampler:
    """Picks the cells of a thumbnail out of a frame; remembers where they lie for frames of one kind."""

    def __init__(self) -> None:
        self._kind: tuple[str, int, int, int] | None = None
        self._places: list[NDArray[np.intp]] = []
        self._shift = 0

    def sample(self, frame: VideoFrame, cells: NDArray[np.uint8]) -> None:
        """Fill `cells`: luma, then both chroma planes."""
        if not frame.format.name.startswith(_PLANAR) or frame.format.is_big_endian:
            frame = frame.reformat(
                width=_FINE[1] * 2, height=_FINE[0] * 2, format="yuv444p", interpolation=Interpolation.AREA
            )
        planes = frame.planes
        kind = frame.format.name, frame.width, frame.height, planes[0].line_size
        if kind != self._kind:
            self._kind = kind
            self._shift = frame.format.components[0].bits - 8
            grids = [_FINE, (ROWS, COLUMNS), (ROWS, COLUMNS)]
            self._places = [_places(plane, grid, self._shift > 0) for plane, grid in zip(planes, grids, strict=False)]
        bounds = (0, _LUMA, _LUMA + _CHROMA, _LUMA + 2 * _CHROMA)
        for number, places in enumerate(self._places):
            out = cells[bounds[number] : bounds[number + 1]]
            if self._shift:
                out[:] = np.frombuffer(memoryview(planes[number]), np.uint16).take(places, mode="clip") >> self._shift
            else:
                np.frombuffer(memoryview(planes[number]), np.uint8).take(places, out=out, mode="clip")
        if len(self._places) < PLANES:
            cells[_LUMA:] = 128


def _places(plane: VideoPlane, grid: tuple[int, int], wide: bool) -> NDArray[np.intp]:
    """Where the middles of a grid's cells lie in a plane's memory, counted in samples."""
    line = plane.line_size // (2 if wide else 1)
    rows = ((np.arange(grid[0]) + 0.5) * plane.height / grid[0]).astype(np.intp)
    columns = ((np.arange(grid[1]) + 0.5) * plane.width / grid[1]).astype(np.intp)
    return (rows[:, None] * line + columns).ravel()
