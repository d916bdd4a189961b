"""Loudness figures from decoded audio frames, fed one by one in flat memory.

`SteadyAudio` makes frames of one shape out of a stream that may change its shape on the way.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator

import av
import av.filter
import numpy as np
import numpy.typing as npt

SILENT_LUFS = -70.0
"""BS.1770's absolute gate: what never rises above it has no integrated loudness."""
QUIETEST_DB = -91.0
"""What ffmpeg's volumedetect reports for digital silence (16-bit samples)."""
FULL_SCALE = 32768.0


class SteadyAudio:
    """Resamples to one format, layout and rate; what is not given is taken from the first frame."""

    def __init__(self, sample_format: str, layout: str | None = None, rate_hz: int | None = None) -> None:
        self._format, self._layout, self._rate_hz = sample_format, layout, rate_hz
        self._shape: tuple[str, str, int] | None = None
        self._resampler: av.AudioResampler | None = None

    def add(self, frame: av.AudioFrame) -> Iterator[av.AudioFrame]:
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if self._resampler is None or shape != self._shape:
            yield from self.finish()
            self._layout = self._layout or frame.layout.name
            self._rate_hz = self._rate_hz or frame.sample_rate
            self._resampler = av.AudioResampler(self._format, self._layout, self._rate_hz)
            self._shape = shape
        yield from self._resampler.resample(frame)

    def finish(self) -> Iterator[av.AudioFrame]:
        if self._resampler is not None:
            yield from self._resampler.resample(None)
            self._resampler = None


class MeanVolume:
    """ffmpeg's volumedetect `mean_volume`: the RMS of all 16-bit samples of all channels, in dBFS."""

    def __init__(self) -> None:
        self._audio = SteadyAudio("s16")
        self._energy = 0.0
        self._samples = 0

    def add(self, frame: av.AudioFrame) -> None:
        for block in self._audio.add(frame):
            self._count(block)

    def finish(self) -> float | None:
        """The mean volume, or none when nothing was heard."""
        for block in self._audio.finish():
            self._count(block)
        if self._samples == 0:
            return None
        if self._energy == 0:
            return QUIETEST_DB
        return max(QUIETEST_DB, 10 * math.log10(self._energy / self._samples / FULL_SCALE**2))

    def _count(self, block: av.AudioFrame) -> None:
        samples = block.to_ndarray().astype(np.float64)
        self._energy += float(np.vdot(samples, samples))
        self._samples += samples.size


class IntegratedLoudness:
    """EBU R 128 integrated loudness by libav's own meter."""

    def __init__(self) -> None:
        self._audio = SteadyAudio("flt")
        self._graph: av.filter.Graph | None = None
        self._lufs: float | None = None

    def add(self, frame: av.AudioFrame) -> None:
        for block in self._audio.add(frame):
            self._measure(block)

    def finish(self) -> float | None:
        """LUFS, `SILENT_LUFS` for silence, or none when nothing was heard."""
        for block in self._audio.finish():
            self._measure(block)
        if self._graph is not None:
            self._graph.push(None)
            self._read()
        return self._lufs

    def _measure(self, block: av.AudioFrame) -> None:
        if self._graph is None:
            self._graph = _meter_for(block)
            self._lufs = SILENT_LUFS
        self._graph.push(block)
        self._read()

    def _read(self) -> None:
        assert self._graph is not None
        while True:
            try:
                measured = self._graph.pull()
            except (av.BlockingIOError, av.EOFError):
                return
            value = float(measured.metadata.get("lavfi.r128.I", "nan"))
            if math.isfinite(value):
                self._lufs = value


class LevelTrack:
    """RMS level of a mono mix in overlapping windows, as librosa's `rms` frames them.

    22,050 Hz, windows of 2,048 samples every 512, centred: half a window of zeros on either side.
    """

    RATE_HZ = 22_050
    WINDOW = 2048
    HOP = 512
    FLOOR = 1e-9

    def __init__(self) -> None:
        self._audio = SteadyAudio("s16", "mono", self.RATE_HZ)
        self._tail = np.zeros(self.WINDOW // 2)
        self._levels = array("d")
        self._samples = 0

    def add(self, frame: av.AudioFrame) -> None:
        for block in self._audio.add(frame):
            self._extend(block)

    def add_silence(self, duration_s: float) -> None:
        """Nothing plays for `duration_s`."""
        missing = round(duration_s * self.RATE_HZ)
        while missing > 0:
            step = min(missing, 60 * self.RATE_HZ)
            self._roll(np.zeros(step))
            missing -= step

    def finish(self) -> npt.NDArray[np.float64] | None:
        """dBFS per hop, or none when nothing was heard."""
        for block in self._audio.finish():
            self._extend(block)
        if self._samples == 0:
            return None
        self._roll(np.zeros(self.WINDOW // 2))
        return np.array(self._levels)

    def _extend(self, block: av.AudioFrame) -> None:
        samples = block.to_ndarray().reshape(-1).astype(np.float64) / FULL_SCALE
        self._samples += samples.size
        self._roll(samples)

    def _roll(self, samples: npt.NDArray[np.float64]) -> None:
        joined = np.concatenate([self._tail, samples])
        windows = max(0, (joined.size - self.WINDOW) // self.HOP + 1)
        if windows:
            energy = np.concatenate([[0.0], np.cumsum(joined**2)])
            starts = np.arange(windows) * self.HOP
            power = (energy[starts + self.WINDOW] - energy[starts]) / self.WINDOW
            levels = 20 * np.log10(np.maximum(np.sqrt(np.maximum(power, 0)), self.FLOOR))
            self._levels.frombytes(levels.tobytes())
        self._tail = joined[windows * self.HOP :]


def _meter_for(frame: av.AudioFrame) -> av.filter.Graph:
    graph = av.filter.Graph()
    source = graph.add_abuffer(
        sample_rate=frame.sample_rate,
        format=frame.format.name,
        layout=frame.layout.name,
        time_base=frame.time_base,
    )
    meter = graph.add("ebur128", "metadata=1:framelog=quiet")
    sink = graph.add("abuffersink")
    source.link_to(meter)
    meter.link_to(sink)
    graph.configure()
    return graph
