from __future__ import annotations

from pathlib import Path

import pytest

from avb_mcp.experiments.ledger import Ledger, one_runner
from avb_mcp.experiments.record import Outcome
from primitives._base import UserError
from tests.avb_mcp.experiments.making import cell, record


def test_what_is_appended_comes_back_in_order(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run")
    records = [record(cell(f"repair-{number}"), number / 10) for number in range(5)]

    for item in records:
        ledger.append(item)

    assert list(ledger.records()) == records


def test_a_line_cut_off_by_a_crash_costs_that_line_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append(record(cell("repair-1")))
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + whole[: len(whole) // 2])

    assert [item.cell.task_id for item in ledger.records()] == ["repair-1"]
    ledger.append(record(cell("repair-2")))
    assert [item.cell.task_id for item in ledger.records()] == ["repair-1", "repair-2"]


def test_a_cell_is_missing_until_its_last_attempt_is_written(tmp_path: Path) -> None:
    ledger, cells = Ledger(tmp_path), [cell("repair-1"), cell("repair-2"), cell("repair-3")]
    ledger.append(record(cells[0], None, final=False, outcome=Outcome.CRASH))
    ledger.append(record(cells[0], 0.5, attempt=2))
    ledger.append(record(cells[1], None, final=False, outcome=Outcome.RATE_LIMIT))

    standing = ledger.standing(cells)

    assert [item.task_id for item in standing.missing] == ["repair-2", "repair-3"]
    assert standing.attempts == {cells[0].id: 2, cells[1].id: 1}
    assert standing.finished[cells[0].id].score == 0.5


def test_an_empty_folder_has_a_ledger_without_records(tmp_path: Path) -> None:
    assert list(Ledger(tmp_path / "nothing").records()) == []


def test_a_record_of_another_version_is_a_sentence(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.path.write_text('{"cell_id": "x"}\n', encoding="utf-8")

    with pytest.raises(UserError, match="another version"):
        list(ledger.records())


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with one_runner(tmp_path), pytest.raises(UserError, match="Another run works in"), one_runner(tmp_path):
        pass
    with one_runner(tmp_path):
        pass
