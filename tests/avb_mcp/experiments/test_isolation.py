"""An agent that hunts for answers comes back empty."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from avb_mcp.experiments.inside import __file__ as inside_file
from avb_mcp.experiments.isolation import View, choose, why_not, wrapped
from avb_mcp.experiments.plan import Isolation, Network
from avb_mcp.experiments.relay import MODEL_PORT, leading_to
from primitives._base import UserError

bubblewrap = pytest.mark.skipif(bool(why_not()), reason=f"bubblewrap cannot be used here: {why_not()}")
SECRET = "forty-two-is-the-answer"


@pytest.fixture
def view(tmp_path: Path) -> View:
    """A cell beside another cell, a suite with answers, and a secret in each."""
    for place in ("suite/answers/task", "runs/other/workspace", "runs/own/workspace", "runs/own/home"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "suite/answers/task/answer.json").write_text(SECRET, encoding="utf-8")
    (tmp_path / "runs/other/workspace/notes.md").write_text(SECRET, encoding="utf-8")
    return View(tmp_path / "runs/own/workspace", tmp_path / "runs/own/home")


def _run(view: View, *command: str, network: Network = Network.NONE) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(view.home)}
    return subprocess.run(
        wrapped(command, view, network), env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@bubblewrap
def test_no_file_outside_the_cell_is_found(view: View) -> None:
    script = (
        f"find / -name answer.json -not -path '/proc/*' 2>/dev/null; grep -rsl {SECRET} /tmp /run /root /home; true"
    )

    run = _run(view, "sh", "-c", script)

    assert run.stdout == ""


@bubblewrap
def test_what_of_the_system_is_not_for_everyone_is_not_seen(view: View) -> None:
    files = [path for path in Path("/etc").rglob("*") if path.is_file() and not path.stat().st_mode & stat.S_IROTH]
    if not files:
        pytest.skip("every file of /etc can be read by everyone")

    run = _run(view, "cat", *map(str, files))

    assert run.stdout == ""


@bubblewrap
def test_no_other_process_and_no_variable_of_ours_is_seen(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERS", SECRET)

    run = _run(view, "sh", "-c", "cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; ls /proc | grep -c '^[0-9]'")

    assert SECRET not in run.stdout
    assert str(os.getpid()) not in run.stdout.split()
    assert int(run.stdout.split()[-1]) < 8


@bubblewrap
def test_the_cells_own_folder_is_writable_also_as_workspace_and_the_system_is_not(view: View) -> None:
    run = _run(view, "sh", "-c", "echo kept > /workspace/out; echo lost > /usr/out; echo gone > /tmp/out; pwd")

    assert (view.workspace / "out").read_text(encoding="utf-8") == "kept\n"
    assert not Path("/usr/out").exists()
    assert not Path("/tmp/out").exists()
    assert run.stdout.strip() == str(view.workspace)


@bubblewrap
def test_our_own_package_runs_inside(view: View) -> None:
    run = _run(view, sys.executable, "-c", "import av, cv2, primitives, verifiers; print('ready')")

    assert run.stdout == "ready\n", run.stderr


@bubblewrap
def test_without_a_network_nothing_listens_and_nothing_is_reached(view: View) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        run = _run(view, sys.executable, "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)")

    assert run.returncode != 0
    assert "refused" in run.stderr or "unreachable" in run.stderr


@bubblewrap
def test_the_relay_leads_to_the_model_and_to_nothing_else(view: View, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as model:
        threading.Thread(target=_answer_once, args=(model,), daemon=True).start()
        with leading_to(f"http://127.0.0.1:{model.getsockname()[1]}", tmp_path / "model") as path:
            ask = (
                f"import socket; s = socket.create_connection(('127.0.0.1', {MODEL_PORT}), 10); "
                "s.sendall(b'hello'); print(s.recv(100).decode())"
            )
            limits = ("--cpu", "60", "--file-size", "1000000", "--processes", "100")
            relay = ("--model-socket", str(path), "--model-port", str(MODEL_PORT))
            seen = View(view.workspace, view.home, (), (path,))
            run = _run(
                seen, sys.executable, inside_file, *limits, *relay, "--", sys.executable, "-c", ask,
                network=Network.LOOPBACK,
            )  # fmt: skip

    assert run.stdout == "HELLO\n", run.stderr
    assert not path.exists()


def _answer_once(model: socket.socket) -> None:
    connection, _ = model.accept()
    with connection:
        connection.sendall(connection.recv(100).upper())


def test_a_part_that_holds_the_cells_own_folder_is_refused(view: View) -> None:
    wide = View(view.workspace, view.home, (view.workspace.parent.parent,))

    with pytest.raises(UserError, match="holds the cell's own folder"):
        wrapped(("true",), wide, Network.NONE)


def test_no_isolation_is_given_when_it_is_asked_for() -> None:
    assert choose(Isolation.NONE) is Isolation.NONE


def test_what_the_machine_cannot_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    why_not.cache_clear()
    try:
        assert choose(Isolation.AUTO) is Isolation.NONE
        with pytest.raises(UserError, match="bwrap is not installed"):
            choose(Isolation.BUBBLEWRAP)
    finally:
        monkeypatch.undo()
        why_not.cache_clear()
