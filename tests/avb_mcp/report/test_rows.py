from __future__ import annotations

import pytest

from avb_mcp.experiments.record import Manipulation, Outcome, Phase
from avb_mcp.experiments.usage import load_prices
from avb_mcp.report.rows import rows_of
from avb_mcp.report.tables import as_csv, as_markdown
from harness_configs._base import TokenUsage
from tests.avb_mcp.experiments.making import cell, record

CLAUDE = {"harness": "claude_code", "model": "claude-opus-4-7"}


def test_missing_cells_count_zero_and_are_shown() -> None:
    cells = [cell(f"repair-{number}", repetition=1, **CLAUDE) for number in range(4)]
    records = [record(cells[0], 1.0), record(cells[1], 0.5), record(cells[2], None, outcome=Outcome.INFRA)]

    (row,) = rows_of(cells, records, load_prices())

    assert (row.expected, row.attempted, row.missing, row.infra) == (4, 3, 1, 1)
    assert row.mean == pytest.approx(1.5 / 4)
    assert row.mean_scored == pytest.approx(0.75)


def test_the_error_is_that_of_tasks_not_of_repetitions() -> None:
    cells = [cell(f"repair-{task}", repetition=r, **CLAUDE) for task in (1, 2) for r in (1, 2, 3)]
    records = [record(item, 1.0 if item.task_id == "repair-1" else 0.0) for item in cells]

    (row,) = rows_of(cells, records, load_prices())

    assert row.mean == pytest.approx(0.5)
    assert row.standard_error == pytest.approx(0.5)


def test_an_attempt_that_is_tried_again_is_no_result() -> None:
    one = cell(**CLAUDE)
    records = [record(one, None, final=False, outcome=Outcome.CRASH), record(one, 0.25, attempt=2)]

    (row,) = rows_of([one], records, load_prices())

    assert (row.attempted, row.infra, row.mean) == (1, 0, 0.25)


def test_costs_that_are_not_known_are_flagged_and_not_taken_for_zero() -> None:
    cells = [cell("repair-1", **CLAUDE), cell("repair-2", **CLAUDE)]
    records = [record(cells[0], usage=TokenUsage(output=1_000_000)), record(cells[1], usage=None)]

    (row,) = rows_of(cells, records, load_prices())

    assert (row.cost_usd, row.cost_missing) == (pytest.approx(25.0), 1)


def test_time_and_checks_are_gathered_by_group() -> None:
    cells = [cell("repair-1"), cell("repair-2"), cell("repair-1", arm="typed-only")]
    failed, passed = Manipulation(passed=False, problems=("none called",)), Manipulation(passed=True)
    records = [
        record(
            cells[0], phases=(Phase(name="agent", seconds=2.0), Phase(name="score", seconds=9.0)), manipulation=passed
        ),
        record(cells[1], phases=(Phase(name="agent", seconds=4.0),), manipulation=failed),
    ]

    typed, typed_only = rows_of(cells, records, load_prices())

    assert (typed.arm, typed.time_s, typed.manipulation) == ("typed", 3.0, "1/2")
    assert (typed_only.arm, typed_only.missing, typed_only.mean) == ("typed-only", 1, None)


def test_the_table_is_the_same_in_every_form() -> None:
    cells = [cell("repair-1"), cell("repair-2")]
    rows = rows_of(cells, [record(item, 0.5) for item in cells], load_prices())

    assert "| repair | autopilot |  | typed | 0.500 ± 0.000 | 2 | 0 | 0 | $0.00 | - | - |" in as_markdown(rows)
    header, line = as_csv(rows).splitlines()
    assert dict(zip(header.split(","), line.split(","), strict=True))["mean"] == "0.5"
