"""An agent's program is watched, bounded and gone at the end, whatever it does."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from avb_mcp.experiments.launch import Launch, inside_argv, launch
from avb_mcp.experiments.plan import Limits
from avb_mcp.experiments.processes import marked
from avb_mcp.experiments.record import Exit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

PYTHON = (sys.executable, "-c")


def _run(folder: Path, *command: str, stop: threading.Event | None = None, **limits: float) -> tuple[Exit, str]:
    bounds = Limits(**({"time_s": 60} | limits))
    job = Launch(
        argv=inside_argv(command, bounds, None),
        cwd=folder,
        environment={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        limits=bounds,
        mark=folder.name,
        disk=(folder,),
    )
    ended = launch(job, stop or threading.Event())
    assert marked(folder.name) == []
    return ended, (folder / "stdout").read_text(encoding="utf-8")


def test_a_program_runs_to_its_end_in_its_folder_with_nothing_inherited(tmp_path: Path) -> None:
    ended, printed = _run(tmp_path, "sh", "-c", "pwd; env | cut -d= -f1 | sort; exit 3")

    folder, *names = printed.split()
    assert (ended.code, folder) == (3, str(tmp_path))
    assert set(names) <= {"AVB_CELL", "PATH", "PYTHONPATH", "PWD", "LC_CTYPE", "OLDPWD", "SHLVL", "_"}


def test_a_program_that_hangs_and_ignores_the_request_to_end_is_ended(tmp_path: Path) -> None:
    ended, _ = _run(tmp_path, "sh", "-c", "trap '' TERM INT; sleep 300 & sleep 300", time_s=1.5)

    assert ended.timed_out
    assert ended.signal == 9


def test_a_process_that_left_its_parent_and_its_group_does_not_stay(tmp_path: Path) -> None:
    leave = "setsid sh -c 'touch left; exec sleep 300' >/dev/null 2>&1 & until [ -e left ]; do :; done; exit 0"
    ended, _ = _run(tmp_path, "sh", "-c", leave)

    assert (ended.code, ended.survivors_killed) == (0, 1)


def test_too_much_memory_is_a_limit_with_a_sentence(tmp_path: Path) -> None:
    hog = "import time\nblocks = []\nwhile True:\n    blocks.append(bytearray(b'x' * 20_000_000)); time.sleep(0.02)"
    ended, _ = _run(tmp_path, *PYTHON, hog, memory_gb=0.3)

    # A control group may have ended it first, where there is one.
    assert "GB of memory, 0.3 are allowed" in ended.limit or ended.signal == 9 or ended.code == 137


def test_too_many_processes_are_a_limit_or_cannot_even_start(tmp_path: Path) -> None:
    many = (
        "import os, time\nfor _ in range(60):\n    try:\n        pid = os.fork()\n    except OSError:\n"
        "        print('refused', flush=True); break\n    if pid == 0:\n        time.sleep(60)\ntime.sleep(3)"
    )
    ended, printed = _run(tmp_path, *PYTHON, many, processes=20)

    assert "processes, 20 are allowed" in ended.limit or "refused" in printed


def test_a_file_cannot_grow_over_the_bound_on_disk(tmp_path: Path) -> None:
    _run(tmp_path, "sh", "-c", "head -c 300000000 /dev/zero > big", disk_gb=0.05)

    assert (tmp_path / "big").stat().st_size <= 50_000_000


def test_many_files_over_the_bound_on_disk_are_a_limit(tmp_path: Path) -> None:
    write = "for n in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero > f$n; done; sleep 60"
    ended, _ = _run(tmp_path, "sh", "-c", write, disk_gb=0.05)

    assert "GB on disk, 0.05 are allowed" in ended.limit


def test_a_stop_by_the_user_ends_it(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()

    ended, _ = _run(tmp_path, "sleep", "300", stop=stop)

    assert ended.limit == "stopped by the user"


def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    ended, _ = _run(tmp_path, "no-such-program")

    assert ended.code == 127
    assert "cannot be started" in (tmp_path / "stderr").read_text(encoding="utf-8")
