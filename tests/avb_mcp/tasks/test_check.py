"""The four gates: a sound suite passes all of them, and every fault is found by its own gate in words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from avb_mcp.attacks.own import attack_suite, shown_in_half
from avb_mcp.tasks.check._base import GateName
from avb_mcp.tasks.check.approvals import approve, load_approvals, reseal
from avb_mcp.tasks.check.leaks import Ranked, telling_features
from avb_mcp.tasks.check.review import not_atomic
from avb_mcp.tasks.check.run import Checked, as_json, check_suite, gates_named
from avb_mcp.tasks.spec import load_suite
from primitives._base import UserError
from tests.avb_mcp.tasks.suites import order_plan, repair_plan, write

ORDER, REPAIR = "order-1", "repair-1"


@pytest.fixture(scope="module")
def sound_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One sequencing and one repair task, approved by two people."""
    folder = tmp_path_factory.mktemp("sound") / "suite"
    write(folder, order_plan(), repair_plan())
    for name in ("Ada", "Grace"):
        approve(folder, name, [])
    return folder


@pytest.fixture
def suite(tmp_path: Path, sound_suite: Path) -> Path:
    """A copy to do harm to."""
    return Path(shutil.copytree(sound_suite, tmp_path / "suite"))


def said(checked: Checked, gate: GateName, task: str = ORDER) -> str:
    return " | ".join(finding.sentence for finding in checked.of(task, gate) if finding.fails)


def test_a_sound_suite_passes_the_four_gates(sound_suite: Path) -> None:
    checked = check_suite(sound_suite, gates_named([]))
    assert [finding.sentence for finding in checked.findings if finding.fails] == []
    assert checked.passed
    assert json.loads(as_json(checked))["tasks"][0]["gates"]["verifier"] == {"passed": True, "reasons": [], "notes": []}


def test_the_tricks_of_the_attack_table_hold_on_a_suites_own_order(sound_suite: Path) -> None:
    known = load_suite(sound_suite)
    rows = list(attack_suite(sound_suite, known, known.tasks[:1], lambda _attack: True))
    assert len(rows) >= 25
    assert [(row.attack, row.obtained, row.reasons) for row in rows if not row.holds] == []


def edit_task(change: Callable[[dict[str, object]], object]) -> Callable[[Path], object]:
    def edit(folder: Path) -> None:
        file = folder / "tasks" / ORDER / "task.json"
        task = json.loads(file.read_text(encoding="utf-8"))
        change(task)
        file.write_text(json.dumps(task), encoding="utf-8")

    return edit


def edit_brief(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "tasks" / ORDER / "brief.md").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (edit_brief("Do it."), "brief.md is missing, unreadable or shorter"),
        (edit_brief("Put the clips in order and write everything down in solution.json."), "solution.mp4"),
        (edit_task(lambda task: task.update(family="cooking")), "family"),
        (edit_task(lambda task: task.update(id="other")), "is for other"),
        (edit_task(lambda task: task.update(limits={"time_s": 3, "turns": 1})), "3 s are too little time"),
        (edit_task(lambda task: task.update(deliverables=[])), "no deliverable"),
        (edit_task(lambda task: task["deliverables"][0].update(clips=["9"])), "clip 9"),  # type: ignore[index]
        (
            edit_task(lambda task: task["deliverables"][1].update(spec={"like": "materials/x.mp4"})),  # type: ignore[index]
            "materials/x.mp4",
        ),
        (edit_task(lambda task: task["deliverables"].pop()), "solution.mp4 is scored but not asked for"),  # type: ignore[attr-defined]
    ],
)
def test_the_authoring_gate_names_the_fault(suite: Path, harm: Callable[[Path], object], words: str) -> None:
    harm(suite)
    checked = check_suite(suite, [GateName.AUTHORING])
    assert words in said(checked, GateName.AUTHORING)
    assert checked.passes(REPAIR, GateName.AUTHORING)


def test_a_brief_that_names_the_defect_fails_the_authoring_gate(suite: Path) -> None:
    text = "There is a colour shift in broken.mp4. Hand in fixed.mp4 and report.md."
    (suite / "tasks" / REPAIR / "brief.md").write_text(text, encoding="utf-8")
    checked = check_suite(suite, [GateName.AUTHORING])
    assert "names the defect: colour_shift" in said(checked, GateName.AUTHORING, REPAIR)


def _clip(folder: Path, name: str = "1.mp4", place: str = "tasks") -> Path:
    inside = "materials/clips" if place == "tasks" else "clips"
    return folder / place / ORDER / inside / name


def _hard_link(folder: Path) -> None:
    _clip(folder).unlink()
    _clip(folder).hardlink_to(_clip(folder, place="answers"))


def _hard_link_to_another_task(folder: Path) -> None:
    _clip(folder).unlink()
    _clip(folder).hardlink_to(folder / "answers" / REPAIR / "golden.mp4")


def _soft_link(folder: Path) -> None:
    _clip(folder).unlink()
    _clip(folder).symlink_to(_clip(folder, place="answers"))


def _with_title(folder: Path) -> None:
    clip = _clip(folder)
    titled = clip.with_name("titled.mp4")
    with av.open(str(clip)) as reader, av.open(str(titled), "w") as writer:
        writer.metadata["title"] = "clip three of the film"
        stream = writer.add_stream_from_template(reader.streams.video[0])
        for packet in reader.demux(reader.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                writer.mux(packet)
    titled.replace(clip)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda folder: _clip(folder).unlink(), "is listed but not there"),
        (lambda folder: _clip(folder).with_name("9.mp4").write_bytes(b"x"), "is there but not listed"),
        (lambda folder: _clip(folder).write_bytes(b"x"), "is not the file that suite.json lists"),
        (lambda folder: _clip(folder).write_bytes(b"x"), "1.mp4 cannot be read as media"),
        (
            lambda folder: _clip(folder).write_bytes(_clip(folder, "2.mp4").read_bytes()[:2000]),
            "is not the file that task.json lists",
        ),
        (_hard_link, "the same file on disk as answers/order-1/clips/1.mp4"),
        (_hard_link_to_another_task, "the same file on disk as answers/repair-1/golden.mp4"),
        (_soft_link, "is a link"),
        (_with_title, "carries the tag title="),
        (
            lambda folder: shutil.copy(folder / "answers" / ORDER / "reference.json", _clip(folder).parent / "notes"),
            "is a copy of the answers' reference.json",
        ),
        (lambda folder: (folder / "tasks" / ORDER / "outputs").mkdir(), "the workspace holds outputs"),
    ],
)
def test_the_asset_gate_names_the_fault(suite: Path, harm: Callable[[Path], object], words: str) -> None:
    harm(suite)
    assert words in said(check_suite(suite, [GateName.ASSET], [ORDER]), GateName.ASSET)


def test_a_source_without_licence_or_provenance_and_a_stray_folder_fail_the_asset_gate(suite: Path) -> None:
    text = (suite / "suite.json").read_text(encoding="utf-8").replace('"CC0"', '""').replace('"drawn"', '""')
    (suite / "suite.json").write_text(text, encoding="utf-8")
    (suite / "tasks" / "stray").mkdir()
    checked = check_suite(suite, [GateName.ASSET], [ORDER])
    assert said(checked, GateName.ASSET) == "the source a.mp4 has no licence | the source a.mp4 has no provenance"
    assert said(checked, GateName.ASSET, "") == "tasks/stray is not listed in suite.json"


def test_too_few_tasks_to_tell_a_leak_is_a_note(sound_suite: Path) -> None:
    checked = check_suite(sound_suite, [GateName.ASSET])
    assert [finding.sentence for finding in checked.of("", GateName.ASSET)] == [
        "1 tasks are too few to tell whether names, sizes or lengths go with the true order; 5 are needed"
    ]


# ---- what the files tell together


def _tasks(feature: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> list[Ranked]:  # type: ignore[type-arg]
    rng = np.random.default_rng(3)
    truth = np.arange(8.0)
    return [Ranked({"size": feature(truth, rng), "name": rng.permutation(8.0 * truth)}, truth) for _ in range(8)]


def test_sizes_that_grow_with_the_order_are_told_and_the_names_are_not() -> None:
    found = telling_features(_tasks(lambda truth, rng: truth + rng.normal(0, 3.0, 8)))
    assert list(found) == ["size"]
    assert found["size"] < 0.005


def test_sizes_by_chance_or_all_equal_tell_nothing() -> None:
    assert telling_features(_tasks(lambda truth, rng: rng.normal(0, 1, 8))) == {}
    assert telling_features(_tasks(lambda truth, _rng: np.ones(8))) == {}


# ---- review


def test_a_task_needs_two_people_and_one_person_twice_is_one(tmp_path: Path) -> None:
    write(tmp_path / "s", order_plan())
    assert "0 of 2 approvals" in said(check_suite(tmp_path / "s", [GateName.REVIEW]), GateName.REVIEW)
    assert approve(tmp_path / "s", "Ada", []) == [ORDER]
    assert approve(tmp_path / "s", " ada ", []) == []
    assert "1 of 2 approvals (by Ada)" in said(check_suite(tmp_path / "s", [GateName.REVIEW]), GateName.REVIEW)
    approve(tmp_path / "s", "Grace", [ORDER], note="looked at every clip")
    assert check_suite(tmp_path / "s", [GateName.REVIEW]).passed


def test_a_changed_task_loses_its_approvals_until_it_is_resealed_and_approved_again(suite: Path) -> None:
    brief = suite / "tasks" / ORDER / "brief.md"
    brief.write_text(brief.read_text(encoding="utf-8") + "\nA river story.\n", encoding="utf-8")
    changed = said(check_suite(suite, [GateName.REVIEW]), GateName.REVIEW)
    assert "0 of 2 approvals; changed since Ada, Grace approved it" in changed
    with pytest.raises(UserError, match=r"order-1 is not what suite.json lists"):
        approve(suite, "Ada", [])
    assert reseal(suite, []) == [ORDER]
    assert check_suite(suite, [GateName.ASSET, GateName.AUTHORING]).passed
    for name in ("Ada", "Grace"):
        approve(suite, name, [ORDER])
    assert check_suite(suite, [GateName.REVIEW]).passed
    assert load_approvals(suite).names(REPAIR, load_suite(suite).tasks[1].digest) == ["Ada", "Grace"]


def test_resealing_lists_new_materials_and_refuses_links(suite: Path) -> None:
    _clip(suite).write_bytes(_clip(suite, "2.mp4").read_bytes())
    assert reseal(suite, []) == [ORDER]
    assert check_suite(suite, [GateName.ASSET]).passed
    _soft_link(suite)
    with pytest.raises(UserError, match="holds links"):
        reseal(suite, [])


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("Does the film open on the river?", ""),
        ("Look at the first shot. Is it upright?", ""),
        ("It tells the story.", ""),
        ("Is it upright? Is it short?", "asks 2 questions at once"),
        ("How good is the pacing?", "is no question to answer with yes or no"),
    ],
)
def test_a_judge_is_asked_one_yes_or_no_question(question: str, fault: str) -> None:
    assert not_atomic(question) == fault


# ---- verifier


def test_a_task_without_answers_fails_the_verifier_gate_and_says_so(suite: Path) -> None:
    (suite / "answers" / ORDER / "answer.json").unlink()
    checked = check_suite(suite, [GateName.VERIFIER], [ORDER])
    assert said(checked, GateName.VERIFIER) == "there are no answers, so nothing can be scored"


def test_answers_that_do_not_fit_the_materials_fail_the_verifier_gate(suite: Path) -> None:
    one, two = _clip(suite, "1.mp4", "answers"), _clip(suite, "2.mp4", "answers")
    one.write_bytes(two.read_bytes())
    assert "the oracle scores" in said(check_suite(suite, [GateName.VERIFIER], [ORDER]), GateName.VERIFIER)


def test_a_clip_that_is_missing_or_damaged_is_a_sentence_of_the_verifier_gate(suite: Path) -> None:
    _clip(suite, place="answers").write_bytes(b"x")
    assert "does not decode" in said(check_suite(suite, [GateName.VERIFIER], [ORDER]), GateName.VERIFIER)
    _clip(suite).unlink()
    assert "cannot hand in" in said(check_suite(suite, [GateName.VERIFIER], [ORDER]), GateName.VERIFIER)
    run = avb("check", suite, "--attacks")
    assert (run.returncode, "A task cannot be attacked: the films of order-1" in run.stderr) == (2, True), run.stderr


def test_anchors_that_are_not_what_the_files_measure_fail_the_verifier_gate(suite: Path) -> None:
    file = suite / "answers" / REPAIR / "truth.json"
    truth = json.loads(file.read_text(encoding="utf-8"))
    truth["anchors"]["psnr_db"]["broken"] -= 5.0
    file.write_text(json.dumps(truth), encoding="utf-8")
    found = said(check_suite(suite, [GateName.VERIFIER], [REPAIR]), GateName.VERIFIER, REPAIR)
    assert "the broken anchor of psnr_db is stored as" in found
    assert "verbatim broken" not in found, "copies of the broken film are refused whatever the anchors say"


def test_half_of_a_render_shows_the_slots_whose_last_look_lies_in_it() -> None:
    assert shown_in_half([1.0, 1.0, 1.0, 1.0]) == (2, 2)
    assert shown_in_half([1.0, 2.0, 1.0]) == (1, 1)
    assert shown_in_half([1.0, 1.0, 1.0, 0.4]) == (1, 2), "too near to tell"


# ---- the command


def avb(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "avb_mcp", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})


def test_the_command_prints_a_table_with_reasons_and_fails(suite: Path) -> None:
    _clip(suite).unlink()
    run = avb("check", suite, "--gate", "authoring", "--gate", "asset")
    assert run.returncode == 1
    assert "task      authoring  asset" in run.stdout
    assert "FAIL  order-1, asset: tasks/order-1/materials/clips/1.mp4 is listed but not there" in run.stdout
    assert "1 of 2 tasks pass the gates authoring, asset." in run.stdout


def test_the_command_answers_in_json_for_programs(suite: Path) -> None:
    run = avb("check", suite, "--gate", "review", "--json", "--task", REPAIR)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert (answer["passed"], [task["id"] for task in answer["tasks"]]) == (True, [REPAIR])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--gate", "taste"), "There is no gate 'taste'. Use authoring, asset, review, verifier."),
        (("--task", "x"), "has no task x. Its tasks are order-1, repair-1."),
        (("--family", "order"), "--family and --media are for the verifiers alone."),
    ],
)
def test_a_mistake_in_the_words_is_a_sentence(sound_suite: Path, words: tuple[str, ...], sentence: str) -> None:
    run = avb("check", sound_suite, *words)
    assert (run.returncode, sentence in run.stderr) == (2, True), run.stderr


def test_approving_by_the_command_says_how_many(suite: Path) -> None:
    assert "Linus approves 2 tasks" in avb("approve", suite, "--by", "Linus").stdout
    assert avb("approve", suite, "--by", " ").returncode == 2
