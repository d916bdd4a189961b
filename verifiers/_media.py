"""Media as a verifier sees it: opened safely, described as ffprobe would, decoded once in flat memory.

Files open under the limits of `verifiers/_container.py`; every failure is a `MediaError` with a sentence.
Times are seconds from the start of the file: the container's own start time is subtracted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import av.container
import av.filter
import av.stream
import cv2
import numpy as np
import numpy.typing as npt
from av.video.reformatter import VideoReformatter

from verifiers._container import MAX_PIXELS, MediaError, decode, open_media, origin_s_of, seconds

__all__ = [
    "AudioInfo",
    "DecodedFrame",
    "MediaError",
    "MediaInfo",
    "VideoInfo",
    "media_info",
    "mono_audio",
    "open_media",
    "read_mono_audio",
    "video_frames",
]

MAX_AUDIO_GAP_S = 600.0

Image = npt.NDArray[np.uint8]
Samples = npt.NDArray[np.float32]

_EIGHT_BIT_Y = ("yuv420p", "yuv422p", "yuv444p", "yuvj", "nv12", "gray")
_TURNS = {90: cv2.ROTATE_90_COUNTERCLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_CLOCKWISE}


@dataclass(frozen=True)
class VideoInfo:
    """The first real video stream (cover pictures do not count)."""

    codec: str
    width_px: int
    height_px: int
    pixel_format: str
    real_rate: Fraction | None
    """ffprobe's `r_frame_rate`."""
    average_rate: Fraction | None
    """ffprobe's `avg_frame_rate`."""
    sample_aspect: Fraction
    rotation_deg: int
    """How far players turn the picture, counter-clockwise, from the first frame; 0 if none decodes."""
    duration_s: float | None
    frame_count_from_header: int
    bit_rate_bps: int | None


@dataclass(frozen=True)
class AudioInfo:
    codec: str
    rate_hz: int
    channels: int
    duration_s: float | None


@dataclass(frozen=True)
class MediaInfo:
    container: str
    """The format name as ffprobe prints it, such as `mov,mp4,m4a,3gp,3g2,mj2`."""
    duration_s: float | None
    bit_rate_bps: int
    video: VideoInfo | None
    audio: tuple[AudioInfo, ...]


class DecodedFrame:
    """One picture; pixels are converted only when asked for, upright as a player shows them."""

    def __init__(self, frame: av.VideoFrame, index: int, time_s: float, tool: VideoReformatter):
        self.index = index
        self.time_s = time_s
        self._frame = frame
        self._tool = tool

    def bgr(self) -> Image:
        return self._upright(self._convert("bgr24"))

    def gray(self) -> Image:
        """Luma stretched to the full range 0-255."""
        return self._upright(self._convert("gray"))

    def luma(self) -> Image:
        """The decoded Y plane as it is (video range stays video range); no conversion, hence free."""
        if not self._frame.format.name.startswith(_EIGHT_BIT_Y) or self._frame.format.components[0].bits != 8:
            return self.gray()
        plane = self._frame.planes[0]
        rows: Image = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        return self._upright(rows[: self._frame.height, : self._frame.width])

    def yuv420(self) -> tuple[Image, Image, Image]:
        """Y, U and V planes, chroma at half size."""
        flat = self._convert("yuv420p").reshape(-1)
        height, width = self._frame.height, self._frame.width
        half_shape = ((height + 1) // 2, (width + 1) // 2)
        y, u, v = np.split(flat, [height * width, height * width + half_shape[0] * half_shape[1]])
        upright = self._upright
        return (
            upright(y.reshape(height, width)),
            upright(u.reshape(half_shape)),
            upright(v.reshape(half_shape)),
        )

    def _convert(self, pixel_format: str) -> Image:
        try:
            frame = self._tool.reformat(self._frame, format=pixel_format, threads=1)
            return frame.to_ndarray().astype(np.uint8, copy=False)
        except (av.FFmpegError, ValueError) as error:
            raise MediaError(f"frame {self.index} cannot be converted: {error}") from error

    def _upright(self, pixels: Image) -> Image:
        turn = _TURNS.get(self._frame.rotation % 360)
        return pixels if turn is None else np.asarray(cv2.rotate(pixels, turn), np.uint8)


def media_info(path: Path) -> MediaInfo:
    """Describe `path` from its headers and first frame."""
    with open_media(path) as container:
        video = _video_stream(container)
        return MediaInfo(
            container=container.format.name,
            duration_s=seconds(container.duration, Fraction(1, av.time_base)),
            bit_rate_bps=container.bit_rate,
            audio=tuple(_audio_info(stream) for stream in container.streams.audio if stream.codec_context),
            video=None if video is None else _video_info(container, video),
        )


def video_frames(path: Path, *, skip_damaged: bool = False, threads: int = 0) -> Iterator[DecodedFrame]:
    """Every frame of the first video stream in display order, decoded once.

    A frame is valid as long as it is referenced. `skip_damaged` goes on past packets that do not decode, as
    ffmpeg does; otherwise they raise.
    """
    with open_media(path) as container:
        stream = _video_stream(container)
        if stream is None:
            raise MediaError(f"{path.name} has no video stream")
        stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = threads
        origin_s = origin_s_of(container)
        tool = VideoReformatter()
        for index, frame in enumerate(decode(container, stream, skip_damaged=skip_damaged)):
            assert isinstance(frame, av.VideoFrame)
            time_s = 0.0 if frame.time is None else frame.time - origin_s
            yield DecodedFrame(frame, index, time_s, tool)


def mono_audio(path: Path, *, rate_hz: int, skip_damaged: bool = False) -> Iterator[Samples]:
    """The first audio stream, mixed to mono at `rate_hz`, in blocks, laid on the file's own clock.

    Late starts and gaps become silence and overlaps are dropped, so sample `i` of the joined blocks plays at
    `i / rate_hz`. The mix cannot exceed full scale where no channel does.
    """
    with open_media(path) as container:
        if not container.streams.audio:
            raise MediaError(f"{path.name} has no audio stream")
        stream = container.streams.audio[0]
        origin_s = origin_s_of(container)
        mixer: _MonoMixer | None = None
        end_s = 0.0
        for frame in decode(container, stream, skip_damaged=skip_damaged):
            assert isinstance(frame, av.AudioFrame)
            time_s = end_s if frame.time is None else frame.time - origin_s
            if time_s - end_s > MAX_AUDIO_GAP_S:
                raise MediaError(f"{path.name} has an audio gap of {time_s - end_s:.0f} s")
            if mixer is None or not mixer.fits(frame):
                if mixer is not None:
                    yield from mixer.finish()
                mixer = _MonoMixer(frame, rate_hz, end_s)
            end_s = time_s + frame.samples / frame.sample_rate
            yield from mixer.mix(frame, time_s)
        if mixer is not None:
            yield from mixer.finish()


def read_mono_audio(path: Path, *, rate_hz: int, skip_damaged: bool = False) -> Samples:
    """The whole of `mono_audio` in one array (4 bytes a sample)."""
    blocks = list(mono_audio(path, rate_hz=rate_hz, skip_damaged=skip_damaged))
    return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)


class _MonoMixer:
    """swresample in a graph of its own; the graph and its nodes live and die together."""

    JUMP_S = 0.02
    """A time stamp further than this from the samples so far is a gap or an overlap, not rounding."""

    def __init__(self, frame: av.AudioFrame, rate_hz: int, start_s: float) -> None:
        self._shape = self._shape_of(frame)
        self._time_base = Fraction(1, frame.sample_rate)
        self._graph = av.filter.Graph()
        self._source = self._graph.add_abuffer(
            sample_rate=frame.sample_rate,
            format=frame.format.name,
            layout=frame.layout.name,
            time_base=self._time_base,
        )
        resample = self._graph.add(
            "aresample",
            f"osr={rate_hz}:ochl=mono:osf=flt:rematrix_maxval=1:first_pts={round(start_s * rate_hz)}"
            f":min_comp={self.JUMP_S}:min_hard_comp={self.JUMP_S}",
        )
        self._sink = self._graph.add("abuffersink")
        self._source.link_to(resample)
        resample.link_to(self._sink)
        self._graph.configure()

    def fits(self, frame: av.AudioFrame) -> bool:
        return self._shape_of(frame) == self._shape

    def mix(self, frame: av.AudioFrame, time_s: float) -> Iterator[Samples]:
        frame.time_base = self._time_base
        frame.pts = round(time_s / self._time_base)
        self._source.push(frame)
        yield from self._pull()

    def finish(self) -> Iterator[Samples]:
        self._source.push(None)
        yield from self._pull()

    def _pull(self) -> Iterator[Samples]:
        while True:
            try:
                block = self._sink.pull()
            except (av.BlockingIOError, av.EOFError):
                return
            assert isinstance(block, av.AudioFrame)
            yield block.to_ndarray().reshape(-1).astype(np.float32, copy=False)

    @staticmethod
    def _shape_of(frame: av.AudioFrame) -> tuple[str, str, int]:
        return frame.format.name, frame.layout.name, frame.sample_rate


def _video_stream(container: av.container.InputContainer) -> av.VideoStream | None:
    cover = av.stream.Disposition.attached_pic
    streams = (stream for stream in container.streams.video if stream.codec_context)
    return next((stream for stream in streams if not stream.disposition & cover), None)


def _video_info(container: av.container.InputContainer, stream: av.VideoStream) -> VideoInfo:
    context = stream.codec_context
    if context.width * context.height > MAX_PIXELS:
        raise MediaError(f"a picture of {context.width}x{context.height} has more than {MAX_PIXELS} pixels")
    context.options = {"max_pixels": str(MAX_PIXELS)}
    first = next(decode(container, stream, skip_damaged=True), None)
    return VideoInfo(
        codec=context.codec.canonical_name,
        width_px=context.width,
        height_px=context.height,
        pixel_format=context.pix_fmt or "",
        real_rate=stream.base_rate,
        average_rate=stream.average_rate,
        sample_aspect=stream.sample_aspect_ratio or Fraction(1),
        rotation_deg=first.rotation % 360 if isinstance(first, av.VideoFrame) else 0,
        duration_s=seconds(stream.duration, stream.time_base),
        frame_count_from_header=stream.frames,
        bit_rate_bps=context.bit_rate,
    )


def _audio_info(stream: av.AudioStream) -> AudioInfo:
    return AudioInfo(
        codec=stream.codec_context.codec.canonical_name,
        rate_hz=stream.codec_context.sample_rate,
        channels=stream.codec_context.channels,
        duration_s=seconds(stream.duration, stream.time_base),
    )
