"""Answers kept on disk, so that repeating a call is free.

An answer is found by its tool and arguments, and holds as long as every file that was read for it is
unchanged. Nothing is declared twice: the call itself remembers what it read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from pydantic import BaseModel, ValidationError

from avb_mcp import __version__
from avb_mcp.workspace import Workspace
from primitives._base import Jpeg

MAX_ENTRIES = 500
_SAMPLE_BYTES = 64 * 1024
_SAMPLES = 8


class Entry(BaseModel):
    """One answer, and the state of the files behind it."""

    inputs: dict[str, str]
    text: str
    media_s: float
    image_size_px: tuple[int, int] | None


def call_key(tool: str, arguments_json: str) -> str:
    """What a call is known by: tool, arguments and the version that answers."""
    return hashlib.sha256(f"{__version__}\0{tool}\0{arguments_json}".encode()).hexdigest()[:32]


def fingerprint(path: Path) -> str:
    """Size, time of change and samples of the content: a film of many gigabytes in milliseconds."""
    status = path.stat()
    digest = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns}".encode())
    with path.open("rb") as file:
        for number in range(_SAMPLES):
            file.seek(max(0, status.st_size - _SAMPLE_BYTES) * number // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


class Cache:
    """The answers of one workspace, below .avb/cache."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def find(self, key: str) -> tuple[Entry, Jpeg | None] | None:
        """The answer to a call, if the files behind it are unchanged."""
        try:
            entry = Entry.model_validate_json(self._file(key, "json").read_bytes())
            for name, mark in entry.inputs.items():
                if fingerprint(self._workspace.root / name) != mark:
                    return None
            if entry.image_size_px is None:
                return entry, None
            return entry, Jpeg(self._file(key, "jpg").read_bytes(), *entry.image_size_px)
        except (OSError, ValidationError):
            return None

    def keep(self, key: str, read: set[Path], text: str, media_s: float, image: Jpeg | None) -> None:
        """Remember an answer. One that read no file describes the folder, which changes, and is not kept."""
        if not read:
            return
        entry = Entry(
            inputs={self._workspace.relative(path): fingerprint(path) for path in read},
            text=text,
            media_s=media_s,
            image_size_px=(image.width_px, image.height_px) if image else None,
        )
        with contextlib.suppress(OSError):  # a full or read-only disk costs the next call time, not this one its answer
            if image is not None:
                with self._workspace.atomic(self._file(key, "jpg")) as part:
                    part.write_bytes(image.data)
            with self._workspace.atomic(self._file(key, "json")) as part:
                part.write_text(json.dumps(entry.model_dump()), encoding="utf-8")
            self._prune()

    def _file(self, key: str, suffix: str) -> Path:
        return self._workspace.private("cache", f"{key}.{suffix}")

    def _prune(self) -> None:
        entries = sorted(self._file("x", "json").parent.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        for old in entries[: max(0, len(entries) - MAX_ENTRIES)]:
            old.unlink(missing_ok=True)
            old.with_suffix(".jpg").unlink(missing_ok=True)
