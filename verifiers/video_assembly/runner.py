"""`python -m verifiers.video_assembly.runner --submission solution.json --reference reference.json`

With `--render solution.mp4 --clips DIR` a slot counts only if the render shows the claimed clip (off by
default: scores stay comparable with the paper).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from verifiers import _cli
from verifiers._chance import assembly_chance, assembly_pool_chance
from verifiers._clips import load_segments
from verifiers._honesty import add_honesty_options, honesty_of
from verifiers._json import SubmissionError, load_answer_model
from verifiers._verdict import Status, Verdict
from verifiers.video_assembly.schema import AssemblyReference
from verifiers.video_assembly.scoring import COMPONENTS, require_every_slot, score_assembly

NAME = "video_assembly"


def verify(submission: Path, reference: Path, *, render: Path | None = None, clips: Path | None = None) -> Verdict:
    """Judge the picked clips; with `render` and `clips`, only those that the render really shows count."""
    return _cli.judged(NAME, lambda: _verify(submission, reference, render, clips))


def _verify(submission: Path, reference: Path, render: Path | None, clips: Path | None) -> Verdict:
    truth = load_answer_model(reference, AssemblyReference)
    right, candidates = truth.correct_assembly_in_slot_order, truth.candidates_per_slot
    chance = {
        "own_candidates": assembly_chance(len(right), candidates),
        "whole_pool": assembly_pool_chance(len(right), candidates),
    }
    try:
        segments = load_segments(submission)
        picked = [segment.clip for segment in segments]
        require_every_slot(picked, right)
        honesty = honesty_of(segments, render, clips)
    except SubmissionError as error:
        return _cli.refused(NAME, error, zero_components=COMPONENTS, details={"chance": chance})
    result = score_assembly(picked, right, candidates_per_slot=candidates, honest=honesty.slots)
    return Verdict(
        verifier=NAME,
        status=Status.SCORED,
        score=result.headline,
        components=result.components() | honesty.components(),
        reasons=honesty.reasons,
        details={"correct_slots": list(result.correct_slots), "chance": chance},
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = _cli.make_parser(NAME, "Score the clips picked for a storyboard.")
    parser.add_argument("--submission", type=Path, required=True, help="the submitted solution.json")
    parser.add_argument(
        "--reference",
        type=Path,
        required=True,
        help='{"correct_assembly_in_slot_order": [...], "candidates_per_slot": 3}',
    )
    add_honesty_options(parser)

    def run(options: argparse.Namespace) -> Verdict:
        return verify(options.submission, options.reference, render=options.render, clips=options.clips)

    return _cli.run(NAME, parser, run, argv)


if __name__ == "__main__":
    sys.exit(main())
