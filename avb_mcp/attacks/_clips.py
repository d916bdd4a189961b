"""Clips to disk and back: pictures and sound, in memory when short, spooled to a file otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import av
import av.container
import cv2
import numpy as np
import numpy.typing as npt

RATE_HZ = 48_000

Image = npt.NDArray[np.uint8]
Sound = npt.NDArray[np.float32]
"""Samples; in two columns where the clip is stereo."""


@dataclass(frozen=True)
class Clip:
    frames: Sequence[Image]
    """Planar YUV 4:2:0 as codecs keep it, so that what is not touched is not converted either."""
    fps: Fraction
    sound: Sound | None

    @property
    def duration_s(self) -> float:
        return float(len(self.frames) / self.fps)

    def part(self, start_s: float, end_s: float) -> Clip:
        """[start_s, end_s), cut at the nearest frames, the sound with them."""
        first, last = (min(len(self.frames), round(time_s * self.fps)) for time_s in (start_s, end_s))
        start, stop = (round(frame / self.fps * RATE_HZ) for frame in (first, last))
        sound = None if self.sound is None else self.sound[start:stop]
        return Clip(self.frames[first:last], self.fps, sound)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        rows, width_px = self.frames[0].shape
        return width_px, rows * 2 // 3

    def with_sound(self, sound: npt.NDArray[np.floating]) -> Clip:
        return replace(self, sound=np.clip(sound, -1.0, 1.0).astype(np.float32))

    def heard(self) -> Sound:
        """The sound of a clip that has one."""
        if self.sound is None:
            raise ValueError("the clip has no sound")
        return self.sound


def from_bgr(pixels: npt.NDArray[np.generic]) -> Image:
    return np.asarray(cv2.cvtColor(np.clip(pixels, 0, 255).astype(np.uint8), cv2.COLOR_BGR2YUV_I420), np.uint8)


def to_bgr(frame: Image) -> Image:
    return np.asarray(cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_I420), np.uint8)


def joined(parts: Sequence[Clip]) -> Clip:
    sounds = [part.sound for part in parts if part.sound is not None]
    frames = [frame for part in parts for frame in part.frames]
    return Clip(frames, parts[0].fps, np.concatenate(sounds) if sounds else None)


@dataclass(frozen=True)
class Export:
    """How a clip is written; the defaults are a careful export."""

    video_codec: str = "libx264"
    crf: int = 18
    audio_codec: str = "aac"
    audio_rate_hz: int = RATE_HZ
    audio_bit_rate_bps: int = 128_000
    container: str = "mp4"
    movflags: str = ""
    pixel_aspect: Fraction | None = None


CAREFUL = Export()
MASTER = Export(crf=14, audio_bit_rate_bps=192_000)
FRAGMENTED = Export(movflags="frag_keyframe+delay_moov")
NO_EDIT_LIST = Export(movflags="frag_keyframe+empty_moov")
"""Fragmented for streaming: nothing says that the sound starts with 21 ms of encoder delay, so it is that late."""
QUICKTIME = Export(container="mov")
HEVC = Export(video_codec="libx265", crf=12)
"""About the size of the careful export in H.264; x265's own crf 18 has a third of it and is visibly softer."""
OTHER_CODECS = Export(video_codec="mpeg4", audio_codec="libmp3lame")
OTHER_RATE = Export(audio_rate_hz=44_100)
OTHER_SOUND = Export(audio_codec="libmp3lame", audio_rate_hz=44_100)


def write_clip(path: Path, clip: Clip, export: Export = CAREFUL) -> None:
    options = {"movflags": export.movflags} if export.movflags else {}
    with av.open(str(path), "w", format=export.container, container_options=options) as writer:
        video = _video_stream(writer, clip, export)
        audio = None if clip.sound is None else _audio_stream(writer, clip.heard(), export)
        for number, picture in enumerate(clip.frames):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = number, 1 / clip.fps
            writer.mux(video.encode(frame))
        writer.mux(video.encode(None))
        if audio is not None:
            resampler = av.AudioResampler("fltp", _layout(clip.heard()), export.audio_rate_hz, frame_size=1024)
            for piece in [*resampler.resample(_audio_frame(clip.heard())), *resampler.resample(None), None]:
                writer.mux(audio.encode(piece))


def read_clip(path: Path, *, size: tuple[int, int] | None = None, max_s: float = 60.0) -> Clip:
    """A file's first `max_s` seconds, pictures scaled to `size` (width, height), sound mixed to mono."""
    frames: list[Image] = []
    with av.open(str(path)) as reader:
        stream = reader.streams.video[0]
        fps = stream.average_rate or Fraction(25)
        for frame in reader.decode(stream):
            if len(frames) >= max_s * fps:
                break
            frames.append(_picture(frame, size))
    return _with_sound_of(path, Clip(frames, fps, None), "mono", max_s)


def spool_clip(path: Path, spool: Path) -> Clip:
    """A whole file with all its channels; the pictures wait in the file `spool`, not in memory."""
    with av.open(str(path)) as reader, spool.open("wb") as writer:
        stream = reader.streams.video[0]
        fps = stream.average_rate or Fraction(25)
        shape = (stream.height * 3 // 2, stream.width)
        for frame in reader.decode(stream):
            writer.write(_picture(frame, None).tobytes())
        channels = reader.streams.audio[0].channels if reader.streams.audio else 0
    pictures = list(np.memmap(spool, np.uint8, "r").reshape(-1, *shape))  # views; the pixels stay in the file
    return _with_sound_of(path, Clip(pictures, fps, None), "mono" if channels < 2 else "stereo", None)


def _picture(frame: av.VideoFrame, size: tuple[int, int] | None) -> Image:
    width_px, height_px = size or (frame.width, frame.height)
    small = frame.reformat(width_px, height_px, format="yuv420p", interpolation="AREA")
    return small.to_ndarray().astype(np.uint8, copy=False)


def _with_sound_of(path: Path, clip: Clip, layout: str, max_s: float | None) -> Clip:
    """The clip with its file's sound, made exactly as long as the pictures."""
    sound = _read_sound(path, layout, max_s)
    if sound is None:
        return clip
    count = round(clip.duration_s * RATE_HZ)
    missing = [(0, max(0, count - len(sound)))] + [(0, 0)] * (sound.ndim - 1)
    return clip.with_sound(np.pad(sound[:count], missing))


def _read_sound(path: Path, layout: str, max_s: float | None) -> Sound | None:
    with av.open(str(path)) as reader:
        if not reader.streams.audio:
            return None
        resampler = av.AudioResampler(format="fltp", layout=layout, rate=RATE_HZ)
        blocks: list[Sound] = []
        for frame in reader.decode(reader.streams.audio[0]):
            blocks += [part.to_ndarray().astype(np.float32) for part in resampler.resample(frame)]
            if max_s is not None and (frame.time or 0.0) > max_s:
                break
        blocks += [part.to_ndarray().astype(np.float32) for part in resampler.resample(None)]
    channels = 1 if layout == "mono" else 2
    samples = np.concatenate([np.zeros((channels, 0), np.float32), *blocks], axis=1)
    return samples[0] if channels == 1 else np.ascontiguousarray(samples.T)


def _video_stream(writer: av.container.OutputContainer, clip: Clip, export: Export) -> av.VideoStream:
    options = {"preset": "ultrafast", "crf": str(export.crf)}
    if export.video_codec == "libx265":
        options |= {"preset": "medium", "x265-params": "log-level=none"}  # its faster ones are no careful export
    elif export.video_codec == "mpeg4":
        options = {"qscale": "2", "flags": "+qscale"}
    stream = writer.add_stream(export.video_codec, rate=clip.fps, options=options)
    assert isinstance(stream, av.VideoStream)
    stream.width, stream.height = clip.size
    stream.pix_fmt = "yuv420p"
    if export.pixel_aspect is not None:
        stream.codec_context.sample_aspect_ratio = export.pixel_aspect
    return stream


def _audio_stream(writer: av.container.OutputContainer, sound: Sound, export: Export) -> av.AudioStream:
    options = {"aac_coder": "fast"} if export.audio_codec == "aac" else {}  # half the time, the same fidelity
    stream = writer.add_stream(export.audio_codec, rate=export.audio_rate_hz, layout=_layout(sound), options=options)
    assert isinstance(stream, av.AudioStream)
    stream.bit_rate = export.audio_bit_rate_bps * (1 if sound.ndim == 1 else 2)
    return stream


def _layout(sound: Sound) -> str:
    return "mono" if sound.ndim == 1 else "stereo"


def _audio_frame(sound: Sound) -> av.AudioFrame:
    planes = np.ascontiguousarray(sound.reshape(len(sound), -1).T)
    frame = av.AudioFrame.from_ndarray(planes, format="fltp", layout=_layout(sound))
    frame.sample_rate, frame.time_base, frame.pts = RATE_HZ, Fraction(1, RATE_HZ), 0
    return frame
