"""What the importers share: a task to import, what is missing of it, and how it is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Table

from avb_mcp.tasks.importers.fetch import Progress as FetchProgress
from avb_mcp.tasks.importers.fetch import copy_in
from avb_mcp.tasks.importers.unzip import require_safe, unzip
from avb_mcp.tasks.spec import Source, Suite, sha256_of
from avb_mcp.tasks.staging import say_interrupted
from avb_mcp.tasks.suite import Bench, Made, TaskPlan, write_suite
from primitives._base import UserError
from primitives._task import Family

FILMS = frozenset({".mp4", ".mov", ".mkv", ".webm", ".avi", ".mpg"})
_MATERIAL = re.compile(r"/?(?:workspace/)?materials/([\w.\-/]*[\w\-/])")
_CLIPS = "clips"


@dataclass
class Imported:
    """One task on its way in."""

    id: str
    family: Family
    builder: str
    prompt: str
    materials: list[tuple[Path, str]] = field(default_factory=list)
    """A file, and its place below materials/."""
    make: Callable[[Bench], Made] | None = None
    missing: list[str] = field(default_factory=list)
    """Sentences; a task can be imported without references, but not without materials."""
    usable: bool = True

    def source(self, licence: str, provenance: str) -> Source:
        """What the task was made from: its first film or archive stands for it."""
        main = next((path for path, _ in self.materials if path.suffix.lower() in FILMS | {".zip"}), None)
        main = main or self.materials[0][0]
        return Source(name=f"{self.id}/{main.name}", sha256=sha256_of(main), licence=licence, provenance=provenance)


def refuse_archives(item: Imported) -> None:
    """A task with an archive that is not safe to unpack stays outside."""
    for path, _ in item.materials:
        if path.suffix.lower() == ".zip":
            try:
                require_safe(path)
            except UserError as error:
                item.usable = False
                item.missing.append(str(error).rstrip("."))


def lay_out(bench: Bench, item: Imported) -> None:
    """Copy the materials in; archives are unpacked where the prompt looks for their files."""
    for path, place in item.materials:
        if path.suffix.lower() == ".zip":
            unzip(path, bench.materials / _folder_for(path, item.prompt))
            if path.name not in item.prompt:
                continue  # nobody asks for the archive itself
        copy_in(path, bench.materials / place)


def named_in(prompt: str) -> list[str]:
    """Places below materials/ that a prompt names."""
    return list(dict.fromkeys(_MATERIAL.findall(prompt)))


def _folder_for(archive: Path, prompt: str) -> str:
    """Where an archive goes: the folder of that name, or the only folder that the prompt names, or clips/."""
    folders = [place.rstrip("/") for place in named_in(prompt) if not PurePosixPath(place).suffix]
    folders = [place for place in folders if place]
    if archive.stem in folders or not folders:
        return archive.stem if archive.stem in folders else _CLIPS
    return folders[0]


def films_in(folder: Path) -> list[str]:
    """The clip names of a folder of materials, as anybody would list them."""
    stems = [path.stem for path in sorted(folder.rglob("*")) if path.suffix.lower() in FILMS]
    return sorted(stems, key=lambda name: (len(name), name))


def write_imported(items: Sequence[Imported], out: Path, licence: str, provenance: Callable[[Imported], str]) -> Suite:
    """Write what can be written, and say of every task what is missing."""
    ready = [item for item in items if item.usable and item.make is not None]
    if not ready:
        reasons = "; ".join(f"{item.id}: {sentence}" for item in items for sentence in item.missing[:1])
        raise UserError(f"No task could be imported. {reasons[:500]}")
    sources = {item.id: item.source(licence, provenance(item)) for item in ready}
    plans = [
        TaskPlan(item.id, item.family, item.builder, (sources[item.id].name,), 0, item.make)
        for item in ready
        if item.make is not None
    ]
    try:
        with Console(stderr=True).status("importing") as status:
            suite = write_suite(
                out, plans, list(sources.values()), lambda task, _share, note: status.update(f"{task}: {note}")
            )
    except KeyboardInterrupt:
        raise SystemExit(say_interrupted(out)) from None
    _show(items, out)
    return suite


def _show(items: Sequence[Imported], out: Path) -> None:
    console = Console(stderr=True, highlight=False, markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "imported", "missing"):
        table.add_column(heading, no_wrap=heading != "missing")
    for item in items:
        state = "no" if not item.usable else "without answers" if item.missing else "yes"
        table.add_row(item.id, state, "; ".join(item.missing))
    console.print(table)
    done = sum(item.usable for item in items)
    console.print(f"{done} of {len(items)} tasks imported into {out}.\nNext: avb-mcp check {out}")


class Downloads:
    """A progress bar that appears with the first download."""

    def __init__(self) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
        self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._known: dict[str, TaskID] = {}

    def __enter__(self) -> FetchProgress:
        self._bars.start()
        return self._report

    def __exit__(self, *_error: object) -> None:
        self._bars.stop()

    def _report(self, name: str, done: int, total: int) -> None:
        if name not in self._known:
            self._known[name] = self._bars.add_task(name, total=total or None)
        self._bars.update(self._known[name], completed=done)
