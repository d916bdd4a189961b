"""Writing a suite: whole or not at all, resumable, the same twice."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from avb_mcp.tasks import suite as writing
from avb_mcp.tasks.answers import order_answer
from avb_mcp.tasks.spec import Source, digest_of, load_suite, load_task, sha256_of
from avb_mcp.tasks.staging import interrupted
from avb_mcp.tasks.suite import Bench, Made, TaskPlan, seed_of, write_suite
from primitives._base import UserError
from primitives._task import Deliverable, Family, Kind, Task

SOURCES = [Source(name="film.mp4", sha256="0" * 64, licence="CC0", provenance="drawn")]


def silent(_task: str, _share: float, _note: str) -> None:
    """No progress shown."""


def plan(task_id: str, before: Callable[[Bench], None] = lambda _bench: None, seed: int = 7) -> TaskPlan:
    """A sequencing task of two text files; `before` runs first and may fail."""

    def make(bench: Bench) -> Made:
        before(bench)
        for name in ("1.mp4", "2.mp4"):
            (bench.materials / name).write_bytes(bench.rng.bytes(8))
        (bench.answers / "reference.json").write_text(json.dumps({"correct_order": ["2", "1"]}), encoding="utf-8")
        wanted = Deliverable(name="solution.json", kind=Kind.ORDERING, clips=["1", "2"])
        task = Task(id=task_id, family=Family.SEQUENCING, deliverables=[wanted])
        return Made(task, "Put the clips in order.", order_answer(task_id, honesty=False))

    return TaskPlan(task_id, Family.SEQUENCING, "sequencing", ("film.mp4",), seed, make)


def fail_with(error: BaseException) -> Callable[[Bench], None]:
    def fail(_bench: Bench) -> None:
        raise error

    return fail


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_suite_lists_every_file_with_its_hash_and_the_task_lists_its_materials(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "s", [plan("a")], SOURCES, silent)
    assert load_suite(tmp_path / "s") == suite
    assert left_in(tmp_path) == ["s"]
    entry = suite.tasks[0]
    on_disk = {
        path.relative_to(tmp_path / "s").as_posix(): sha256_of(path)
        for path in (tmp_path / "s").rglob("*")
        if path.is_file() and path.name != "suite.json"
    }
    assert entry.files == on_disk
    assert entry.digest == digest_of(on_disk)
    materials = load_task(tmp_path / "s" / "tasks" / "a").materials
    assert {item.path: item.sha256 for item in materials} == {
        path.removeprefix("tasks/a/"): digest for path, digest in on_disk.items() if "/materials/" in path
    }


def test_the_same_seed_gives_the_same_digest_and_another_seed_another(tmp_path: Path) -> None:
    digests = [
        write_suite(tmp_path / name, [plan("a", seed=seed)], SOURCES, silent).tasks[0].digest
        for name, seed in (("one", 7), ("two", 7), ("three", 8))
    ]
    assert digests[0] == digests[1] != digests[2]


def test_a_mistake_in_the_input_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="too short"):
        write_suite(tmp_path / "s", [plan("a"), plan("b", fail_with(UserError("too short")))], SOURCES, silent)
    assert left_in(tmp_path) == []


def test_an_interrupted_build_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_suite(tmp_path / "s", [plan("a"), plan("b", fail_with(KeyboardInterrupt()))], SOURCES, silent)
    assert not (tmp_path / "s").exists()
    assert interrupted(tmp_path / "s")
    notes: dict[str, str] = {}
    resumed = write_suite(
        tmp_path / "s", [plan("a"), plan("b")], SOURCES, lambda task, _share, note: notes.update({task: note})
    )
    assert notes == {"a": "kept", "b": "done"}
    assert left_in(tmp_path) == ["s"]
    assert resumed == write_suite(tmp_path / "again" / "s", [plan("a"), plan("b")], SOURCES, silent)


def test_what_was_asked_for_decides_whether_an_interrupted_build_goes_on(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_suite(tmp_path / "s", [plan("a"), plan("b", fail_with(KeyboardInterrupt()))], SOURCES, silent, asked="x")
    notes: dict[str, str] = {}
    write_suite(
        tmp_path / "s",
        [plan("a"), plan("b")],
        SOURCES,
        lambda task, _share, note: notes.update({task: note}),
        asked="y",
    )
    assert notes == {"a": "done", "b": "done"}


def test_a_full_disk_is_a_sentence_and_keeps_what_is_finished(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(UserError, match=r"disk is full.*same command again"):
        write_suite(tmp_path / "s", [plan("a"), plan("b", fail_with(full))], SOURCES, silent)
    notes: dict[str, str] = {}
    write_suite(tmp_path / "s", [plan("a"), plan("b")], SOURCES, lambda task, _share, note: notes.update({task: note}))
    assert notes["a"] == "kept"


@pytest.mark.parametrize("moved", range(5))
def test_a_build_killed_while_it_adds_to_a_suite_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    write_suite(tmp_path / "s", [plan("a")], SOURCES, silent)
    before = (tmp_path / "s" / "suite.json").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", _dies_after(moved, inside=tmp_path / "s"))
        with pytest.raises(KeyboardInterrupt):
            write_suite(tmp_path / "s", [plan("b"), plan("c")], SOURCES, silent)
    assert (tmp_path / "s" / "suite.json").read_bytes() == before
    resumed = write_suite(tmp_path / "s", [plan("b"), plan("c")], SOURCES, silent)
    assert [entry.id for entry in resumed.tasks] == ["a", "b", "c"]
    for entry in resumed.tasks:
        assert {path: sha256_of(tmp_path / "s" / path) for path in entry.files} == entry.files


def _dies_after(count: int, inside: Path) -> Callable[[Path, Path], Path]:
    """`Path.replace` that is interrupted at the move after `count` moves into a folder."""
    real, done = Path.replace, []

    def replace(self: Path, target: Path) -> Path:
        if target.is_relative_to(inside):
            if len(done) == count:
                raise KeyboardInterrupt
            done.append(target)
        return real(self, target)

    return replace


def test_a_killed_process_leaves_a_state_that_the_same_build_resumes(tmp_path: Path) -> None:
    """SIGKILL in the middle of the second of two tasks."""
    script = tmp_path / "build.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal, sys
            from pathlib import Path
            from tests.avb_mcp.tasks.test_suite import SOURCES, plan, silent
            from avb_mcp.tasks.suite import write_suite
            write_suite(Path(sys.argv[1]), [plan("a"), plan("b", lambda _: os.kill(os.getpid(), signal.SIGKILL))],
                        SOURCES, silent)
            """
        ),
        encoding="utf-8",
    )
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "s")], env=os.environ | {"PYTHONPATH": str(root)}, cwd=root
    )
    assert run.returncode == -signal.SIGKILL
    assert not (tmp_path / "s").exists()
    notes: dict[str, str] = {}
    write_suite(tmp_path / "s", [plan("a"), plan("b")], SOURCES, lambda task, _share, note: notes.update({task: note}))
    assert notes == {"a": "kept", "b": "done"}


def test_a_second_build_of_the_same_suite_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    def build_again(_bench: Bench) -> None:
        write_suite(tmp_path / "s", [plan("a")], SOURCES, silent)

    with pytest.raises(UserError, match="being built by another process"):
        write_suite(tmp_path / "s", [plan("a", build_again)], SOURCES, silent)


def test_a_folder_that_is_no_suite_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "holiday.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="not a suite"):
        write_suite(tmp_path / "s", [plan("a")], SOURCES, silent)
    assert left_in(tmp_path / "s") == ["holiday.txt"]


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        write_suite(tmp_path / "file" / "s", [plan("a")], SOURCES, silent)


def test_a_task_is_added_once(tmp_path: Path) -> None:
    write_suite(tmp_path / "s", [plan("a")], SOURCES, silent)
    with pytest.raises(UserError, match="already has the task a"):
        write_suite(tmp_path / "s", [plan("a")], SOURCES, silent)


def test_one_name_stands_for_one_source(tmp_path: Path) -> None:
    write_suite(tmp_path / "s", [plan("a")], SOURCES, silent)
    other = [Source(name="film.mp4", sha256="1" * 64)]
    with pytest.raises(UserError, match=r"another file under the name film.mp4"):
        write_suite(tmp_path / "s", [plan("b")], other, silent)
    assert left_in(tmp_path) == ["s"]


def test_a_builder_that_makes_another_task_than_planned_is_an_error(tmp_path: Path) -> None:
    mixed_up = TaskPlan("a", Family.SEQUENCING, "sequencing", ("film.mp4",), 7, plan("b").make)
    with pytest.raises(ValueError, match="another task than a"):
        write_suite(tmp_path / "s", [mixed_up], SOURCES, silent)


def test_seeds_differ_by_every_part() -> None:
    assert len({seed_of(1, "a"), seed_of(1, "b"), seed_of(2, "a"), seed_of("1a"), writing.seed_of(1, "a", "")}) == 5
