"""Files that a call writes: all of them or none, and a sentence when the disk has no room."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from primitives._base import Call, UserError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})


@contextmanager
def room_needed(name: str) -> Iterator[None]:
    """A full disk as a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise UserError(f"{name} could not be written: no room left on the disk. Free some space.") from None
        raise


@contextmanager
def all_or_nothing(*outputs: Path) -> Iterator[None]:
    """What is done with files that are already in place; when it does not come to its end, they go again."""
    try:
        yield
    except BaseException:
        for output in outputs:
            output.unlink(missing_ok=True)
        raise


def write_text(call: Call, destination: Path, text: str) -> None:
    """A small text file, whole or not at all."""
    with room_needed(call.workspace.relative(destination)), call.workspace.atomic(destination) as part:
        part.write_text(text, encoding="utf-8")
