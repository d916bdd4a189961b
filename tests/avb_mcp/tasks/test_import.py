"""Importers: the public dataset's rows and the release's folders as tasks here; hostile archives stay outside."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from avb_mcp.score import score_workspace
from avb_mcp.tasks.importers.dataset import Options, import_dataset
from avb_mcp.tasks.importers.release import import_release
from avb_mcp.tasks.importers.unzip import require_safe, unzip
from avb_mcp.tasks.spec import load_task
from avb_mcp.workspace import Workspace
from primitives._base import UserError
from tests.media import make_film

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SMALL = (64, 48)
ORDER = {"correct_order": ["2", "3", "1"], "n_slots": 3}
PICKS = {"correct_assembly_in_slot_order": ["3.mp4", "1.mp4"], "n_slots": 2}
RUBRIC = [
    {
        "id": "length",
        "pillar": 0,
        "weight": 1,
        "dispatch": "python",
        "kind": "ffprobe_duration_range",
        "params": {"min": 0.1, "max": 2.5},
    }
]
PROFILE = {
    "format": {"duration_s": 0.4},
    "narrative": {"scene_list": [{"index": 0, "start_s": 0.0, "end_s": 0.4}]},
    "injection": {"variant": "v04_color_grade_shift", "start_s": 0.1, "end_s": 0.3, "target_scene_index": 0},
}
HUB = "https://hub.example/resolve/main"
ROWS: list[dict[str, Any]] = [
    {
        "task_id": 1,
        "task_family": "recap",
        "prompt": "Cut /workspace/materials/talk.mp4 down; write /workspace/output/final.mp4 and report.md.",
        "reference_file_urls": [f"{HUB}/recap/1/talk.mp4"],
        "verifier_reference_urls": [],
        "rubric_json": json.dumps(RUBRIC),
    },
    {
        "task_id": 37,
        "task_family": "sequencing",
        "prompt": "Order the clips in /workspace/materials/clips/ and write solution.json and solution.mp4.",
        "reference_file_urls": [f"{HUB}/sequencing/37/clips.zip"],
        "verifier_reference_urls": [],
        "rubric_json": json.dumps(ORDER),
    },
    {
        "task_id": 65,
        "task_family": "repair",
        "prompt": "Something is wrong with /workspace/materials/broken.mp4. Write fixed.mp4 and report.md.",
        "reference_file_urls": [f"{HUB}/repair/65/broken.mp4"],
        "verifier_reference_urls": [],
        "rubric_json": json.dumps({"cell": "v1/s1"}),
    },
    {
        "task_id": 83,
        "task_family": "assembly",
        "prompt": "Choose from /workspace/materials/candidates.zip. Write solution.json and solution.mp4.",
        "reference_file_urls": [f"{HUB}/assembly/83/candidates.zip"],
        "verifier_reference_urls": [],
        "rubric_json": json.dumps(PICKS),
    },
]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def zip_clips(path: Path, film: Path, count: int = 3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(1, count + 1):
            archive.write(film, f"clips/{number}.mp4")
        archive.writestr("__MACOSX/clips/._1.mp4", "junk")
    return path


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_film(tmp_path_factory.mktemp("film") / "film.mp4", frames=10, size=SMALL)


@pytest.fixture
def media(tmp_path: Path, film: Path) -> Path:
    folder = tmp_path / "media"
    folder.mkdir()
    for name in ("talk.mp4", "broken.mp4"):
        (folder / name).write_bytes(film.read_bytes())
    zip_clips(folder / "37" / "clips.zip", film)
    zip_clips(folder / "candidates.zip", film)
    return folder


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "AVB" / "data" / "train-00000-of-00001.parquet", ROWS).parent.parent


def listing(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_rows_of_every_family_become_tasks_whose_prompts_work_as_they_are(
    tmp_path: Path, dataset: Path, media: Path
) -> None:
    suite = import_dataset(dataset, media, tmp_path / "s", Options(offline=True), [])
    assert [entry.id for entry in suite.tasks] == ["repurpose-001", "sequencing-037", "repair-065", "assembly-083"]
    tasks = tmp_path / "s" / "tasks"
    assert listing(tasks / "sequencing-037" / "materials") == ["clips/1.mp4", "clips/2.mp4", "clips/3.mp4"]
    assert "candidates.zip" in listing(tasks / "assembly-083" / "materials"), "the prompt names the archive"
    for entry, row in zip(suite.tasks, ROWS, strict=True):
        brief = (tasks / entry.id / "brief.md").read_text(encoding="utf-8")
        assert brief == row["prompt"] + "\n"
        assert load_task(tasks / entry.id).limits.time_s == 1800
    assert Workspace(tasks / "repurpose-001").readable("/workspace/materials/talk.mp4").name == "talk.mp4"
    assert Workspace(tasks / "sequencing-037").readable("/workspace/materials/clips/2.mp4").is_file()


def test_an_imported_order_is_scored_by_the_rows_truth(tmp_path: Path, dataset: Path, media: Path) -> None:
    import_dataset(dataset, media, tmp_path / "s", Options(offline=True), [37])
    workspace = tmp_path / "s" / "tasks" / "sequencing-037"
    (workspace / "outputs").mkdir()
    segments = [{"source": clip} for clip in ORDER["correct_order"]]  # type: ignore[union-attr, attr-defined]
    (workspace / "outputs" / "solution.json").write_text(json.dumps({"segments": segments}), encoding="utf-8")
    assert score_workspace(workspace, tmp_path / "s" / "answers" / "sequencing-037").score == 1.0


def test_a_repair_row_without_its_references_comes_without_answers_and_says_so(
    tmp_path: Path, dataset: Path, media: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_dataset(dataset, media, tmp_path / "s", Options(offline=True), [65])
    assert not list((tmp_path / "s" / "answers" / "repair-065").iterdir())
    said = " ".join(capsys.readouterr().err.split())
    assert "without answers" in said
    assert "no profile and no source video for its cell" in said


def test_a_repair_row_with_profile_and_source_can_be_scored(
    tmp_path: Path, dataset: Path, media: Path, film: Path
) -> None:
    cell = tmp_path / "profiles" / "v1" / "s1"
    cell.mkdir(parents=True)
    (cell / "profile.json").write_text(json.dumps(PROFILE), encoding="utf-8")
    (cell / "source.mp4").write_bytes(film.read_bytes())
    import_dataset(dataset, media, tmp_path / "s", Options(profiles=tmp_path / "profiles", offline=True), [65])
    assert listing(tmp_path / "s" / "answers" / "repair-065") == ["answer.json", "profile.json", "source.mp4"]


def test_honesty_keeps_the_clips_with_the_answers(tmp_path: Path, dataset: Path, media: Path) -> None:
    import_dataset(dataset, media, tmp_path / "s", Options(honesty=True, offline=True), [37])
    answers = tmp_path / "s" / "answers" / "sequencing-037"
    assert "clips/1.mp4" in listing(answers)
    assert json.loads((answers / "answer.json").read_text(encoding="utf-8"))["submission"]["render"] == "solution.mp4"


def test_a_task_without_its_media_stays_outside_and_the_others_come_in(
    tmp_path: Path, dataset: Path, media: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (media / "talk.mp4").unlink()
    suite = import_dataset(dataset, media, tmp_path / "s", Options(offline=True), [])
    assert "repurpose-001" not in [entry.id for entry in suite.tasks]
    assert "talk.mp4 is not below" in " ".join(capsys.readouterr().err.split())


def test_a_name_that_two_rows_share_is_matched_by_its_folder_only(tmp_path: Path, media: Path, film: Path) -> None:
    rows = [ROWS[1], ROWS[1] | {"task_id": 38, "reference_file_urls": [f"{HUB}/sequencing/38/clips.zip"]}]
    dataset = write_rows(tmp_path / "two.parquet", rows)
    suite = import_dataset(dataset, media, tmp_path / "s", Options(offline=True), [])
    assert [entry.id for entry in suite.tasks] == ["sequencing-037"], "media/37/clips.zip is not task 38's"


@pytest.mark.parametrize("rubric", ["{", json.dumps({"correct_order": ["1", "1"]}), json.dumps([])])
def test_a_row_with_a_malformed_truth_stays_outside(tmp_path: Path, media: Path, rubric: str) -> None:
    dataset = write_rows(tmp_path / "bad.parquet", [ROWS[1] | {"rubric_json": rubric}])
    with pytest.raises(UserError, match="rubric_json is malformed"):
        import_dataset(dataset, media, tmp_path / "s", Options(offline=True), [])
    assert not (tmp_path / "s").exists()


def test_an_unknown_row_is_a_sentence(tmp_path: Path, dataset: Path, media: Path) -> None:
    with pytest.raises(UserError, match="has no task 999; its task ids are 1 to 83"):
        import_dataset(dataset, media, tmp_path / "s", Options(), [999])


# ---- downloads, from a server on loopback


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def hub(tmp_path: Path, film: Path) -> Iterator[str]:
    served = tmp_path / "served"
    served.mkdir()
    (served / "talk.mp4").write_bytes(film.read_bytes())
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(served))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_media_that_is_not_there_is_downloaded_once(tmp_path: Path, hub: str, film: Path) -> None:
    row = ROWS[0] | {"reference_file_urls": [f"{hub}/talk.mp4?download=true"]}
    dataset = write_rows(tmp_path / "one.parquet", [row])
    import_dataset(dataset, tmp_path / "new", tmp_path / "s", Options(), [])
    assert (tmp_path / "s/tasks/repurpose-001/materials/talk.mp4").read_bytes() == film.read_bytes()
    again = import_dataset(dataset, tmp_path / "new", tmp_path / "t", Options(offline=True), [])
    assert [entry.id for entry in again.tasks] == ["repurpose-001"]


def test_an_address_that_does_not_answer_is_a_sentence(tmp_path: Path, hub: str) -> None:
    row = ROWS[0] | {"reference_file_urls": [f"{hub}/missing.mp4"]}
    dataset = write_rows(tmp_path / "one.parquet", [row])
    with pytest.raises(UserError, match=r"missing.mp4 is not below .* cannot be fetched"):
        import_dataset(dataset, tmp_path / "new", tmp_path / "s", Options(), [])
    assert not (tmp_path / "s").exists()


# ---- archives


def _zip(path: Path, *members: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["../out.mp4", "/etc/out.mp4", "a/../../out.mp4", "C:/out.mp4", "..\\out.mp4"])
def test_an_archive_that_leads_outside_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    archive = _zip(tmp_path / "a.zip", ("ok.mp4", b"x"), (name, b"x"))
    with pytest.raises(UserError, match="leads outside"):
        unzip(archive, tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link.mp4")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(UserError, match="holds the link"):
        require_safe(_zip(tmp_path / "a.zip", (link, b"/etc/passwd")))


def test_an_archive_that_would_swell_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="would swell"):
        require_safe(_zip(tmp_path / "a.zip", ("zeros.mp4", bytes(80 << 20))))


def test_a_name_twice_an_empty_archive_and_no_archive_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="twice"):
        require_safe(_zip(tmp_path / "a.zip", ("a.mp4", b"x"), ("A.mp4", b"y")))
    with pytest.raises(UserError, match="empty archive"):
        require_safe(_zip(tmp_path / "b.zip"))
    (tmp_path / "c.zip").write_bytes(b"PK not really")
    with pytest.raises(UserError, match="cannot be unpacked"):
        require_safe(tmp_path / "c.zip")


def test_a_hostile_archive_keeps_its_task_outside(tmp_path: Path, dataset: Path, media: Path) -> None:
    _zip(media / "candidates.zip", ("../../answers/x", b"x"))
    suite = import_dataset(dataset, media, tmp_path / "s", Options(offline=True), [37, 83])
    assert [entry.id for entry in suite.tasks] == ["sequencing-037"]


# ---- the release


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release" / "tasks" / "sequencing" / "River_Story"
    for place in ("environment/notes", "steps/solve/tests", "steps/solve/solution"):
        (folder / place).mkdir(parents=True)
    (folder / "task.toml").write_text('version = "1.0"\n[agent]\ntimeout_sec = 900.0\n', encoding="utf-8")
    (folder / "environment" / "Dockerfile").write_text(
        "FROM python:3.12\nRUN fetch hub clips.zip\nCOPY brief.md /workspace/materials/creative/brief.md\n"
        "COPY notes /workspace/materials/notes\n",
        encoding="utf-8",
    )
    (folder / "environment" / "brief.md").write_text("A river.", encoding="utf-8")
    (folder / "environment" / "notes" / "a.txt").write_text("note", encoding="utf-8")
    (folder / "steps/solve/instruction.md").write_text(
        "Order /workspace/materials/clips/. Write /workspace/output/solution.json and /workspace/output/solution.mp4.",
        encoding="utf-8",
    )
    (folder / "steps/solve/tests/judge.py").write_text("raise SystemExit", encoding="utf-8")
    (folder / "steps/solve/tests/truth.json").write_text(json.dumps(ORDER), encoding="utf-8")
    (folder / "steps/solve/solution/solve.sh").write_text("exit 1", encoding="utf-8")
    return tmp_path / "release"


def test_a_folder_of_the_release_becomes_a_task_with_its_private_parts_among_the_answers(
    tmp_path: Path, release: Path, media: Path
) -> None:
    suite = import_release(release, media, tmp_path / "s")
    assert [entry.id for entry in suite.tasks] == ["sequencing-river_story"]
    workspace = tmp_path / "s" / "tasks" / "sequencing-river_story"
    assert listing(workspace) == [
        "brief.md",
        "materials/clips/1.mp4",
        "materials/clips/2.mp4",
        "materials/clips/3.mp4",
        "materials/creative/brief.md",
        "materials/notes/a.txt",
        "task.json",
    ]
    task = load_task(workspace)
    assert [item.name for item in task.deliverables] == ["solution.json", "solution.mp4"]
    assert (task.limits.time_s, task.deliverables[0].clips) == (900, ["1", "2", "3"])
    answers = listing(tmp_path / "s" / "answers" / "sequencing-river_story")
    assert {"reference.json", "answer.json", "release/steps/solve/tests/judge.py"} <= set(answers)


def test_a_task_of_the_release_is_scored_under_the_names_that_it_asks_for(
    tmp_path: Path, release: Path, media: Path, film: Path
) -> None:
    folder = release / "tasks" / "recap" / "one"
    (folder / "tests").mkdir(parents=True)
    (folder / "task.toml").write_text('version = "1.0"\n', encoding="utf-8")
    (folder / "instruction.md").write_text("Cut /workspace/materials/talk.mp4 to output/short.mp4.", encoding="utf-8")
    (folder / "tests" / "rubric.json").write_text(json.dumps(RUBRIC), encoding="utf-8")
    import_release(release, media, tmp_path / "s", tasks=["one"])
    workspace, answers = (tmp_path / "s" / name / "repurpose-one" for name in ("tasks", "answers"))
    assert [item.name for item in load_task(workspace).deliverables] == ["short.mp4"]
    (workspace / "outputs").mkdir()
    (workspace / "outputs" / "short.mp4").write_bytes(film.read_bytes())
    assert score_workspace(workspace, answers).score == 1.0


def test_a_folder_whose_media_is_missing_says_where_to_put_it(tmp_path: Path, release: Path) -> None:
    with pytest.raises(UserError, match=r"clips.zip is not below"):
        import_release(release, tmp_path / "nothing", tmp_path / "s")


def test_a_folder_without_a_readable_reference_comes_without_answers(
    tmp_path: Path, release: Path, media: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (release / "tasks/sequencing/River_Story/steps/solve/tests/truth.json").unlink()
    import_release(release, media, tmp_path / "s")
    assert not (tmp_path / "s" / "answers" / "sequencing-river_story" / "answer.json").exists()
    assert "no reference that a verifier here can read" in " ".join(capsys.readouterr().err.split())


def test_a_folder_that_is_no_release_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no tasks"):
        import_release(tmp_path, tmp_path, tmp_path / "s")


def test_the_commands_import_and_say_what_came_in(tmp_path: Path, dataset: Path, media: Path) -> None:
    words = ["import", "dataset", dataset, "--media", media, "--out", tmp_path / "s", "--offline", "--licence", "CC0"]
    run = subprocess.run(
        [sys.executable, "-m", "avb_mcp", *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert run.returncode == 0, run.stderr
    assert "4 of 4 tasks imported" in run.stderr
