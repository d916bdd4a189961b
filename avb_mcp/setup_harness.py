"""`avb-mcp setup`: what a harness needs to start our server, shown or written.

Planning reads the files that are there and decides every new text; writing only puts texts on disk, each by
an atomic rename, so that a crash leaves either the old file or the new one.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from avb_mcp import npm
from harness_configs._base import (
    Arm,
    ConfigFile,
    DerivedFile,
    Endpoint,
    Harness,
    ServerCommand,
    Setup,
    SetupRequest,
)
from harness_configs._merge import MergeError, merged
from harness_configs.registry import UnknownHarnessError, harness_named
from primitives._base import UserError

_PRINT_TIMEOUT_S = 60


class SetupError(UserError):
    """The setup cannot be done as asked; the message says what to change."""


class Change(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class PlannedFile:
    path: Path
    before: str | None
    after: str | None
    """None: there is no such file and none is needed."""

    @property
    def change(self) -> Change:
        if self.after == self.before:
            return Change.UNCHANGED
        return Change.CREATED if self.before is None else Change.UPDATED


@dataclass(frozen=True)
class Plan:
    harness: Harness
    workspace: Path
    arm: Arm
    setup: Setup
    files: tuple[PlannedFile, ...]


@dataclass(frozen=True)
class WrittenFile:
    path: Path
    change: Change
    reason: str = ""
    """Why it was skipped."""


def plan_setup(
    harness_name: str,
    workspace: Path,
    arm: Arm = Arm.TYPED,
    *,
    home: Path | None = None,
    server: ServerCommand | None = None,
    model: str | None = None,
    endpoint: Endpoint | None = None,
    max_turns: int | None = None,
) -> Plan:
    """Decide every file for one harness and arm; nothing is written."""
    try:
        harness = harness_named(harness_name)
    except UnknownHarnessError as error:
        raise SetupError(str(error)) from error
    if not workspace.is_dir():
        raise SetupError(f"workspace {str(workspace)!r} is not a folder. Create it first.")
    workspace = workspace.resolve()
    request = SetupRequest(
        server=server or server_command(workspace),
        arm=arm,
        workspace=PurePosixPath(workspace),
        model=model,
        endpoint=endpoint,
        max_turns=max_turns,
    )
    setup = harness.setup(request)
    user = home or Path.home()
    files = tuple(
        _planned(file, _inside(workspace, file.path) if file.scope == "workspace" else user / file.path)
        for file in setup.files
    )
    for derived in setup.derived:
        _inside(workspace, derived.path)
    return Plan(harness=harness, workspace=workspace, arm=arm, setup=setup, files=files)


def server_command(workspace: Path, options: tuple[str, ...] = ()) -> ServerCommand:
    """How to start the server of the running environment, by absolute paths: a harness's PATH may differ."""
    serve = ("serve", "--workspace", str(workspace), *options)
    script = Path(sys.executable).with_name("avb-mcp")
    if script.is_file():
        return ServerCommand(command=str(script), args=serve)
    return ServerCommand(command=sys.executable, args=("-m", "avb_mcp", *serve))


def write_setup(plan: Plan, tool: npm.InstalledTool | None = None) -> list[WrittenFile]:
    """Put the plan's files on disk, then those that only the installed harness can provide.

    `tool` is the harness that will be run; by default the one on the PATH, or else the pinned one.
    """
    written = [_write(file) for file in plan.files if file.after is not None]
    for folder in plan.setup.folders:
        _inside(plan.workspace, folder).mkdir(parents=True, exist_ok=True)
    for derived in plan.setup.derived:
        try:
            written.append(_write(_derived(plan, derived, tool)))
        except SetupError as error:
            reason = f"the headless command needs it, but {error}"
            written.append(WrittenFile(plan.workspace / derived.path, Change.SKIPPED, reason))
    return written


def describe(plan: Plan) -> str:
    """What `avb-mcp setup` prints without `--write`: each file, the headless command, the notes."""
    parts = [f"{plan.harness.title}, arm {plan.arm}, workspace {plan.workspace}"]
    for file in plan.files:
        if file.after is not None:
            parts.append(f"{file.path} ({_intention(file.change)})\n\n{_indented(file.after)}")
    for derived in plan.setup.derived:
        overrides = json.dumps(derived.overrides)
        source = shlex.join((plan.harness.package.executable, *derived.source))
        parts.append(
            f"{plan.workspace / derived.path} (made by --write from the output of `{source}`)\n\n"
            + _indented(f"every object of {derived.list_key!r} gets {overrides}")
        )
    return "\n\n".join([*parts, *_closing(plan)]) + "\n"


def describe_written(plan: Plan, written: list[WrittenFile]) -> str:
    """What `avb-mcp setup --write` prints: each file with what happened to it, the headless command, the notes."""
    lines = [f"{file.change:9} {file.path}{f': {file.reason}' if file.reason else ''}" for file in written]
    return "\n\n".join(["\n".join(lines) or "nothing to write", *_closing(plan)]) + "\n"


def headless_line(plan: Plan) -> str:
    """The headless command as one line for a POSIX shell; secrets are left to the user's environment."""
    variables = [f"{name}={value}" for name, value in plan.setup.environment.items()]
    return shlex.join((*(("env", *variables) if variables else ()), *plan.setup.command)) + " </dev/null"


def _closing(plan: Plan) -> list[str]:
    notes = "\n".join(f"- {note}" for note in plan.setup.notes)
    return [f"Headless, from the workspace:\n\n{_indented(headless_line(plan))}", notes]


def _intention(change: Change) -> str:
    return "stays as it is" if change is Change.UNCHANGED else f"would be {change}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.rstrip("\n").split("\n"))


def _inside(workspace: Path, path: PurePosixPath) -> Path:
    """A file of the workspace; a folder from elsewhere must not lead us out of it by a link."""
    inside = workspace / path
    if not inside.resolve().is_relative_to(workspace):
        raise SetupError(f"{inside} leads out of the workspace to {inside.resolve()}. Remove that link first.")
    return inside


def _planned(file: ConfigFile, path: Path) -> PlannedFile:
    before = _read(path)
    try:
        after = merged(before if file.shared else None, file.content, file.absent, format=file.format)
    except MergeError as error:
        wanted = merged(None, file.content, format=file.format)
        todo = f"Add this by hand:\n{wanted}" if wanted else "Remove the entry 'avb' by hand."
        raise SetupError(f"{path} was left as it is: {error}. {todo}") from error
    return PlannedFile(path=path, before=before, after=after)


def _read(path: Path) -> str | None:
    try:
        # newline="": a file with CRLF line ends must come back with them.
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{path} is not UTF-8 text, so it was left as it is.") from error


def _derived(plan: Plan, derived: DerivedFile, tool: npm.InstalledTool | None) -> PlannedFile:
    package = plan.harness.package
    tool = tool or npm.on_path(package) or npm.find(package)
    if tool is None:
        raise SetupError(f"{plan.harness.title} is not installed: npm install -g {package.name}, then repeat")
    document = _printed(tool, derived)
    document[derived.list_key] = [{**entry, **derived.overrides} for entry in document[derived.list_key]]
    path = _inside(plan.workspace, derived.path)
    return PlannedFile(path=path, before=_read(path), after=json.dumps(document, indent=1) + "\n")


def _printed(tool: npm.InstalledTool, derived: DerivedFile) -> dict[str, Any]:
    """What the harness prints about itself."""
    command = (*tool.argv, *derived.source)
    with tempfile.TemporaryDirectory() as private_home:
        # A home of its own: the user's login and settings must not shape what is printed.
        environment = {"PATH": tool.search_path, "HOME": private_home}
        try:
            run = subprocess.run(
                command, env=environment, capture_output=True, timeout=_PRINT_TIMEOUT_S, text=True, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise SetupError(f"`{shlex.join(command)}` did not end within {_PRINT_TIMEOUT_S} s") from error
    if run.returncode != 0:
        raise SetupError(f"`{shlex.join(command)}` ended with exit code {run.returncode}: {run.stderr[-500:].strip()}")
    try:
        document: dict[str, Any] = json.loads(run.stdout)
    except json.JSONDecodeError as error:
        raise SetupError(f"`{shlex.join(command)}` did not print JSON: {run.stdout[:200].strip()}") from error
    if not isinstance(document, dict) or not isinstance(document.get(derived.list_key), list):
        raise SetupError(f"`{shlex.join(command)}` printed no list {derived.list_key!r}")
    return document


def _write(file: PlannedFile) -> WrittenFile:
    if file.after is not None and file.change is not Change.UNCHANGED:
        _write_atomically(file.path, file.after)
    return WrittenFile(path=file.path, change=file.change)


def _write_atomically(path: Path, text: str) -> None:
    target = path.resolve()  # a dotfile that is a link stays a link
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
