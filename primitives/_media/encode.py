"""Encoders: which one, with which settings, so that new pictures match the ones beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from av.codec import Codec, CodecContext
from av.video.codeccontext import VideoCodecContext

from primitives._base import UserError
from primitives._edit import OutputSpec
from primitives._media import h264
from primitives._media.film import Colour, Film, PictureFacts, SoundFacts

VIDEO_ENCODERS = {
    "h264": "libx264",
    "hevc": "libx265",
    "vp8": "libvpx",
    "vp9": "libvpx-vp9",
    "av1": "libsvtav1",
    "prores": "prores_ks",
    "mpeg4": "mpeg4",
    "mpeg2video": "mpeg2video",
    "mpeg1video": "mpeg1video",
    "mjpeg": "mjpeg",
    "ffv1": "ffv1",
}
AUDIO_ENCODERS = {
    "aac": "aac",
    "mp3": "libmp3lame",
    "opus": "libopus",
    "flac": "flac",
    "ac3": "ac3",
    "pcm_s16le": "pcm_s16le",
    "pcm_s24le": "pcm_s24le",
}
CONTAINERS = {
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mov",
    ".mkv": "matroska",
    ".webm": "webm",
    ".avi": "avi",
    ".ts": "mpegts",
    ".mpg": "mpeg",
}
_VIDEO_FITS = {
    "webm": ("vp9", "vp8", "av1"),
    "mp4": ("h264", "hevc", "av1", "vp9", "mpeg4"),
    "mov": ("h264", "hevc", "prores", "mpeg4", "mpeg2video", "mjpeg"),
    "avi": ("mpeg4", "mjpeg", "h264", "ffv1"),
    "mpegts": ("h264", "hevc", "mpeg2video"),
    "mpeg": ("mpeg2video", "mpeg1video"),
}
_AUDIO_FITS = {
    "webm": ("opus",),
    "mp4": ("aac", "mp3", "opus", "flac", "ac3"),
    "mov": ("aac", "mp3", "ac3", "pcm_s16le", "pcm_s24le"),
    "avi": ("mp3", "pcm_s16le", "ac3", "aac"),
    "mpegts": ("aac", "mp3", "ac3", "opus"),
    "mpeg": ("mp3", "ac3"),
}
_OLD_CODECS = frozenset({"mpeg4", "mpeg2video", "mpeg1video"})
_OLD_RATES = frozenset(Fraction(n) for n in (24, 25, 30, 50, 60)) | {Fraction(n * 1000, 1001) for n in (24, 30, 60)}
"""The frame rates that the old codecs know."""
_CRF = {
    "libx264": {"best": 14, "high": 18, "small": 26},
    "libx265": {"best": 16, "high": 20, "small": 28},
    "libvpx-vp9": {"best": 18, "high": 26, "small": 36},
    "libvpx": {"best": 6, "high": 12, "small": 30},
    "libsvtav1": {"best": 18, "high": 26, "small": 38},
}
_QSCALE = {"best": 2, "high": 3, "small": 8}
_GLOBAL_HEADER = 1 << 22
_BITS_PER_CHANNEL = {"aac": 96_000, "mp3": 96_000, "opus": 64_000, "ac3": 96_000}
PIXEL_FORMAT_FALLBACK = "yuv420p"


@dataclass(frozen=True)
class Target:
    """What the written file is."""

    container: str
    picture: PictureFacts
    encoder: str
    crf: int | None
    quality: str
    frame_rate: Fraction
    """The rate the encoder is told."""
    grid_fps: Fraction | None
    """The one rate that all frames are put on; None keeps each film's own times."""
    time_base: Fraction
    sound: SoundFacts | None


def container_for(suffix: str) -> str:
    """libav's name of the container that a suffix asks for."""
    if suffix.lower() not in CONTAINERS:
        raise UserError(f"Files ending in {suffix or 'nothing'} cannot be written. Use {', '.join(CONTAINERS)}.")
    return CONTAINERS[suffix.lower()]


def choose_target(films: Sequence[Film], sounds: Sequence[SoundFacts], spec: OutputSpec, suffix: str) -> Target:
    """The output: as the first film, where nothing else is asked and its codec and container can be written.

    The sound is like the first of `sounds`.
    """
    container, first = container_for(suffix), films[0]
    codec = _video_codec(spec, first, container)
    encoder = VIDEO_ENCODERS[codec]
    grid = spec.fps or (None if first.timeline.is_vfr else first.timeline.frame_rate)
    if codec in _OLD_CODECS and spec.fps is None and grid not in _OLD_RATES:
        grid = min(_OLD_RATES, key=lambda rate: abs(rate - first.timeline.frame_rate))
    return Target(
        container=container,
        picture=_picture(spec, first.picture, codec, encoder),
        encoder=encoder,
        crf=_CRF.get(encoder, {}).get(spec.quality),
        quality=spec.quality,
        frame_rate=grid or first.timeline.frame_rate,
        grid_fps=grid,
        time_base=Fraction(1, 90_000) if grid is None else 1 / grid,
        sound=_sound(spec, sounds[0], container) if sounds else None,
    )


def _video_codec(spec: OutputSpec, first: Film, container: str) -> str:
    fits = _VIDEO_FITS.get(container, tuple(VIDEO_ENCODERS))
    if spec.video_codec is not None:
        if spec.video_codec not in VIDEO_ENCODERS:
            raise UserError(f"Video codec {spec.video_codec} cannot be written. Use {', '.join(VIDEO_ENCODERS)}.")
        if spec.video_codec not in fits:
            raise UserError(f"{container} does not hold {spec.video_codec}. It holds {', '.join(fits)}; or use .mkv.")
        return spec.video_codec
    own = first.picture.codec
    steady = not first.timeline.is_vfr and first.timeline.frame_rate in _OLD_RATES
    return own if own in VIDEO_ENCODERS and own in fits and (own not in _OLD_CODECS or steady) else fits[0]


def _picture(spec: OutputSpec, first: PictureFacts, codec: str, encoder: str) -> PictureFacts:
    formats = [video_format.name for video_format in Codec(encoder, "w").video_formats or []]
    wanted = spec.pixel_format or first.pixel_format
    if wanted not in formats:
        if spec.pixel_format is not None:
            raise UserError(f"{codec} cannot be written as {wanted}. It takes {', '.join(formats[:12])}.")
        wanted = PIXEL_FORMAT_FALLBACK if PIXEL_FORMAT_FALLBACK in formats else formats[0]
    turned = first.rotation_deg % 180 == 90
    shown = (first.height_px, first.width_px) if turned else (first.width_px, first.height_px)
    width, height, aspect, rotation = first.width_px, first.height_px, first.pixel_aspect, first.rotation_deg
    if spec.width_px or spec.height_px:
        ratio = Fraction(*shown) * (1 / aspect if turned else aspect)
        width = spec.width_px or round((spec.height_px or 0) * ratio / 2) * 2
        height = spec.height_px or round(width / ratio / 2) * 2
        aspect, rotation = Fraction(1), 0
    even = "420" in wanted or "422" in wanted
    if even and codec != first.codec:
        width, height = width + width % 2, height + ("420" in wanted) * (height % 2)
    colour = first.colour if first.pixel_format.startswith(("yuv", "gray", "nv")) else Colour(1, 1, 1, 1)
    return PictureFacts(
        codec, width, height, wanted, aspect, rotation, colour, first.interlaced and not rotation, first.bottom_first
    )


def _sound(spec: OutputSpec, first: SoundFacts, container: str) -> SoundFacts:
    fits = _AUDIO_FITS.get(container, tuple(AUDIO_ENCODERS))
    codec = spec.audio_codec or (first.codec if first.codec in fits and first.codec in AUDIO_ENCODERS else fits[0])
    if codec not in AUDIO_ENCODERS:
        raise UserError(f"Audio codec {codec} cannot be written. Use {', '.join(AUDIO_ENCODERS)}.")
    if codec not in fits:
        raise UserError(f"{container} does not hold {codec}. It holds {', '.join(fits)}; or use .mkv.")
    rate = spec.audio_rate_hz or first.rate_hz
    allowed = list(Codec(AUDIO_ENCODERS[codec], "w").audio_rates or [])
    if allowed and rate not in allowed:
        if spec.audio_rate_hz is not None:
            raise UserError(f"{codec} cannot be written at {rate} Hz. Use {', '.join(map(str, sorted(allowed)))}.")
        rate = min((r for r in allowed if r >= rate), default=max(allowed))
    layout = first.layout if first.layout in _layouts(first.channels) else _layouts(first.channels)[0]
    return SoundFacts(codec, rate, layout, first.channels, first.bit_rate_bps if codec == first.codec else None)


def _layouts(channels: int) -> tuple[str, ...]:
    known = {1: ("mono",), 2: ("stereo",), 3: ("2.1",), 4: ("4.0", "quad"), 5: ("5.0",), 6: ("5.1", "5.1(side)")}
    return known.get(channels, ("7.1",) if channels == 8 else ("stereo",))


def video_options(target: Target) -> dict[str, str]:
    """The settings of a plain re-encode."""
    options = {"crf": str(target.crf)} if target.crf is not None else {}
    if target.encoder == "libx264":
        fields = ["tff=1", "bff=1"][target.picture.bottom_first] if target.picture.interlaced else ""
        return {**options, "preset": "veryfast", **({"x264-params": fields} if fields else {})}
    if target.encoder == "libx265":
        return {**options, "preset": "veryfast", "x265-params": "log-level=none"}
    if target.encoder == "libvpx-vp9":
        return {**options, "b": "0", "deadline": "good", "cpu-used": "5", "row-mt": "1"}
    if target.encoder == "libvpx":
        return {**options, "b": "20M", "deadline": "good", "cpu-used": "5"}
    if target.encoder == "libsvtav1":
        return {**options, "preset": "9"}
    if target.encoder in {"mpeg4", "mpeg2video", "mpeg1video", "mjpeg"}:
        return {"qmin": str(_QSCALE[target.quality]), "qmax": str(_QSCALE[target.quality])}
    return options


def set_picture(context: VideoCodecContext, target: Target) -> None:
    """Size, format, shape and colour tags of an encoder."""
    picture = target.picture
    context.width, context.height, context.pix_fmt = picture.width_px, picture.height_px, picture.pixel_format
    context.sample_aspect_ratio = picture.pixel_aspect
    context.color_range = picture.colour.range
    context.color_primaries = picture.colour.primaries
    context.color_trc = picture.colour.transfer
    context.colorspace = picture.colour.space


def matching_encoder(
    target: Target, facts: h264.SequenceFacts, parameter_id: int, reorders: bool, crf: int | None = None
) -> VideoCodecContext:
    """An H.264 encoder whose pictures fit beside copied ones: same profile and level, parameter sets of their own.

    Frames are counted 0, 1, 2... in its time base. Without `crf` the target's quality holds.
    """
    encoder = CodecContext.create("libx264", "w")
    assert isinstance(encoder, VideoCodecContext)
    set_picture(encoder, target)
    encoder.framerate, encoder.time_base = target.frame_rate, 1 / target.frame_rate
    encoder.flags |= _GLOBAL_HEADER
    encoder.thread_type = "AUTO"
    profile = h264.PROFILE_NAMES[facts.profile_idc]
    encoder.options = {
        "preset": "veryfast",
        "crf": str(target.crf if crf is None else crf),
        "profile": profile,
        "level": f"{facts.level_idc // 10}.{facts.level_idc % 10}",
        "x264-params": f"sps-id={parameter_id}:stitchable=1",  # the same sets whatever the quality
        **({} if reorders and profile != "baseline" else {"bf": "0"}),
    }
    return encoder


ENCODER_REORDER = 2
"""Frames that x264 holds back at most with its B-frame pyramid."""


def audio_encoder_settings(sound: SoundFacts) -> tuple[str, int]:
    """The encoder's name and bit rate (0 where it has none)."""
    usual = _BITS_PER_CHANNEL.get(sound.codec, 0) * sound.channels
    bit_rate = max(sound.bit_rate_bps or 0, usual) if usual else 0
    return AUDIO_ENCODERS[sound.codec], min(bit_rate, 192_000 * sound.channels)
