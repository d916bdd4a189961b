"""approvals.json: who has looked at a task and stands by it, as it was then.

An approval is bound to the task's digest: a task that changes loses it. `reseal` takes edits on purpose into
suite.json, and so is what makes approvals lapse.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from avb_mcp.tasks.check._base import Subject, subjects_of
from avb_mcp.tasks.spec import MATERIALS, TASK_FILE, Sha256, Suite, TaskId, load_suite, sha256_of
from avb_mcp.tasks.staging import write_whole
from avb_mcp.tasks.suite import save_suite
from primitives._base import UserError
from primitives._task import Material

APPROVALS_FILE = "approvals.json"
NEEDED = 2


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Approval(_Model):
    task: TaskId
    digest: Sha256
    """Of the task and its answers as they were looked at."""
    by: str = Field(min_length=1)
    at: datetime
    note: str = ""


class Approvals(_Model):
    """The whole of approvals.json."""

    version: Literal[1] = 1
    approvals: list[Approval] = Field(default_factory=list)

    def names(self, task: str, digest: str) -> list[str]:
        """Who approves this very state of a task, every person once."""
        people: dict[str, str] = {}
        for approval in self.approvals:
            if (approval.task, approval.digest) == (task, digest):
                people.setdefault(_same(approval.by), approval.by)
        return list(people.values())

    def lapsed(self, task: str, digest: str) -> list[str]:
        """Who approved an earlier state, and not this one."""
        now = {_same(name) for name in self.names(task, digest)}
        return sorted({a.by for a in self.approvals if a.task == task and _same(a.by) not in now})


def _same(name: str) -> str:
    return " ".join(name.casefold().split())


def load_approvals(folder: Path) -> Approvals:
    file = folder / APPROVALS_FILE
    try:
        return Approvals.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return Approvals()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"{file} cannot be read: {first['msg']}.") from None


def approve(folder: Path, by: str, tasks: list[str], note: str = "") -> list[str]:
    """Record an approval of the tasks as they are; the ids that got one now."""
    by = " ".join(by.split())
    if not by:
        raise UserError("An approval needs a name. Give --by the reviewer's name.")
    known = load_approvals(folder)
    subjects = subjects_of(folder, tasks)
    changed = [subject.entry.id for subject in subjects if subject.digest != subject.entry.digest]
    if changed:
        raise UserError(
            f"{changed[0]} is not what suite.json lists. Run `avb-mcp check {folder} --gate asset` to see why; "
            f"after an edit on purpose, `avb-mcp reseal {folder}`."
        )
    new = [s for s in subjects if _same(by) not in map(_same, known.names(s.entry.id, s.digest))]
    at = datetime.now(UTC).replace(microsecond=0)
    added = [Approval(task=s.entry.id, digest=s.digest, by=by, at=at, note=note) for s in new]
    both = Approvals(approvals=[*known.approvals, *added])
    write_whole(folder / APPROVALS_FILE, both.model_dump_json(indent=1) + "\n")
    return [subject.entry.id for subject in new]


def reseal(folder: Path, tasks: list[str]) -> list[str]:
    """Take the files as they are now into task.json and suite.json; the ids of the tasks that had changed."""
    suite = load_suite(folder)
    changed: dict[str, Subject] = {}
    for subject in subjects_of(folder, tasks):
        if subject.digest != subject.entry.digest:
            if any(path.is_symlink() for path in subject.files.values()):
                raise UserError(f"{subject.entry.id} holds links, which are never part of a suite. Remove them.")
            _list_materials(subject)
            changed[subject.entry.id] = Subject(folder, suite, subject.entry)
    entries = [
        entry
        if entry.id not in changed
        else entry.model_copy(update={"files": changed[entry.id].hashes, "digest": changed[entry.id].digest})
        for entry in suite.tasks
    ]
    if changed:
        save_suite(Suite.model_validate(suite.model_copy(update={"tasks": entries}).model_dump()), folder)
    return list(changed)


def _list_materials(subject: Subject) -> None:
    """task.json lists the materials with their hashes, so that it follows them."""
    if subject.task is None:
        raise UserError(f"{subject.workspace / TASK_FILE} cannot be read. Mend it first.")
    root = subject.workspace
    found = sorted(path for path in (root / MATERIALS).rglob("*") if path.is_file())
    materials = [Material(path=path.relative_to(root).as_posix(), sha256=sha256_of(path)) for path in found]
    if materials != sorted(subject.task.materials, key=lambda item: item.path):
        task = subject.task.model_copy(update={"materials": materials})
        write_whole(root / TASK_FILE, task.model_dump_json(indent=2, exclude_defaults=True) + "\n")
