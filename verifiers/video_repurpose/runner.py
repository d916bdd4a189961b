"""Score a repurposed film against its rubric.

`python -m verifiers.video_repurpose.runner --final final.mp4 --rubric rubric.json [--labels labels.json]`
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import asdict
from pathlib import Path

from verifiers._cli import judged, make_parser, run
from verifiers._files import AnswerError, SubmissionError, require_submission_file
from verifiers._media import MediaError
from verifiers._verdict import Measurement, Status, Verdict
from verifiers.video_repurpose.grading import Row, grade
from verifiers.video_repurpose.judge import Judge, LabelsJudge, NoJudge
from verifiers.video_repurpose.schema import RubricItem, load_labels, load_rubric
from verifiers.video_repurpose.scoring import PILLARS, Outcome, Tally, tally, tally_by_pillar

NAME = "video_repurpose"
MAX_FINAL_BYTES = 64 << 30


def verify(final: Path, rubric: Path, labels: Path | None = None, *, judge: Judge | None = None) -> Verdict:
    """Score `final` against a rubric file. Questions go to `judge`; `labels` is short for one of labels."""

    def verdict() -> Verdict:
        if labels is not None and judge is not None:
            raise AnswerError("give either labels or a judge, not both")
        items = load_rubric(rubric)
        if labels is None:
            return _score(final, items, judge or NoJudge(), frozenset())
        answers = load_labels(labels)
        return _score(final, items, LabelsJudge(answers), answers.keys())

    return judged(NAME, verdict, zero_components=PILLARS)


def verify_items(final: Path, items: Sequence[RubricItem], judge: Judge) -> Verdict:
    """Score `final` against a rubric that is already at hand, such as a dataset row's."""
    return judged(NAME, lambda: _score(final, items, judge, frozenset()), zero_components=PILLARS)


def _score(final: Path, items: Sequence[RubricItem], judge: Judge, labelled: Set[str]) -> Verdict:
    if not any(item.weight > 0 for item in items):
        raise AnswerError("the rubric has no item with a positive weight")
    require_submission_file(final, max_bytes=MAX_FINAL_BYTES)
    try:
        rows = grade(items, final, judge)
    except MediaError as error:
        raise SubmissionError(str(error)) from error
    return _verdict(rows, _notes(items, labelled))


def _verdict(rows: Sequence[Row], notes: list[str]) -> Verdict:
    marks = [row.mark for row in rows]
    total = tally(marks)
    by_pillar = tally_by_pillar(marks)
    if total.score is None:
        notes.append("no item with a positive weight could be graded")
    return Verdict(
        verifier=NAME,
        status=Status.UNGRADED if total.score is None else Status.SCORED,
        score=total.score,
        components=_components(total, by_pillar),
        measurements=_measurements(rows),
        reasons=[*notes, *_reasons(rows)],
        details={
            "weights": asdict(total) | {"positive_total": total.positive_total},
            "score_if_ungraded_fail": total.lowest,
            "score_if_ungraded_pass": total.highest,
            "pillars": {name: asdict(pillar) | {"score": pillar.earned_share} for name, pillar in by_pillar.items()},
            "items": [_item_details(row) for row in rows],
        },
    )


def _components(total: Tally, by_pillar: dict[str, Tally]) -> dict[str, float]:
    """Each pillar's earned share (penalties aside), what the penalties cost, how much was graded."""
    shares = {name: pillar.earned_share for name, pillar in by_pillar.items()}
    penalty = total.deducted / total.positive_graded if total.positive_graded else None
    figures = {**shares, "penalty": penalty, "graded_share": total.positive_graded / total.positive_total}
    return {name: value for name, value in figures.items() if value is not None}


def _measurements(rows: Sequence[Row]) -> dict[str, Measurement]:
    return {
        row.item.id: Measurement(value=row.finding.value, unit=row.finding.unit)
        for row in rows
        if row.finding.value is not None
    }


def _reasons(rows: Sequence[Row]) -> list[str]:
    """A sentence for everything that did not pass."""
    return [
        f"{row.item.id} {row.finding.outcome}: {row.finding.evidence}"
        for row in rows
        if row.finding.outcome is not Outcome.PASSED
    ]


def _item_details(row: Row) -> dict[str, object]:
    item = row.item
    return {
        "id": item.id,
        "criterion": item.criterion,
        "pillar": item.pillar,
        "weight": item.weight,
        "dispatch": item.dispatch,
        "outcome": row.finding.outcome.value,
        "evidence": row.finding.evidence,
    }


def _notes(items: Sequence[RubricItem], labelled: Set[str]) -> list[str]:
    counts = Counter(item.id for item in items)
    twice = [item_id for item_id, count in counts.items() if count > 1]
    strangers = sorted(labelled - counts.keys())
    notes = [f"several items share the id {item_id}" for item_id in twice]
    if strangers:
        notes.append(f"the labels name items that the rubric lacks: {', '.join(strangers[:5])}")
    return notes


def main(argv: Sequence[str] | None = None) -> int:
    parser = make_parser(NAME, "Score a repurposed film against its rubric.")
    parser.add_argument("--final", type=Path, required=True, help="the deliverable, final.mp4")
    parser.add_argument("--rubric", type=Path, required=True, help="rubric items (a list, or an object)")
    parser.add_argument("--labels", type=Path, help='human answers: {"item id": true or false}')
    return run(NAME, parser, lambda args: verify(args.final, args.rubric, args.labels), argv)


if __name__ == "__main__":
    sys.exit(main())
