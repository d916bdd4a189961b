"""Where a suite is made before it appears: a folder beside it, locked, kept when the build is interrupted."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from avb_mcp.tasks.spec import ANSWERS, TASKS
from primitives._base import UserError

REQUEST_FILE, ENTRIES, MAKING, WHOLE = "request.json", "entries", "making", "suite"
INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended."""
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def interrupted(out: Path) -> bool:
    """Whether an earlier build of `out` was left unfinished."""
    return (_staging_folder(out) / REQUEST_FILE).is_file()


def say_interrupted(out: Path) -> int:
    """Tell whoever pressed Ctrl-C what is left; the exit code."""
    kept = "The finished tasks are kept: the same command goes on." if interrupted(out) else "Nothing was written."
    sys.stderr.write(f"Interrupted. {kept}\n")
    return INTERRUPTED


def _staging_folder(out: Path) -> Path:
    return out.resolve().parent / f".{out.resolve().name}.building"


@contextmanager
def staging_for(out: Path, request: str) -> Iterator[Path]:
    folder = _staging_folder(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror}. Give --out another place.") from error
    with _locked(folder, out):
        _begin(folder, request)
        try:
            yield folder
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                raise UserError(
                    f"The disk is full. Free some space and run the same command again: the tasks finished so far "
                    f"are kept in {folder}."
                ) from error
            shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, out: Path) -> Iterator[None]:
    """One build of a suite at a time."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{out} is being built by another process. Wait for it, or use another --out.") from None
        yield
    finally:
        os.close(handle)


def _begin(folder: Path, request: str) -> None:
    """Keep what an interrupted build of the same has finished; clear away everything else."""
    asked = folder / REQUEST_FILE
    if not asked.is_file() or asked.read_text(encoding="utf-8") != request:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in (f"{WHOLE}/{TASKS}", f"{WHOLE}/{ANSWERS}", ENTRIES):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if not asked.is_file():
        write_whole(asked, request)


def write_whole(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
