"""What a gate looks at, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from avb_mcp.tasks.answers import ANSWER_FILE, Answer, load_answer
from avb_mcp.tasks.spec import (
    ANSWERS,
    BRIEF_FILE,
    TASKS,
    Entry,
    Suite,
    answers_of,
    digest_of,
    load_suite,
    load_task,
    sha256_of,
    workspace_of,
)
from primitives._base import UserError
from primitives._task import Task
from verifiers._files import AnswerError
from verifiers._honesty import CLIP_SUFFIXES

MEDIA_SUFFIXES = frozenset({*CLIP_SUFFIXES, ".m4a", ".wav", ".mp3", ".flac", ".ogg"})


class GateName(StrEnum):
    AUTHORING = "authoring"
    ASSET = "asset"
    REVIEW = "review"
    VERIFIER = "verifier"


@dataclass(frozen=True)
class Finding:
    """A sentence about a task, or about the suite when `task` is empty. A note fails nothing."""

    gate: GateName
    task: str
    sentence: str
    fails: bool = True


@dataclass(frozen=True)
class Subject:
    """One task of a suite under check; what does not load is None, and a finding of the authoring gate."""

    folder: Path
    suite: Suite
    entry: Entry

    @property
    def workspace(self) -> Path:
        return workspace_of(self.folder, self.entry.id)

    @property
    def answers(self) -> Path:
        return answers_of(self.folder, self.entry.id)

    @cached_property
    def task(self) -> Task | None:
        try:
            return load_task(self.workspace)
        except UserError:
            return None

    @cached_property
    def answer(self) -> Answer | None:
        try:
            return load_answer(self.answers)
        except AnswerError:
            return None

    @property
    def has_answers(self) -> bool:
        return (self.answers / ANSWER_FILE).is_file()

    @cached_property
    def brief(self) -> str:
        try:
            return (self.workspace / (self.task.brief if self.task else BRIEF_FILE)).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    @cached_property
    def files(self) -> dict[str, Path]:
        """Every file of the task and its answers, links included, by its path in the suite."""
        places = (self.folder / TASKS / self.entry.id, self.folder / ANSWERS / self.entry.id)
        found = [path for place in places for path in sorted(place.rglob("*")) if path.is_symlink() or path.is_file()]
        return {path.relative_to(self.folder).as_posix(): path for path in found}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """What the files are now; a link counts for itself, not for what it leads to."""
        return {name: "link" if path.is_symlink() else sha256_of(path) for name, path in self.files.items()}

    @cached_property
    def digest(self) -> str:
        """The digest of the files as they are now."""
        return digest_of(self.hashes)

    def media(self) -> Iterator[Path]:
        for path in self.files.values():
            if path.suffix.lower() in MEDIA_SUFFIXES and not path.is_symlink():
                yield path

    def fault(self, gate: GateName, sentence: str) -> Finding:
        return Finding(gate, self.entry.id, sentence)

    def note(self, gate: GateName, sentence: str) -> Finding:
        return Finding(gate, self.entry.id, sentence, fails=False)


def subjects_of(folder: Path, tasks: list[str]) -> list[Subject]:
    """The tasks of a suite, all or those that are named."""
    suite = load_suite(folder)
    known = [entry.id for entry in suite.tasks]
    unknown = [task for task in tasks if task not in known]
    if unknown:
        raise UserError(f"{folder} has no task {unknown[0]}. Its tasks are {', '.join(known)}.")
    return [Subject(folder, suite, entry) for entry in suite.tasks if not tasks or entry.id in tasks]
