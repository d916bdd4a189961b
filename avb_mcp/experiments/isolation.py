"""What an agent's process may see: a fresh file system view by bubblewrap, made of named parts and nothing else.

Inside there are the system's programs (read-only), Python and this package (read-only), the harness (read-only),
the cell's own workspace and home, and an empty /tmp. There is no answers folder, no suite, no other cell, no
other process. `/workspace` leads to the workspace, as prompts of the public dataset expect.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from avb_mcp.experiments.plan import Isolation, Network
from primitives._base import UserError

PROGRAM = "bwrap"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc")
_PACKAGES = ("avb_mcp", "primitives", "verifiers", "harness_configs")
_TRY_TIMEOUT_S = 20
_USER = ("--unshare-user", "--uid", "1000", "--gid", "1000")


@dataclass(frozen=True)
class View:
    """The parts of the file system that belong to one cell."""

    workspace: Path
    home: Path
    readable: tuple[Path, ...] = ()
    """Read-only parts besides the system: the harness, models, for the oracle the answers."""
    writable: tuple[Path, ...] = ()
    """Sockets and the like."""


def choose(asked: Isolation) -> Isolation:
    """What is used: as asked, or what the machine allows; asking for what does not work is an error."""
    if asked is Isolation.NONE:
        return Isolation.NONE
    reason = why_not()
    if not reason:
        return Isolation.BUBBLEWRAP
    if asked is Isolation.BUBBLEWRAP:
        raise UserError(f'isolation = "bubblewrap" cannot be had here: {reason}.')
    return Isolation.NONE


def note(asked: Isolation) -> str:
    """What a user must know who gets no isolation; empty where there is some."""
    if choose(asked) is not Isolation.NONE:
        return ""
    why = "the plan says so" if asked is Isolation.NONE else why_not()
    return f"isolation: none ({why}). Agents can read answers and other cells; every record says so."


@cache
def why_not() -> str:
    """Why bubblewrap cannot be used here; empty when it can."""
    program = shutil.which(PROGRAM)
    if program is None:
        return "bwrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
    trial = [program, *_system(), *_USER, "--unshare-all", "--proc", "/proc", "--dev", "/dev", "/bin/true"]
    try:
        run = subprocess.run(trial, capture_output=True, text=True, timeout=_TRY_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bwrap does not start ({error})"
    return "" if run.returncode == 0 else f"bwrap says: {run.stderr.strip() or run.returncode}"


def wrapped(argv: Iterable[str], view: View, network: Network) -> tuple[str, ...]:
    """The command that runs `argv` in the view, from the workspace."""
    options = [shutil.which(PROGRAM) or PROGRAM, *_system(), *_covered()]
    options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run"]
    for path in _existing((*python_parts(), *view.readable)):
        if any(own.is_relative_to(path) for own in (view.workspace, view.home)):
            raise UserError(f"{path} holds the cell's own folder, so that other cells would be seen through it.")
        options += ["--ro-bind", str(path), str(path)]
    for path in (view.workspace, view.home, *view.writable):
        options += ["--bind", str(path), str(path)]
    options += ["--symlink", str(view.workspace), "/workspace", "--chdir", str(view.workspace)]
    options += [*_USER, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--hostname", "avb"]
    if network is not Network.OPEN:
        options.append("--unshare-net")
    elif Path("/etc/resolv.conf").is_symlink():
        options += ["--ro-bind-try", *[str(Path("/etc/resolv.conf").resolve())] * 2]
    # A new session keeps the agent from typing into our terminal; its life ends with ours.
    return (*options, "--new-session", "--die-with-parent", "--", *argv)


def python_parts() -> tuple[Path, ...]:
    """Where this Python and this package live: all that `avb-mcp serve` needs."""
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    specs = [importlib.util.find_spec(name) for name in _PACKAGES]
    packages = {Path(spec.origin).parent for spec in specs if spec is not None and spec.origin is not None}
    return tuple(sorted(path for path in prefixes | packages if not is_system(path)))


def _system() -> list[str]:
    """The system's folders as they are here: links stay links."""
    options: list[str] = []
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            options += ["--ro-bind", name, name]
    return options


@cache
def _covered() -> tuple[str, ...]:
    """What of /etc is not for everyone: who runs cells as root must not show an agent the machine's passwords."""
    options: list[str] = []
    for folder, inside, names in os.walk("/etc"):
        for name in (*inside, *names):
            path = Path(folder, name)
            with suppress(OSError):
                if path.is_symlink() or path.stat().st_mode & stat.S_IROTH:
                    continue
                options += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
        inside[:] = [name for name in inside if str(Path(folder, name)) not in options]
    return tuple(options)


def is_system(path: Path) -> bool:
    """Whether a path lies in the part of the system that every cell sees."""
    return any(path.is_relative_to(name) for name in _SYSTEM)


def _existing(paths: Iterable[Path]) -> list[Path]:
    """Those that are there, without what lies inside another of them: a link there cannot be covered again."""
    chosen: list[Path] = []
    for path in sorted({path for path in paths if path.exists() and not is_system(path)}):
        if not any(path.is_relative_to(other) for other in chosen):
            chosen.append(path)
    return chosen
