"""The ledger: one line per finished attempt, only ever added to.

A line is written in one piece and flushed to the disk before the next cell starts. A line cut off by a crash is
the last one and is passed over; whoever writes next begins a new line first, so that it stays alone.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from avb_mcp.experiments.plan import Cell
from avb_mcp.experiments.record import CellRecord
from primitives._base import UserError

LEDGER_FILE, LOCK_FILE = "ledger.jsonl", ".lock"


@dataclass(frozen=True)
class Standing:
    """What a plan's cells have come to."""

    finished: dict[str, CellRecord]
    """The final record by cell id."""
    attempts: dict[str, int]
    """Finished attempts by cell id."""
    missing: list[Cell]
    """Expected cells without a final record."""


class Ledger:
    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER_FILE

    def append(self, record: CellRecord) -> None:
        """Add a record and see it to the disk."""
        data = record.model_dump_json().encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            _write_all(file, b"\n" + data if torn else data)
            os.fsync(file)
        finally:
            os.close(file)

    def records(self) -> Iterator[CellRecord]:
        """Every whole record, oldest first."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for line in file:
                if line.strip() and line.endswith(b"\n"):
                    try:
                        yield CellRecord.model_validate_json(line)
                    except ValidationError:
                        if not line.rstrip().endswith(b"}"):
                            continue  # torn by a crash, then closed by the next writer
                        raise UserError(f"{self.path} holds a record of another version.") from None

    def standing(self, cells: Iterable[Cell]) -> Standing:
        finished: dict[str, CellRecord] = {}
        attempts: dict[str, int] = {}
        for record in self.records():
            attempts[record.cell_id] = attempts.get(record.cell_id, 0) + 1
            if record.final:
                finished.setdefault(record.cell_id, record)
        return Standing(finished, attempts, [cell for cell in cells if cell.id not in finished])


@contextmanager
def one_runner(folder: Path) -> Iterator[str]:
    """Two runs must not share a folder; the lock goes with its process, however that ends.

    What is given is the run's own name, which stands in the lock for as long as its cells are wanted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"Another run works in {folder}. Wait for it, or use another --out.") from None
        name = secrets.token_hex(8)
        os.truncate(file, 0)
        os.pwrite(file, name.encode(), 0)
        try:
            yield name
        finally:
            os.truncate(file, 0)
    finally:
        os.close(file)


def wanted_by(folder: Path) -> str:
    """The run that the folder's cells are done for; empty when that run wants no more."""
    try:
        return (folder / LOCK_FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return ""


def want_no_more(folder: Path) -> None:
    """Tell whoever works on a cell of this folder, on any machine, to stop."""
    os.truncate(folder / LOCK_FILE, 0)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
