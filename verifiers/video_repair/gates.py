"""The hard gates: whatever fails one is worth 0, and says why."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

from verifiers._media import AudioInfo, MediaInfo, VideoInfo
from verifiers._verdict import Gate
from verifiers.video_repair.schema import Expected, ExpectedAudio, ExpectedVideo

FPS_TOLERANCE = 0.02


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def gate(passed: bool, reason: str) -> Gate:
    """A gate that keeps its sentence only when it failed."""
    return Gate(passed=passed, reason="" if passed else reason)


def format_gates(expected: Expected, info: MediaInfo, golden: MediaInfo) -> dict[str, Gate]:
    """Container, codecs, rates and picture geometry, as the task prescribes them."""
    names = info.container.split(",")
    gates = {
        "container": gate(
            not set(names).isdisjoint(expected.containers),
            f"the container is {info.container}, the task asks for {_any_of(expected.containers)}",
        )
    }
    if expected.video is not None:
        gates |= _video_gates(expected.video, info.video, golden.video)
    if expected.audio is not None:
        gates |= _audio_gates(expected.audio, info.audio)
    return gates


def duration_gate(submission_s: float, golden_s: float, tolerance_s: float, what: str) -> Gate:
    """Lengths counted in decoded frames or samples, not read from a header."""
    return gate(
        abs(submission_s - golden_s) <= tolerance_s + 1e-6,
        f"the {what} lasts {submission_s:.3f} s, {golden_s:.3f} s ± {tolerance_s:g} s are expected",
    )


def _video_gates(expected: ExpectedVideo, video: VideoInfo | None, golden: VideoInfo | None) -> dict[str, Gate]:
    if video is None or golden is None:
        return {"video_codec": gate(False, "there is no video stream")}
    size = f"{video.width_px}x{video.height_px}"
    rates = [rate for rate in (video.average_rate, video.real_rate) if rate is not None]
    shape = (video.sample_aspect, video.rotation_deg)
    return {
        "video_codec": _codec_gate("video", video.codec, expected.codecs),
        "size": gate(
            (video.width_px, video.height_px) == (expected.width_px, expected.height_px),
            f"the picture is {size}, the task asks for {expected.width_px}x{expected.height_px}",
        ),
        "pixel_shape": gate(
            shape == (golden.sample_aspect, golden.rotation_deg),
            f"pixel aspect {shape[0]} and rotation {shape[1]}° differ from the original's "
            f"{golden.sample_aspect} and {golden.rotation_deg}°",
        ),
        "frame_rate": gate(
            any(abs(rate - expected.rate) <= Fraction(FPS_TOLERANCE) for rate in rates),
            f"the frame rate is {_shown(rates)}, the task asks for {expected.fps}",
        ),
    }


def _audio_gates(expected: ExpectedAudio, streams: tuple[AudioInfo, ...]) -> dict[str, Gate]:
    if not streams:
        return {"audio_codec": gate(False, "there is no audio stream")}
    audio = streams[0]
    gates = {
        "audio_codec": _codec_gate("audio", audio.codec, expected.codecs),
        "audio_rate": gate(
            audio.rate_hz == expected.rate_hz,
            f"the audio rate is {audio.rate_hz} Hz, the task asks for {expected.rate_hz} Hz",
        ),
    }
    if expected.channels is not None:
        reason = f"the sound has {audio.channels} channels, the task asks for {expected.channels}"
        gates["audio_channels"] = gate(audio.channels == expected.channels, reason)
    return gates


def _codec_gate(what: str, codec: str, accepted: list[str]) -> Gate:
    return gate(codec in accepted, f"the {what} codec is {codec}, the task asks for {_any_of(accepted)}")


def _any_of(names: list[str]) -> str:
    return " or ".join(names)


def _shown(rates: list[Fraction]) -> str:
    return f"{float(rates[0]):.3f}" if rates else "unknown"
