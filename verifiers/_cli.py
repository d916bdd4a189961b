"""The one way a verifier runs from a command line: parse, verify, print the verdict as JSON, exit code.

Nothing but the verdict goes to stdout. Trouble with a submission is a verdict with its reason (exit 0);
trouble that is ours is status `error` (exit 2).
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from verifiers._files import AnswerError, SubmissionError, SubmissionMissing
from verifiers._verdict import Status, Verdict


class _Parser(argparse.ArgumentParser):
    """A command line that does not parse is trouble of ours, so it is a verdict like any other."""

    def error(self, message: str) -> NoReturn:
        raise AnswerError(f"the command line is wrong: {message}")


def make_parser(name: str, description: str) -> argparse.ArgumentParser:
    """The parser for `python -m verifiers.<name>.runner`."""
    return _Parser(prog=f"python -m verifiers.{name}.runner", description=description)


def run(
    name: str,
    parser: argparse.ArgumentParser,
    verify: Callable[[argparse.Namespace], Verdict],
    argv: Sequence[str] | None = None,
) -> int:
    """Print the verdict on `argv` and return its exit code; never raises."""
    verdict = _guarded(name, lambda: verify(parser.parse_args(argv)))
    sys.stdout.write(verdict.model_dump_json(indent=2) + "\n")
    return verdict.exit_code


def judged(name: str, verify: Callable[[], Verdict], *, zero_components: Sequence[str] = ()) -> Verdict:
    """`verify()`, with a bad submission as a zero that carries its reason and bad answers as `error`."""
    try:
        return verify()
    except SubmissionError as error:
        return refused(name, error, zero_components=zero_components)
    except AnswerError as error:
        return Verdict(verifier=name, status=Status.ERROR, reasons=[_printable(str(error))])


def refused(
    name: str,
    error: SubmissionError,
    *,
    zero_components: Sequence[str] = (),
    details: dict[str, object] | None = None,
) -> Verdict:
    """The zero for a submission that is absent or malformed, every one of its figures 0."""
    missing = isinstance(error, SubmissionMissing)
    return Verdict(
        verifier=name,
        status=Status.NO_SUBMISSION if missing else Status.INVALID,
        score=0.0,
        components=dict.fromkeys(zero_components, 0.0),
        reasons=[_printable(str(error))],
        details=details or {},
    )


def _guarded(name: str, verify: Callable[[], Verdict]) -> Verdict:
    try:
        return judged(name, verify)
    except Exception as error:  # noqa: BLE001 - the top: whatever happens, the caller gets a verdict
        sys.stderr.write(_printable(traceback.format_exc()))
        reason = _printable(f"the verifier failed: {type(error).__name__}: {error}")
        return Verdict(verifier=name, status=Status.ERROR, reasons=[reason])


def _printable(text: str) -> str:
    """A file name may hold bytes that are no text; they must not keep a verdict from being written."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
