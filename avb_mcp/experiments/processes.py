"""The processes of a cell, found by a mark in their environment: also those that have left their parent or group."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MARK = "AVB_CELL"
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_KILL_PATIENCE_S = 10.0
_KILL_POLL_S = 0.02


@dataclass
class Watch:
    """What the marked processes use, gathered over time."""

    mark: str
    peak_bytes: int = 0
    peak_count: int = 0
    _cpu_by_pid: dict[tuple[int, int], float] = field(default_factory=dict)

    @property
    def cpu_s(self) -> float:
        return sum(self._cpu_by_pid.values())

    def look(self, first: int) -> tuple[int, int]:
        """Bytes of memory and number of processes now, of those that are marked or descend from the first one."""
        total = 0
        pids = {*marked(self.mark), *descendants(first)}
        for pid in pids:
            with suppress(OSError, ValueError, IndexError):
                resident, key, cpu_s = _used(pid)
                total += resident
                self._cpu_by_pid[key] = cpu_s
        self.peak_bytes, self.peak_count = max(self.peak_bytes, total), max(self.peak_count, len(pids))
        return total, len(pids)


def marked(mark: str) -> list[int]:
    """Ids of running processes that carry the mark."""
    needle = f"{MARK}={mark}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            if needle in Path(entry.path, "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def descendants(first: int) -> list[int]:
    """A process and all that it started: a harness may give a server an environment without the mark."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                parent = int(Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [first]
    for pid in found:
        found += children.get(pid, [])
    return found


def kill_marked(mark: str) -> set[int]:
    """Kill every marked process, again and again until none is left; which there were at first."""
    first = marked(mark)
    left, deadline = first, time.monotonic() + _KILL_PATIENCE_S
    while left and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_KILL_POLL_S)
        left = marked(mark)
    return set(first)


def _used(pid: int) -> tuple[int, tuple[int, int], float]:
    """Resident bytes, an identity that outlives reuse of the id, and processor time of one process."""
    stat = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    cpu_s = (int(stat[11]) + int(stat[12])) / _TICKS
    return int(stat[21]) * _PAGE_BYTES, (pid, int(stat[19])), cpu_s
