"""`python -m verifiers.video_order.runner --submission solution.json --reference reference.json`

`--render solution.mp4 --clips DIR` also applies the honesty factor of the contract (off by default: scores
stay comparable with the paper).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from verifiers import _cli
from verifiers._chance import order_chance
from verifiers._clips import load_segments
from verifiers._honesty import add_honesty_options, honesty_of
from verifiers._json import SubmissionError, load_answer_model
from verifiers._verdict import Status, Verdict
from verifiers.video_order.schema import OrderReference
from verifiers.video_order.scoring import COMPONENTS, score_order, true_ranks

NAME = "video_order"


def verify(submission: Path, reference: Path, *, render: Path | None = None, clips: Path | None = None) -> Verdict:
    """Judge a submitted order; with `render` and `clips`, times the honesty factor."""
    return _cli.judged(NAME, lambda: _verify(submission, reference, render, clips))


def _verify(submission: Path, reference: Path, render: Path | None, clips: Path | None) -> Verdict:
    truth = load_answer_model(reference, OrderReference).correct_order
    details: dict[str, object] = {"clips": len(truth), "chance": asdict(order_chance(len(truth)))}
    try:
        segments = load_segments(submission)
        result = score_order(true_ranks([segment.clip for segment in segments], truth))
        honesty = honesty_of(segments, render, clips)
    except SubmissionError as error:
        return _cli.refused(NAME, error, zero_components=COMPONENTS, details=details)
    return Verdict(
        verifier=NAME,
        status=Status.SCORED,
        score=result.headline * honesty.factor,
        components=result.components() | honesty.components(),
        reasons=honesty.reasons,
        details=details,
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = _cli.make_parser(NAME, "Score a predicted clip order.")
    parser.add_argument("--submission", type=Path, required=True, help="the submitted solution.json")
    parser.add_argument("--reference", type=Path, required=True, help='{"correct_order": [...]}')
    add_honesty_options(parser)

    def run(options: argparse.Namespace) -> Verdict:
        return verify(options.submission, options.reference, render=options.render, clips=options.clips)

    return _cli.run(NAME, parser, run, argv)


if __name__ == "__main__":
    sys.exit(main())
