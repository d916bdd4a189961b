"""`python -m verifiers.video_repair_v3.runner --fixed fixed.mp4 --report report.md --source source.mp4
--profile profile.json [--fix-v03-window]`

A part of the submission that is absent or broken costs its own points only, as in the released code: a good
report without a video still earns its localization.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from verifiers import _cli
from verifiers._files import AnswerError, SubmissionError, SubmissionMissing, require_answer_file
from verifiers._files import require_submission_file as require_file
from verifiers._json import load_answer_model, load_submission_text
from verifiers._media import MediaError, MediaInfo, media_info
from verifiers._verdict import Gate, Measurement, Status, Verdict
from verifiers.video_repair_v3.pictures import compare_pictures
from verifiers.video_repair_v3.report import reported_windows
from verifiers.video_repair_v3.schema import SWAP, Profile
from verifiers.video_repair_v3.scoring import (
    DEFAULT_SHARES,
    VARIANT_SHARES,
    Sides,
    WindowScore,
    edit_score,
    format_items,
    localization_score,
    localize,
    plan_chunks,
    total_score,
)
from verifiers.video_repair_v3.sound import compare_sound
from verifiers.video_repair_v3.truth import Window, edit_window, truth_windows

NAME = "video_repair_v3"
COMPONENTS = ("format", "localization", "edit")
MAX_VIDEO_BYTES = 8 << 30
MAX_REPORT_BYTES = 1 << 20
V03_QUIRK = (
    "scene swap: the released scheme finds no window in its own profiles, so every sample counts as outside; "
    "--fix-v03-window uses the outer span of the swapped groups"
)


@dataclass(frozen=True)
class Judged:
    """One part of the scheme: its share of the points and what to show for it."""

    score: float = 0.0
    gates: dict[str, Gate] = field(default_factory=dict)
    measurements: dict[str, Measurement] = field(default_factory=dict)
    details: dict[str, object] = field(default_factory=dict)
    reason: str = ""


def verify(fixed: Path, report: Path, source: Path, profile: Path, *, fix_v03_window: bool = False) -> Verdict:
    """Judge a repaired video and its report against the source video and the cell's profile."""
    return _cli.judged(
        NAME,
        lambda: _verify(fixed, report, source.resolve(), profile, fix_v03_window),
        zero_components=COMPONENTS,
    )


def _verify(fixed: Path, report: Path, source: Path, profile_path: Path, fix_v03: bool) -> Verdict:
    profile = load_answer_model(profile_path, Profile)
    window = edit_window(profile, fix_v03=fix_v03)
    source_info = _source_info(source)
    localization = _judge_report(report, profile)
    try:
        form, edit = _judge_video(fixed, source, source_info, profile, window)
    except (SubmissionError, MediaError) as error:
        if localization.reason:
            kind = SubmissionMissing if isinstance(error, SubmissionMissing) else SubmissionError
            raise kind(f"{error}; {localization.reason}") from error
        form, edit = Judged(reason=f"format and edit are 0: {error}"), Judged()
    reasons = [part.reason for part in (form, localization, edit) if part.reason]
    if profile.variant == SWAP and not fix_v03:
        reasons.append(V03_QUIRK)
    return Verdict(
        verifier=NAME,
        status=Status.SCORED,
        score=total_score(form.score, localization.score, edit.score),
        components=dict(zip(COMPONENTS, (form.score, localization.score, edit.score), strict=True)),
        measurements=edit.measurements,
        gates=form.gates,
        reasons=reasons,
        details={
            "variant": profile.variant,
            "edit_window_s": _pair(window),
            "v03_window": ("fixed" if fix_v03 else "as released") if profile.variant == SWAP else None,
            **localization.details,
        },
    )


def _source_info(source: Path) -> MediaInfo:
    require_answer_file(source)
    try:
        info = media_info(source)
    except MediaError as error:
        raise AnswerError(f"the source video cannot be used: {error}") from error
    if info.video is None:
        raise AnswerError(f"the source video {source.name} has no picture")
    return info


def _judge_report(report: Path, profile: Profile) -> Judged:
    truths = truth_windows(profile)
    try:
        text = load_submission_text(report, max_bytes=MAX_REPORT_BYTES, lenient=True)
    except SubmissionError as error:
        return Judged(reason=f"localization is 0: {error}")
    windows = reported_windows(text, len(truths))
    if not windows:
        return Judged(reason=f"localization is 0: {report.name} names no window with a start before its end")
    scores = localize(truths, windows)
    rows = [_row(truth.window, score) for truth, score in zip(truths, scores, strict=True)]
    return Judged(localization_score(scores), details={"localization": rows})


def _judge_video(
    fixed: Path, source: Path, source_info: MediaInfo, profile: Profile, window: Window | None
) -> tuple[Judged, Judged]:
    require_file(fixed, max_bytes=MAX_VIDEO_BYTES)
    fixed_info = media_info(fixed)
    items = format_items(fixed_info, source_info)
    gates = {
        f"format.{item}": Gate(passed=passed, reason="" if passed else "differs from the source or is missing")
        for item, passed in items.items()
    }
    form = Judged(sum(items.values()) / len(items), gates=gates)
    if fixed_info.video is None or (source_info.audio and not fixed_info.audio):
        absent = "picture" if fixed_info.video is None else "sound"
        return form, Judged(reason=f"edit is 0: {fixed.name} has no {absent}")
    try:
        video, audio = _compare(fixed, fixed_info, source, source_info, profile, window)
    except MediaError as error:
        return form, Judged(reason=f"edit is 0: {error}")
    shares = VARIANT_SHARES.get(profile.variant, DEFAULT_SHARES)
    measurements = {
        "video_inside": Measurement(value=video.inside),
        "video_outside": Measurement(value=video.outside),
        "audio_inside": Measurement(value=audio.inside),
        "audio_outside": Measurement(value=audio.outside),
    }
    return form, Judged(edit_score(video, audio, shares), measurements=measurements)


def _compare(
    fixed: Path,
    fixed_info: MediaInfo,
    source: Path,
    source_info: MediaInfo,
    profile: Profile,
    window: Window | None,
) -> tuple[Sides, Sides]:
    """Pictures and sound, side by side."""
    chunks = plan_chunks(profile.format.duration_s)
    rates = tuple(info.video.average_rate if info.video else None for info in (fixed_info, source_info))
    with ThreadPoolExecutor(max_workers=1) as pool:
        sound = pool.submit(
            compare_sound,
            fixed if fixed_info.audio else None,
            source if source_info.audio else None,
            chunks,
            window,
        )
        pictures = compare_pictures(fixed, source, (rates[0], rates[1]), chunks, window)
        return pictures, sound.result()


def _row(truth: Window, score: WindowScore) -> dict[str, object]:
    return {
        "truth_s": _pair(truth),
        "reported_s": _pair(score.reported),
        "scene": score.scene,
        "start": score.start,
        "end": score.end,
        "iou": score.iou,
        "value": score.value,
    }


def _pair(window: Window | None) -> list[float] | None:
    return None if window is None else [window.start_s, window.end_s]


def main(argv: Sequence[str] | None = None) -> int:
    parser = _cli.make_parser(NAME, "Score a repaired video by the scheme released in May.")
    parser.add_argument("--fixed", type=Path, required=True, help="the submitted fixed.mp4")
    parser.add_argument("--report", type=Path, required=True, help="the submitted report.md")
    parser.add_argument("--source", type=Path, required=True, help="the original video")
    parser.add_argument("--profile", type=Path, required=True, help="the cell's profile.json")
    parser.add_argument(
        "--fix-v03-window",
        action="store_true",
        help="scene swaps: take the outer span of the swapped groups as the window",
    )

    def run(options: argparse.Namespace) -> Verdict:
        return verify(
            options.fixed,
            options.report,
            options.source,
            options.profile,
            fix_v03_window=options.fix_v03_window,
        )

    return _cli.run(NAME, parser, run, argv)


if __name__ == "__main__":
    sys.exit(main())
