"""Assembly: the contract's check values, properties, wrong submissions; and the honesty of the render."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifiers.clips import drifting_pictures, write_clip
from verifiers._verdict import Verdict
from verifiers.video_assembly.runner import main, verify
from verifiers.video_assembly.scoring import COMPONENTS, AssemblyScore, score_assembly
from verifiers.video_order.runner import verify as verify_order

FPS = 24
CLIP_FRAMES = 24


def score(right: int, slots: int, candidates: int = 3) -> AssemblyScore:
    return AssemblyScore((True,) * right + (False,) * (slots - right), candidates)


def judge(tmp_path: Path, rows: object, truth: object = ("1", "2", "3")) -> Verdict:
    (tmp_path / "solution.json").write_text(json.dumps({"segments": rows}))
    (tmp_path / "reference.json").write_text(json.dumps({"correct_assembly_in_slot_order": truth}))
    return verify(tmp_path / "solution.json", tmp_path / "reference.json")


@pytest.mark.parametrize(
    ("right", "slots", "expected"),
    [(2, 4, 0.25), (2, 3, 0.5), (3, 4, 0.625), (4, 4, 1.0), (1, 3, 0.0), (1, 4, 0.0), (0, 6, 0.0)],
)
def test_the_contracts_check_values(right: int, slots: int, expected: float) -> None:
    assert score(right, slots).headline == pytest.approx(expected)


def test_the_unfloored_value_goes_below_0() -> None:
    assert score(0, 4).unfloored == pytest.approx(-0.5)
    assert score(1, 4).unfloored == pytest.approx(-0.125)


@given(st.integers(1, 12), st.integers(2, 6), st.data())
def test_more_right_slots_never_earn_less_and_all_earn_1(slots: int, candidates: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, slots))
    result = score(right, slots, candidates)
    assert 0.0 <= result.headline <= 1.0
    assert (result.headline == pytest.approx(1.0)) == (right == slots)
    if right:
        assert result.unfloored > score(right - 1, slots, candidates).unfloored


@given(st.permutations(range(5)))
def test_the_same_mistakes_cost_the_same_in_any_slot(order: list[int]) -> None:
    picks, right = ["1", "2", "9", "9", "5"], ["1", "2", "3", "4", "5"]
    shuffled = [[row[i] for i in order] for row in (picks, right)]
    result = score_assembly(*shuffled, candidates_per_slot=3, honest=[True] * 5)
    assert result.accuracy == pytest.approx(0.6)


def test_picks_by_number_string_and_file_name_are_the_same(tmp_path: Path) -> None:
    verdict = judge(tmp_path, [{"source": 1}, {"source": "2"}, {"source": "3.mp4"}], ["1.mp4", 2, "3"])
    assert (verdict.status, verdict.score) == ("scored", 1.0)
    assert verdict.components == {"accuracy": 1.0, "unfloored": 1.0, "strict_match": 1.0}
    assert verdict.details["chance"] == {
        "own_candidates": pytest.approx(0.148, abs=0.0005),
        "whole_pool": pytest.approx(0.018, abs=0.0005),
    }


def test_a_clip_may_be_right_in_two_slots(tmp_path: Path) -> None:
    assert judge(tmp_path, [{"source": 1}, {"source": 1}], [1, 1]).score == 1.0


@pytest.mark.parametrize("rows", [[], [{"source": 1}], [{"source": 1}] * 4, None, [1, 2, 3], [{}] * 3])
def test_wrong_counts_and_shapes_score_0_with_the_reason(tmp_path: Path, rows: object) -> None:
    verdict = judge(tmp_path, rows)
    assert (verdict.status, verdict.score) == ("invalid", 0.0)
    assert verdict.components == dict.fromkeys(COMPONENTS, 0.0)
    assert len(verdict.reasons) == 1
    assert "chance" in verdict.details


@pytest.mark.parametrize("text", ["{", "NaN", '{"segments": [{"source": Infinity}]}', "[" * 5000])
def test_malformed_json_is_judged_and_never_raises(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "solution.json").write_text(text)
    (tmp_path / "reference.json").write_text('{"correct_assembly_in_slot_order": [1]}')
    code = main(["--submission", f"{tmp_path}/solution.json", "--reference", f"{tmp_path}/reference.json"])
    verdict = Verdict.model_validate_json(capsys.readouterr().out)
    assert (code, verdict.status, verdict.score) == (0, "invalid", 0.0)


@pytest.mark.parametrize("reference", [{}, {"correct_assembly_in_slot_order": [1], "candidates_per_slot": 1}])
def test_a_broken_reference_is_an_error(tmp_path: Path, reference: object) -> None:
    (tmp_path / "solution.json").write_text('{"segments": []}')
    (tmp_path / "reference.json").write_text(json.dumps(reference))
    verdict = verify(tmp_path / "solution.json", tmp_path / "reference.json")
    assert (verdict.status, verdict.exit_code) == ("error", 2)


# ---- honesty


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips 1, 2, 3 of one second and a render that shows 1, 2, 3 (coarser than the clips)."""
    folder = tmp_path_factory.mktemp("task")
    (folder / "clips").mkdir()
    shots = {name: drifting_pictures(CLIP_FRAMES, seed=name) for name in (1, 2, 3)}
    for name, pictures in shots.items():
        write_clip(folder / "clips" / f"{name}.mp4", pictures, fps=FPS)
    write_clip(folder / "solution.mp4", shots[1] + shots[2] + shots[3], fps=FPS, crf=20)
    drifted = [shots[1][0], *shots[1], *shots[2], *shots[3]][: 3 * CLIP_FRAMES]
    write_clip(folder / "drifted.mp4", drifted, fps=FPS, crf=20)
    (folder / "order.json").write_text('{"correct_order": [1, 2, 3]}')
    (folder / "assembly.json").write_text('{"correct_assembly_in_slot_order": [1, 2, 3]}')
    return folder


def manifest(*sources: int) -> list[dict[str, object]]:
    return [
        {"source": source, "source_range": [0.0, 1.0], "output": [float(slot), slot + 1.0]}
        for slot, source in enumerate(sources)
    ]


def submit(task: Path, tmp_path: Path, rows: object, *, render: str = "solution.mp4") -> tuple[Verdict, Verdict]:
    path = tmp_path / "solution.json"
    path.write_text(json.dumps({"segments": rows}))
    options = {"render": task / render, "clips": task / "clips"}
    return verify_order(path, task / "order.json", **options), verify(path, task / "assembly.json", **options)


def test_an_honest_manifest_keeps_its_score_in_both_families(task: Path, tmp_path: Path) -> None:
    for verdict in submit(task, tmp_path, manifest(1, 2, 3)):
        assert (verdict.score, verdict.components["honesty"], verdict.reasons) == (1.0, 1.0, [])


def test_a_render_that_is_one_frame_late_is_still_honest(task: Path, tmp_path: Path) -> None:
    order, _ = submit(task, tmp_path, manifest(1, 2, 3), render="drifted.mp4")
    assert order.score == 1.0


def test_a_manifest_that_lies_about_the_render_loses_those_slots(task: Path, tmp_path: Path) -> None:
    lying = tmp_path / "order.json"
    lying.write_text('{"correct_order": [1, 3, 2]}')
    path = tmp_path / "solution.json"
    path.write_text(json.dumps({"segments": manifest(1, 3, 2)}))
    verdict = verify_order(path, lying, render=task / "solution.mp4", clips=task / "clips")
    assert verdict.components["strict_match"] == 1.0
    assert verdict.score == pytest.approx(1 / 3)
    assert [reason[:6] for reason in verdict.reasons] == ["slot 2", "slot 3"]


def test_pointing_at_the_right_picture_in_the_wrong_place_is_a_lie(task: Path, tmp_path: Path) -> None:
    rows = manifest(1, 2, 3)
    rows[1]["output"], rows[2]["output"] = [2.0, 3.0], [1.0, 2.0]
    rows[1]["source"], rows[2]["source"] = 3, 2
    _, assembly = submit(task, tmp_path, rows)
    assert assembly.components["honesty"] == pytest.approx(2 / 3)
    assert "before the one of the slot before it has ended" in assembly.reasons[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"output": None}, "source_range and output"),
        ({"output": [2.0, 2.0]}, "source_range and output"),
        ({"output": ["2", "3"]}, "source_range and output"),
        ({"output": [-1.0, 1.0]}, "source_range and output"),
        ({"output": [2.0, 2.2]}, "1.00 s of the clip are claimed to fill 0.20 s"),
        ({"output": [9.0, 10.0]}, "beyond the end of the render"),
        ({"source_range": [5.0, 6.0]}, "beyond the end of the clip 3"),
    ],
)
def test_claims_that_cannot_be_true_lose_their_slot(
    task: Path, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    rows = manifest(1, 2, 3)
    rows[2] |= change
    _, assembly = submit(task, tmp_path, rows)
    assert assembly.details["correct_slots"] == [True, True, False]
    assert reason in assembly.reasons[0]


def test_a_clip_that_the_task_does_not_have_is_not_shown(task: Path, tmp_path: Path) -> None:
    rows = manifest(1, 2, 3)
    rows[0]["source"] = "../clips/1"
    _, assembly = submit(task, tmp_path, rows)
    assert "the task has no clip" in assembly.reasons[0]


@pytest.mark.parametrize("content", [None, b"", b"not a film"])
def test_without_a_usable_render_nothing_is_earned(task: Path, tmp_path: Path, content: bytes | None) -> None:
    render = tmp_path / "solution.mp4"
    if content is not None:
        render.write_bytes(content)
    path = tmp_path / "solution.json"
    path.write_text(json.dumps({"segments": manifest(1, 2, 3)}))
    verdict = verify(path, task / "assembly.json", render=render, clips=task / "clips")
    assert (verdict.status, verdict.score, verdict.exit_code) == ("invalid", 0.0, 0)


def test_a_missing_clips_folder_is_an_error(task: Path, tmp_path: Path) -> None:
    path = tmp_path / "solution.json"
    path.write_text(json.dumps({"segments": manifest(1, 2, 3)}))
    verdict = verify(path, task / "assembly.json", render=task / "solution.mp4", clips=tmp_path / "no")
    assert verdict.status == "error"
