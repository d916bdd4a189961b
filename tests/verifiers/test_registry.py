"""The registry is the one list of verifiers, complete and each entry with the same surface."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import verifiers
from verifiers import _cli
from verifiers._files import AnswerError, SubmissionError, SubmissionMissing
from verifiers._verdict import Verdict
from verifiers.registry import VERIFIERS, runner

PROJECT = Path(__file__).resolve().parents[2]


def test_the_imported_package_is_this_projects() -> None:
    assert Path(verifiers.__file__).resolve().is_relative_to(PROJECT)


def test_every_verifier_folder_is_registered_and_nothing_else() -> None:
    folders = {path.parent.name for path in (PROJECT / "verifiers").glob("*/runner.py")}
    assert set(VERIFIERS) == folders


@pytest.mark.parametrize("name", sorted(VERIFIERS))
def test_every_verifier_has_the_common_surface(name: str) -> None:
    module = runner(name)
    assert name == module.NAME
    assert callable(module.verify)
    assert callable(module.main)
    for part in ("schema.py", "scoring.py", "__init__.py"):
        assert (PROJECT / "verifiers" / name / part).is_file()


@pytest.mark.parametrize("name", sorted(VERIFIERS))
def test_a_wrong_command_line_is_an_error_verdict_on_stdout(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert runner(name).main(["--no-such-option"]) == 2
    verdict = Verdict.model_validate_json(capsys.readouterr().out)
    assert (verdict.verifier, verdict.status, verdict.score) == (name, "error", None)


def test_the_registry_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        VERIFIERS["other"] = "elsewhere"  # type: ignore[index]


def test_an_unknown_verifier_is_refused_with_the_known_names() -> None:
    with pytest.raises(KeyError, match="video_order"):
        runner("video_oder")


@pytest.mark.parametrize(
    ("trouble", "code", "status"),
    [
        (SubmissionMissing("nothing there"), 0, "no_submission"),
        (SubmissionError("no list in \udcff.json"), 0, "invalid"),
        (AnswerError("no reference"), 2, "error"),
        (RuntimeError("a bug \ud800"), 2, "error"),
        (RecursionError("too deep"), 2, "error"),
    ],
)
def test_whatever_a_verifier_runs_into_becomes_a_verdict(
    trouble: Exception, code: int, status: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def verify(options: argparse.Namespace) -> Verdict:
        raise trouble

    assert _cli.run("example", _cli.make_parser("example", ""), verify, []) == code
    verdict = Verdict.model_validate_json(capsys.readouterr().out)
    assert verdict.status == status
    assert verdict.score == (None if code else 0.0)
    assert len(verdict.reasons) == 1
