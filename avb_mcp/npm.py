"""Pinned npm packages in a private folder, found again without network.

One folder per package and version, complete once it has its final name. A package that needs a newer Node
than the system's gets one from npm's own `node` package. Nothing is installed globally.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness_configs._base import NpmPackage
from primitives._base import UserError

NODE = NpmPackage(name="node", version="26.10.0", executable="node")
_JAVASCRIPT = (".js", ".mjs", ".cjs")
_BASE_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class NpmError(UserError):
    """A package could not be provided; the message says what is missing."""


@dataclass(frozen=True)
class InstalledTool:
    argv: tuple[str, ...]
    """What to run, by absolute paths; append the tool's own arguments."""
    search_path: str
    """A PATH that has the right Node first, for what the tool starts itself."""


def tools_folder() -> Path:
    """`AVB_TOOLS`, else `.tools` in a checkout, else the user's cache."""
    chosen = os.environ.get("AVB_TOOLS")
    if chosen:
        return Path(chosen).absolute()
    project = Path(__file__).resolve().parent.parent
    if (project / "pyproject.toml").is_file():
        return project / ".tools"
    cache_home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache_home) / "avb-mcp" / "tools"


def ensure(package: NpmPackage) -> InstalledTool:
    """The package, installed on first use."""
    return find(package) or _install(package)


def find(package: NpmPackage) -> InstalledTool | None:
    """The package where `ensure` put it, or None; never touches the network."""
    entry = _entry(_folder(package), package)
    if entry is None:
        return None
    node = _node(package)
    return None if node is None and _is_script(entry) else _tool(entry, node)


def on_path(package: NpmPackage) -> InstalledTool | None:
    """The user's own installation, whatever its version."""
    found = shutil.which(package.executable)
    return None if found is None else InstalledTool(argv=(found,), search_path=os.environ.get("PATH", ""))


def _folder(package: NpmPackage) -> Path:
    name = package.name.removeprefix("@").replace("/", "-")
    return tools_folder() / f"{name}-{package.version}"


def _entry(folder: Path, package: NpmPackage) -> Path | None:
    """The file that the package's `bin` table names, if it is there."""
    root = folder / "node_modules" / package.name
    manifest = root / "package.json"
    if not manifest.is_file():
        return None
    table = json.loads(manifest.read_text(encoding="utf-8"))["bin"]
    entry = root / (table if isinstance(table, str) else table[package.executable])
    return entry if entry.is_file() else None


def _node(package: NpmPackage) -> Path | None:
    """A Node that is new enough and already here: the system's first, then our own."""
    system = shutil.which("node")
    if system is not None and (package.node_at_least or (0, 0)) <= _version(system):
        return Path(system)
    return _entry(_folder(NODE), NODE)


@cache
def _version(node: str) -> tuple[int, int]:
    printed = subprocess.run((node, "--version"), capture_output=True, text=True, check=True).stdout
    found = re.match(r"v(\d+)\.(\d+)", printed)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _is_script(entry: Path) -> bool:
    return entry.suffix in _JAVASCRIPT


def _tool(entry: Path, node: Path | None) -> InstalledTool:
    argv = (str(node), str(entry)) if _is_script(entry) else (str(entry),)
    folders = (*(() if node is None else (str(node.parent),)), *_BASE_PATH)
    return InstalledTool(argv=argv, search_path=os.pathsep.join(folders))


def _install(package: NpmPackage) -> InstalledTool:
    npm = shutil.which("npm")
    if npm is None:
        raise NpmError(
            f"npm is not on the PATH, so {package.name} {package.version} cannot be installed. Install "
            f"Node.js, or set AVB_TOOLS to a folder that has it."
        )
    node = _node(package)
    if node is None:
        _install_folder(npm, NODE, None)
        node = _entry(_folder(NODE), NODE)
    if _entry(_folder(package), package) is None:
        _install_folder(npm, package, node)
    entry = _entry(_folder(package), package)
    if entry is None or node is None:
        raise NpmError(f"npm installed {package.name} {package.version} without its executable; is ignore-scripts set?")
    return _tool(entry, node)


def _install_folder(npm: str, package: NpmPackage, node: Path | None) -> None:
    folder = _folder(package)
    folder.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    if node is not None:  # install scripts check the Node that runs them
        environment["PATH"] = os.pathsep.join((str(node.parent), environment.get("PATH", "")))
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".installing-") as scratch:
        target = Path(scratch) / folder.name
        target.mkdir()
        options = ("--no-save", "--no-audit", "--no-fund", "--loglevel=error")
        command = (npm, "install", *options, "--prefix", str(target), f"{package.name}@{package.version}")
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise NpmError(f"npm could not install {package.name} {package.version}: {run.stderr[-1500:]}")
        if _entry(folder, package) is None:  # someone else may have finished first
            shutil.rmtree(folder, ignore_errors=True)
            target.rename(folder)
