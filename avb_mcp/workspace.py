"""The task folder: what may be read, what may be written, and nothing else.

    <task>/  task.json  brief.md  materials/  work/  outputs/  .avb/

Paths come from a model, so they are taken as text and judged before the disk is touched: relative to the
folder, or absolute inside it (`/workspace/...`, as the public dataset writes, or the real path), with
`output/` as an alias of `outputs/`. What resolves outside is refused, symlinks included. Tools write only
below work/ and outputs/. A folder without task.json works too: then it is just a folder of media.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from primitives._base import UserError
from primitives._task import Task

ALIAS_ROOT = "/workspace"
PRIVATE = ".avb"
WRITABLE = ("work", "outputs")
MEDIA_SUFFIXES = frozenset(
    [
        ".mp4",
        ".m4v",
        ".mov",
        ".mkv",
        ".webm",
        ".avi",
        ".mpg",
        ".mpeg",
        ".ts",
        ".m2ts",
        ".mts",
        ".mxf",
        ".wmv",
        ".flv",
        ".ogv",
        ".3gp",
        ".gif",
        ".wav",
        ".mp3",
        ".m4a",
        ".aac",
        ".flac",
        ".ogg",
        ".opus",
        ".wma",
    ]
)
MAX_PATH_CHARACTERS = 1024
MAX_NAME_BYTES = 255
MAX_LISTED = 500
_PROTOCOL = re.compile(
    r"[a-z][a-z0-9+.\-]*://|(async|cache|concat|crypto|data|fd|file|hls|pipe|tcp|udp):|subfile,", re.I
)
_REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Workspace:
    """One task folder and its rules."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise UserError(f"{root} is not a folder. Give --workspace the folder that holds the media.")
        self.root = root.resolve()
        if (self.root / PRIVATE).is_symlink():
            raise UserError(f"{root / PRIVATE} is a link, which could lead the server outside. Remove it first.")
        self.task = _load_task(self.root / "task.json")

    # -- paths ---------------------------------------------------------------------------------------------

    def readable(self, path: str) -> Path:
        """The regular file that a caller may read, or a sentence why not."""
        relative = self._inside(path)
        candidate = self.root / relative
        resolved = self._resolve(candidate, path)
        try:
            mode = resolved.stat().st_mode
        except FileNotFoundError:
            raise UserError(self._missing(path, relative)) from None
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror}.") from None
        if stat.S_ISDIR(mode):
            raise UserError(f"{path} is a folder, not a media file. {self._there_is()}")
        if not stat.S_ISREG(mode):
            raise UserError(f"{path} is not a regular file (a device, pipe or socket). {self._there_is()}")
        return resolved

    def writable(self, path: str) -> Path:
        """Where a caller may write: below work/ or outputs/, never through a link, never over a folder."""
        relative = self._inside(path)
        if len(relative.parts) < 2 or relative.parts[0] not in WRITABLE:
            raise UserError(f"{path} cannot be written. Tools write below work/ or outputs/, such as work/edit.mp4.")
        if relative.parts[0] == "outputs" and self.sealed() is not None:
            raise UserError(
                f"{path} cannot be written: submit sealed outputs/. Write to work/, then submit with replace=true."
            )
        candidate = self.root / relative
        if candidate.is_symlink():
            raise UserError(f"{path} is a link; tools do not write through links. Give another name in work/.")
        resolved = self._resolve(candidate, path)
        if resolved.exists() and not resolved.is_file():
            raise UserError(f"{path} exists and is not a regular file. Give another name in work/.")
        return resolved

    def relative(self, path: Path) -> str:
        """The name of a file as callers write it."""
        return path.relative_to(self.root).as_posix()

    def media(self) -> list[Path]:
        """The media files of the folder, materials first, in a stable order."""
        found: list[Path] = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [Path(folder) / name for name in sorted(names) if Path(name).suffix.lower() in MEDIA_SUFFIXES]
            if len(found) >= MAX_LISTED:
                break
        found = [path for path in found if path.is_file() and not path.is_symlink()]
        return sorted(found, key=lambda path: (not self.relative(path).startswith("materials/"), self.relative(path)))

    def _inside(self, path: str) -> PurePosixPath:
        """The path relative to the folder, judged as text alone."""
        _check_text(path)
        text = path
        for prefix in (str(self.root), ALIAS_ROOT):
            if text == prefix or text.startswith(prefix + "/"):
                text = text[len(prefix) :].lstrip("/") or "."
                break
        parts = PurePosixPath(text).parts
        if text.startswith("/"):
            raise UserError(f"{path} lies outside the workspace. Use a path relative to it, such as materials/a.mp4.")
        if ".." in parts:
            raise UserError(f"{path} contains '..', which is not allowed. Use a path relative to the workspace.")
        if parts and parts[0] == "output":
            parts = ("outputs", *parts[1:])
        if parts and parts[0].casefold() == PRIVATE:
            raise UserError(f"{path} is private to the server. Use files below materials/, work/ or outputs/.")
        return PurePosixPath(*parts)

    def _resolve(self, candidate: Path, path: str) -> Path:
        """The real file behind a candidate; links may not leave the folder."""
        try:
            resolved = candidate.resolve()
        except (OSError, RuntimeError):
            raise UserError(f"{path} cannot be resolved (a loop of links?). {self._there_is()}") from None
        if resolved != self.root and not resolved.is_relative_to(self.root):
            raise UserError(f"{path} leads outside the workspace through a link, which is not allowed.")
        if resolved.is_relative_to(self.root / PRIVATE):
            raise UserError(f"{path} is private to the server. Use files below materials/, work/ or outputs/.")
        return resolved

    def _missing(self, path: str, relative: PurePosixPath) -> str:
        names = [self.relative(found) for found in self.media()]
        by_name = {name.rsplit("/", 1)[-1]: name for name in names}
        close = difflib.get_close_matches(str(relative), names, n=1) or [
            by_name[match] for match in difflib.get_close_matches(relative.name, by_name, n=1)
        ]
        hint = f"Did you mean {close[0]}? " if close else ""
        return f"{path} does not exist. {hint}{self._there_is()}"

    def _there_is(self) -> str:
        names = [self.relative(found) for found in self.media()]
        if not names:
            return "There is no media file in the workspace."
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        return f"Media here: {', '.join(names[:12])}{more}."

    # -- writing -------------------------------------------------------------------------------------------

    @contextmanager
    def atomic(self, destination: Path) -> Iterator[Path]:
        """A temporary neighbour that becomes `destination` when the block ends well, and vanishes otherwise."""
        destination.parent.mkdir(parents=True, exist_ok=True)
        part = destination.with_name(f".{secrets.token_hex(6)}.part{destination.suffix}")
        try:
            yield part
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.replace(destination)
        finally:
            part.unlink(missing_ok=True)

    # -- private state -------------------------------------------------------------------------------------

    def private(self, *parts: str) -> Path:
        """A path below .avb/."""
        return self.root.joinpath(PRIVATE, *parts)

    def sealed(self) -> dict[str, str] | None:
        """The digests recorded by a successful submit, by name in outputs/; None before that."""
        try:
            seal: dict[str, str] = json.loads(self.private("seal.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return seal

    def seal(self, digests: dict[str, str]) -> None:
        """Record what was submitted."""
        with self.atomic(self.private("seal.json")) as part:
            part.write_text(json.dumps(digests, indent=2, sort_keys=True), encoding="utf-8")

    def unseal(self) -> None:
        """Open outputs/ again, for a submit that replaces the earlier one."""
        self.private("seal.json").unlink(missing_ok=True)


def _check_text(path: str) -> None:
    """Refuse what no honest path contains, before the disk is touched."""
    shown = path if len(path) <= 80 else path[:77] + "..."
    shown = shown.encode("unicode_escape").decode("ascii") if not shown.isprintable() else shown
    if not path.strip():
        raise UserError("An empty path was given. Use a path relative to the workspace, such as materials/a.mp4.")
    if any(unicodedata.category(mark) in _REFUSED_CATEGORIES or mark in _BIDI_CONTROLS for mark in path):
        raise UserError(f"{shown} contains control characters. Use the name as probe lists it.")
    if len(path) > MAX_PATH_CHARACTERS or any(len(part.encode()) > MAX_NAME_BYTES for part in path.split("/")):
        raise UserError(f"{shown} is too long for a path. Use the name as probe lists it.")
    if _PROTOCOL.match(path) or path.startswith("~") or "\\" in path:
        raise UserError(f"{shown} is not a plain path: no protocols, home folders or backslashes. Use materials/a.mp4.")


def _load_task(path: Path) -> Task | None:
    try:
        return Task.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path.name} is not a valid task: {where}: {first['msg']}.") from None
