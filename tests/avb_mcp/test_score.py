"""`avb-mcp score` on task folders: what is judged, what is an error, what the seal says."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from avb_mcp.score import score_workspace
from avb_mcp.tasks.answers import Answer, order_answer, save_answer
from avb_mcp.workspace import Workspace
from primitives._base import UserError
from verifiers._verdict import Status, Verdict
from verifiers.registry import VERIFIERS

CLIPS = ["3", "1", "4", "2"]


def solution(clips: list[str]) -> str:
    return json.dumps({"segments": [{"source": clip} for clip in clips]})


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """The answers of a sequencing task, honesty off."""
    path = tmp_path / "answers"
    path.mkdir()
    save_answer(order_answer("seq-1", honesty=False), path)
    (path / "reference.json").write_text(json.dumps({"correct_order": CLIPS}), encoding="utf-8")
    return path


def hand_in(folder: Path, text: str, where: str = "outputs") -> Path:
    (folder / where).mkdir(exist_ok=True)
    path = folder / where / "solution.json"
    path.write_text(text, encoding="utf-8")
    return path


def avb(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "avb_mcp", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})


def test_the_right_order_scores_one_and_says_which_task_it_was(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS))
    verdict = score_workspace(folder, answers)
    assert (verdict.verifier, verdict.status, verdict.score) == ("video_order", Status.SCORED, 1.0)
    assert verdict.details["task_id"] == "seq-1"
    assert verdict.details["seal"] == {"sealed": False}


def test_the_command_prints_json_on_stdout_a_table_on_stderr_and_writes_the_file(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(["3", "1", "2", "4"]))
    out = folder.parent / "verdicts" / "seq-1.json"
    run = avb("score", folder, "--answers", answers, "--out", out)
    assert run.returncode == 0, run.stderr
    assert run.stdout == out.read_text(encoding="utf-8")
    verdict = Verdict.model_validate_json(run.stdout)
    assert verdict.score == pytest.approx(0.75 * 0.75 / 3)
    assert "video_order: scored, 0.1875" in run.stderr
    assert "adj_score" in run.stderr


def test_nothing_submitted_is_judged_not_an_error(folder: Path, answers: Path) -> None:
    run = avb("score", folder, "--answers", answers)
    verdict = Verdict.model_validate_json(run.stdout)
    assert (run.returncode, verdict.status, verdict.score) == (0, Status.NO_SUBMISSION, 0.0)


def test_a_missing_reference_is_an_error_with_exit_code_2_and_no_score(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS))
    (answers / "reference.json").unlink()
    run = avb("score", folder, "--answers", answers)
    verdict = Verdict.model_validate_json(run.stdout)
    assert (run.returncode, verdict.status, verdict.score) == (2, Status.ERROR, None)
    assert "no score" in run.stderr


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verifier": "video_odor"}, "there is no verifier 'video_odor'"),
        ({"reference": {"reference": "../../etc/passwd"}}, "must be a path inside the answers folder"),
        ({"reference": {"reference": "/etc/passwd"}}, "must be a path inside the answers folder"),
        ({"submission": {"submission": "../work/solution.json"}}, "submission.submission"),
        ({"extra": 1}, "extra"),
        ({"reference": {"truth": "reference.json"}}, "does not fit the verifier video_order"),
        ({"reference": {}}, "does not fit the verifier video_order"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error(
    folder: Path, answers: Path, change: dict[str, object], reason: str
) -> None:
    hand_in(folder, solution(CLIPS))
    value = json.loads((answers / "answer.json").read_text(encoding="utf-8"))
    (answers / "answer.json").write_text(json.dumps(value | change), encoding="utf-8")
    verdict = score_workspace(folder, answers)
    assert (verdict.status, verdict.score) == (Status.ERROR, None)
    assert reason in verdict.reasons[0]


def test_an_answers_folder_without_answer_json_is_an_error(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    verdict = score_workspace(folder, tmp_path / "other")
    assert verdict.status is Status.ERROR
    assert "answer.json" in verdict.reasons[0]


@pytest.mark.parametrize("inside", ["answers", "work/deep/answers", "."])
def test_answers_inside_the_workspace_are_refused(folder: Path, answers: Path, inside: str) -> None:
    place = folder / inside
    place.mkdir(parents=True, exist_ok=True)
    (place / "answer.json").write_bytes((answers / "answer.json").read_bytes())
    with pytest.raises(UserError, match="lies inside the workspace"):
        score_workspace(folder, place)


def test_answers_that_a_link_leads_into_the_workspace_are_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "work" / "answers").mkdir()
    (tmp_path / "link").symlink_to(folder / "work" / "answers")
    with pytest.raises(UserError, match="lies inside the workspace"):
        score_workspace(folder, tmp_path / "link")


def test_the_alias_output_is_scored_when_outputs_is_empty(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS), where="output")
    verdict = score_workspace(folder, answers)
    assert (verdict.score, verdict.details["outputs"]) == (1.0, "output")


def test_an_alias_that_links_to_the_empty_outputs_is_nothing_submitted(folder: Path, answers: Path) -> None:
    (folder / "output").symlink_to("outputs")
    verdict = score_workspace(folder, answers)
    assert (verdict.status, verdict.details["outputs"]) == (Status.NO_SUBMISSION, "outputs")


@pytest.mark.parametrize("name", ["outputs", "output"])
def test_a_file_in_the_place_of_the_folder_scores_nothing(folder: Path, answers: Path, name: str) -> None:
    (folder / "outputs").rmdir()
    (folder / name).write_text("{}", encoding="utf-8")
    verdict = score_workspace(folder, answers)
    assert (verdict.status, verdict.score) == (Status.INVALID, 0.0)


def test_outputs_wins_over_its_alias(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS[::-1]))
    hand_in(folder, solution(CLIPS), where="output")
    assert score_workspace(folder, answers).score == 0.0


def test_an_outputs_folder_that_is_a_link_scores_nothing(folder: Path, answers: Path) -> None:
    (answers / "solution.json").write_text(solution(CLIPS), encoding="utf-8")
    (folder / "outputs").rmdir()
    (folder / "outputs").symlink_to(answers)
    verdict = score_workspace(folder, answers)
    assert (verdict.status, verdict.score) == (Status.INVALID, 0.0)
    assert "symlink" in verdict.reasons[0]


def sealed(folder: Path, digest: str | None = None) -> None:
    path = folder / "outputs" / "solution.json"
    Workspace(folder).seal({"solution.json": digest or hashlib.sha256(path.read_bytes()).hexdigest()})


def test_an_intact_seal_is_recorded(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS))
    sealed(folder)
    facts = score_workspace(folder, answers).details["seal"]
    assert facts == {"sealed": True, "intact": True, "changed": []}


def test_what_was_changed_after_sealing_is_recorded_and_scored_as_it_lies(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS[::-1]))
    sealed(folder)
    hand_in(folder, solution(CLIPS))
    verdict = score_workspace(folder, answers)
    assert verdict.score == 1.0
    assert verdict.details["seal"] == {"sealed": True, "intact": False, "changed": ["solution.json"]}


@pytest.mark.parametrize("seal", ["[1, 2]", "{", '{"a": 1, "a": 2}', "", '{"../task.json": "00", "x": 7}'])
def test_a_forged_seal_never_stops_the_scoring(folder: Path, answers: Path, seal: str) -> None:
    hand_in(folder, solution(CLIPS))
    (folder / ".avb").mkdir()
    (folder / ".avb" / "seal.json").write_text(seal, encoding="utf-8")
    verdict = score_workspace(folder, answers)
    facts = verdict.details["seal"]
    assert verdict.score == 1.0
    assert isinstance(facts, dict) and not facts.get("intact")


def test_scoring_writes_nothing_into_the_workspace(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS))
    before = sorted(folder.rglob("*"))
    score_workspace(folder, answers)
    assert sorted(folder.rglob("*")) == before


def test_answers_of_another_task_are_an_error(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS))
    (folder / "task.json").write_text('{"id": "seq-2", "family": "sequencing"}', encoding="utf-8")
    verdict = score_workspace(folder, answers)
    assert (verdict.status, verdict.reasons) == (
        Status.ERROR,
        ["the workspace is task 'seq-2', but answer.json is for 'seq-1'"],
    )


def test_a_task_json_that_the_agent_broke_does_not_matter(folder: Path, answers: Path) -> None:
    hand_in(folder, solution(CLIPS))
    (folder / "task.json").write_text("{{{", encoding="utf-8")
    assert score_workspace(folder, answers).score == 1.0


@pytest.mark.parametrize("more", [[], ["--answers", "a", "--labels", "l.json"], ["--dataset", "d", "--task-id", "1"]])
def test_half_or_mixed_command_lines_are_one_sentence(folder: Path, more: list[str]) -> None:
    run = avb("score", folder, *more)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("avb-mcp: Give a task folder and --answers, or --dataset")


@pytest.mark.parametrize("verifier", sorted(VERIFIERS))
def test_every_verifier_can_be_named_in_an_answer(verifier: str) -> None:
    assert Answer(task_id="a", verifier=verifier, submission={}).verifier == verifier


def test_an_answer_names_only_plain_files_of_outputs() -> None:
    for name in ("..", "a/b.json", ".hidden", ""):
        with pytest.raises(ValidationError):
            Answer(task_id="a", verifier="video_order", submission={"submission": name})
