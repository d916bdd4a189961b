"""Every constant and formula of the released repair scheme (contract, "Repair, released scheme"), pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp

from verifiers._media import MediaInfo
from verifiers.video_repair_v3.truth import TruthWindow, Window

FORMAT_POINTS, LOCALIZATION_POINTS, EDIT_POINTS = 5.0, 35.0, 60.0

# Format
FPS_TOLERANCE = 0.02
DURATION_TOLERANCE_S = 0.05

# Localization: points of one truth window, out of LOCALIZATION_POINTS
SCENE_POINTS, START_POINTS, END_POINTS, IOU_POINTS = 5.0, 10.0, 10.0, 10.0
ENDPOINT_DECAY_PER_S = 3.0

# Edit
CHUNK_S = 10.0
SAMPLES_PER_S = 10.0
LAG_BAND_FRAMES = 10
NEAREST_BY_HASH = 3
LAG_COST_PER_FRAME = 0.03
SHARPNESS_FLOOR = 1.0
CHROMA_NORM = 25.0
AUDIO_RATE_HZ = 48_000
MAX_AUDIO_LAG_S = 0.150
INSIDE_WEIGHT, OUTSIDE_WEIGHT = 2.5, 1.0


@dataclass(frozen=True)
class Shares:
    video: float
    audio: float


DEFAULT_SHARES = Shares(video=0.6, audio=0.4)
VARIANT_SHARES = {
    "v04_color_grade_shift": Shares(video=0.9, audio=0.1),
    "v05_noise_floor_spike": Shares(video=0.1, audio=0.9),
    "v07_audio_video_desync": Shares(video=0.1, audio=0.9),
}


def total_score(format_part: float, localization: float, edit: float) -> float:
    points = FORMAT_POINTS * format_part + LOCALIZATION_POINTS * localization + EDIT_POINTS * edit
    return points / (FORMAT_POINTS + LOCALIZATION_POINTS + EDIT_POINTS)


# ---- format


def format_items(fixed: MediaInfo, source: MediaInfo) -> dict[str, bool]:
    """The seven items of equal weight; a value that either file lacks fails its item."""
    mine, theirs = _format_values(fixed), _format_values(source)
    tolerance: dict[str, float] = {"fps": FPS_TOLERANCE, "duration": DURATION_TOLERANCE_S}
    return {item: _same(mine[item], theirs[item], tolerance.get(item)) for item in mine}


def _format_values(info: MediaInfo) -> dict[str, object]:
    video, audio = info.video, info.audio[0] if info.audio else None
    return {
        "container": info.container,
        "video_codec": video and video.codec,
        "audio_codec": audio and audio.codec,
        "fps": float(video.real_rate) if video and video.real_rate else None,
        "resolution": (video.width_px, video.height_px) if video else None,
        "duration": info.duration_s,
        "audio_sample_rate": audio and audio.rate_hz,
    }


def _same(mine: object, theirs: object, tolerance: float | None) -> bool:
    if mine is None or theirs is None:
        return False
    if tolerance is not None and isinstance(mine, float) and isinstance(theirs, float):
        return abs(mine - theirs) <= tolerance
    return mine == theirs


# ---- localization


@dataclass(frozen=True)
class WindowScore:
    """What one truth window earns: each part in [0, 1], before its points."""

    reported: Window | None
    scene: float
    start: float
    end: float
    iou: float

    @property
    def value(self) -> float:
        points = SCENE_POINTS * self.scene + START_POINTS * self.start
        points += END_POINTS * self.end + IOU_POINTS * self.iou
        return points / LOCALIZATION_POINTS


def localize(truths: Sequence[TruthWindow], reported: Sequence[Window]) -> list[WindowScore]:
    """Each truth window takes the report's best window for it; a window may serve more than one."""
    return [
        max(
            (score_window(truth, window) for window in reported),
            key=lambda score: score.value,
            default=WindowScore(None, 0.0, 0.0, 0.0, 0.0),
        )
        for truth in truths
    ]


def localization_score(windows: Sequence[WindowScore]) -> float:
    return sum(window.value for window in windows) / len(windows)


def score_window(truth: TruthWindow, reported: Window) -> WindowScore:
    target = truth.window
    hit = any(reported.end_s >= scene.start_s and reported.start_s <= scene.end_s for scene in truth.scenes)
    return WindowScore(
        reported=reported,
        scene=float(hit),
        start=exp(-ENDPOINT_DECAY_PER_S * abs(reported.start_s - target.start_s)),
        end=exp(-ENDPOINT_DECAY_PER_S * abs(reported.end_s - target.end_s)),
        iou=outer_iou(reported, target),
    )


def outer_iou(a: Window, b: Window) -> float:
    """Intersection over the outer span of both."""
    common_s = max(0.0, min(a.end_s, b.end_s) - max(a.start_s, b.start_s))
    return common_s / (max(a.end_s, b.end_s) - min(a.start_s, b.start_s))


# ---- edit


@dataclass(frozen=True)
class Chunk:
    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Sides:
    """One signal inside and outside the window; None where there is nothing to measure."""

    inside: float | None
    outside: float | None


def plan_chunks(duration_s: float) -> list[Chunk]:
    chunks = []
    start_s = 0.0
    while start_s < duration_s - 1e-6:
        chunks.append(Chunk(start_s, min(start_s + CHUNK_S, duration_s)))
        start_s += CHUNK_S
    return chunks


def sample_step(fps: float) -> int:
    """Every k-th frame of a chunk is compared; halves round to even, as in the released code."""
    return max(1, round(fps / SAMPLES_PER_S))


def sample_limit(chunk: Chunk) -> int:
    """A chunk yields at most so many samples: at 24 fps (k = 2) its last 1.7 s are never looked at."""
    return max(2, round(chunk.duration_s * SAMPLES_PER_S))


def lag_factor(lag_frames: int) -> float:
    return max(0.0, 1.0 - LAG_COST_PER_FRAME * abs(lag_frames))


def sharpness_factor(fixed_variance: float, source_variance: float) -> float:
    return min(1.0, fixed_variance / source_variance) if source_variance > SHARPNESS_FLOOR else 1.0


def chroma_factor(mean_difference: float) -> float:
    return max(0.0, 1.0 - mean_difference / CHROMA_NORM)


def weighted_mean(values: Iterable[tuple[float | None, float]]) -> float | None:
    """Mean of (value, weight) pairs over those that have a value and a weight."""
    kept = [(value, weight) for value, weight in values if value is not None and weight > 0]
    total = sum(weight for _, weight in kept)
    return sum(value * weight for value, weight in kept) / total if total else None


def modality_score(sides: Sides) -> float:
    """The share of its budget that a modality keeps; a missing side deducts nothing."""
    lost = 0.0
    for value, weight in ((sides.inside, INSIDE_WEIGHT), (sides.outside, OUTSIDE_WEIGHT)):
        if value is not None:
            lost += min(1.0, weight * max(0.0, 1.0 - value))
    return max(0.0, 1.0 - lost)


def edit_score(video: Sides, audio: Sides, shares: Shares) -> float:
    return shares.video * modality_score(video) + shares.audio * modality_score(audio)
