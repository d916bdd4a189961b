"""Start an agent's program, watch it, stop it: the only place that owns an agent's processes.

When `launch` returns, no process of the agent is left, whatever it did.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from avb_mcp.experiments.cgroups import groups_for
from avb_mcp.experiments.plan import Limits
from avb_mcp.experiments.processes import MARK, Watch, kill_marked
from avb_mcp.experiments.record import Exit

POLL_S = 0.1
DISK_POLL_S = 1.0
GRACE_S = 3.0
_GB = 1_000_000_000


@dataclass(frozen=True)
class Launch:
    argv: tuple[str, ...]
    """Complete, isolation included."""
    cwd: Path
    environment: Mapping[str, str]
    """All of it: nothing is inherited."""
    stdout: Path
    stderr: Path
    limits: Limits
    mark: str
    """Marks the agent's processes; unlike that of any other cell."""
    disk: tuple[Path, ...]
    """Folders that the agent may fill."""


def launch(job: Launch, stop: threading.Event) -> Exit:
    """Run to the end, to a limit, or until `stop` is set."""
    watch = Watch(job.mark)
    environment = {**job.environment, MARK: job.mark}
    with (
        groups_for(job.mark, job.limits) as groups,
        job.stdout.open("wb") as out,
        job.stderr.open("wb") as err,
    ):
        process = subprocess.Popen(
            groups.joined(job.argv), cwd=job.cwd, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
        reason = ""
        try:
            reason = _attend(process, job, watch, stop)
        finally:
            _end(process, gently=reason == "")
            survivors = kill_marked(job.mark) | groups.kill()
        hits = groups.hits()
    code = process.returncode
    if not reason and code != 0 and "memory" in hits:
        reason = f"more than {job.limits.memory_gb:g} GB of memory, which are allowed"
    return Exit(
        code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=reason == "time",
        limit="" if reason in ("", "time") else reason,
        cpu_s=round(watch.cpu_s, 2),
        peak_memory_mb=round(watch.peak_bytes / 1e6, 1),
        peak_processes=watch.peak_count,
        survivors_killed=len(survivors),
        refused=hits,
    )


def inside_argv(argv: tuple[str, ...], limits: Limits, model: tuple[Path, int] | None) -> tuple[str, ...]:
    """The agent's command behind the process that sets its limits and opens its way to the model."""
    options = ["--cpu", str(int(limits.cpu_s)), "--file-size", str(int(limits.disk_gb * _GB))]
    options += ["--processes", str(limits.processes)]
    if model is not None:
        options += ["--model-socket", str(model[0]), "--model-port", str(model[1])]
    return (sys.executable, "-m", "avb_mcp.experiments.inside", *options, "--", *argv)


def _attend(process: subprocess.Popen[bytes], job: Launch, watch: Watch, stop: threading.Event) -> str:
    """Wait; why it had to be stopped, or nothing when it ended by itself."""
    deadline, disk_at = time.monotonic() + job.limits.time_s, 0.0
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)
            return _too_much(job)
        now = time.monotonic()
        if stop.is_set():
            return "stopped by the user"
        if now > deadline:
            return _too_much(job) or "time"
        used_bytes, count = watch.look(process.pid)
        if count > job.limits.processes:
            return f"{count} processes, {job.limits.processes} are allowed"
        if used_bytes > job.limits.memory_gb * _GB:
            return f"{used_bytes / _GB:.1f} GB of memory, {job.limits.memory_gb:g} are allowed"
        if watch.cpu_s > job.limits.cpu_s:
            return f"{watch.cpu_s:.0f} s of processor time, {job.limits.cpu_s:g} are allowed"
        if now >= disk_at:
            disk_at = now + DISK_POLL_S
            if full := _too_much(job):
                return full


def _too_much(job: Launch) -> str:
    """What the agent has filled, if that is all it may fill: a file stops growing at the bound, not above it."""
    filled = sum(_size(folder) for folder in job.disk)
    return (
        f"{filled / _GB:.2g} GB on disk, {job.limits.disk_gb:g} are allowed"
        if filled >= job.limits.disk_gb * _GB
        else ""
    )


def _end(process: subprocess.Popen[bytes], *, gently: bool) -> None:
    """Ask the group to end, then make it."""
    if process.poll() is None and gently:
        _signal_group(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _size(folder: Path) -> int:
    """Bytes that the files below a folder take on disk."""
    total, folders = 0, [folder]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total
