"""Loudness of a file's sound by EBU R 128, through libav's own meter."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import av.error
import av.filter
from av.audio.frame import AudioFrame

from primitives._media.source import audio_stream, open_media


@dataclass(frozen=True)
class Loudness:
    """Integrated loudness, loudness range and true peak of a whole track."""

    integrated_lufs: float
    range_lu: float
    true_peak_dbtp: float


def measure_loudness(path: Path, name: str, check: Callable[[], None]) -> Loudness | None:
    """The loudness of the first audio stream; None where there is no sound or it does not decode."""
    with open_media(path, name) as container:
        stream = audio_stream(container)
        if stream is None:
            return None
        graph = av.filter.Graph()
        source = graph.add_abuffer(template=stream)
        meter = graph.add("ebur128", "metadata=1:peak=true")
        sink = graph.add("abuffersink")
        source.link_to(meter)
        meter.link_to(sink)
        graph.configure()
        latest: dict[str, str] = {}
        try:
            for frame in container.decode(stream):
                check()
                graph.push(frame)
                latest = _drain(graph) or latest
        except av.error.FFmpegError:
            pass  # what decoded before the damage is measured
        return _read(latest)


def _drain(graph: av.filter.Graph) -> dict[str, str]:
    latest: dict[str, str] = {}
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return latest
        if isinstance(frame, AudioFrame):
            latest = dict(frame.metadata) or latest


def _read(metadata: dict[str, str]) -> Loudness | None:
    if "lavfi.r128.I" not in metadata:
        return None
    peaks = [float(value) for key, value in metadata.items() if key.startswith("lavfi.r128.true_peaks_ch")]
    peak = max(peaks, default=0.0)
    return Loudness(
        integrated_lufs=round(float(metadata["lavfi.r128.I"]), 1),
        range_lu=round(float(metadata.get("lavfi.r128.LRA", 0)), 1),
        true_peak_dbtp=round(20 * math.log10(peak), 1) if peak > 0 else -120.0,
    )
