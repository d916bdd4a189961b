"""probe: what a media file really is, counted rather than claimed; without a path, what the folder holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from primitives._base import Answer, Call, Primitive, Request, Result, UserError

if TYPE_CHECKING:
    from pathlib import Path

    from av.container import InputContainer
    from av.video.stream import VideoStream

    from primitives._media.scan import Scan

MAX_LISTED = 60
MAX_IN_FULL = 5
"""Files described in full; more are described in a line each, to keep the answer short."""
_COLOUR_NAMES = {1: "bt709", 5: "bt470bg", 6: "smpte170m", 9: "bt2020", 16: "pq", 18: "hlg", 14: "bt2020"}


class ProbeRequest(Request):
    path: str | None = None
    """A media file, such as materials/a.mp4."""
    paths: list[str] = Field(default=[], max_length=30)
    """Several files, at most 30. Leave path and paths out to list the media of the workspace."""
    loudness: bool = False
    """Also measure loudness (decodes the sound)."""

    @model_validator(mode="after")
    def _one_form(self) -> ProbeRequest:
        if self.path is not None and self.paths:
            raise ValueError("path and paths were both given. Use path for one file, paths for several.")
        return self


class VideoInfo(Result):
    codec: str
    profile: str | None
    width_px: int
    """As shown, after rotation and pixel shape."""
    height_px: int
    coded_size_px: str | None
    fps: float
    fps_exact: str
    variable_frame_rate: bool
    frame_count: int
    frame_count_from_header: int | None
    duration_s: float
    pixel_format: str
    interlaced: bool
    rotation_clockwise_deg: int
    pixel_aspect: str | None
    colour: str | None
    longest_keyframe_gap_s: float
    bit_rate_bps: int | None


class AudioInfo(Result):
    codec: str
    sample_rate_hz: int
    channels: int
    layout: str
    start_s: float
    duration_s: float
    integrated_lufs: float | None = None
    loudness_range_lu: float | None = None
    true_peak_dbtp: float | None = None


class FileInfo(Result):
    path: str
    container: str
    size_bytes: int
    duration_s: float
    duration_s_from_header: float | None
    video: VideoInfo | None
    audio: AudioInfo | None
    other_streams: list[str]
    notes: list[str]


class BriefFile(Result):
    path: str
    duration_s: float
    video: str | None
    audio: str | None
    notes: list[str]


class ListedFile(Result):
    path: str
    size_bytes: int


class DeliverableInfo(Result):
    name: str
    kind: str


class ProbeResult(Result):
    files: list[FileInfo] = Field(default_factory=list)
    brief: list[BriefFile] = Field(default_factory=list)
    media: list[ListedFile] = Field(default_factory=list)
    more_media: int | None = None
    task: str | None = None
    deliverables: list[DeliverableInfo] = Field(default_factory=list)
    next: str | None = None


def probe(request: ProbeRequest, call: Call) -> Answer:
    names = [request.path] if request.path is not None else request.paths
    if not names:
        return Answer(_listing(call))
    files = []
    for number, name in enumerate(names):
        call.progress(number, len(names), f"reading {name}")
        files.append(_describe(name, request.loudness, call))
    if len(files) > MAX_IN_FULL:
        return Answer(ProbeResult(brief=[_brief(file) for file in files], next="Probe one path for all its details."))
    return Answer(ProbeResult(files=files))


def _brief(file: FileInfo) -> BriefFile:
    video, audio = file.video, file.audio
    return BriefFile(
        path=file.path,
        duration_s=file.duration_s,
        video=f"{video.codec} {video.width_px}x{video.height_px} {video.fps:g} fps {video.frame_count} frames"
        if video
        else None,
        audio=f"{audio.codec} {audio.sample_rate_hz} Hz {audio.layout}" if audio else None,
        notes=file.notes,
    )


def _listing(call: Call) -> ProbeResult:
    found = call.workspace.media()
    if not found:
        raise UserError("There is no media file in the workspace. Put files into materials/ first.")
    task = call.workspace.task
    return ProbeResult(
        media=[
            ListedFile(path=call.workspace.relative(path), size_bytes=path.stat().st_size)
            for path in found[:MAX_LISTED]
        ],
        more_media=max(0, len(found) - MAX_LISTED) or None,
        task=f"{task.id} ({task.family})" if task else None,
        deliverables=[DeliverableInfo(name=item.name, kind=item.kind) for item in task.deliverables] if task else [],
        next="Call probe with one of these paths, or frame_grid to look at it.",
    )


def _describe(name: str, loudness: bool, call: Call) -> FileInfo:
    from primitives._media.scan import scan
    from primitives._media.source import audio_stream, container_name, open_media, video_stream

    path = call.input(name)
    found = scan(path, name, call.check)
    call.media_s += float(found.duration)
    with open_media(path, name) as container:
        video = video_stream(container, name)
        used = {stream.index for stream in (video, audio_stream(container)) if stream is not None}
        picture, notes = None, list(found.notes)
        if video is not None and found.video is not None:
            picture = _video_info(path, name, video, found, notes, call)
        claimed = container.duration
        return FileInfo(
            path=name,
            container=container_name(container, path),
            size_bytes=path.stat().st_size,
            duration_s=round(float(found.duration), 3),
            duration_s_from_header=round(claimed / 1_000_000, 3) if claimed and claimed > 0 else None,
            video=picture,
            audio=_audio_info(path, name, container, found, loudness, call),
            other_streams=[
                f"{stream.type}: {stream.codec_context.name if stream.codec_context else 'unknown'}"
                for stream in container.streams
                if stream.index not in used
            ],
            notes=notes,
        )


def _video_info(
    path: Path,
    name: str,
    stream: VideoStream,
    found: Scan,
    notes: list[str],
    call: Call,
) -> VideoInfo:
    import numpy as np

    from primitives._media.frames import decode_frames
    from primitives._media.picture import Look, look_of
    from primitives._media.source import codec_name

    timeline = found.video
    assert timeline is not None
    context = stream.codec_context
    first = next(decode_frames(path, name, found, [0], call.check), None)
    if first is None:
        notes.append("no frame of the video decodes")
    look = look_of(first.frame, stream.sample_aspect_ratio) if first else Look()
    coded = (first.frame.width, first.frame.height) if first else (context.width, context.height)
    shown = look.size_px(*coded)
    gaps = np.diff([*sorted(set(timeline.decode_from.tolist())), timeline.end_pts])
    return VideoInfo(
        codec=codec_name(context.name),
        profile=context.profile,
        width_px=shown[0],
        height_px=shown[1],
        coded_size_px=f"{coded[0]}x{coded[1]}" if shown != coded else None,
        fps=round(float(timeline.frame_rate), 3),
        fps_exact=str(timeline.frame_rate),
        variable_frame_rate=timeline.is_vfr,
        frame_count=len(timeline),
        frame_count_from_header=stream.frames or None,
        duration_s=round(float(timeline.duration), 3),
        pixel_format=context.pix_fmt or "unknown",
        interlaced=bool(first and first.frame.interlaced_frame),
        rotation_clockwise_deg=look.quarter_turns * 90,
        pixel_aspect=str(look.pixel_aspect) if look.pixel_aspect != 1 else None,
        colour=_colour(context.colorspace, context.color_trc, context.color_range),
        longest_keyframe_gap_s=round(float(gaps.max() * timeline.time_base), 3),
        bit_rate_bps=context.bit_rate or None,
    )


def _colour(space: int, transfer: int, colour_range: int) -> str | None:
    """Matrix, HDR transfer and range, where the file states them."""
    parts = [
        _COLOUR_NAMES.get(int(space), ""),
        {16: "HDR PQ", 18: "HDR HLG"}.get(int(transfer), ""),
        {2: "full range"}.get(int(colour_range), ""),
    ]
    return " ".join(part for part in parts if part) or None


def _audio_info(
    path: Path, name: str, container: InputContainer, found: Scan, loudness: bool, call: Call
) -> AudioInfo | None:
    from primitives._media.loudness import measure_loudness
    from primitives._media.source import audio_stream, codec_name

    stream = audio_stream(container)
    if stream is None or found.sound is None:
        return None
    context = stream.codec_context
    measured = measure_loudness(path, name, call.check) if loudness else None
    return AudioInfo(
        codec=codec_name(context.name),
        sample_rate_hz=context.sample_rate,
        channels=context.channels,
        layout=context.layout.name,
        start_s=round(float(found.sound.start), 3),
        duration_s=round(float(found.sound.end - found.sound.start), 3),
        integrated_lufs=measured.integrated_lufs if measured else None,
        loudness_range_lu=measured.range_lu if measured else None,
        true_peak_dbtp=measured.true_peak_dbtp if measured else None,
    )


PRIMITIVE = Primitive(
    name="probe",
    title="Inspect media",
    description=(
        "What a media file really is: duration, size, exact frame rate, codecs, rotation, sound; counted, not claimed. "
        "Without a path: lists the media here and what the task wants. Next: frame_grid to look."
    ),
    request=ProbeRequest,
    run=probe,
    read_only=True,
)
