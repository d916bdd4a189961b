"""The command line: one JSON verdict on stdout, whatever is thrown at it."""

from __future__ import annotations

import json

import pytest

from tests.verifiers.repurpose_media import moving, tone, write_film
from verifiers.video_repurpose.grading import fill_placeholders
from verifiers.video_repurpose.judge import Answer, Ruling
from verifiers.video_repurpose.runner import main, verify, verify_items
from verifiers.video_repurpose.schema import parse_rubric

DURATION_OK = {"kind": "ffprobe_duration_range", "params": {"min": 1, "max": 3}}
DURATION_BAD = {"kind": "ffprobe_duration_range", "params": {"min": 50, "max": 70}}


def python_item(item_id, check, **fields):
    return {"id": item_id, "dispatch": "python", **check, **fields}


def llm_item(item_id, **fields):
    return {"id": item_id, "dispatch": "llm", "prompt": f"Is {item_id} there?", **fields}


def compound_item(item_id, *stages, **fields):
    return {"id": item_id, "dispatch": "compound", "stages": list(stages), **fields}


def stage(check, **fields):
    return {"dispatch": "python", **check, **fields}


ASK = {"dispatch": "llm", "prompt": "Given {length}, is the pace right?"}


@pytest.fixture(scope="module")
def final(tmp_path_factory):
    path = tmp_path_factory.mktemp("runner") / "final.mp4"
    return write_film(path, [(2, moving(120))], [tone(2)], audio_codec="aac")


@pytest.fixture
def run(tmp_path, capsys, final):
    """Runs the command on a rubric (and labels) given as values; returns (verdict, exit code)."""

    def run(rubric, labels=None, film=None):
        arguments = ["--final", str(film or final), "--rubric", str(_saved(tmp_path / "rubric.json", rubric))]
        if labels is not None:
            arguments += ["--labels", str(_saved(tmp_path / "labels.json", labels))]
        code = main(arguments)
        return json.loads(capsys.readouterr().out), code

    return run


def _saved(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def outcomes(verdict):
    return {row["id"]: row["outcome"] for row in verdict["details"]["items"]}


def test_a_rubric_of_checks_labels_and_penalties_is_scored_by_the_formula(run):
    rubric = [
        python_item("length", DURATION_OK, pillar=0, weight=2),
        python_item("hour", DURATION_BAD, pillar=0, weight=1),
        llm_item("arc", pillar=2, weight=3),
        llm_item("mix", pillar=3, weight=2),
        llm_item("no-logo", pillar=1, weight=-1),
        python_item("not-short", DURATION_BAD, pillar=0, weight=-2),
    ]
    verdict, code = run(rubric, {"arc": True, "mix": False, "no-logo": True})
    assert (verdict["status"], code) == ("scored", 0)
    assert verdict["score"] == pytest.approx((2 + 3 - 2) / (2 + 1 + 3 + 2))
    assert verdict["components"] == pytest.approx(
        {"format": 2 / 3, "narrative": 1.0, "sound": 0.0, "penalty": 0.25, "graded_share": 1.0}
    )
    assert outcomes(verdict) == {
        "length": "passed",
        "hour": "failed",
        "arc": "passed",
        "mix": "failed",
        "no-logo": "passed",
        "not-short": "failed",
    }
    assert verdict["measurements"]["length"]["value"] == pytest.approx(2.0, abs=0.05)


def test_without_a_judge_the_graded_part_is_scored_and_the_ungraded_weight_is_shown(run):
    rubric = [
        python_item("length", DURATION_OK),
        python_item("hour", DURATION_BAD),
        llm_item("arc", weight=2),
    ]
    verdict, code = run(rubric)
    assert (verdict["status"], verdict["score"], code) == ("scored", 0.5, 0)
    assert verdict["details"]["weights"]["positive_graded"] == 2
    assert verdict["details"]["weights"]["positive_ungraded"] == 2
    assert verdict["details"]["weights"]["positive_total"] == 4
    assert verdict["details"]["score_if_ungraded_fail"] == 0.25
    assert verdict["details"]["score_if_ungraded_pass"] == 0.75
    assert outcomes(verdict)["arc"] == "ungraded"
    assert any("arc ungraded: judge: no judge was given" in reason for reason in verdict["reasons"])


def test_when_nothing_could_be_graded_the_verdict_is_ungraded_without_a_score(run):
    verdict, code = run([llm_item("arc"), python_item("odd", {"kind": "vibe_check", "params": {}})])
    assert (verdict["status"], verdict["score"], code) == ("ungraded", None, 0)


def test_a_label_of_null_and_a_missing_label_stay_ungraded(run):
    verdict, _ = run([llm_item("a"), llm_item("b"), llm_item("c")], {"a": True, "b": None})
    assert outcomes(verdict) == {"a": "passed", "b": "ungraded", "c": "ungraded"}
    assert verdict["score"] == 1.0


def test_labels_do_not_overrule_what_is_measured(run):
    verdict, _ = run([python_item("hour", DURATION_BAD)], {"hour": True})
    assert outcomes(verdict) == {"hour": "failed"}


def test_labels_for_items_that_the_rubric_lacks_are_mentioned(run):
    verdict, _ = run([llm_item("a")], {"a": True, "z": True})
    assert "the labels name items that the rubric lacks: z" in verdict["reasons"]


@pytest.mark.parametrize(
    "check",
    [
        {"kind": "vibe_check", "params": {}},
        {"kind": "ffprobe_duration_range", "params": {"min": 1}},
        {"kind": "ffprobe_duration_range", "params": {"min": "soon", "max": 3}},
    ],
)
def test_a_check_that_cannot_run_is_ungraded_with_its_reason_not_failed(run, check):
    verdict, code = run([python_item("length", DURATION_OK), python_item("odd", check)])
    assert (verdict["score"], code) == (1.0, 0)
    assert outcomes(verdict)["odd"] == "ungraded"
    assert any(reason.startswith("odd ungraded: ") for reason in verdict["reasons"])


def test_surplus_params_are_ignored_and_named(run):
    check = {"kind": "ffprobe_duration_range", "params": {"min": 1, "max": 3, "tolerance": 9, "eq": None}}
    verdict, _ = run([python_item("length", check)])
    assert verdict["details"]["items"][0]["evidence"].endswith("(params ignored: tolerance)")


def test_a_compound_item_is_decided_by_its_question_once_its_checks_pass(run):
    rubric = [compound_item("pace", stage(DURATION_OK, save_as="length"), ASK)]
    assert outcomes(run(rubric, {"pace": True})[0]) == {"pace": "passed"}
    assert outcomes(run(rubric, {"pace": False})[0]) == {"pace": "failed"}
    assert outcomes(run(rubric)[0]) == {"pace": "ungraded"}


def test_a_failing_stage_fails_a_compound_item_even_without_a_judge_or_against_its_label(run):
    rubric = [compound_item("pace", stage(DURATION_BAD, save_as="length"), ASK)]
    assert outcomes(run(rubric)[0]) == {"pace": "failed"}
    assert outcomes(run(rubric, {"pace": True})[0]) == {"pace": "failed"}


def test_a_stage_that_cannot_run_leaves_a_compound_item_ungraded(run):
    rubric = [compound_item("pace", stage({"kind": "vibe_check"}, save_as="length"), ASK), llm_item("b")]
    assert outcomes(run(rubric, {"pace": True, "b": True})[0])["pace"] == "ungraded"


def test_a_compound_item_of_checks_alone_passes_with_them(run):
    assert outcomes(run([compound_item("pair", stage(DURATION_OK), stage(DURATION_OK))])[0]) == {"pair": "passed"}


class Recorder:
    """A judge that says yes and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def ask(self, item, prompt, evidence):
        self.asked.append((item.id, prompt, evidence))
        return Ruling(Answer.YES, "recorded")


def test_a_judge_sees_the_prompt_with_the_evidence_filled_in_and_the_film(final, tmp_path):
    judge = Recorder()
    rubric = [llm_item("arc"), compound_item("pace", stage(DURATION_OK, save_as="length"), ASK)]
    verdict = verify(final, _saved(tmp_path / "r.json", rubric), judge=judge)
    assert verdict.score == 1.0
    (first, plain, _), (second, filled, evidence) = judge.asked
    assert (first, plain, second) == ("arc", "Is arc there?", "pace")
    assert filled == "Given duration 2.000 s, allowed [1, 3], is the pace right?"
    assert (evidence.final, len(evidence.measured)) == (final, 1)


def test_a_rubric_at_hand_scores_as_the_same_rubric_in_a_file(final, tmp_path):
    rubric = [python_item("length", DURATION_OK), python_item("hour", DURATION_BAD), llm_item("arc")]
    in_file = verify(final, _saved(tmp_path / "r.json", rubric), judge=Recorder())
    assert verify_items(final, parse_rubric(rubric), Recorder()) == in_file
    assert in_file.score == pytest.approx(2 / 3)


def test_labels_and_a_judge_together_are_refused(final, tmp_path):
    rubric = _saved(tmp_path / "r.json", [llm_item("arc")])
    verdict = verify(final, rubric, _saved(tmp_path / "l.json", {"arc": True}), judge=Recorder())
    assert (verdict.status, verdict.score) == ("error", None)


def test_placeholders_that_nobody_saved_and_other_braces_stay_as_they_are():
    filled = fill_placeholders('{a} {b} {} {"json": 1} {0} {a.__class__}', {"a": "A {b}"})
    assert filled == 'A {b} {b} {} {"json": 1} {0} {a.__class__}'


def test_items_that_share_an_id_are_both_graded_and_mentioned(run):
    verdict, _ = run([python_item("x", DURATION_OK), python_item("x", DURATION_BAD)])
    assert verdict["score"] == 0.5
    assert "several items share the id x" in verdict["reasons"]


def test_no_file_is_no_submission_and_scores_zero(run, tmp_path):
    verdict, code = run([llm_item("a")], {"a": True}, film=tmp_path / "absent.mp4")
    assert (verdict["status"], verdict["score"], code) == ("no_submission", 0.0, 0)


@pytest.mark.parametrize(
    "content",
    [b"", b"not a film", b"\0" * 4096, b"#EXTM3U\n/etc/passwd\n", b"ffconcat version 1.0\nfile x.mp4\n"],
)
def test_a_file_that_is_no_film_is_judged_invalid_and_scores_zero_whatever_the_labels_say(run, tmp_path, content):
    film = tmp_path / "final.mp4"
    film.write_bytes(content)
    verdict, code = run([llm_item("a")], {"a": True}, film=film)
    assert (verdict["status"], verdict["score"], code) == ("invalid", 0.0, 0)
    assert verdict["reasons"]


def test_half_a_film_is_judged_invalid(run, tmp_path, final):
    film = tmp_path / "final.mp4"
    film.write_bytes(final.read_bytes()[: final.stat().st_size // 2])
    verdict, code = run([llm_item("a")], {"a": True}, film=film)
    assert (verdict["status"], verdict["score"], code) == ("invalid", 0.0, 0)


def test_a_symlink_to_a_film_scores_nothing(run, tmp_path, final):
    link = tmp_path / "link.mp4"
    link.symlink_to(final)
    verdict, code = run([python_item("length", DURATION_OK)], film=link)
    assert (verdict["status"], verdict["score"], code) == ("invalid", 0.0, 0)


def test_a_folder_in_place_of_the_film_scores_nothing(run, tmp_path):
    verdict, code = run([llm_item("a")], {"a": True}, film=tmp_path)
    assert (verdict["status"], verdict["score"], code) == ("invalid", 0.0, 0)


@pytest.mark.parametrize(
    "rubric",
    ["", "[", "{}", "[]", "[1]", "NaN", '[{"id": "a", "dispatch": "llm", "weight": NaN}]', "[" * 100_000,
     '[{"id": "a", "dispatch": "llm", "weight": 1e999}]', '[{"id": "a", "id": "b", "dispatch": "llm"}]',
     '[{"id": "a", "dispatch": "llm", "weight": -1}]', '[{"id": "a", "dispatch": "llm", "weight": 0}]'],
)  # fmt: skip
def test_a_rubric_that_cannot_be_used_is_an_error_of_ours_with_no_score(run, rubric):
    verdict, code = run(rubric)
    assert (verdict["status"], verdict["score"], code) == ("error", None, 2)
    assert verdict["reasons"]


@pytest.mark.parametrize("labels", ["[]", "{", '{"a": "yes"}'])
def test_labels_that_cannot_be_used_are_an_error_of_ours(run, labels):
    verdict, code = run([llm_item("a")], labels)
    assert (verdict["status"], code) == ("error", 2)


def test_a_missing_rubric_and_a_wrong_command_line_are_errors_of_ours(final, tmp_path, capsys):
    assert main(["--final", str(final), "--rubric", str(tmp_path / "absent.json")]) == 2
    assert main(["--final", str(final)]) == 2
    decoder = json.JSONDecoder()
    out = capsys.readouterr().out
    first, end = decoder.raw_decode(out)
    second, _ = decoder.raw_decode(out[end:].strip())
    assert [first["status"], second["status"]] == ["error", "error"]


def test_the_same_film_and_rubric_give_the_same_verdict(run):
    rubric = [
        python_item("shots", {"kind": "scenedetect_max_shot_duration", "params": {"max_seconds": 5}}),
        python_item("lufs", {"kind": "ffmpeg_loudness_lufs_range", "params": {"min": -30}}),
    ]
    assert run(rubric) == run(rubric)
