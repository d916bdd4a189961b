"""One function per group of kinds: take the measurements, ask `scoring`, write the verdict's parts down."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verifiers._audio_metrics import Samples
from verifiers._files import AnswerError
from verifiers._json import load_submission_text
from verifiers._media import MediaError
from verifiers._verdict import Gate, Measurement
from verifiers.video_repair import scoring
from verifiers.video_repair.anchors import saturated_mean
from verifiers.video_repair.gates import duration_gate, gate
from verifiers.video_repair.picture import FrameScore, PictureComparison, compare_pictures
from verifiers.video_repair.schema import AUDIO_KINDS, Anchor, TimeRange, Truth
from verifiers.video_repair.sound import RATE_HZ, SoundComparison, compare_sounds, read_sound
from verifiers.video_repair.timeline import (
    SOUND_RATE_HZ,
    compare_render,
    compare_render_sound,
    parse_ranges,
    removed_s,
)

# How much longer than golden a file is decoded before it is simply too long.
EXTRA_S = 10.0
MAX_REPORT_BYTES = 256 << 10


class StoredAnchors(dict[str, Anchor]):
    """The task's anchors; one that is missing is trouble of ours."""

    def __missing__(self, name: str) -> Anchor:
        raise AnswerError(f"truth.json has no anchor for {name}")


@dataclass(frozen=True)
class Case:
    truth: Truth
    golden: Path
    broken: Path
    submission: Path
    report: Path
    broken_s: float
    opus: bool
    """Whether the submitted sound is Opus, which keeps less of the waveform."""

    @property
    def anchors(self) -> StoredAnchors:
        return StoredAnchors(self.truth.anchors)


@dataclass
class Outcome:
    score: float = 0.0
    components: dict[str, float] = field(default_factory=dict)
    measurements: dict[str, Measurement] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    details: dict[str, object] = field(default_factory=dict)

    def measure(self, name: str, value: float, anchor: Anchor, score: float | None = None) -> None:
        """Note a measurement; its score is its place between the anchors unless another rule gave it."""
        place = scoring.anchored(value, anchor) if score is None else score
        unit = "dB" if name.endswith("_db") else ""
        finite = value if math.isfinite(value) else None
        self.measurements[name] = Measurement(
            value=finite, broken=anchor.broken, golden=anchor.golden, score=place, unit=unit
        )


def grade_window(case: Case) -> Outcome:
    """Audio and visual defects: reward = 0.9 · inside + 0.1 · outside."""
    out = Outcome()
    grade = _audio_parts if case.truth.kind in AUDIO_KINDS else _visual_parts
    inside, outside = grade(case, out)
    out.components = {"inside": inside, "outside": outside}
    out.score = scoring.window_reward(inside, outside)
    if case.truth.window is not None:
        out.details["window"] = [case.truth.window.start_s, case.truth.window.end_s]
    return out


def _audio_parts(case: Case, out: Outcome) -> tuple[float, float]:
    anchors = case.anchors
    sound = _compare_sound(case, inside=True)
    factors = {
        "level_error_db": scoring.level_factor(sound.inside, anchors),
        "stoi": scoring.words_factor(sound.inside["stoi"], anchors["stoi"].broken),
    }
    for name, value in sound.inside.items():
        out.measure(name, value, anchors[name], factors.get(name))
    _gate_sound_length(case, sound, out)
    copied = scoring.is_sound_copy(sound.sdr_to_broken_db, sound.progress)
    out.gates["not_near_copy"] = _copy_gate(copied, sound.progress)
    outside = _sound_outside(sound, anchors, out)
    if case.truth.expected.video is not None:
        picture = _compare_picture(case, inside=False)
        kept = _picture_kept(picture.outside, anchors, out)
        _gate_picture_length(case, picture, out)
        other = scoring.other_pictures([frame.psnr_db for frame in picture.outside])
        out.gates["picture_kept"] = gate(
            kept >= scoring.MIN_KEPT and other <= scoring.MAX_OTHER_PICTURES,
            f"only {kept:.2f} of the picture is kept, and {other:.2f} of the frames show something else",
        )
        outside = min(outside, kept)
    return scoring.audio_inside(sound.inside, anchors), outside


def _visual_parts(case: Case, out: Outcome) -> tuple[float, float]:
    anchors = case.anchors
    picture = _compare_picture(case, inside=True)
    values = {name: _mean(picture.inside, name, anchors[name].golden) for name in scoring.VISUAL_WEIGHTS}
    for name, value in values.items():
        out.measure(name, value, anchors[name])
    _gate_picture_length(case, picture, out)
    copied = scoring.is_picture_copy(picture.progress.psnr_to_broken_db, picture.progress.share)
    out.gates["not_near_copy"] = _copy_gate(copied, picture.progress.share)
    outside = _picture_kept(picture.outside, anchors, out)
    if case.truth.expected.audio is not None:
        sound = _compare_sound(case, inside=False)
        _gate_sound_length(case, sound, out)
        kept = scoring.sound_kept(sound.outside, anchors["outside_agreement"].golden)
        out.gates["sound_kept"] = gate(kept >= scoring.MIN_KEPT, f"only {kept:.2f} of the sound is kept")
        outside = min(outside, _sound_outside(sound, anchors, out))
    return scoring.visual_inside(values, anchors), outside


def grade_shot_swap(case: Case) -> Outcome:
    """PSNR of the whole output between broken and golden, with the length penalty."""
    out = Outcome()
    anchor = case.anchors["psnr_db"]
    picture = _compare_picture(case, inside=False)
    psnr_db = _mean(picture.outside, "psnr_db", anchor.golden)
    out.measure("psnr_db", psnr_db, anchor)
    counts = picture.submission_frames, picture.golden_frames
    if case.truth.expected.audio is not None:
        golden, broken, submission = _tracks(case, RATE_HZ)
        share = scoring.agreeing_share(compare_sounds(golden, submission).outside)
        needed = scoring.SWAP_SOUND_SHARE * scoring.agreeing_share(compare_sounds(golden, broken).outside)
        reason = f"{share:.2f} of the sound agrees with the original; {needed:.2f} are needed"
        out.gates["sound_kept"] = gate(share >= needed, reason)
    out.components = {
        "psnr": scoring.anchored(psnr_db, anchor),
        "length": scoring.length_penalty(*counts),
    }
    out.score = scoring.shot_swap_reward(psnr_db, anchor, *counts)
    return out


def grade_timeline(case: Case) -> Outcome:
    """Matched ranges over true ranges, if the render is the broken file without the reported ranges."""
    out = Outcome()
    truth, limits = case.truth, case.truth.tolerances
    claimed = parse_ranges(
        load_submission_text(case.report, max_bytes=MAX_REPORT_BYTES), case.broken_s, limits.range_end_s
    )
    match = scoring.match_ranges(truth.ranges, claimed, limits.range_end_s)
    out.components = {"recall": match.recall, "precision": match.precision, "f1": match.f1}
    out.measurements["recall"] = Measurement(value=match.recall, broken=0.0, golden=1.0, score=match.recall)
    out.details["reported_ranges"] = [[item.start_s, item.end_s] for item in claimed]
    out.details["true_ranges"] = [[item.start_s, item.end_s] for item in truth.ranges]
    cut_s = removed_s(claimed, case.broken_s)
    most_s = scoring.most_removed_s(truth.ranges, limits.max_removed_ratio)
    reason = f"the reported ranges remove {cut_s:.2f} s; more than {most_s:.2f} s is no repair"
    out.gates["not_overcut"] = gate(cut_s <= most_s, reason)
    if out.gates["not_overcut"].passed:
        _check_picture_render(case, claimed, out)
        _check_sound_render(case, claimed, out)
    out.score = match.recall
    return out


def _check_picture_render(case: Case, claimed: list[TimeRange], out: Outcome) -> None:
    """The honesty check."""
    if case.truth.expected.video is None:
        return
    limits = case.truth.tolerances
    render = compare_render(
        case.broken, case.submission, claimed, case.truth.expected.video.rate, limits.render_duration_s
    )
    out.gates["render_duration"] = duration_gate(
        render.render_s, render.nearest_expected_s, limits.render_duration_s, "render"
    )
    worst = float(np.percentile(render.ssims, 5)) if render.ssims else None
    out.measurements["render_ssim_p5"] = Measurement(value=worst)
    out.gates["render_picture"] = gate(
        scoring.picture_is_as_claimed(render.ssims, limits.render_ssim),
        f"the render does not show the broken file without the reported ranges "
        f"(worst frames at SSIM {worst or 0.0:.3f}, {limits.render_ssim} are needed)",
    )


def _check_sound_render(case: Case, claimed: list[TimeRange], out: Outcome) -> None:
    """The audio check."""
    if case.truth.expected.audio is None:
        return
    limits = case.truth.tolerances
    _, broken, render = _tracks(case, SOUND_RATE_HZ)
    sound = compare_render_sound(broken, render, claimed, limits.render_lag_s)
    median = float(np.median(sound.windows)) if sound.windows else None
    out.measurements["render_correlation"] = Measurement(value=median)
    out.gates["render_sound"] = gate(
        scoring.sound_is_as_claimed(
            sound.windows, limits.render_correlation, opus=case.opus, beside_cuts=sound.beside_cuts
        ),
        f"the render does not sound like the broken file without the reported ranges "
        f"(median correlation {median or 0.0:.3f}, {limits.render_correlation} is needed)",
    )
    if case.truth.expected.video is None:
        expected_s = len(broken) / SOUND_RATE_HZ - removed_s(claimed, case.broken_s)
        out.gates["render_duration"] = duration_gate(
            len(render) / SOUND_RATE_HZ, expected_s, limits.render_duration_s, "render"
        )


def _compare_picture(case: Case, *, inside: bool) -> PictureComparison:
    assert case.truth.expected.video is not None
    rate = case.truth.expected.video.rate
    if not inside:
        return compare_pictures(case.golden, case.submission, rate)
    return compare_pictures(case.golden, case.submission, rate, window=case.truth.window, broken=case.broken)


def _compare_sound(case: Case, *, inside: bool) -> SoundComparison:
    golden, broken, submission = _tracks(case, RATE_HZ)
    if not inside:
        return compare_sounds(golden, submission)
    return compare_sounds(golden, submission, window=case.truth.window, broken=broken)


def _tracks(case: Case, rate_hz: int) -> tuple[Samples, Samples, Samples]:
    """Golden, broken and submitted sound; only the last may be the agent's fault."""
    max_s = max(case.broken_s, case.truth.expected.duration_s) + EXTRA_S
    try:
        golden, broken = (read_sound(path, max_s=max_s, rate_hz=rate_hz) for path in (case.golden, case.broken))
    except MediaError as error:
        raise AnswerError(f"the answer's sound cannot be read: {error}") from error
    return golden, broken, read_sound(case.submission, max_s=max_s, rate_hz=rate_hz)


def _gate_picture_length(case: Case, picture: PictureComparison, out: Outcome) -> None:
    assert case.truth.expected.video is not None
    rate = float(case.truth.expected.video.rate)
    lengths_s = picture.submission_frames / rate, picture.golden_frames / rate
    out.gates["picture_duration"] = duration_gate(*lengths_s, case.truth.tolerances.duration_s, "picture")


def _gate_sound_length(case: Case, sound: SoundComparison, out: Outcome) -> None:
    lengths_s = sound.submission_s, sound.golden_s
    out.gates["sound_duration"] = duration_gate(*lengths_s, case.truth.tolerances.duration_s, "sound")


def _copy_gate(copied: bool, progress: float) -> Gate:
    reason = f"the content is a copy of the broken input ({progress:.3f} of the way to golden)"
    return gate(not copied, reason)


def _sound_outside(sound: SoundComparison, anchors: Mapping[str, Anchor], out: Outcome) -> float:
    anchor = anchors["outside_agreement"]
    score = scoring.sound_outside(sound.outside, anchor.golden)
    out.measure("outside_agreement", scoring.low_agreement(sound.outside), anchor, score)
    return score


def _picture_kept(frames: list[FrameScore], anchors: Mapping[str, Anchor], out: Outcome) -> float:
    """Credit for the frames that the defect did not touch; their means go into the verdict."""
    if not frames:
        return 1.0
    honest_psnr_db, honest_ssim = anchors["outside_psnr_db"].golden, anchors["outside_ssim"].golden
    credits = [scoring.picture_frame_kept(frame.psnr_db, frame.ssim, honest_psnr_db, honest_ssim) for frame in frames]
    kept = float(np.mean(credits))
    for name in ("psnr_db", "ssim"):
        anchor = anchors["outside_" + name]
        out.measure("outside_" + name, _mean(frames, name, anchor.golden), anchor, kept)
    return kept


def _mean(frames: list[FrameScore], name: str, ceiling: float) -> float:
    return saturated_mean([getattr(frame, name) for frame in frames], ceiling)
