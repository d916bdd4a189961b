"""Write a suite: every task is made aside, hashed, and moved into place when it is whole.

Tasks are made in `.<name>.building` beside the suite. A mistake in the input removes that folder; an interrupt or
a full disk leaves it, and the same command goes on where it stopped. A new suite appears in one rename; a suite
that exists already gets the new tasks added, and its suite.json last.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from avb_mcp import __version__
from avb_mcp.tasks.answers import Answer, save_answer
from avb_mcp.tasks.spec import (
    ANSWERS,
    BRIEF_FILE,
    MATERIALS,
    SUITE_FILE,
    TASK_FILE,
    TASKS,
    Entry,
    Source,
    Suite,
    digest_of,
    load_suite,
    sha256_of,
)
from avb_mcp.tasks.staging import ENTRIES, MAKING, WHOLE, staging_for, write_whole
from primitives._base import UserError
from primitives._task import Family, Material, Task


@dataclass(frozen=True)
class Bench:
    """Where one task is made."""

    workspace: Path
    """Becomes tasks/<id>; materials/ exists."""
    answers: Path
    """Becomes answers/<id>."""
    rng: np.random.Generator
    """The only source of chance."""
    progress: Callable[[float, str], None]
    """The share done, and what is being done."""

    @property
    def materials(self) -> Path:
        return self.workspace / MATERIALS


@dataclass(frozen=True)
class Made:
    """What a builder gives back; media it has written itself. Hashes of the materials are filled in."""

    task: Task
    brief: str
    answer: Answer | None
    """None for an imported task whose references are not at hand."""


@dataclass(frozen=True)
class TaskPlan:
    """One task to make."""

    id: str
    family: Family
    builder: str
    sources: tuple[str, ...]
    seed: int
    make: Callable[[Bench], Made]


Report = Callable[[str, float, str], None]
"""Task id, share done, what is being done."""


def write_suite(
    out: Path, plans: Sequence[TaskPlan], sources: Sequence[Source], report: Report, asked: JsonValue = None
) -> Suite:
    """Make all the tasks and put them into the suite at `out`.

    `asked` is what else decides the tasks: an interrupted build goes on only when it is the same.
    """
    before = _existing(out)
    _refuse_known(plans, before, out)
    merged = _merged(before.sources if before else [], sources)
    with staging_for(out, _request(plans, sources, asked)) as staging:
        entries = [_entry(plan, staging, report) for plan in plans]
        suite = Suite(
            name=before.name if before else out.resolve().name,
            builder_version=__version__,
            sources=merged,
            tasks=[*(before.tasks if before else []), *entries],
        )
        if before:
            _add(staging / WHOLE, out, suite)
        else:
            save_suite(suite, staging / WHOLE)
            (staging / WHOLE).replace(out)
    return suite


def seed_of(*parts: object) -> int:
    """A seed for one task out of the suite's seed, the task's id and what else decides it."""
    text = json.dumps([str(part) for part in parts])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def _existing(out: Path) -> Suite | None:
    if not out.exists():
        return None
    if out.is_dir() and not any(out.iterdir()):
        return None
    if not (out / SUITE_FILE).is_file():
        raise UserError(f"{out} exists and is not a suite. Give --out a new folder, or a suite to add tasks to.")
    return load_suite(out)


def _refuse_known(plans: Sequence[TaskPlan], before: Suite | None, out: Path) -> None:
    known = {entry.id for entry in before.tasks} if before else set()
    twice = [plan.id for plan in plans if plan.id in known]
    if twice:
        raise UserError(f"{out} already has the task {twice[0]}. Use another --seed, --prefix or --out.")


def _merged(known: Sequence[Source], new: Sequence[Source]) -> list[Source]:
    """Known sources and new ones; one name stands for one file."""
    by_name = {source.name: source for source in known}
    for source in new:
        same = by_name.setdefault(source.name, source)
        if same.sha256 != source.sha256:
            raise UserError(f"The suite knows another file under the name {source.name}. Rename the source.")
    return list(by_name.values())


def _request(plans: Sequence[TaskPlan], sources: Sequence[Source], asked: JsonValue) -> str:
    """What is asked for, as text: an interrupted build goes on only for the very same."""
    whole = {
        "builder_version": __version__,
        "asked": asked,
        "sources": [source.model_dump() for source in sources],
        "tasks": [[plan.id, plan.builder, list(plan.sources), plan.seed] for plan in plans],
    }
    return json.dumps(whole, indent=1)


def _entry(plan: TaskPlan, staging: Path, report: Report) -> Entry:
    """The finished task: made now, or kept from an interrupted build."""
    kept = staging / ENTRIES / f"{plan.id}.json"
    if kept.is_file():
        report(plan.id, 1.0, "kept")
        return Entry.model_validate_json(kept.read_bytes())
    making, whole = staging / MAKING, staging / WHOLE
    for folder in (making, whole / TASKS / plan.id, whole / ANSWERS / plan.id):
        shutil.rmtree(folder, ignore_errors=True)
    bench = Bench(
        workspace=making / TASKS / plan.id,
        answers=making / ANSWERS / plan.id,
        rng=np.random.default_rng(plan.seed),
        progress=lambda share, note: report(plan.id, share, note),
    )
    bench.materials.mkdir(parents=True)
    bench.answers.mkdir(parents=True)
    made = plan.make(bench)
    answered = made.answer.task_id if made.answer else plan.id
    if (made.task.id, made.task.family, answered) != (plan.id, plan.family, plan.id):
        raise ValueError(f"the builder {plan.builder} made another task than {plan.id} ({plan.family})")
    _write_texts(made, bench)
    files = hashes_of(making)
    entry = Entry(
        id=plan.id,
        family=plan.family,
        builder=plan.builder,
        sources=list(plan.sources),
        seed=plan.seed,
        digest=digest_of(files),
        files=files,
    )
    bench.workspace.replace(whole / TASKS / plan.id)
    bench.answers.replace(whole / ANSWERS / plan.id)
    write_whole(kept, entry.model_dump_json(indent=1))
    report(plan.id, 1.0, "done")
    return entry


def _write_texts(made: Made, bench: Bench) -> None:
    materials = [
        Material(path=path.relative_to(bench.workspace).as_posix(), sha256=sha256_of(path))
        for path in _files(bench.materials)
    ]
    task = made.task.model_copy(update={"materials": materials, "brief": BRIEF_FILE})
    text = task.model_dump_json(indent=2, exclude_defaults=True)
    (bench.workspace / TASK_FILE).write_text(text + "\n", encoding="utf-8")
    (bench.workspace / BRIEF_FILE).write_text(made.brief.strip() + "\n", encoding="utf-8")
    if made.answer is not None:
        save_answer(made.answer, bench.answers)


def hashes_of(folder: Path) -> dict[str, str]:
    """The sha256 of every file below a folder, by its path there."""
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in _files(folder)}


def save_suite(suite: Suite, folder: Path) -> None:
    """Write suite.json, whole or not at all."""
    write_whole(folder / SUITE_FILE, suite.model_dump_json(indent=1) + "\n")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _add(whole: Path, out: Path, suite: Suite) -> None:
    """Move finished tasks into a suite; suite.json comes last, so that it never names what is not there."""
    for name in (TASKS, ANSWERS):
        (out / name).mkdir(exist_ok=True)
        for folder in sorted((whole / name).iterdir()):
            target = out / name / folder.name
            shutil.rmtree(target, ignore_errors=True)  # a task that no suite.json ever named
            folder.replace(target)
    save_suite(suite, out)
