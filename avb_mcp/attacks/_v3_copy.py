"""What the released repair scheme pays for a copy of the broken film at most, from the two films and the profile.

The scheme pays for what was never broken. An upper bound of that, read off its formulas without the verifier's
shortcuts: inside the windows a sampled frame is worth at most its lag factor times SSIM, over *every* source frame in
the lag band (sharpness and colour only lower that; the scheme looks at fewer frames), a sound at most its best
correlation times lag factor over every lag (the scheme takes the factor at the best correlation). Samples outside the
windows are worth at most 1. There is no report.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from scipy.signal import correlate

from verifiers._media import DecodedFrame, MediaInfo, media_info, mono_audio, video_frames
from verifiers.video_repair_v3.pictures import sample_places
from verifiers.video_repair_v3.schema import Profile
from verifiers.video_repair_v3.scoring import (
    AUDIO_RATE_HZ,
    DEFAULT_SHARES,
    LAG_BAND_FRAMES,
    MAX_AUDIO_LAG_S,
    VARIANT_SHARES,
    Chunk,
    Sides,
    edit_score,
    format_items,
    lag_factor,
    plan_chunks,
    total_score,
    weighted_mean,
)
from verifiers.video_repair_v3.truth import Window, edit_window, truth_windows

ROUNDING = 1e-5
"""Two readings of one formula in floating point."""
MAX_LAG = round(MAX_AUDIO_LAG_S * AUDIO_RATE_HZ)
SOUND_ONLY = frozenset({"v05_noise_floor_spike", "v07_audio_video_desync"})
"""Their pictures are whole: worth 1, which need not be measured."""

Gray = npt.NDArray[np.float64]
Signal = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A frame that the scheme looks at: its number in the film, and when it is seen."""

    number: int
    time_s: float


def copy_at_most(source: Path, broken: Path, profile: Profile, *, fix_v03: bool = False) -> float:
    """An upper bound of the score of `broken`, handed in without a report."""
    infos = media_info(broken), media_info(source)
    items = format_items(*infos)
    window = edit_window(profile, fix_v03=fix_v03)
    chunks = plan_chunks(profile.format.duration_s)
    video, audio = Sides(None, None), Sides(None, None)
    rate = _common_rate(*infos)
    if rate is not None and profile.variant not in SOUND_ONLY:
        damaged = [truth.window for truth in truth_windows(profile)]
        video = _pictures(source, broken, samples(chunks, rate), damaged, window)
    if infos[0].audio and infos[1].audio:
        audio = _sound(_track(source), _track(broken), chunks, window)
    shares = VARIANT_SHARES.get(profile.variant, DEFAULT_SHARES)
    return total_score(sum(items.values()) / len(items), 0.0, edit_score(video, audio, shares))


def _common_rate(broken: MediaInfo, source: MediaInfo) -> float | None:
    """The even rate of both films; for others the count of frames differs, and nothing is claimed of their pictures."""
    if broken.video is None or source.video is None:
        return None
    rates = {rate for video in (broken.video, source.video) for rate in (video.average_rate, video.real_rate)}
    rate = rates.pop()
    return float(rate) if rate and not rates else None


def samples(chunks: Sequence[Chunk], fps: float) -> list[Sample]:
    """The frames that the scheme looks at, in a film of a constant rate."""
    return [
        Sample(floor(chunk.start_s * fps + 0.5) + place, chunk.start_s + place / fps)
        for chunk in chunks
        for place in sample_places(chunk, fps)
    ]


def within(time_s: float, windows: Sequence[Window]) -> bool:
    return any(window.start_s <= time_s <= window.end_s for window in windows)


# ---- pictures


def _pictures(
    source: Path, broken: Path, looks: Sequence[Sample], damaged: Sequence[Window], window: Window | None
) -> Sides:
    wanted = {look.number for look in looks if within(look.time_s, damaged)}
    values = dict(_values(source, broken, wanted))
    inside: list[float] = []
    outside: list[float] = []
    for look in looks:
        side = inside if window is not None and within(look.time_s, [window]) else outside
        side.append(values.get(look.number, 1.0))
    return Sides(*(sum(side) / len(side) if side else None for side in (inside, outside)))


def _values(source: Path, broken: Path, wanted: set[int]) -> Iterator[tuple[int, float]]:
    """The wanted frames of the broken film, each with the most that it can be worth."""
    sources = enumerate(video_frames(source, skip_damaged=True))
    band: deque[tuple[int, DecodedFrame]] = deque(maxlen=2 * LAG_BAND_FRAMES + 1)
    held = -1
    for number, frame in enumerate(video_frames(broken, skip_damaged=True)):
        while held < number + LAG_BAND_FRAMES and (following := next(sources, None)) is not None:
            band.append(following)
            held = following[0]
        if number in wanted:
            near = [(abs(at - number), other) for at, other in band if abs(at - number) <= LAG_BAND_FRAMES]
            yield number, _most(frame, sorted(near, key=lambda item: item[0]))


def _most(frame: DecodedFrame, near: Sequence[tuple[int, DecodedFrame]]) -> float:
    best, own = 0.0, _gray(frame)
    for lag, other in near:
        if lag_factor(lag) <= best:
            break
        best = max(best, lag_factor(lag) * min(1.0, _ssim(own, _gray(other)) + ROUNDING))
    return best


def _gray(frame: DecodedFrame) -> Gray:
    return np.asarray(cv2.cvtColor(frame.bgr(), cv2.COLOR_BGR2GRAY), np.float64)


def _ssim(x: Gray, y: Gray) -> float:
    """The textbook formula: 7x7 uniform windows, sample covariance, data range 255."""
    if x.shape != y.shape:
        return 1.0

    def mean(picture: Gray) -> Gray:
        return np.asarray(cv2.blur(picture, (7, 7))[3:-3, 3:-3], np.float64)

    mean_x, mean_y, unbiased = mean(x), mean(y), 49 / 48
    var_x, var_y = (mean(x * x) - mean_x**2) * unbiased, (mean(y * y) - mean_y**2) * unbiased
    both = (mean(x * y) - mean_x * mean_y) * unbiased
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * mean_x * mean_y + c1) * (2 * both + c2)
    return float(np.mean(above / ((mean_x**2 + mean_y**2 + c1) * (var_x + var_y + c2))))


# ---- sound


def _track(path: Path) -> Signal:
    blocks = [*mono_audio(path, rate_hz=AUDIO_RATE_HZ, skip_damaged=True)]
    steps = np.rint(np.concatenate([np.zeros(0, np.float32), *blocks]).astype(np.float64) * 32768)
    return np.asarray(np.clip(steps, -32768, 32767), np.float64)


def _sound(source: Signal, broken: Signal, chunks: Sequence[Chunk], window: Window | None) -> Sides:
    """Measured inside the window, or over whole chunks where there is none."""
    if len(source) - len(broken) > MAX_LAG:
        broken = np.pad(broken, (0, len(source) - len(broken)))
    count = min(len(source), len(broken))
    parts: list[tuple[float, float]] = []
    for chunk in chunks:
        start_s = chunk.start_s if window is None else max(chunk.start_s, window.start_s)
        end_s = chunk.end_s if window is None else min(chunk.end_s, window.end_s)
        first, last = (min(count, round(time_s * AUDIO_RATE_HZ)) for time_s in (start_s, end_s))
        if last > first:
            parts.append((end_s - start_s, _likeness(broken[first:last], source[first:last])))
    mean = weighted_mean((value, weight) for weight, value in parts)
    return Sides(None, mean) if window is None else Sides(mean, None)


def _likeness(ours: Signal, theirs: Signal) -> float:
    loudness = float(np.linalg.norm(ours)), float(np.linalg.norm(theirs))
    if not all(loudness):
        return 0.0 if any(loudness) else 1.0
    products = correlate(ours, theirs, mode="full", method="fft") / (loudness[0] * loudness[1])
    lags = np.abs(np.arange(len(products)) - (len(theirs) - 1))
    return float(np.clip(np.max(products * np.maximum(0.0, 1 - lags / MAX_LAG)), 0.0, 1.0))
