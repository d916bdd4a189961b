"""Clips in memory, to disk and back: frames and mono sound, generated or from the real footage."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import cv2
import numpy as np
import numpy.typing as npt
import pytest

RATE_HZ = 48000
Image = npt.NDArray[np.uint8]
Sound = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Clip:
    frames: list[Image]
    """BGR pictures."""
    fps: Fraction
    sound: Sound | None

    @property
    def duration_s(self) -> float:
        return len(self.frames) / float(self.fps)


@dataclass(frozen=True)
class Export:
    """How a clip is written; the defaults are a careful export."""

    codec: str = "libx264"
    crf: str = "18"
    audio_codec: str = "aac"
    audio_rate_hz: int = RATE_HZ
    audio_bit_rate: int = 128_000
    container: str = "mp4"
    movflags: str = ""
    sample_aspect: Fraction | None = None


def write_clip(path: Path, clip: Clip, export: Export | None = None) -> Path:
    export = export or Export()
    options = {"movflags": export.movflags} if export.movflags else {}
    with av.open(str(path), "w", format=export.container, container_options=options) as writer:
        height_px, width_px = clip.frames[0].shape[:2]
        coding = {"crf": export.crf, "preset": "ultrafast"}
        if export.codec == "libx265":
            coding["x265-params"] = "log-level=none"
        video = writer.add_stream(export.codec, rate=clip.fps, options=coding)
        video.width, video.height, video.pix_fmt = width_px, height_px, "yuv420p"
        if export.sample_aspect is not None:
            video.codec_context.sample_aspect_ratio = export.sample_aspect
        audio = None
        if clip.sound is not None:
            coder = {"aac_coder": "fast"} if export.audio_codec == "aac" else {}  # a third of the time
            audio = writer.add_stream(export.audio_codec, rate=export.audio_rate_hz, layout="mono", options=coder)
            audio.bit_rate = export.audio_bit_rate
        for picture in clip.frames:
            writer.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        writer.mux(video.encode(None))
        if audio is not None and clip.sound is not None:
            for packet in _encoded_sound(audio, clip.sound, export.audio_rate_hz):
                writer.mux(packet)
    return path


def _encoded_sound(audio: av.AudioStream, sound: Sound, rate_hz: int) -> list[av.Packet]:
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=rate_hz, frame_size=960)
    frame = av.AudioFrame.from_ndarray(np.clip(sound, -1, 1)[None].astype(np.float32), "fltp", "mono")
    frame.sample_rate = RATE_HZ
    frame.pts = 0
    pieces = [*resampler.resample(frame), *resampler.resample(None)]
    return [packet for piece in [*pieces, None] for packet in audio.encode(piece)]


def read_clip(path: Path, *, start_s: float = 0.0, length_s: float = 1e9, height_px: int | None = None) -> Clip:
    """Part of a file, scaled to `height_px`; the sound mixed to mono at 48 kHz."""
    frames: list[Image] = []
    with av.open(str(path)) as reader:
        stream = reader.streams.video[0]
        fps = stream.average_rate
        for frame in reader.decode(stream):
            time_s = (frame.time or 0.0) - (reader.start_time or 0) / av.time_base
            if time_s >= start_s + length_s - 1e-6:
                break
            if time_s < start_s - 1e-6:
                continue
            picture = frame.to_ndarray(format="bgr24")
            if height_px is not None:
                width_px = 2 * round(picture.shape[1] * height_px / picture.shape[0] / 2)
                picture = cv2.resize(picture, (width_px, height_px), interpolation=cv2.INTER_AREA)
            frames.append(picture)
    sound = read_sound(path)
    if sound is not None:
        first = round(start_s * RATE_HZ)
        sound = sound[first : first + round(len(frames) / float(fps) * RATE_HZ)]
    return Clip(frames, Fraction(fps), sound)


def read_sound(path: Path) -> Sound | None:
    with av.open(str(path)) as reader:
        if not reader.streams.audio:
            return None
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE_HZ)
        frames = [part for frame in reader.decode(reader.streams.audio[0]) for part in resampler.resample(frame)]
        frames += resampler.resample(None)
    return np.concatenate([frame.to_ndarray()[0] for frame in frames])


def with_sound(clip: Clip, sound: Sound) -> Clip:
    """The clip with this sound, repeated or cut to its length."""
    count = round(clip.duration_s * RATE_HZ)
    return replace(clip, sound=np.resize(sound, count).astype(np.float32))


@cache
def generated_clip(seed: int = 0, *, seconds: int = 6, fps: int = 15) -> Clip:
    """A detailed texture that drifts, with three shots, and sound with the rhythm and pitch of speech."""
    rng = np.random.default_rng(seed)
    frames = []
    for _ in range(3):
        coarse = cv2.resize(rng.integers(0, 256, (9, 14, 3), np.uint8), (280, 180), interpolation=cv2.INTER_CUBIC)
        grain = cv2.GaussianBlur(rng.normal(0, 60, (180, 280, 1)).astype(np.float32), (0, 0), 1.0)[..., None]
        texture = np.clip(coarse + grain, 0, 255).astype(np.uint8)
        frames += [texture[40:130, 10 + step : 170 + step] for step in range(seconds * fps // 3)]
    return Clip(frames, Fraction(fps), _speech_like(rng, seconds))


def _speech_like(rng: np.random.Generator, seconds: int) -> Sound:
    """Syllables of 0.2 s: a harmonic voice whose spectrum changes, some hiss, short pauses."""
    count = RATE_HZ // 5
    time_s = np.arange(count) / RATE_HZ
    envelope = np.sin(np.pi * time_s / 0.2) ** 2
    syllables = []
    for _ in range(5 * seconds):
        formants_hz = rng.uniform(300, 3500, 3)
        pitch_hz = rng.uniform(100, 180)
        harmonics_hz = pitch_hz * np.arange(1, int(6000 / pitch_hz))
        gains = sum(np.exp(-(((harmonics_hz - hz) / 250) ** 2)) for hz in formants_hz) + 0.01
        voice = np.sin(2 * np.pi * harmonics_hz[:, None] * time_s).T @ gains
        hiss = rng.standard_normal(count) * rng.uniform(0, 0.5)
        syllables.append(envelope * (voice + hiss) * rng.choice([0.02, 1.0, 1.0, 1.0]))
    sound = np.concatenate(syllables)
    return (0.3 * sound / np.max(np.abs(sound))).astype(np.float32)


def real_media() -> Path:
    """The folder of real clips; the calling test is skipped where there is none."""
    beside_project = Path(__file__).resolve().parents[2] / ".." / "shared" / "media"
    folder = Path(os.environ.get("AVB_TEST_MEDIA") or beside_project)
    if not (folder / "MANIFEST.json").is_file():
        pytest.skip("no real clips: set AVB_TEST_MEDIA to their folder")
    return folder
