"""Kinds that the headers answer, with ffprobe's meaning of each field.

Resolution is the stored width x height of the first video stream (neither rotation nor pixel aspect applied),
fps is `r_frame_rate`, the format is ffprobe's `format_name` list, and a missing value never passes.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator

from verifiers.video_repurpose.film import Film
from verifiers.video_repurpose.kinds._base import Finding, Kind, KindParams, decide, range_text, within

LowerCase = Annotated[str, AfterValidator(str.lower)]


class DurationRange(KindParams):
    min: float
    max: float


class ResolutionEq(KindParams):
    width: int
    height: int


class ResolutionIn(KindParams):
    options: tuple[tuple[int, int], ...]


class CodecIn(KindParams):
    codecs: tuple[LowerCase, ...]


class FormatIn(KindParams):
    substrings: tuple[LowerCase, ...]


class FpsRange(KindParams):
    min: float
    max: float | None = None


class AudioStreams(KindParams):
    min: int | None = None
    max: int | None = None
    eq: int | None = None


class AudioChannelsEq(KindParams):
    channels: int


class BitrateMin(KindParams):
    min_bps: int


def duration_range(params: DurationRange, film: Film) -> Finding:
    duration_s = film.info.duration_s
    if duration_s is None:
        return decide(False, "the container gives no duration")
    evidence = f"duration {duration_s:.3f} s, allowed {range_text(params.min, params.max)}"
    return decide(within(duration_s, params.min, params.max), evidence, duration_s, "s")


def resolution_eq(params: ResolutionEq, film: Film) -> Finding:
    return _resolution_among(((params.width, params.height),), film)


def resolution_in(params: ResolutionIn, film: Film) -> Finding:
    return _resolution_among(params.options, film)


def _resolution_among(options: tuple[tuple[int, int], ...], film: Film) -> Finding:
    if film.info.video is None:
        return decide(False, "there is no video stream")
    video = film.info.video
    size = (video.width_px, video.height_px)
    allowed = ", ".join(f"{width}x{height}" for width, height in options)
    aspect = "" if video.sample_aspect == 1 else f" (pixel aspect {video.sample_aspect})"
    turned = "" if video.rotation_deg == 0 else f" (turned by {video.rotation_deg} degrees)"
    return decide(size in options, f"resolution {size[0]}x{size[1]}{aspect}{turned}, allowed {allowed}")


def video_codec_in(params: CodecIn, film: Film) -> Finding:
    if film.info.video is None:
        return decide(False, "there is no video stream")
    return _codec_among("video", film.info.video.codec, params)


def audio_codec_in(params: CodecIn, film: Film) -> Finding:
    if not film.info.audio:
        return decide(False, "there is no audio stream")
    return _codec_among("audio", film.info.audio[0].codec, params)


def _codec_among(kind: str, codec: str, params: CodecIn) -> Finding:
    return decide(codec in params.codecs, f"{kind} codec {codec}, allowed {', '.join(params.codecs)}")


def format_in(params: FormatIn, film: Film) -> Finding:
    name = film.info.container.lower()
    passed = any(substring in name for substring in params.substrings)
    return decide(passed, f"format {name}, wanted one of {', '.join(params.substrings)}")


def fps_range(params: FpsRange, film: Film) -> Finding:
    rate = film.info.video.real_rate if film.info.video else None
    if rate is None:
        return decide(False, "there is no video stream with a frame rate")
    evidence = f"{float(rate):.3f} fps, allowed {range_text(params.min, params.max)}"
    return decide(within(float(rate), params.min, params.max), evidence, float(rate), "fps")


def audio_streams(params: AudioStreams, film: Film) -> Finding:
    count = len(film.info.audio)
    # An exact count, where given, is the only condition: that is how the benchmark reads it.
    low, high = (params.min, params.max) if params.eq is None else (params.eq, params.eq)
    return decide(within(count, low, high), f"{count} audio streams, allowed {range_text(low, high)}", count)


def audio_channels_eq(params: AudioChannelsEq, film: Film) -> Finding:
    if not film.info.audio:
        return decide(False, "there is no audio stream")
    channels = film.info.audio[0].channels
    return decide(channels == params.channels, f"{channels} channels, wanted {params.channels}", channels)


def bitrate_min(params: BitrateMin, film: Film) -> Finding:
    of_video = film.info.video.bit_rate_bps if film.info.video else None
    bit_rate_bps = of_video or film.info.bit_rate_bps
    if not bit_rate_bps:
        return decide(False, "neither the video stream nor the container gives a bit rate")
    evidence = f"{bit_rate_bps} bit/s, at least {params.min_bps} wanted"
    return decide(bit_rate_bps >= params.min_bps, evidence, bit_rate_bps, "bit/s")


KINDS: dict[str, Kind[Any]] = {
    "ffprobe_duration_range": Kind(DurationRange, duration_range),
    "ffprobe_resolution_eq": Kind(ResolutionEq, resolution_eq),
    "ffprobe_resolution_in": Kind(ResolutionIn, resolution_in),
    "ffprobe_video_codec_in": Kind(CodecIn, video_codec_in),
    "ffprobe_audio_codec_in": Kind(CodecIn, audio_codec_in),
    "ffprobe_format_in": Kind(FormatIn, format_in),
    "ffprobe_fps_range": Kind(FpsRange, fps_range),
    "ffprobe_audio_streams": Kind(AudioStreams, audio_streams),
    "ffprobe_audio_channels_eq": Kind(AudioChannelsEq, audio_channels_eq),
    "ffprobe_bitrate_min": Kind(BitrateMin, bitrate_min),
}
