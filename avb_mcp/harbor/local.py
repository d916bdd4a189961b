"""A Harbor environment without containers: the file system of an exported task, put together by bubblewrap.

    harbor run -p tasks -a oracle -e avb_mcp.harbor.local:LocalEnvironment

For the oracle, nop and agents that need no installation: the system's programs are those of this machine, and
read-only. `--ek python=/path/to/python` names a Python that has this package, where Harbor's own has not. Imports
nothing but Harbor and the standard library, so that Harbor can run in an environment of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc")
_PROGRAMS = "opt/avb-mcp/bin"
_FOLDERS = ("workspace/work", "workspace/outputs", "tests", "solution", "logs", "tmp", "root", "proc", "dev", _PROGRAMS)
_WHERE = (
    "import importlib.util, json, sys, pathlib; "
    "specs = [importlib.util.find_spec(n) for n in ('avb_mcp', 'primitives', 'verifiers', 'harness_configs')]; "
    "print(json.dumps([sys.prefix, sys.base_prefix] + [str(pathlib.Path(s.origin).parent) for s in specs]))"
)
_START_TIMEOUT_S = 60


class LocalEnvironment(BaseEnvironment):  # type: ignore[misc]  # Harbor is not a requirement of ours
    """One folder that stands for `/`, and processes that see nothing but it and the system's programs."""

    def __init__(self, *args: Any, python: str = "", **kwargs: Any) -> None:
        self._python = python or sys.executable
        self._root = Path()
        self._readable: list[str] = []
        super().__init__(*args, **kwargs)

    @staticmethod
    def type() -> str:
        return "avb-local"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(mounted=True, disable_internet=True)

    @classmethod
    def preflight(cls) -> None:
        if shutil.which("bwrap") is None:
            raise SystemExit("bwrap is not installed (Debian and Ubuntu: apt install bubblewrap)")

    def _validate_definition(self) -> None:
        if not (self.environment_dir / "workspace").is_dir():
            raise FileNotFoundError(
                f"{self.environment_dir} holds no workspace/, which `avb-mcp export harbor` writes."
            )

    async def start(self, force_build: bool) -> None:  # noqa: ARG002 - there is nothing to build
        found = subprocess.run(
            [self._python, "-c", _WHERE], capture_output=True, text=True, timeout=_START_TIMEOUT_S, check=False
        )
        if found.returncode != 0:
            raise RuntimeError(f"{self._python} has no avb-mcp; name one that has it with --ek python=PATH")
        parts = {os.path.realpath(part) for part in json.loads(found.stdout)} | set(json.loads(found.stdout))
        self._readable = sorted(part for part in parts if PurePosixPath(part).parts[1] not in _SYSTEM)
        self._root = Path(tempfile.mkdtemp(prefix="avb-harbor-"))
        shutil.copytree(self.environment_dir / "workspace", self._root / "workspace")
        for name in _FOLDERS:
            (self._root / name).mkdir(parents=True, exist_ok=True)
        for name in _SYSTEM:
            if Path("/", name).is_symlink():
                (self._root / name).symlink_to(Path("/", name).readlink())
        paths = ":".join(str(Path(part).parent) for part in json.loads(found.stdout)[2:])
        for name, module in (("python", ""), ("avb-mcp", " -m avb_mcp")):
            program = self._root / _PROGRAMS / name
            program.write_text(f'#!/bin/sh\nPYTHONPATH={paths} exec {self._python}{module} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        for mount in self._mounts:
            (self._root / mount["target"].lstrip("/")).mkdir(parents=True, exist_ok=True)

    async def stop(self, delete: bool) -> None:
        if delete and self._root != Path():
            shutil.rmtree(self._root, ignore_errors=True)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        target = self._host(target_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, target)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self._host(target_dir), symlinks=True, dirs_exist_ok=True)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        shutil.copy(self._host(source_path), target_path, follow_symlinks=False)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._host(source_dir), target_dir, symlinks=True, dirs_exist_ok=True)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,  # noqa: ARG002 - inside there is one
    ) -> ExecResult:
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        process = await asyncio.create_subprocess_exec(
            *self._view(cwd or self.task_env_config.workdir or "/workspace"), "/bin/bash", "-c", command,
            env=environment | (self._merge_env(env) or {}),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        except TimeoutError:
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return ExecResult(
            stdout=out.decode(errors="replace"),
            stderr=err.decode(errors="replace"),
            return_code=process.returncode or 0,
        )

    def _view(self, cwd: str) -> list[str]:
        """The root, with the system's programs and Python over it, read-only, and Harbor's folders of logs."""
        options = ["bwrap", "--bind", str(self._root), "/", "--proc", "/proc", "--dev", "/dev"]
        for name in _SYSTEM:
            if Path("/", name).is_dir() and not Path("/", name).is_symlink():
                options += ["--ro-bind", f"/{name}", f"/{name}"]
        for part in self._readable:
            options += ["--ro-bind", part, part]
        for mount in self._mounts:
            options += ["--ro-bind" if mount.get("read_only") else "--bind", mount["source"], mount["target"]]
        options += ["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        if self._network_disabled:
            options.append("--unshare-net")
        return [*options, "--chdir", cwd, "--new-session", "--die-with-parent", "--"]

    def _host(self, path: str) -> Path:
        """Where a path of the environment lies here; one that leads out of it by a link is refused."""
        for mount in self._mounts:
            if PurePosixPath(path).is_relative_to(mount["target"]):
                base = Path(mount["source"])
                found = base / PurePosixPath(path).relative_to(mount["target"])
                break
        else:
            base = self._root
            found = base / path.lstrip("/")
        if not found.resolve().is_relative_to(base.resolve()):
            raise PermissionError(f"{path} leads out of the environment")
        return found
