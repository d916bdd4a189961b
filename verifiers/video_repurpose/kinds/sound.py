"""Kinds about the first audio stream; a film without one passes none of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from verifiers._loudness import SILENT_LUFS, LevelTrack
from verifiers.video_repurpose.film import Film
from verifiers.video_repurpose.kinds._base import Finding, Kind, KindParams, decide, range_text, within
from verifiers.video_repurpose.measures.sound import LevelsDb, LoudnessLufs, MeanVolumeDb

NO_SOUND = "there is no sound to measure"


class LoudnessMin(KindParams):
    threshold_db: float


class LufsRange(KindParams):
    min: float | None = None
    max: float | None = None


class SilenceMaxRun(KindParams):
    max_seconds: float
    threshold_db: float = -40.0


def audio_loudness_min(params: LoudnessMin, film: Film) -> Finding:
    volume_db = film[MeanVolumeDb()]
    if volume_db is None:
        return decide(False, NO_SOUND)
    evidence = f"mean volume {volume_db:.1f} dB, more than {params.threshold_db:g} dB wanted"
    return decide(volume_db > params.threshold_db, evidence, volume_db, "dB")


def loudness_lufs_range(params: LufsRange, film: Film) -> Finding:
    lufs = film[LoudnessLufs()]
    if lufs is None:
        return decide(False, NO_SOUND)
    allowed = range_text(params.min, params.max)
    if lufs <= SILENT_LUFS:  # never above the gate: no loudness, which is below any lower limit
        return decide(params.min is None, f"silent, allowed {allowed} LUFS", SILENT_LUFS, "LUFS")
    evidence = f"integrated loudness {lufs:.2f} LUFS, allowed {allowed}"
    return decide(within(lufs, params.min, params.max), evidence, lufs, "LUFS")


def silence_max_run(params: SilenceMaxRun, film: Film) -> Finding:
    levels_db = film[LevelsDb()]
    if levels_db is None:
        return decide(False, NO_SOUND)
    longest_s = longest_run(levels_db < params.threshold_db) * LevelTrack.HOP / LevelTrack.RATE_HZ
    evidence = (
        f"longest run below {params.threshold_db:g} dB {longest_s:.3f} s, at most {params.max_seconds:g} s allowed"
    )
    return decide(longest_s <= params.max_seconds, evidence, longest_s, "s")


def longest_run(flags: npt.NDArray[np.bool_]) -> int:
    """How many true flags stand in a row at most."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))


KINDS: dict[str, Kind[Any]] = {
    "ffmpeg_audio_loudness_min": Kind(LoudnessMin, audio_loudness_min, lambda _: (MeanVolumeDb(),)),
    "ffmpeg_loudness_lufs_range": Kind(LufsRange, loudness_lufs_range, lambda _: (LoudnessLufs(),)),
    "librosa_silence_max_run": Kind(SilenceMaxRun, silence_max_run, lambda _: (LevelsDb(),)),
}
