"""A stand-in for an npm package, in the layout that npm makes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness_configs._base import NpmPackage


def install_fake_cli(tools: Path, package: NpmPackage, program: str) -> Path:
    """Put a package into `tools` whose executable is a Python program; returns the executable."""
    name = package.name.removeprefix("@").replace("/", "-")
    root = tools / f"{name}-{package.version}" / "node_modules" / package.name
    root.mkdir(parents=True, exist_ok=True)
    (root / "package.json").write_text(json.dumps({"bin": {package.executable: "bin/run.exe"}}))
    executable = root / "bin" / "run.exe"
    executable.parent.mkdir(exist_ok=True)
    executable.write_text(f"#!{sys.executable}\n{program}\n")
    executable.chmod(0o755)
    return executable
