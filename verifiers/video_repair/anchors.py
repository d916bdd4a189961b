"""The anchors of a task: what its broken and golden files measure, stored at build, measured again on check.

The golden anchor of a picture or sound measurement is what an honest re-encode of golden reaches, less a
little (ours): golden and a careful export of it both score 1, and no credit hangs on codec noise. Per-frame
values saturate there, so that untouched frames cannot outweigh broken ones.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from verifiers._audio_metrics import Samples, rms_db
from verifiers._files import AnswerError, require_answer_file
from verifiers._media import MediaError
from verifiers.video_repair.gates import sha256_of
from verifiers.video_repair.picture import FrameScore, compare_pictures
from verifiers.video_repair.reencode import honest_reencode
from verifiers.video_repair.schema import AUDIO_KINDS, TIMELINE_KINDS, VISUAL_KINDS, Anchor, Truth
from verifiers.video_repair.scoring import (
    AUDIO_WEIGHTS,
    VISUAL_WEIGHTS,
    UnmeasurableDefect,
    low_agreement,
    tells_apart,
)
from verifiers.video_repair.sound import RATE_HZ, compare_sounds, read_sound

# What a second generation of an honest re-encode may lose without losing score (ours).
SLACK = {"psnr_db": 1.0, "ssim": 0.005, "sdr_db": 1.0, "nsim": 0.01, "estoi": 0.005}
HONEST_PERCENTILE = 10
# How far a re-measured anchor may be from the stored one: other builds of a codec, not another file.
CHECK_TOLERANCE = {"psnr_db": 0.25, "ssim": 0.01, "sdr_db": 0.5, "level_error_db": 0.25}
CHECK_TOLERANCE_DEFAULT = 0.02
MIN_ACTIVE_S = 1.5
ACTIVE_RANGE_DB = 40.0


def measure_anchors(truth: Truth, answers: Path) -> dict[str, Anchor]:
    """The anchors for `truth`, measured on the files it names in `answers`.

    Raises `UnmeasurableDefect` where the defect is too weak, or the window too empty, to score a repair.
    """
    if truth.kind in TIMELINE_KINDS:
        return {}
    golden, broken = answers / truth.golden.file, answers / truth.broken.file
    for path in (golden, broken):
        require_answer_file(path)
    try:
        with tempfile.TemporaryDirectory() as folder:
            honest_golden, honest_broken = Path(folder) / "golden.mp4", Path(folder) / "broken.mp4"
            honest_reencode(golden, honest_golden)
            honest_reencode(broken, honest_broken)
            anchors = _sound_anchors(truth, golden, broken, honest_golden, honest_broken)
            anchors |= _picture_anchors(truth, golden, broken, honest_golden, honest_broken)
    except MediaError as error:
        raise AnswerError(f"the answer's media cannot be measured: {error}") from error
    require_telling(truth, anchors)
    return anchors


def check_anchors(truth: Truth, answers: Path) -> list[str]:
    """What is wrong with a stored answer: a sentence per problem, none when it is sound."""
    for item in (truth.golden, truth.broken):
        require_answer_file(answers / item.file)
    problems = [
        f"{item.file} is not the file the task was built with"
        for item in (truth.golden, truth.broken)
        if sha256_of(answers / item.file) != item.sha256
    ]
    try:
        fresh = measure_anchors(truth, answers)
    except UnmeasurableDefect as error:
        return [*problems, str(error)]
    if fresh.keys() != truth.anchors.keys():
        return [*problems, f"anchors are stored for {sorted(truth.anchors)}, not for {sorted(fresh)}"]
    for name, anchor in fresh.items():
        stored = truth.anchors[name]
        tolerance = CHECK_TOLERANCE.get(name.removeprefix("outside_"), CHECK_TOLERANCE_DEFAULT)
        for side, now, then in (
            ("broken", anchor.broken, stored.broken),
            ("golden", anchor.golden, stored.golden),
        ):
            if abs(now - then) > tolerance:
                problems.append(f"the {side} anchor of {name} is stored as {then:.4f} but measures {now:.4f}")
    return problems


def require_telling(truth: Truth, anchors: dict[str, Anchor]) -> None:
    """Raise unless some measurement tells broken from golden."""
    names = AUDIO_WEIGHTS if truth.kind in AUDIO_KINDS else VISUAL_WEIGHTS
    if not any(name in anchors and tells_apart(name, anchors[name]) for name in names):
        raise UnmeasurableDefect(f"no measurement of {truth.kind} tells the broken file from golden")


def saturated_mean(values: Sequence[float], ceiling: float) -> float:
    """The mean of the values, none counting for more than the ceiling; 0 without values."""
    return float(np.mean(np.minimum(values, ceiling))) if len(values) else 0.0


def _sound_anchors(
    truth: Truth, golden: Path, broken: Path, honest_golden: Path, honest_broken: Path
) -> dict[str, Anchor]:
    if truth.expected.audio is None or truth.window is None:
        return {}
    max_s = truth.expected.duration_s + 1.0
    clean, damaged, honest, again = (
        read_sound(path, max_s=max_s) for path in (golden, broken, honest_golden, honest_broken)
    )
    window = truth.window if truth.kind in AUDIO_KINDS else None
    at_broken = compare_sounds(clean, damaged, window=window)
    untouched = low_agreement(compare_sounds(clean, again, window=window).outside)
    anchors = {"outside_agreement": Anchor(broken=low_agreement(at_broken.outside), golden=untouched)}
    if window is None:
        return anchors
    active_s = _active_s(clean[round(window.start_s * RATE_HZ) : round(window.end_s * RATE_HZ)])
    if active_s < MIN_ACTIVE_S:
        raise UnmeasurableDefect(f"the window holds {active_s:.1f} s of sound; {MIN_ACTIVE_S} s are needed")
    at_golden = compare_sounds(clean, honest, window=window)
    return anchors | {
        name: Anchor(broken=value, golden=at_golden.inside[name] - SLACK.get(name, 0.0))
        for name, value in at_broken.inside.items()
    }


def _active_s(sound: Samples) -> float:
    block = RATE_HZ // 50
    levels_db = [rms_db(sound[start : start + block]) for start in range(0, len(sound) - block + 1, block)]
    return sum(level > max(levels_db) - ACTIVE_RANGE_DB for level in levels_db) / 50


def _picture_anchors(
    truth: Truth, golden: Path, broken: Path, honest_golden: Path, honest_broken: Path
) -> dict[str, Anchor]:
    if truth.expected.video is None:
        return {}
    rate = truth.expected.video.rate
    window = truth.window if truth.kind in VISUAL_KINDS else None
    at_broken = compare_pictures(golden, broken, rate, window=window)
    if truth.kind in AUDIO_KINDS:
        again = compare_pictures(golden, honest_broken, rate)
        return _frame_anchors("outside_", at_broken.outside, again.outside)
    honest = compare_pictures(golden, honest_golden, rate, window=window)
    if truth.kind not in VISUAL_KINDS:
        return _frame_anchors("", at_broken.outside, honest.outside)
    again = compare_pictures(golden, honest_broken, rate, window=window)
    return _frame_anchors("", at_broken.inside, honest.inside) | _frame_anchors(
        "outside_", at_broken.outside, again.outside
    )


def _frame_anchors(prefix: str, at_broken: list[FrameScore], honest: list[FrameScore]) -> dict[str, Anchor]:
    """PSNR and SSIM anchors; without frames (a window over the whole file) there is nothing to anchor."""
    if not honest:
        return {}
    anchors = {}
    for name in ("psnr_db", "ssim"):
        values = [getattr(score, name) for score in honest]
        ceiling = float(np.percentile(values, HONEST_PERCENTILE)) - SLACK[name]
        broken_mean = saturated_mean([getattr(score, name) for score in at_broken], ceiling)
        anchors[prefix + name] = Anchor(broken=broken_mean, golden=ceiling)
    return anchors
