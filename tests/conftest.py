"""Shared fixtures: a task folder and a way to call a primitive in it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call
from primitives.registry import by_name

# Machines under load are slow, not wrong; and a run must not depend on luck.
settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")


def pytest_configure() -> None:
    """A run that a shell put in the background ignores interrupts, and so would the programs that tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty task folder."""
    root = tmp_path / "task"
    for name in ("materials", "work", "outputs"):
        (root / name).mkdir(parents=True)
    return root


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def run(folder: Path) -> Callable[..., Answer]:
    """Call a primitive in the folder: `run("probe", path="materials/a.mp4")`."""

    def call(tool: str, **arguments: Any) -> Answer:
        return by_name()[tool].call(arguments, Call(Workspace(folder)))

    return call
