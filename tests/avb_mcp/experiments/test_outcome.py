from __future__ import annotations

import pytest

from avb_mcp.experiments.outcome import backoff_s, is_final, judged
from avb_mcp.experiments.plan import Retries
from avb_mcp.experiments.record import Exit, Outcome
from harness_configs._base import ReadBack
from tests.avb_mcp.experiments.making import cell, record

OK = {"status": "scored", "score": 0.0}


@pytest.mark.parametrize(
    ("ended", "errors", "stderr", "outcome"),
    [
        (Exit(code=0), (), b"", Outcome.DONE),
        (Exit(code=0), (), b"warning: 429 things", Outcome.DONE),
        (Exit(code=1), ("error_max_turns: ",), b"", Outcome.DONE),
        (Exit(signal=9, timed_out=True), (), b"", Outcome.TIMEOUT),
        (Exit(signal=9, limit="9 GB of memory, 8 are allowed"), (), b"", Outcome.LIMIT),
        (Exit(signal=9, limit="stopped by the user"), (), b"", Outcome.STOPPED),
        (Exit(code=1), ("API Error: 429 rate_limit_error",), b"", Outcome.RATE_LIMIT),
        (Exit(code=1), (), b"Error: Too Many Requests", Outcome.RATE_LIMIT),
        (Exit(code=1), (), b"connect ECONNREFUSED 127.0.0.1:1", Outcome.INFRA),
        (Exit(code=1), (), b"401 Unauthorized", Outcome.INFRA),
        (Exit(signal=11), (), b"Segmentation fault", Outcome.CRASH),
        (Exit(code=0), ("the model refused",), b"", Outcome.CRASH),
    ],
)
def test_how_an_attempt_ended_is_told_from_what_it_left(
    ended: Exit, errors: tuple[str, ...], stderr: bytes, outcome: Outcome
) -> None:
    assert judged(cell(), ended, ReadBack(errors=errors), OK, stderr)[0] is outcome


def test_trouble_of_the_scorer_is_never_the_agents_zero() -> None:
    verdict = {"status": "error", "reasons": ["the reference file is missing"]}

    assert judged(cell(), Exit(code=0), ReadBack(), verdict, b"") == (Outcome.INFRA, "the reference file is missing")


def test_each_kind_of_failure_is_tried_again_as_often_as_the_plan_says() -> None:
    retries = Retries(rate_limit=2, crash=1, timeout=0, infra=0)

    def finals(outcome: Outcome) -> list[bool]:
        return [is_final(record(cell(), None, outcome=outcome, attempt=9), retries, before) for before in (0, 1, 2)]

    assert finals(Outcome.RATE_LIMIT) == [False, False, True]
    assert finals(Outcome.CRASH) == [False, True, True]
    assert finals(Outcome.TIMEOUT) == [True, True, True]
    assert finals(Outcome.DONE) == [True, True, True]
    assert finals(Outcome.STOPPED) == [False, False, False]


def test_the_pause_doubles() -> None:
    assert [backoff_s(attempt, Retries(backoff_s=10)) for attempt in (1, 2, 3)] == [10, 20, 40]
