"""`python -m verifiers.video_repair.runner --submission <outputs dir> --answers <answer dir>`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from verifiers._audio_metrics import MetricUnavailable
from verifiers._cli import judged, make_parser, run
from verifiers._files import (
    AnswerError,
    SubmissionError,
    require_answer_file,
    require_submission_file,
    require_submission_folder,
)
from verifiers._json import load_answer_json
from verifiers._media import MediaError, MediaInfo, media_info
from verifiers._verdict import Gate, Status, Verdict
from verifiers.video_repair.anchors import require_telling
from verifiers.video_repair.gates import format_gates, gate, sha256_of
from verifiers.video_repair.grading import Case, Outcome, grade_shot_swap, grade_timeline, grade_window
from verifiers.video_repair.schema import TIMELINE_KINDS, WINDOW_KINDS, ReferenceFile, Truth
from verifiers.video_repair.scoring import UnmeasurableDefect

NAME = "video_repair"
TRUTH_FILE = "truth.json"
MAX_MEDIA_BYTES = 16 << 30


def verify(submission: Path, answers: Path) -> Verdict:
    """Judge the deliverables in the folder `submission` against the answer folder."""
    return judged(NAME, lambda: _verify(submission, answers))


def load_truth(answers: Path) -> Truth:
    """`truth.json` of an answer folder; any trouble is `AnswerError`."""
    try:
        return Truth.model_validate(load_answer_json(answers / TRUTH_FILE))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise AnswerError(f"{TRUTH_FILE} is not a repair task's truth: {where}: {first['msg']}") from error


def _verify(submission: Path, answers: Path) -> Verdict:
    truth = load_truth(answers)
    golden, broken = (_answer_media(answers, item) for item in (truth.golden, truth.broken))
    golden_info, broken_info = (_answer_info(path) for path in (golden, broken))
    if truth.kind not in TIMELINE_KINDS:
        _require_anchors(truth)
    require_submission_folder(submission)
    media = submission / truth.deliverables.media
    require_submission_file(media, max_bytes=MAX_MEDIA_BYTES)
    if any(media.samefile(path) for path in (golden, broken)):
        raise SubmissionError(f"{media.name} is a file of the answer folder itself")
    try:
        info = media_info(media)
        gates = {"not_verbatim_copy": _verbatim_gate(media, truth)}
        gates |= format_gates(truth.expected, info, golden_info)
        if not all(item.passed for item in gates.values()):
            return _verdict(truth, Outcome(), gates)
        case = Case(
            truth=truth,
            golden=golden,
            broken=broken,
            submission=media,
            report=submission / truth.deliverables.report,
            broken_s=_length_s(broken_info),
            opus=bool(info.audio) and info.audio[0].codec == "opus",
        )
        return _verdict(truth, _grade(case), gates)
    except MediaError as error:
        raise SubmissionError(str(error)) from error
    except (MetricUnavailable, UnmeasurableDefect) as error:
        raise AnswerError(str(error)) from error


def _grade(case: Case) -> Outcome:
    if case.truth.kind in WINDOW_KINDS:
        return grade_window(case)
    if case.truth.kind in TIMELINE_KINDS:
        return grade_timeline(case)
    return grade_shot_swap(case)


def _verdict(truth: Truth, outcome: Outcome, gates: dict[str, Gate]) -> Verdict:
    gates = gates | outcome.gates
    failed = [item.reason for item in gates.values() if not item.passed]
    return Verdict(
        verifier=NAME,
        status=Status.SCORED,
        score=0.0 if failed else outcome.score,
        components=outcome.components,
        measurements=outcome.measurements,
        gates=gates,
        reasons=failed,
        details={"kind": truth.kind.value, **outcome.details},
    )


def _verbatim_gate(media: Path, truth: Truth) -> Gate:
    return gate(sha256_of(media) != truth.broken.sha256, "the file is the broken input, unchanged")


def _answer_media(answers: Path, item: ReferenceFile) -> Path:
    path = answers / item.file
    require_answer_file(path)
    if sha256_of(path) != item.sha256:
        raise AnswerError(f"the reference file {item.file} is not the one the task was built with")
    return path


def _answer_info(path: Path) -> MediaInfo:
    try:
        return media_info(path)
    except MediaError as error:
        raise AnswerError(f"the reference file {path.name} cannot be read: {error}") from error


def _length_s(info: MediaInfo) -> float:
    """The picture's length where there is one: ranges are given on its clock."""
    if info.video is not None and info.video.duration_s is not None:
        return info.video.duration_s
    if info.duration_s is None:
        raise AnswerError("the broken file does not say how long it is")
    return info.duration_s


def _require_anchors(truth: Truth) -> None:
    if not truth.anchors:
        raise AnswerError(f"{TRUTH_FILE} has no anchors; a builder stores them with measure_anchors")
    require_telling(truth, truth.anchors)


def main(argv: Sequence[str] | None = None) -> int:
    parser = make_parser(NAME, "Score a repair by the scheme of Appendix H.1.")
    parser.add_argument("--submission", type=Path, required=True, help="the task's outputs folder")
    parser.add_argument("--answers", type=Path, required=True, help="the task's answer folder")
    return run(NAME, parser, lambda options: verify(options.submission, options.answers), argv)


if __name__ == "__main__":
    sys.exit(main())
