"""Volume, loudness and the level over time of the first audio stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import av
import numpy as np
import numpy.typing as npt

from verifiers._loudness import IntegratedLoudness, LevelTrack, MeanVolume
from verifiers._media import MediaInfo
from verifiers.video_repurpose.film import Collector, Sound

GAP_S = 0.05
"""A hole in the audio's time stamps longer than this plays as silence."""

Levels = npt.NDArray[np.float64]
T_co = TypeVar("T_co", covariant=True)


class _Meter(Protocol[T_co]):
    def add(self, frame: av.AudioFrame) -> None: ...
    def finish(self) -> T_co: ...


@dataclass(frozen=True)
class MeanVolumeDb:
    """ffmpeg's volumedetect `mean_volume`; none without sound."""

    def start(self, info: MediaInfo) -> Collector[float | None]:  # noqa: ARG002
        return _Metered(MeanVolume())


@dataclass(frozen=True)
class LoudnessLufs:
    """EBU R 128 integrated loudness; none without sound."""

    def start(self, info: MediaInfo) -> Collector[float | None]:  # noqa: ARG002
        return _Metered(IntegratedLoudness())


@dataclass(frozen=True)
class LevelsDb:
    """The level every `LevelTrack.HOP` samples over the whole film; none without sound.

    What the stream leaves out (a late start, a gap, an early end) counts as silence, as a viewer hears it.
    """

    def start(self, info: MediaInfo) -> Collector[Levels | None]:
        return _LevelsDb(info.duration_s or 0.0)


class _Metered(Collector[T_co]):
    needs_sound = True

    def __init__(self, meter: _Meter[T_co]) -> None:
        self._meter = meter

    def hear(self, sound: Sound) -> None:
        self._meter.add(sound.frame)

    def result(self) -> T_co:
        return self._meter.finish()


class _LevelsDb(Collector[Levels | None]):
    needs_sound = True

    def __init__(self, film_end_s: float) -> None:
        self._track = LevelTrack()
        self._film_end_s = film_end_s
        self._heard_until_s = 0.0

    def hear(self, sound: Sound) -> None:
        start_s = self._heard_until_s if sound.time_s is None else sound.time_s
        self._fill(min(start_s, self._film_end_s))
        self._track.add(sound.frame)
        self._heard_until_s = start_s + sound.duration_s

    def result(self) -> Levels | None:
        self._fill(self._film_end_s)
        return self._track.finish()

    def _fill(self, until_s: float) -> None:
        if until_s - self._heard_until_s > GAP_S:
            self._track.add_silence(until_s - self._heard_until_s)
