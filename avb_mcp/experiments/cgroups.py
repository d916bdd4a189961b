"""A hard bound on processes and memory where the limits of a process do not hold: for root.

The kernel exempts root from RLIMIT_NPROC, also inside a user namespace. Who is root may make control groups,
so there a cell gets one; everyone else is bounded by the limit itself.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from avb_mcp.experiments.plan import Limits

_ROOT = Path("/sys/fs/cgroup")
_PARENT = "avb-mcp"
_JOIN = 'for group in $AVB_GROUPS; do echo $$ > "$group/cgroup.procs" || exit 125; done; unset AVB_GROUPS; exec "$@"'
_LEAVE_S = 5.0
_STALE_S = 600.0
_EVENTS = (
    ("processes", "pids.events", "max"),
    ("memory", "memory.events", "oom_kill"),
    ("memory", "memory.oom_control", "oom_kill"),  # the same in a group of the old kind
)


@dataclass(frozen=True)
class Groups:
    """The groups of one cell; none where none can or need be made."""

    folders: tuple[Path, ...] = ()

    def joined(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The command that joins the groups before it becomes `argv`, so that no process of it is outside."""
        if not self.folders:
            return tuple(argv)
        names = " ".join(str(folder) for folder in self.folders)
        return ("/usr/bin/env", f"AVB_GROUPS={names}", "/bin/sh", "-c", _JOIN, "sh", *argv)

    def kill(self) -> set[int]:
        """End every process that is left in the groups, also one that has thrown its mark away; which there were."""
        found: set[int] = set()
        for folder in self.folders:
            with suppress(OSError, ValueError):
                found |= {int(pid) for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split()}
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return found

    def hits(self) -> dict[str, int]:
        """How often the kernel refused a process or ended one for its memory, where it did."""
        found: dict[str, int] = {}
        for folder in self.folders:
            for what, file, word in _EVENTS:
                with suppress(OSError, ValueError):
                    values = dict(line.split() for line in (folder / file).read_text(encoding="ascii").splitlines())
                    if int(values.get(word, 0)):
                        found[what] = int(values[word])
        return found


@contextmanager
def groups_for(mark: str, limits: Limits) -> Iterator[Groups]:
    folders: list[Path] = []
    if os.geteuid() == 0:
        bounds = {"pids": ("pids.max", str(limits.processes))}
        bounds["memory"] = (
            "memory.max" if _is_unified() else "memory.limit_in_bytes",
            str(int(limits.memory_gb * 1e9)),
        )
        for controller, (file, value) in bounds.items():
            with suppress(OSError):
                folder = _make(controller, mark)
                (folder / file).write_text(value, encoding="ascii")
                folders.append(folder)
    try:
        yield Groups(tuple(dict.fromkeys(folders)))
    finally:
        for folder in set(folders):
            _remove(folder)


def _is_unified() -> bool:
    return (_ROOT / "cgroup.controllers").is_file()


def _make(controller: str, mark: str) -> Path:
    base = _ROOT if _is_unified() else _ROOT / controller
    if _is_unified():
        for level in (base, base / _PARENT):
            level.mkdir(exist_ok=True)
            (level / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
    folder = base / _PARENT / mark
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    return folder


def _sweep(parent: Path) -> None:
    """Remove groups that a killed run has left: old ones, which the kernel lets go only when nobody is in them."""
    now = time.time()
    for folder in parent.iterdir():
        with suppress(OSError):
            if folder.is_dir() and now - folder.stat().st_mtime > _STALE_S:
                folder.rmdir()


def _remove(folder: Path) -> None:
    """A group can go when its last process has; that takes the kernel a moment."""
    deadline = time.monotonic() + _LEAVE_S
    while folder.is_dir() and time.monotonic() < deadline:
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.02)
