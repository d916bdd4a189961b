"""`avb-mcp score --dataset`: rows of the public dataset in the compact schema."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from avb_mcp.dataset import load_row, score_row
from primitives._base import UserError
from tests.media import make_film
from verifiers._verdict import Status, Verdict

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

PROFILE = {
    "format": {"duration_s": 2.0, "codec": "h264"},
    "narrative": {"scene_list": [{"index": 0, "start_s": 0.0, "end_s": 2.0}]},
    "injection": {"variant": "v04_color_grade_shift", "start_s": 0.5, "end_s": 1.5, "target_scene_index": 0},
}
RUBRIC: list[dict[str, Any]] = [
    {
        "id": "length",
        "criterion": "about two seconds",
        "pillar": 0,
        "weight": 3,
        "dispatch": "python",
        "kind": "ffprobe_duration_range",
        "params": {"min": 1.5, "max": 2.5, "codecs": None},
        "prompt": None,
    },
    {"id": "story", "criterion": "it makes sense", "pillar": 2, "weight": 1, "dispatch": "llm", "prompt": "Does it?"},
]
ROWS = [
    (1, "recap", RUBRIC),
    (37, "sequencing", {"correct_order": ["2", "3", "1"], "n_slots": 3}),
    (65, "repair", {"cell": "v1/s1"}),
    (83, "assembly", {"correct_assembly_in_slot_order": ["3.mp4", "5.mp4", "9.mp4"], "n_slots": 3}),
]


def write_dataset(path: Path, rows: list[tuple[int, str, Any]] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(
        [
            {
                "task_id": task_id,
                "task_family": family,
                "prompt": "Do it.",
                "reference_file_urls": ["https://example.org/a.zip"],
                "verifier_reference_urls": [],
                "rubric_json": json.dumps(rubric),
            }
            for task_id, family, rubric in rows
        ]
    )
    parquet.write_table(table, path)
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "AgenticVBench_100" / "data" / "train-00000-of-00001.parquet")


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    path = tmp_path / "submission"
    path.mkdir()
    return path


def write_solution(submission: Path, clips: list[object]) -> None:
    text = json.dumps({"segments": [{"source": clip} for clip in clips]})
    (submission / "solution.json").write_text(text, encoding="utf-8")


def test_a_file_and_its_repository_folder_give_the_same_row(dataset: Path) -> None:
    assert load_row(dataset, 37) == load_row(dataset.parents[1], 37)


def test_a_sequencing_row_scores_an_order(dataset: Path, submission: Path) -> None:
    write_solution(submission, ["2", "3", "1"])
    verdict = score_row(load_row(dataset, 37), submission)
    assert (verdict.verifier, verdict.score) == ("video_order", 1.0)
    assert (verdict.details["task_id"], verdict.details["task_family"]) == (37, "sequencing")


def test_an_assembly_row_scores_picks_among_three_candidates(dataset: Path, submission: Path) -> None:
    write_solution(submission, [3, "5", "8.mp4"])
    assert score_row(load_row(dataset, 83), submission).score == pytest.approx(0.5)


def test_a_recap_row_scores_what_can_be_graded_and_more_with_labels(
    dataset: Path, submission: Path, tmp_path: Path
) -> None:
    make_film(submission / "final.mp4", frames=50, audio="aac")
    row = load_row(dataset, 1)
    graded = score_row(row, submission)
    assert (graded.status, graded.score, graded.components["graded_share"]) == (Status.SCORED, 1.0, 0.75)
    labels = tmp_path / "labels.json"
    labels.write_text('{"story": false}', encoding="utf-8")
    assert score_row(row, submission, labels=labels).score == 0.75


@pytest.mark.parametrize("name", ["v1/s1/profile.json", "v1/s1.json", "v1_s1/profile.json", "v1_s1.json"])
def test_a_repair_row_finds_its_cell_below_the_profiles(
    dataset: Path, submission: Path, tmp_path: Path, name: str
) -> None:
    profile = tmp_path / "profiles" / name
    profile.parent.mkdir(parents=True)
    profile.write_text(json.dumps(PROFILE), encoding="utf-8")
    source = make_film(tmp_path / "source.mp4", frames=50, audio="aac")
    (submission / "fixed.mp4").write_bytes(source.read_bytes())
    (submission / "report.md").write_text("## Diagnosis\n- type: colour\n- start: 0.5\n- end: 1.5\n", encoding="utf-8")
    verdict = score_row(load_row(dataset, 65), submission, source=source, profiles=tmp_path / "profiles")
    assert (verdict.verifier, verdict.status) == ("video_repair_v3", Status.SCORED)
    assert verdict.score == pytest.approx(1.0)


def test_a_repair_row_without_its_source_says_what_to_give(dataset: Path, submission: Path) -> None:
    with pytest.raises(UserError, match="a repair of cell v1/s1: give --source and --profiles"):
        score_row(load_row(dataset, 65), submission)


def test_a_cell_without_a_profile_says_where_it_may_be(dataset: Path, submission: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no profile for the cell v1/s1\. It may be v1/s1/profile\.json"):
        score_row(load_row(dataset, 65), submission, source=tmp_path / "a.mp4", profiles=tmp_path)


@pytest.mark.parametrize("cell", ["../secret", "/etc", "", 7])
def test_a_cell_that_is_no_cell_is_refused(tmp_path: Path, submission: Path, cell: object) -> None:
    file = write_dataset(tmp_path / "odd.parquet", [(65, "repair", {"cell": cell})])
    with pytest.raises(UserError, match="names no cell"):
        score_row(load_row(file, 65), submission, source=tmp_path, profiles=tmp_path)


def test_a_source_that_is_not_there_is_an_error_not_a_zero(dataset: Path, submission: Path, tmp_path: Path) -> None:
    (tmp_path / "v1_s1.json").write_text(json.dumps(PROFILE), encoding="utf-8")
    verdict = score_row(load_row(dataset, 65), submission, source=tmp_path / "gone.mp4", profiles=tmp_path)
    assert (verdict.status, verdict.score) == (Status.ERROR, None)


def test_an_option_of_another_family_is_refused(dataset: Path, submission: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--labels has no use for task 37, a sequencing task"):
        score_row(load_row(dataset, 37), submission, labels=tmp_path / "labels.json")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (ROWS, "has 0 rows with task_id 99, not one. Its task ids are 1 to 83"),
        ([(99, "sequencing", {})] * 2, "has 2 rows with task_id 99, not one"),
        ([(99, "karaoke", {})], "Row 99 of .* is malformed at task_family"),
    ],
)
def test_a_row_that_cannot_be_told_is_a_sentence(tmp_path: Path, rows: list[Any], sentence: str) -> None:
    file = write_dataset(tmp_path / "a.parquet", rows)
    with pytest.raises(UserError, match=sentence):
        load_row(file, 99)


def test_what_is_no_dataset_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither a parquet file nor a folder"):
        load_row(tmp_path, 1)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(UserError, match="cannot be read as the dataset"):
        load_row(tmp_path / "a.parquet", 1)
    other = tmp_path / "other.parquet"
    parquet.write_table(pa.table({"a": [1]}), other)
    with pytest.raises(UserError, match="cannot be read as the dataset"):
        load_row(other, 1)


def test_the_command_scores_a_row_from_the_dataset(dataset: Path, submission: Path) -> None:
    write_solution(submission, [2, 3, 1])
    words = ["score", "--dataset", str(dataset), "--task-id", "37", "--submission", str(submission)]
    run = subprocess.run([sys.executable, "-m", "avb_mcp", *words], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert Verdict.model_validate_json(run.stdout).score == 1.0


def test_without_pyarrow_the_command_says_what_to_install(dataset: Path, submission: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "pyarrow.py").write_text("raise ModuleNotFoundError('pyarrow')\n", encoding="utf-8")
    words = ["score", "--dataset", str(dataset), "--task-id", "37", "--submission", str(submission)]
    path = os.pathsep.join([str(tmp_path / "none"), str(Path(__file__).resolve().parents[2])])
    run = subprocess.run(
        [sys.executable, "-m", "avb_mcp", *words],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "avb-mcp: Reading the dataset needs pyarrow: install avb-mcp[verify].\n"
