"""The attack table on a suite's own tasks: bounds are worked out from the answers, and hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from avb_mcp.attacks._base import Bound
from avb_mcp.attacks.own import attack_suite, natural, other_film
from avb_mcp.tasks.spec import load_suite
from tests.avb_mcp.tasks.suites import assembly_plan, order_plan, v3_plan, write


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "suite"
    write(folder, assembly_plan(), v3_plan())
    return folder


@pytest.mark.parametrize("number", [0, 1])
def test_every_trick_gets_its_stated_reward(suite: Path, number: int) -> None:
    known = load_suite(suite)
    rows = list(attack_suite(suite, known, [known.tasks[number]], lambda _attack: True))
    assert len(rows) >= 12
    assert [(row.attack, row.expected, row.obtained) for row in rows if not row.holds] == []
    assert any(row.attack == "golden of another task" for row in rows)


def test_tricks_are_tried_under_the_names_that_a_task_asks_for(tmp_path: Path) -> None:
    write(tmp_path / "s", order_plan())
    file = tmp_path / "s" / "answers" / "order-1" / "answer.json"
    file.write_text(file.read_text().replace("solution.json", "order.json").replace("solution.mp4", "joined.mp4"))
    known = load_suite(tmp_path / "s")
    rows = list(attack_suite(tmp_path / "s", known, known.tasks, lambda attack: attack.name == "control, golden"))
    assert [(row.obtained, row.holds) for row in rows] == [(1.0, True)]


def test_the_order_of_the_names_is_worth_what_it_happens_to_be_right(tmp_path: Path) -> None:
    write(tmp_path / "s", order_plan())
    file = tmp_path / "s" / "answers" / "order-1" / "reference.json"
    file.write_text(json.dumps({"correct_order": ["1", "2", "4", "3"]}), encoding="utf-8")
    known = load_suite(tmp_path / "s")
    rows = list(attack_suite(tmp_path / "s", known, known.tasks, lambda attack: attack.name == "verbatim broken"))
    worth = (1 - 2 / 8) * (3 / 4) * (1 / 3)
    assert [(row.expected, row.holds) for row in rows] == [(Bound(worth, worth), True)]


def test_a_film_of_another_task_comes_from_another_source(suite: Path, tmp_path: Path) -> None:
    known = load_suite(suite)
    found = other_film(suite, known, known.tasks[0])
    assert found is not None and "repair-2" in found.parts
    write(tmp_path / "s", order_plan("order-1"), order_plan("order-2", first=4))
    same_source = load_suite(tmp_path / "s")
    assert other_film(tmp_path / "s", same_source, same_source.tasks[0]) is None


def test_clip_ten_stands_after_clip_nine() -> None:
    assert sorted(["10", "9", "1", "b2", "b10"], key=natural) == ["1", "9", "10", "b2", "b10"]
