"""`avb-mcp build`: open the footage, plan the tasks, write the suite, say what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.registry import family_named, left_out, plan_tasks
from avb_mcp.tasks.footage import Footage, open_footage
from avb_mcp.tasks.spec import Entry, Source, sha256_of
from avb_mcp.tasks.staging import interrupted, say_interrupted
from avb_mcp.tasks.suite import Report, write_suite
from primitives._base import UserError


def make_request(given: dict[str, Any]) -> BuildRequest:
    """The request out of the options that were given; what is wrong with one is a sentence."""
    try:
        return BuildRequest(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = "--" + str(first["loc"][0]).replace("_", "-") if first["loc"] else "the options"
        raise UserError(f"{option}: {first['msg']}, not {first['input']!r}.") from None


def build_suite(
    family: str,
    paths: Sequence[Path],
    out: Path,
    request: BuildRequest,
    licences: Sequence[str] = (),
    provenances: Sequence[str] = (),
) -> int:
    """Build and show; the exit code."""
    wanted = family_named(family)
    terms = list(
        zip(_per_source("licence", licences, paths), _per_source("provenance", provenances, paths), strict=True)
    )
    _refuse_twins(paths)
    console = Console(stderr=True, highlight=False)
    resumes = interrupted(out)
    try:
        with _progress(console) as progress:
            footage = [_opened(path, progress) for path in paths]
            plans = plan_tasks(wanted, footage, request)
            for sentence in left_out(wanted, footage, request):
                progress.console.print(sentence, markup=False, soft_wrap=True)
            sources = [
                Source(name=film.name, sha256=film.sha256, licence=licence, provenance=provenance)
                for film, (licence, provenance) in zip(footage, terms, strict=True)
            ]
            report = _reporter(progress, len(plans))
            suite = write_suite(out, plans, sources, report, asked=_asked(request))
    except KeyboardInterrupt:
        return say_interrupted(out)
    new = [entry for entry in suite.tasks if entry.id in {plan.id for plan in plans}]
    _print_summary(new, out, len(suite.tasks), resumes)
    return 0


def _per_source(what: str, given: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """One value for every source: given once for all of them, or once for each."""
    if len(given) not in (0, 1, len(paths)):
        raise UserError(f"--{what} is given {len(given)} times for {len(paths)} sources. Give it once, or once each.")
    return list(given) if len(given) == len(paths) else [given[0] if given else ""] * len(paths)


def _refuse_twins(paths: Sequence[Path]) -> None:
    names = [path.name for path in paths]
    twins = [name for name in names if names.count(name) > 1]
    if twins:
        raise UserError(f"Two sources are called {twins[0]}, and a suite knows sources by name. Rename one of them.")


def _asked(request: BuildRequest) -> dict[str, Any]:
    """The request as data, files by what is in them."""
    asked = request.model_dump(mode="json")
    files = {name: value for name in BuildRequest.model_fields if isinstance(value := getattr(request, name), Path)}
    return asked | {name: sha256_of(path) for name, path in files.items() if path.is_file()}


def _progress(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )


def _opened(path: Path, progress: Progress) -> Footage:
    bar = progress.add_task(f"reading {path.name}", total=1)
    film = open_footage(path)
    progress.remove_task(bar)
    return film


def _reporter(progress: Progress, count: int) -> Report:
    bar = progress.add_task("building", total=count)
    shares: dict[str, float] = {}

    def report(task_id: str, share: float, note: str) -> None:
        shares[task_id] = share
        progress.update(bar, completed=sum(shares.values()), description=f"{task_id}: {note}")

    return report


def _print_summary(entries: Sequence[Entry], out: Path, total: int, resumes: bool) -> None:
    console = Console(stderr=True, highlight=False, markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "made by", "sources", "digest"):
        table.add_column(heading)
    for entry in entries:
        table.add_row(entry.id, entry.builder, ", ".join(entry.sources), entry.digest[:12])
    console.print(table)
    added = f"{len(entries)} tasks" if len(entries) == total else f"{len(entries)} tasks added, {total} in all"
    console.print(f"{added} in {out}{' (an interrupted build was finished)' if resumes else ''}.")
    console.print(f"Next: avb-mcp check {out}")
