"""The attack table in small: every family, every trick at least once, each with its stated reward."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from avb_mcp.attacks._base import Attack, Bound, Target, at_least, at_most, exactly
from avb_mcp.attacks._footage import Footage, generated_footage, real_footage
from avb_mcp.attacks.registry import ATTACKS, families, targets_of
from avb_mcp.attacks.table import Row, check_attacks, run_attacks
from primitives._base import UserError
from tests.media import SHARED_MEDIA

FILMS = {"repair", "repair_v3", "repurpose"}
MANIFESTS = {"order", "assembly"}
REPORTS = {"repair", "repair_v3"}
EVERYWHERE = FILMS | MANIFESTS
JSON = MANIFESTS | REPORTS

ISSUE: dict[str, set[str]] = {
    "nothing submitted": EVERYWHERE,
    "empty file": EVERYWHERE,
    "verbatim broken": EVERYWHERE,
    "re-encoded broken": FILMS,
    "broken with one changed frame": FILMS,
    "silence": FILMS,
    "black": EVERYWHERE,
    "over-suppressed audio": FILMS,
    "loud copy": FILMS,
    "golden of another task": EVERYWHERE,
    "wrong length": EVERYWHERE,
    "wrong rate or codec": FILMS,
    "all-range claim": JSON,
    "honest ranges, wrong render": JSON,
    "wrong ranges, right render": JSON,
    "NaN JSON": JSON,
    "Infinity JSON": JSON,
    "huge JSON": JSON,
    "duplicate JSON": JSON,
    "deep JSON": JSON,
    "lying manifest": MANIFESTS | {"repair"},
    "symlink to the answer": EVERYWHERE,
    "non-square pixels": FILMS,
    "control, golden": EVERYWHERE,
    "control, other codec": EVERYWHERE,
    "control, one-frame drift": EVERYWHERE,
    "control, other container flavour": EVERYWHERE,
    "control, +20 ms audio": FILMS,
}
"""Every trick and control that the table must hold, and the families to which it applies."""


@pytest.fixture(scope="module")
def footage() -> Footage:
    return generated_footage()


def tricks_of(family: str) -> set[str]:
    return {attack.trick for target in targets_of(family) for attack in target.attacks}


def light(family: str) -> list[Target[Any]]:
    """Each attack of the family once; for repair, one task of each way of scoring."""
    tasks = {
        "repair": {"background_noise", "blur", "shot_swap", "filler_words"},
        "repair_v3": {"v05_noise_floor_spike"},
    }
    chosen = [target for target in targets_of(family) if target.task in tasks.get(family, {target.task})]
    turns: dict[str, list[int]] = {}
    for number, target in enumerate(chosen):
        for attack in target.attacks:
            turns.setdefault(attack.name, []).append(number)
    taker = {name: numbers[turn % len(numbers)] for turn, (name, numbers) in enumerate(turns.items())}
    return [
        replace(target, attacks=tuple(attack for attack in target.attacks if taker[attack.name] == number))
        for number, target in enumerate(chosen)
    ]


@pytest.mark.parametrize("family", families())
def test_every_attack_on_a_family_gets_its_stated_reward(family: str, footage: Footage) -> None:
    rows = list(run_attacks(light(family), footage))
    assert {row.attack.split(":")[0] for row in rows} == tricks_of(family)
    assert [row for row in rows if not row.holds] == []


@pytest.mark.parametrize("trick", sorted(ISSUE))
def test_a_known_trick_is_tried_on_every_family_to_which_it_applies(trick: str) -> None:
    assert {family for family in families() if trick in tricks_of(family)} == ISSUE[trick]


def test_no_attack_is_listed_twice_for_a_task() -> None:
    for target in ATTACKS:
        names = [attack.name for attack in target.attacks]
        assert len(names) == len(set(names)), target.task
    tasks = [(target.family, target.task) for target in ATTACKS]
    assert len(tasks) == len(set(tasks))


def test_the_repair_table_has_a_task_for_each_of_the_ten_defects() -> None:
    assert len(targets_of("repair")) == 10


def test_an_unknown_family_is_a_sentence() -> None:
    with pytest.raises(UserError, match=r"no family 'karaoke' to attack\. Use order, assembly, repair_v3"):
        targets_of("karaoke")


@pytest.mark.parametrize(
    ("bound", "text", "inside", "outside"),
    [
        (exactly(0.0), "0", 0.0, 0.001),
        (exactly(0.625), "0.625", 0.625, 0.62),
        (at_most(0.11), "<= 0.11", 0.11, 0.1101),
        (at_least(0.9), ">= 0.9", 1.0, 0.899),
        (Bound(0.85, 0.95), "0.85 to 0.95", 0.9, 0.96),
    ],
)
def test_a_bound_says_what_it_holds(bound: Bound, text: str, inside: float, outside: float) -> None:
    assert (str(bound), bound.holds(inside), bound.holds(outside), bound.holds(None)) == (text, True, False, False)


def test_a_reward_that_is_not_as_stated_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    order = targets_of("order")[0]
    nothing = order.attacks[0]
    greedy = Attack("a vain hope", at_least(0.5), nothing.hand_in)
    for attacks, code in (((nothing,), 0), ((nothing, greedy), 1)):
        target = replace(order, attacks=attacks)
        monkeypatch.setattr("avb_mcp.attacks.table.targets_of", lambda _family, target=target: (target,))
        assert check_attacks("order", None) == code
    printed = capsys.readouterr().out
    assert "2 rewards, 1 not as stated" in printed
    assert "solution.json was not submitted" in printed


def test_an_error_of_ours_never_holds() -> None:
    assert not Row("order", "a", "b", exactly(0.0), None, ("the reference file is missing",)).holds


def test_a_check_of_nothing_is_a_sentence() -> None:
    run = subprocess.run([sys.executable, "-m", "avb_mcp", "check"], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (
        2,
        "",
        "avb-mcp: Nothing to check. Give a suite's folder, or --attacks.\n",
    )


def test_a_folder_without_films_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="0 films of 6 s with sound and 0 different shots"):
        real_footage(tmp_path)
    with pytest.raises(UserError, match="is not a folder"):
        real_footage(tmp_path / "nowhere")


def test_real_films_give_the_same_rewards() -> None:
    if not (SHARED_MEDIA / "film").is_dir():
        pytest.skip("real media not found: set AVB_TEST_MEDIA to their folder")
    targets = [target for target in ATTACKS if target.task in ("seven clips", "background_noise")]
    kept = ("re-encoded broken", "lying manifest", "control, golden", "control, honest re-encode")
    chosen = [replace(t, attacks=tuple(attack for attack in t.attacks if attack.name in kept)) for t in targets]
    rows = list(run_attacks(chosen, real_footage(SHARED_MEDIA / "film")))
    assert len(rows) == 5
    assert [row for row in rows if not row.holds] == []
