"""The first look at a file: is it there, is it really a file, is it the submission's own?

A submission is judged, so its trouble is a `SubmissionError`; an answer is ours, so its trouble is an
`AnswerError`. A symlink is never a submission: it could point at the answer.
"""

from __future__ import annotations

import stat
from pathlib import Path


class SubmissionError(Exception):
    """What the agent handed in cannot be judged on its merits; the sentence says why."""


class SubmissionMissing(SubmissionError):
    """Nothing was handed in."""


class AnswerError(Exception):
    """The reference side is missing or broken: infrastructure trouble, never a zero."""


def require_submission_file(path: Path, *, max_bytes: int) -> None:
    """Raise unless `path` is a regular, non-empty file of at most `max_bytes`, and not a symlink."""
    try:
        status = path.lstat()
    except (OSError, ValueError) as error:
        raise SubmissionMissing(f"{path.name} was not submitted ({_reason(error)})") from error
    if stat.S_ISLNK(status.st_mode):
        raise SubmissionError(f"{path.name} is a symlink; a submission must be a regular file")
    if not stat.S_ISREG(status.st_mode):
        raise SubmissionError(f"{path.name} is not a regular file")
    if status.st_size == 0:
        raise SubmissionError(f"{path.name} is empty")
    if status.st_size > max_bytes:
        raise SubmissionError(f"{path.name} has {status.st_size} bytes; at most {max_bytes} are accepted")


def require_submission_folder(path: Path) -> None:
    """Raise unless `path` is a real folder: a symlinked outputs folder could be the answer folder."""
    try:
        status = path.lstat()
    except (OSError, ValueError) as error:
        raise SubmissionMissing(f"{path.name} was not submitted ({_reason(error)})") from error
    if stat.S_ISLNK(status.st_mode):
        raise SubmissionError(f"{path.name} is a symlink; the outputs folder must be a real folder")
    if not stat.S_ISDIR(status.st_mode):
        raise SubmissionError(f"{path.name} is not a folder")


def require_answer_file(path: Path) -> None:
    """Raise `AnswerError` unless `path` is a readable file with something in it."""
    if not path.is_file():
        raise AnswerError(f"the reference file {path.name} is missing")
    if path.stat().st_size == 0:
        raise AnswerError(f"the reference file {path.name} is empty")


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
