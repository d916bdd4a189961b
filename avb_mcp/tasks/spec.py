"""What a task and a suite are. A suite is a folder:

    suite.json            version, builder version, sources with licence and provenance, tasks with digests
    tasks/<id>/           the workspace as an agent gets it: task.json, brief.md, materials/
    answers/<id>/         answer.json and the references it names; never inside a workspace

`task.json` itself is `primitives._task.Task`, because `submit` reads it too; `answer.json` is `answers.Answer`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from primitives._base import UserError
from primitives._task import Family, Limits, Task

SUITE_FILE, TASK_FILE, BRIEF_FILE = "suite.json", "task.json", "brief.md"
TASKS, ANSWERS, MATERIALS = "tasks", "answers", "materials"
LIMITS = Limits(time_s=1800.0, turns=200)
"""The paper's: wall clock and turns of a rollout."""

TaskId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Source(_Model):
    """Footage that tasks were made from; the cluster unit of statistics."""

    name: str = Field(min_length=1)
    """The file's name; a suite knows sources by it."""
    sha256: Sha256
    licence: str = ""
    """Under which terms the footage may be used and passed on."""
    provenance: str = ""
    """Where the footage comes from."""


class Entry(_Model):
    """One task of a suite."""

    id: TaskId
    family: Family
    builder: str
    """What made it, such as `repair/room_echo`."""
    sources: list[str] = Field(default_factory=list)
    """Names of the sources that it was made from."""
    seed: int
    """The seed that it was drawn with: the same seed and sources give the same digest."""
    digest: Sha256
    """Over every file of the task and of its answers."""
    files: dict[str, Sha256]
    """Every file by its path in the suite."""


class Suite(_Model):
    """The whole of suite.json."""

    version: Literal[1] = 1
    """Of this format."""
    name: str
    """The suite's; the folder's name when it was made."""
    builder_version: str
    """The version of avb-mcp that wrote it last."""
    sources: list[Source] = Field(default_factory=list)
    """The footage: name, sha256, licence, provenance."""
    tasks: list[Entry] = Field(default_factory=list)
    """Id, family, builder, sources, seed, digest, and every file with its sha256."""

    @model_validator(mode="after")
    def _names_once(self) -> Suite:
        for what, names in (("task", [entry.id for entry in self.tasks]), ("source", [s.name for s in self.sources])):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise ValueError(f"the {what} {sorted(twice)[0]!r} is listed twice")
        unknown = {name for entry in self.tasks for name in entry.sources} - {source.name for source in self.sources}
        if unknown:
            raise ValueError(f"the source {sorted(unknown)[0]!r} of a task is not listed")
        return self


def load_suite(folder: Path) -> Suite:
    """suite.json of a folder; what is wrong with it is one sentence."""
    file = folder / SUITE_FILE
    try:
        return Suite.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise UserError(
            f"{folder} holds no {SUITE_FILE}. Give a folder that `avb-mcp build` or `import` made."
        ) from None
    except (OSError, ValidationError) as error:
        raise UserError(f"{file} cannot be read: {_first_line(error)}") from error


def load_task(workspace: Path) -> Task:
    """task.json of a workspace; what is wrong with it is one sentence."""
    file = workspace / TASK_FILE
    try:
        return Task.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UserError(f"{file} cannot be read: {_first_line(error)}") from error


def workspace_of(suite: Path, task_id: str) -> Path:
    return suite / TASKS / task_id


def answers_of(suite: Path, task_id: str) -> Path:
    return suite / ANSWERS / task_id


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(files: Mapping[str, str]) -> str:
    """One digest for many files: over their sorted paths and hashes."""
    lines = "".join(f"{path} {files[path]}\n" for path in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else first["msg"]
    return str(error).splitlines()[0]
