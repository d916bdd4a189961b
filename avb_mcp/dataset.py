"""`avb-mcp score --dataset`: rows of the public dataset (compact schema), scored without network.

A row names its family and carries the truth in `rubric_json`; a repair row only names a cell, whose profile
and source video are the caller's. The honesty check stays off: scores are comparable with the paper's.
"""

from __future__ import annotations

import re
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from avb_mcp.score import score_outputs
from avb_mcp.tasks.answers import Answer, assembly_answer, order_answer, repair_v3_answer, repurpose_answer
from primitives._base import UserError
from verifiers._json import parse_json
from verifiers._verdict import Verdict

SHARDS = "data/train-*.parquet"
PROFILE_NAMES = ("{cell}/profile.json", "{cell}.json", "{flat}/profile.json", "{flat}.json")
"""Where the profile of cell `v1/s1` may lie below --profiles; `flat` is `v1_s1`."""
_CELL = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*")


class DatasetFamily(StrEnum):
    RECAP = "recap"
    SEQUENCING = "sequencing"
    REPAIR = "repair"
    ASSEMBLY = "assembly"


class Row(BaseModel):
    """What scoring needs of a row; the other columns (prompt, URLs) are the importer's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: int
    task_family: DatasetFamily
    rubric_json: str


def load_row(dataset: Path, task_id: int) -> Row:
    """The row of a local parquet file, or of a folder that holds the dataset's repository."""
    rows = [row for file in _files(dataset) for row in _read(file, [("task_id", "==", task_id)])]
    if len(rows) != 1:
        known = sorted(row["task_id"] for file in _files(dataset) for row in _read(file, None, ["task_id"]))
        span = f"{known[0]} to {known[-1]}" if known else "none"
        raise UserError(f"{dataset} has {len(rows)} rows with task_id {task_id}, not one. Its task ids are {span}.")
    try:
        return Row.model_validate(rows[0])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"Row {task_id} of {dataset} is malformed at {first['loc'][0]}: {first['msg']}.") from None


def score_row(
    row: Row,
    submission: Path,
    *,
    source: Path | None = None,
    profiles: Path | None = None,
    labels: Path | None = None,
) -> Verdict:
    """Judge a folder of deliverables by a row."""
    if not submission.is_dir():
        raise UserError(f"{submission} is not a folder. Give --submission the folder with the deliverables.")
    _refuse_unused(row, {"--source": source, "--profiles": profiles, "--labels": labels})
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "rubric.json"
        truth.write_text(row.rubric_json, encoding="utf-8")
        answer, references = _answer(row, truth, source, profiles, labels)
        verdict = score_outputs(answer, submission, references)
    facts = {"task_id": row.task_id, "task_family": row.task_family.value}
    return verdict.model_copy(update={"details": verdict.details | facts})


def find_profile(row: Row, profiles: Path) -> Path:
    """The profile of a repair row's cell."""
    cell = _cell(row)
    names = [name.format(cell=cell, flat=cell.replace("/", "_")) for name in PROFILE_NAMES]
    for name in names:
        if (profiles / name).is_file():
            return profiles / name
    raise UserError(f"{profiles} has no profile for the cell {cell}. It may be {', '.join(names)}.")


def _answer(
    row: Row, truth: Path, source: Path | None, profiles: Path | None, labels: Path | None
) -> tuple[Answer, dict[str, Path]]:
    task_id = str(row.task_id)
    if row.task_family is DatasetFamily.SEQUENCING:
        return order_answer(task_id, honesty=False), {"reference": truth}
    if row.task_family is DatasetFamily.ASSEMBLY:
        return assembly_answer(task_id, honesty=False), {"reference": truth}
    if row.task_family is DatasetFamily.RECAP:
        judged = {} if labels is None else {"labels": labels}
        return repurpose_answer(task_id, labels=bool(judged)), {"rubric": truth, **judged}
    if source is None or profiles is None:
        raise UserError(f"Task {task_id} is a repair of cell {_cell(row)}: give --source and --profiles as well.")
    return repair_v3_answer(task_id), {"source": source, "profile": find_profile(row, profiles)}


def _refuse_unused(row: Row, options: dict[str, Path | None]) -> None:
    used = {DatasetFamily.REPAIR: {"--source", "--profiles"}, DatasetFamily.RECAP: {"--labels"}}
    for name, value in options.items():
        if value is not None and name not in used.get(row.task_family, set()):
            raise UserError(f"{name} has no use for task {row.task_id}, a {row.task_family} task. Leave it out.")


def _cell(row: Row) -> str:
    try:
        value = parse_json(row.rubric_json)
    except ValueError as error:
        raise UserError(f"The rubric_json of task {row.task_id} is not acceptable JSON: {error}.") from None
    cell = value.get("cell") if isinstance(value, dict) else None
    if not isinstance(cell, str) or not _CELL.fullmatch(cell):
        raise UserError(f"The rubric_json of task {row.task_id} names no cell such as v1/s1.")
    return cell


def read_rows(dataset: Path, columns: list[str]) -> list[dict[str, Any]]:
    """These columns of every row."""
    return [row for file in _files(dataset) for row in _read(file, None, columns)]


def _files(dataset: Path) -> list[Path]:
    if dataset.is_file():
        return [dataset]
    files = sorted(dataset.glob(SHARDS))
    if not files:
        raise UserError(f"{dataset} is neither a parquet file nor a folder with {SHARDS}.")
    return files


def _read(
    file: Path, filters: list[tuple[str, str, int]] | None, columns: list[str] | None = None
) -> list[dict[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise UserError("Reading the dataset needs pyarrow: install avb-mcp[verify].") from None
    try:
        table = pyarrow.parquet.read_table(file, columns=columns or list(Row.model_fields), filters=filters)
    except (pyarrow.ArrowException, OSError, KeyError) as error:
        raise UserError(f"{file} cannot be read as the dataset: {str(error).splitlines()[0]}") from None
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
