"""The formulas of "Repair, Appendix H.1 scheme" in the benchmark contract; pure functions of numbers.

`s(x) = clip((x − x_broken) / (x_golden − x_broken), 0, 1)` for every measurement; the sign of both
differences flips by itself where smaller is better. What the contract leaves open is marked (ours).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from verifiers._audio_metrics import LevelRule
from verifiers.video_repair.schema import Anchor, TimeRange

# reward = 0.9 · inside + 0.1 · outside
INSIDE_WEIGHT, OUTSIDE_WEIGHT = 0.9, 0.1
# (ours) Untouched surroundings pay nothing without a repair: the reward is 0 below the first inside score,
# and the outside part counts in full from the second on.
MIN_INSIDE, FULL_OUTSIDE_FROM = 0.02, 0.10
# (ours) Content this close to the broken input that went less than this share of the way to golden is a copy.
COPY_PSNR_DB, COPY_SDR_DB, COPY_PROGRESS = 30.0, 10.0, 0.05
# (ours) A track that is not to be repaired must be kept: with less of it than this the reward is 0, and with more of
# its frames than this showing another picture (no encoder is so bad), however much of a dark film black would keep.
MIN_KEPT, MAX_OTHER_PICTURES, OTHER_PICTURE_PSNR_DB = 0.2, 0.1, 20.0

# Inside audio: perceptual, intelligibility, fidelity.
AUDIO_WEIGHTS = {"nsim": 0.4, "estoi": 0.3, "sdr_db": 0.3}
LEVEL_FULL_DB, LEVEL_NONE_DB = 3.0, 9.0
WORDS_NONE, WORDS_SPAN = 0.5, 0.35  # in shares of the broken input's STOI
MIN_STOI_BROKEN = 0.05  # below it there are no words to lose
# Inside visual: mean of both.
VISUAL_WEIGHTS = {"psnr_db": 0.5, "ssim": 0.5}
# A term whose anchors are closer than this says nothing and is dropped (dB: ours).
MIN_GAP = {"nsim": 0.02, "estoi": 0.02, "ssim": 0.02, "sdr_db": 0.5, "psnr_db": 0.5}

# Outside sound: 10th percentile of the agreement of 1 s blocks, full at 0.95, none 0.15 below; where an
# honest re-encode itself reaches less (noise-like sound), full is there (ours).
OUTSIDE_SOUND_FULL, OUTSIDE_SOUND_SPAN, OUTSIDE_SOUND_PERCENTILE = 0.95, 0.15, 10
# (ours) Outside picture: full at an honest re-encode's value, none this far below; frame by frame.
OUTSIDE_SSIM_SPAN, OUTSIDE_PSNR_SPAN_DB = 0.15, 12.0

# Shot swap: max(0, 1 − 2·(deviation − 0.10)) beyond 10 % of the golden's length.
LENGTH_FREE, LENGTH_SLOPE = 0.10, 2.0

# (ours) There the sound may stay in the broken order but not get lost: of its blocks at least this share of
# those that agree with golden in the broken file must agree.
SWAP_SOUND_SHARE, SWAP_SOUND_AGREES = 0.5, 0.80

# (ours) Share of a render's sampled frames that must reach the SSIM; the rest is slack for joints.
RENDER_FRAMES_SHARE = 0.95
# A render's sound is as claimed when the median window reaches the task's correlation and this share of the
# windows reaches this much less; Opus changes the waveform more, so both are lower for it.
RENDER_SOUND_SLACK, RENDER_SOUND_SHARE = 0.10, 0.90
OPUS_CORRELATION_LOSS, OPUS_SOUND_SLACK, OPUS_SOUND_SHARE = 0.10, 0.0, 0.60
# (ours) Single frames and windows may be hard to encode. So many neighbours this far off are another stretch of the
# film, however small their share of it; beside a cut one such window is enough.
WRONG_SSIM, WRONG_CORRELATION, WRONG_RUN = 0.80, 0.50, 2
# (ours) Cutting at most this much more than the truth is always accepted, however short the true ranges are.
REMOVED_SLACK_S = 1.0


class UnmeasurableDefect(Exception):
    """No measurement tells broken from golden: the task cannot be scored."""


def anchored(value: float, anchor: Anchor) -> float:
    """s(x): 0 at the broken input, 1 at golden; a value that is no number counts as 0."""
    if not math.isfinite(value) or anchor.golden == anchor.broken:
        return 0.0
    share = (value - anchor.broken) / (anchor.golden - anchor.broken)
    return round(float(np.clip(share, 0.0, 1.0)), 9)  # a mean of equal values is not always that value


def tells_apart(name: str, anchor: Anchor) -> bool:
    """Whether golden measures better than broken by enough to be a scale."""
    return anchor.golden - anchor.broken >= MIN_GAP[name]


def weighted(values: Mapping[str, float], anchors: Mapping[str, Anchor], weights: Mapping[str, float]) -> float:
    """The weighted mean of the anchored values, over the terms that tell broken from golden."""
    useful = [name for name in weights if tells_apart(name, anchors[name])]
    if not useful:
        raise UnmeasurableDefect(f"none of {', '.join(weights)} tells the broken file from golden")
    total = sum(weights[name] for name in useful)
    return sum(weights[name] * anchored(values[name], anchors[name]) for name in useful) / total


def audio_inside(values: Mapping[str, float], anchors: Mapping[str, Anchor]) -> float:
    """(0.4 perceptual + 0.3 intelligibility + 0.3 fidelity) · level · words."""
    quality = weighted(values, anchors, AUDIO_WEIGHTS)
    return quality * level_factor(values, anchors) * words_factor(values["stoi"], anchors["stoi"].broken)


def level_factor(values: Mapping[str, float], anchors: Mapping[str, Anchor]) -> float:
    """Full within 3 dB of golden's level, none at 9 dB or at the broken file's own error if that is more."""
    none_db = max(LEVEL_NONE_DB, abs(anchors["level_error_db"].broken))
    return LevelRule(full_db=LEVEL_FULL_DB, none_db=none_db).credit(values["level_error_db"])


def words_factor(stoi: float, stoi_broken: float) -> float:
    """A repair must not lose the words that the broken input still had."""
    if stoi_broken < MIN_STOI_BROKEN:
        return 1.0
    return float(np.clip((stoi - WORDS_NONE * stoi_broken) / (WORDS_SPAN * stoi_broken), 0.0, 1.0))


def visual_inside(values: Mapping[str, float], anchors: Mapping[str, Anchor]) -> float:
    """Mean of PSNR and SSIM against the golden frames of the window."""
    return weighted(values, anchors, VISUAL_WEIGHTS)


def low_agreement(agreements: Sequence[float]) -> float:
    """The 10th percentile over blocks; nothing to judge (silence kept silent) is full agreement."""
    return float(np.percentile(agreements, OUTSIDE_SOUND_PERCENTILE)) if agreements else 1.0


def sound_outside(agreements: Sequence[float], honest: float) -> float:
    """1 when untouched up to an honest re-encode, whose low agreement is `honest`."""
    full = min(OUTSIDE_SOUND_FULL, honest)
    return float(np.clip(1.0 - (full - low_agreement(agreements)) / OUTSIDE_SOUND_SPAN, 0.0, 1.0))


def sound_kept(agreements: Sequence[float], honest: float) -> float:
    """How much of a track that should be untouched is still there: the median block."""
    return min(1.0, float(np.median(agreements)) / max(honest, 1e-6)) if agreements else 1.0


def picture_frame_kept(psnr_db: float, ssim: float, honest_psnr_db: float, honest_ssim: float) -> float:
    """One outside frame: 1 at an honest re-encode, falling linearly, the worse of both measures."""
    by_psnr = 1.0 - (honest_psnr_db - psnr_db) / OUTSIDE_PSNR_SPAN_DB
    by_ssim = 1.0 - (honest_ssim - ssim) / OUTSIDE_SSIM_SPAN
    return float(np.clip(min(by_psnr, by_ssim), 0.0, 1.0))


def other_pictures(psnrs_db: Sequence[float]) -> float:
    """The share of frames that show something else than they should."""
    return float(np.mean(np.asarray(psnrs_db) < OTHER_PICTURE_PSNR_DB)) if psnrs_db else 0.0


def window_reward(inside: float, outside: float) -> float:
    """0.9 · inside + 0.1 · outside, where something was repaired."""
    if inside < MIN_INSIDE:
        return 0.0
    earned = min(1.0, inside / FULL_OUTSIDE_FROM)
    return INSIDE_WEIGHT * inside + OUTSIDE_WEIGHT * outside * earned


def is_picture_copy(psnr_to_broken_db: float, progress: float) -> bool:
    """Near-identical to the broken input, re-encoded or retouched somewhere (ours)."""
    return psnr_to_broken_db >= COPY_PSNR_DB and progress < COPY_PROGRESS


def is_sound_copy(sdr_to_broken_db: float, progress: float) -> bool:
    """Near-identical to the broken input, re-encoded or moved a little (ours)."""
    return sdr_to_broken_db >= COPY_SDR_DB and progress < COPY_PROGRESS


def agreeing_share(agreements: Sequence[float]) -> float:
    """How many blocks of the sound are where golden has them; without sound all of them."""
    return float(np.mean(np.asarray(agreements) >= SWAP_SOUND_AGREES)) if agreements else 1.0


def length_penalty(duration_s: float, golden_duration_s: float) -> float:
    deviation = abs(duration_s - golden_duration_s) / golden_duration_s
    return 1.0 if deviation <= LENGTH_FREE else max(0.0, 1.0 - LENGTH_SLOPE * (deviation - LENGTH_FREE))


def shot_swap_reward(psnr_db: float, anchor: Anchor, duration_s: float, golden_duration_s: float) -> float:
    """The whole output's PSNR between broken and golden, times the length penalty."""
    if not tells_apart("psnr_db", anchor):
        raise UnmeasurableDefect("psnr_db does not tell the broken file from golden")
    moved = anchored(psnr_db, anchor)
    if moved < MIN_INSIDE:
        return 0.0  # a re-encode of the broken film gains a hair over the stored anchor
    return moved * length_penalty(duration_s, golden_duration_s)


@dataclass(frozen=True)
class RangeMatch:
    matched: int
    reference_count: int
    submission_count: int

    @property
    def recall(self) -> float:
        return self.matched / self.reference_count

    @property
    def precision(self) -> float:
        return self.matched / self.submission_count if self.submission_count else 0.0

    @property
    def f1(self) -> float:
        return 2.0 * self.matched / (self.reference_count + self.submission_count)


def match_ranges(reference: Sequence[TimeRange], submission: Sequence[TimeRange], tolerance_s: float) -> RangeMatch:
    """Each true range, in order, looks at the closest unused reported one, the earlier of two as close.

    It counts when both ends are within the tolerance, and is used up only then.
    """
    unused = list(submission)
    for truth in reference:
        closest = min(unused, key=lambda claim: sum(_end_errors_s(truth, claim)), default=None)
        # A hair of slack: 5.2 − 5.0 is more than 0.2 in binary.
        if closest is not None and max(_end_errors_s(truth, closest)) <= tolerance_s + 1e-9:
            unused.remove(closest)
    return RangeMatch(len(submission) - len(unused), len(reference), len(submission))


def _end_errors_s(a: TimeRange, b: TimeRange) -> tuple[float, float]:
    return abs(a.start_s - b.start_s), abs(a.end_s - b.end_s)


def most_removed_s(reference: Sequence[TimeRange], max_removed_ratio: float) -> float:
    """How much may be cut in all: else a comb of cuts over the whole file would hit every truth (ours)."""
    true_s = sum(item.length_s for item in reference)
    return max(max_removed_ratio * true_s, true_s + REMOVED_SLACK_S)


def picture_is_as_claimed(ssims: Sequence[float], min_ssim: float) -> bool:
    """The sampled frames of the render show what the reported cuts leave of the broken file."""
    if not ssims or longest_run(ssims, WRONG_SSIM) >= WRONG_RUN:
        return False
    return float(np.mean(np.asarray(ssims) >= min_ssim)) >= RENDER_FRAMES_SHARE


def sound_is_as_claimed(
    correlations: Sequence[float], min_correlation: float, *, opus: bool, beside_cuts: Sequence[float] = ()
) -> bool:
    """The render's sound is what the reported cuts leave; no window to judge (silence) is as claimed."""
    if longest_run(correlations, WRONG_CORRELATION) >= WRONG_RUN or longest_run(beside_cuts, WRONG_CORRELATION):
        return False
    if not correlations:
        return True
    median_needed = min_correlation - (OPUS_CORRELATION_LOSS if opus else 0.0)
    each_needed = median_needed - (OPUS_SOUND_SLACK if opus else RENDER_SOUND_SLACK)
    share_needed = OPUS_SOUND_SHARE if opus else RENDER_SOUND_SHARE
    share = float(np.mean(np.asarray(correlations) >= each_needed))
    return float(np.median(correlations)) >= median_needed and share >= share_needed


def longest_run(values: Sequence[float], below: float) -> int:
    """How many neighbours at most are all below a limit."""
    return max((len(list(run)) for low, run in groupby(values, lambda value: value < below) if low), default=0)
