"""The runner from end to end: every status, from a folder to one verdict, and the anchors behind it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.verifiers.defects import Task, golden_task
from tests.verifiers.repair_clips import generated_clip
from verifiers._files import AnswerError
from verifiers.video_repair.anchors import check_anchors, measure_anchors
from verifiers.video_repair.runner import load_truth, main, verify
from verifiers.video_repair.schema import Anchor, Kind, TimeRange
from verifiers.video_repair.scoring import UnmeasurableDefect


@pytest.fixture(scope="module")
def blurred(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return golden_task(tmp_path_factory.mktemp("blur") / "answers", generated_clip(1), Kind.BLUR)


@pytest.fixture
def answers(blurred: Task, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(blurred.answers, tmp_path / "answers"))


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    folder.mkdir()
    return folder


def test_the_command_prints_the_verdict_and_nothing_else(blurred, outputs, capsys):
    shutil.copy(blurred.answers / "golden.mp4", outputs / "fixed.mp4")
    code = main(["--submission", str(outputs), "--answers", str(blurred.answers)])
    verdict = json.loads(capsys.readouterr().out)
    assert (code, verdict["verifier"], verdict["status"], verdict["score"]) == (
        0,
        "video_repair",
        "scored",
        1.0,
    )
    assert verdict["components"] == {"inside": 1.0, "outside": 1.0}
    assert verdict["details"] == {"kind": "blur", "window": [pytest.approx(1.8), 4.8]}
    assert all(gate["passed"] for gate in verdict["gates"].values())
    for name, anchor in blurred.truth.anchors.items():
        measured = verdict["measurements"][name]
        assert (measured["broken"], measured["golden"]) == (anchor.broken, anchor.golden)


def test_nothing_submitted_is_a_zero_with_its_own_status(blurred, outputs):
    for folder in (outputs, outputs / "absent"):
        verdict = verify(folder, blurred.answers)
        assert (verdict.status, verdict.score, verdict.exit_code) == ("no_submission", 0.0, 0)


def test_files_that_cannot_be_judged_are_invalid_and_0(blurred, outputs):
    target = outputs / "fixed.mp4"

    def status() -> tuple[str, float | None, int]:
        verdict = verify(outputs, blurred.answers)
        target.unlink()
        return verdict.status.value, verdict.score, verdict.exit_code

    target.write_bytes(b"")
    assert status() == ("invalid", 0.0, 0)
    target.write_bytes(b"not a film" * 1000)
    assert status() == ("invalid", 0.0, 0)
    target.write_text("#EXTM3U\n#EXTINF:1,\ngolden.mp4\n", encoding="utf-8")
    assert status() == ("invalid", 0.0, 0)
    target.write_bytes((blurred.answers / "golden.mp4").read_bytes()[:20000])
    assert status() == ("invalid", 0.0, 0)
    target.symlink_to(blurred.answers / "golden.mp4")
    assert status() == ("invalid", 0.0, 0)
    target.hardlink_to(blurred.answers / "golden.mp4")
    assert status() == ("invalid", 0.0, 0)


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda folder: (folder / "truth.json").unlink(), "truth.json"),
        (lambda folder: (folder / "truth.json").write_text("{}", encoding="utf-8"), "truth.json"),
        (lambda folder: (folder / "golden.mp4").unlink(), "missing"),
        (lambda folder: (folder / "golden.mp4").write_bytes(b"x" * 100), "not the one"),
        (lambda folder: (folder / "broken.mp4").write_bytes(b""), "empty"),
    ],
)
def test_trouble_with_the_answer_is_an_error_and_never_a_zero(answers, outputs, blurred, spoil, word, capsys):
    shutil.copy(blurred.answers / "golden.mp4", outputs / "fixed.mp4")
    spoil(answers)
    assert main(["--submission", str(outputs), "--answers", str(answers)]) == 2
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["status"], verdict["score"]) == ("error", None)
    assert word in verdict["reasons"][0]


@pytest.mark.parametrize("kept", [[], ["psnr_db"], ["psnr_db", "ssim", "outside_agreement"]])
def test_a_truth_without_all_its_anchors_is_an_error(answers, outputs, blurred, kept):
    shutil.copy(answers / "golden.mp4", outputs / "fixed.mp4")
    bare = blurred.truth.model_copy(update={"anchors": {name: blurred.truth.anchors[name] for name in kept}})
    (answers / "truth.json").write_text(bare.model_dump_json(), encoding="utf-8")
    verdict = verify(outputs, answers)
    assert verdict.status == "error"
    assert "anchor" in verdict.reasons[0]


def test_a_symlinked_outputs_folder_is_refused(blurred, tmp_path):
    (tmp_path / "outputs_link").symlink_to(blurred.answers)
    verdict = verify(tmp_path / "outputs_link", blurred.answers)
    assert (verdict.status, verdict.score) == ("invalid", 0.0)


def test_stored_anchors_are_found_again_and_wrong_ones_are_named(blurred):
    assert check_anchors(load_truth(blurred.answers), blurred.answers) == []
    wrong = {**blurred.truth.anchors, "psnr_db": Anchor(broken=10.0, golden=45.0)}
    problems = check_anchors(blurred.truth.model_copy(update={"anchors": wrong}), blurred.answers)
    assert [problem[:28] for problem in problems] == [
        "the broken anchor of psnr_db",
        "the golden anchor of psnr_db",
    ]
    missing = {name: anchor for name, anchor in wrong.items() if name != "ssim"}
    assert len(check_anchors(blurred.truth.model_copy(update={"anchors": missing}), blurred.answers)) == 1


def test_a_swapped_answer_file_is_named_by_check(answers, blurred):
    shutil.copy(answers / "golden.mp4", answers / "broken.mp4")
    problems = check_anchors(blurred.truth, answers)
    assert problems[0] == "broken.mp4 is not the file the task was built with"
    assert "tells the broken file from golden" in problems[1]


def test_a_window_of_too_little_sound_cannot_be_a_task_of_sound(blurred):
    short = {"kind": Kind.CLIPPING, "window": TimeRange(start_s=1.0, end_s=2.0)}
    with pytest.raises(UnmeasurableDefect, match=r"1\.5 s are needed"):
        measure_anchors(blurred.truth.model_copy(update=short), blurred.answers)


def test_anchors_of_a_file_that_is_not_there_are_our_trouble(blurred, tmp_path):
    with pytest.raises(AnswerError, match="missing"):
        measure_anchors(blurred.truth, tmp_path)
