"""`avb-mcp import dataset`: rows of the public dataset (compact schema) become tasks of a suite.

The prompt is the brief, word for word. Scores stay comparable with the paper's unless `honesty` is asked for.
A repair row only names a cell: its profile and its source video are looked for, and said to be missing if they are.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from avb_mcp.dataset import DatasetFamily, Row, find_profile, read_rows
from avb_mcp.tasks.answers import Answer, assembly_answer, order_answer, repair_v3_answer, repurpose_answer
from avb_mcp.tasks.importers._base import (
    FILMS,
    Downloads,
    Imported,
    films_in,
    lay_out,
    refuse_archives,
    write_imported,
)
from avb_mcp.tasks.importers.fetch import Fetcher, Missing, copy_in, name_of
from avb_mcp.tasks.spec import LIMITS, Suite
from avb_mcp.tasks.suite import Bench, Made
from primitives._base import UserError
from primitives._task import Deliverable, Family, Kind, MediaSpec, Task
from verifiers._json import JsonValue, parse_json
from verifiers.video_assembly.schema import AssemblyReference
from verifiers.video_order.schema import OrderReference
from verifiers.video_repurpose.schema import parse_rubric

BUILDER = "import/dataset"
FAMILIES = {
    DatasetFamily.RECAP: Family.REPURPOSE,
    DatasetFamily.SEQUENCING: Family.SEQUENCING,
    DatasetFamily.REPAIR: Family.REPAIR,
    DatasetFamily.ASSEMBLY: Family.ASSEMBLY,
}
SOURCE, PROFILE = "source.mp4", "profile.json"


class FullRow(Row):
    """A whole row."""

    prompt: str
    reference_file_urls: list[str]
    verifier_reference_urls: list[str] | None = None


@dataclass(frozen=True)
class Options:
    profiles: Path | None = None
    """Where the profiles of repair cells lie."""
    honesty: bool = False
    """Keep the clips with the answers, so that a render is compared with them."""
    offline: bool = False
    prefix: str = ""
    licence: str = ""


def import_dataset(dataset: Path, media: Path, out: Path, options: Options, task_ids: list[int]) -> Suite:
    """Import rows, all or those that are named."""
    rows = load_rows(dataset, task_ids)
    urls = [url for row in rows for url in (*row.reference_file_urls, *(row.verifier_reference_urls or ()))]
    with Downloads() as progress:
        fetcher = Fetcher(media, urls, offline=options.offline, progress=progress)
        items = [_item(row, fetcher, options) for row in rows]
    return write_imported(items, out, options.licence, lambda item: f"the public dataset, task {item.id}")


def load_rows(dataset: Path, task_ids: list[int]) -> list[FullRow]:
    try:
        rows = [FullRow.model_validate(row) for row in read_rows(dataset, list(FullRow.model_fields))]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"A row of {dataset} is malformed at {first['loc'][0]}: {first['msg']}.") from None
    known = {row.task_id for row in rows}
    unknown = [number for number in task_ids if number not in known]
    if unknown or not rows:
        span = f"{min(known)} to {max(known)}" if known else "none"
        raise UserError(f"{dataset} has no task {unknown[0] if unknown else ''}; its task ids are {span}.")
    return sorted((row for row in rows if not task_ids or row.task_id in task_ids), key=lambda row: row.task_id)


def _item(row: FullRow, fetcher: Fetcher, options: Options) -> Imported:
    family = FAMILIES[row.task_family]
    item = Imported(f"{options.prefix}{family.value}-{row.task_id:03d}", family, BUILDER, row.prompt)
    hints = [str(row.task_id), f"{row.task_id:03d}", f"{row.task_family}_{row.task_id}"]
    for url in row.reference_file_urls:
        try:
            item.materials.append((fetcher.get(url, hints), name_of(url)))
        except Missing as error:
            item.missing.append(str(error))
            item.usable = False
    refuse_archives(item)
    _require_truth(row, item)
    references = _references(row, fetcher, options, hints, item) if item.usable else {}
    item.make = partial(_make, row, item, references, options)
    return item


def _require_truth(row: FullRow, item: Imported) -> None:
    """A row whose own truth is malformed stays outside."""
    try:
        truth = _truth(row)
        if row.task_family is DatasetFamily.SEQUENCING:
            OrderReference.model_validate(truth)
        elif row.task_family is DatasetFamily.ASSEMBLY:
            AssemblyReference.model_validate(truth)
        elif row.task_family is DatasetFamily.RECAP:
            parse_rubric(truth)
    except ValidationError as error:
        item.usable = False
        item.missing.append(f"its rubric_json is malformed: {error.errors(include_url=False)[0]['msg']}")
    except ValueError as error:
        item.usable = False
        item.missing.append(f"its rubric_json is malformed: {error}")


def _references(row: FullRow, fetcher: Fetcher, options: Options, hints: list[str], item: Imported) -> dict[str, Path]:
    """The profile and the source of a repair row; the other families carry their truth in the row."""
    if row.task_family is not DatasetFamily.REPAIR:
        return {}
    found: dict[str, Path] = {}
    for url in row.verifier_reference_urls or ():
        try:
            path = fetcher.get(url, hints)
        except Missing as error:
            item.missing.append(str(error))
            continue
        key = PROFILE if path.suffix.lower() == ".json" else SOURCE
        found.setdefault(key, path)
    try:
        if PROFILE not in found and options.profiles is not None:
            found[PROFILE] = find_profile(row, options.profiles)
    except UserError as error:
        item.missing.append(str(error).rstrip("."))
    beside = found[PROFILE].with_name(SOURCE) if PROFILE in found else None
    if SOURCE not in found and beside is not None and beside.is_file():
        found[SOURCE] = beside
    lacking = [what for what, name in (("profile", PROFILE), ("source video", SOURCE)) if name not in found]
    if lacking:
        item.missing.append(f"no {' and no '.join(lacking)} for its cell (see --profiles)")
    return found


def _make(row: FullRow, item: Imported, references: dict[str, Path], options: Options, bench: Bench) -> Made:
    lay_out(bench, item)
    clips = films_in(bench.materials)
    task = Task(id=item.id, family=item.family, deliverables=_deliverables(row, clips, bench), limits=LIMITS)
    return Made(task, row.prompt, _answer(row, item, references, options, bench))


def _deliverables(row: FullRow, clips: list[str], bench: Bench) -> list[Deliverable]:
    if row.task_family is DatasetFamily.RECAP:
        return [Deliverable(name="final.mp4", kind=Kind.VIDEO), Deliverable(name="report.md", kind=Kind.REPORT)]
    if row.task_family is DatasetFamily.REPAIR:
        film = next(path for path in sorted(bench.materials.rglob("*")) if path.suffix.lower() in FILMS)
        like = film.relative_to(bench.workspace).as_posix()
        return [
            Deliverable(name="fixed.mp4", kind=Kind.VIDEO, spec=MediaSpec(like=like)),
            Deliverable(name="report.md", kind=Kind.REPORT, diagnosis=True),
        ]
    render = Deliverable(name="solution.mp4", kind=Kind.VIDEO)
    if row.task_family is DatasetFamily.SEQUENCING:
        return [Deliverable(name="solution.json", kind=Kind.ORDERING, clips=clips), render]
    slots = len(AssemblyReference.model_validate(_truth(row)).correct_assembly_in_slot_order)
    return [Deliverable(name="solution.json", kind=Kind.PICKS, clips=clips, slots=slots), render]


def _truth(row: FullRow) -> JsonValue:
    return parse_json(row.rubric_json)


def _answer(row: FullRow, item: Imported, references: dict[str, Path], options: Options, bench: Bench) -> Answer | None:
    truth = _truth(row)
    if row.task_family is DatasetFamily.REPAIR:
        if references.keys() != {PROFILE, SOURCE}:
            return None
        for name, path in references.items():
            copy_in(path, bench.answers / name)
        return repair_v3_answer(item.id)
    if row.task_family is DatasetFamily.RECAP:
        _save(truth, bench.answers / "rubric.json")
        return repurpose_answer(item.id, labels=False)
    _save(truth, bench.answers / "reference.json")
    if options.honesty:
        _keep_clips(bench)
    if row.task_family is DatasetFamily.SEQUENCING:
        return order_answer(item.id, honesty=options.honesty)
    return assembly_answer(item.id, honesty=options.honesty)


def _save(value: object, path: Path) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _keep_clips(bench: Bench) -> None:
    (bench.answers / "clips").mkdir()
    for path in sorted(bench.materials.rglob("*")):
        if path.suffix.lower() in FILMS:
            shutil.copyfile(path, bench.answers / "clips" / path.name)
