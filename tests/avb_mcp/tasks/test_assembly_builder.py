"""Storyboards whose right clips are right by construction, and whose wrong ones differ in one variable."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import cv2
import numpy as np
import pytest

from avb_mcp.score import score_workspace
from avb_mcp.tasks.builders import assembly
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders._moves import Variable
from avb_mcp.tasks.builders._shot_look import camera_motion, small_luma
from avb_mcp.tasks.builders._slots import draw_candidates
from avb_mcp.tasks.builders.storyboard import (
    FIELDS,
    SHOT_LANGUAGE,
    Storyboard,
    assembly_brief,
    storyboard_text,
    strip_field,
)
from avb_mcp.tasks.footage import frames, open_footage
from avb_mcp.tasks.spec import load_task, sha256_of
from primitives._base import UserError
from tests.avb_mcp.tasks.built import Built, build, opened, submit_clips
from tests.avb_mcp.tasks.shot_films import backdrop, shot_film

LENGTHS = (36, 40, 34, 44)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shot_film(tmp_path_factory.mktemp("film") / "film.mp4", LENGTHS, seed=3, size=(256, 144))


@pytest.fixture(scope="module")
def task(film: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    plans = assembly.plan([open_footage(film)], BuildRequest(seed=2, count=1, slots=4))
    return build(tmp_path_factory.mktemp("suite") / "suite", plans, [film])[0]


def _board(task: Built) -> Storyboard:
    return Storyboard.model_validate_json((task.workspace / "materials" / "storyboard.json").read_bytes())


def test_the_storyboards_clips_score_one_and_nothing_scores_zero(task: Built) -> None:
    assert score_workspace(task.workspace, task.answers).score == 0.0
    submit_clips(task, task.reference["correct_assembly_in_slot_order"])
    assert score_workspace(task.workspace, task.answers).score == 1.0


def test_picking_a_distractor_everywhere_scores_zero(task: Built) -> None:
    right = task.reference["correct_assembly_in_slot_order"]
    wrong = [
        next(name for name in slot["candidates"] if name not in right)  # type: ignore[index]
        for slot in task.reference["slots"]
    ]
    submit_clips(task, wrong)
    assert score_workspace(task.workspace, task.answers).score == 0.0


def test_the_storyboard_says_of_each_variable_what_the_right_clip_was_made_with(task: Built) -> None:
    board, reference = _board(task), task.reference
    rows = zip(board.slots, reference["slots"], reference["correct_assembly_in_slot_order"], strict=True)
    for slot, made, right in rows:
        assert getattr(slot, made["variable"]) == made["candidates"][right]  # type: ignore[index]
        assert len(set(made["candidates"].values())) == 3  # type: ignore[index]


def test_every_variable_gets_its_turn(task: Built) -> None:
    assert {slot["variable"] for slot in task.reference["slots"]} == set(Variable)  # type: ignore[index]


def test_all_clips_have_one_length_one_size_and_no_sound(task: Built) -> None:
    facts = set()
    for path in task.clips:
        with opened(path) as container:
            video = container.streams.video[0]
            facts.add((video.width, video.height, video.duration, len(container.streams.audio)))
    assert len(task.clips) == 12
    assert len(facts) == 1
    assert next(iter(facts))[3] == 0


def test_the_right_clip_is_drawn_evenly_among_the_values_of_its_variable() -> None:
    picture = np.asarray(cv2.cvtColor(backdrop(np.random.default_rng(5), 160, 90), cv2.COLOR_BGR2YUV_I420), np.uint8)
    rng = np.random.default_rng(0)
    drawn = [draw_candidates(picture, [Variable.SHOT_SIZE], 3, 16 / 9, rng) for _ in range(120)]
    rights = Counter(found.cameras[0].shot_size for found in drawn if found)
    assert rights.keys() == {"Wide", "Medium", "Close Up"}
    assert all(count == pytest.approx(40, abs=15) for count in rights.values())


def test_candidates_differ_in_one_variable_only() -> None:
    picture = np.asarray(cv2.cvtColor(backdrop(np.random.default_rng(5), 320, 180), cv2.COLOR_BGR2YUV_I420), np.uint8)
    found = draw_candidates(picture, [Variable.CAMERA_ANGLE], 3, 16 / 9, np.random.default_rng(1))
    assert found is not None
    settings = [asdict(camera) for camera in found.cameras]
    assert {name for name in settings[0] if len({row[name] for row in settings}) > 1} == {"camera_angle"}


def test_a_picture_without_anything_in_it_gives_no_candidates() -> None:
    grey = np.full((270, 320), 128, np.uint8)
    assert draw_candidates(grey, list(Variable), 3, 16 / 9, np.random.default_rng(0)) is None


def test_a_camera_that_moves_is_told_from_one_that_stands(tmp_path: Path) -> None:
    moves = {}
    for drift_px in (0, 3):
        film = open_footage(shot_film(tmp_path / f"{drift_px}.mp4", (40,), size=(256, 144), drift_px=drift_px))
        looks = [small_luma(frame) for frame in frames(film, 0, 40)][::4]
        moves[drift_px] = camera_motion(looks, 0.2)
    assert moves[0].is_still
    assert not moves[3].is_still
    assert moves[3].drift_per_s == pytest.approx(3 * 20 / 144, rel=0.05)


def test_a_shot_with_a_moving_camera_serves_as_a_held_frame(tmp_path: Path) -> None:
    film = shot_film(tmp_path / "moving.mp4", (40, 40), size=(256, 144), drift_px=3)
    request = BuildRequest(seed=2, count=1, slots=2, variables=("shot_size", "camera_angle"))
    task = build(tmp_path / "suite", assembly.plan([open_footage(film)], request), [film])[0]
    assert [slot["held_frame"] for slot in task.reference["slots"]] == [True, True]  # type: ignore[index]
    clip = open_footage(task.clips[0].resolve())
    first, last = (next(frames(clip, at, at + 1)).astype(int) for at in (0, clip.frame_count - 1))
    assert np.abs(first - last).mean() < 2


def test_the_brief_carries_the_storyboard_and_names_no_answer(task: Built) -> None:
    brief = (task.workspace / "brief.md").read_text(encoding="utf-8")
    board = _board(task)
    assert brief == assembly_brief(board).strip() + "\n"
    assert storyboard_text(board) == (task.workspace / "materials" / "storyboard.md").read_text(encoding="utf-8")
    assert len({slot.description for slot in board.slots}) == len(board.slots)


@pytest.mark.parametrize("field", FIELDS)
def test_any_field_can_be_stripped_from_the_storyboard(task: Built, field: str) -> None:
    stripped = _board(task).without(field)  # type: ignore[arg-type]
    title = field.replace("_", " ").capitalize()
    assert f"- {title}:" in assembly_brief(_board(task))
    assert f"- {title}:" not in assembly_brief(stripped)
    assert field not in stripped.as_json()


def test_a_field_is_stripped_from_everything_that_the_agent_reads(task: Built, tmp_path: Path) -> None:
    workspace = Path(shutil.copytree(task.workspace, tmp_path / "task"))
    strip_field(workspace, "camera_movement")
    texts = [path for path in workspace.rglob("*") if path.suffix in {".json", ".md"} and path.name != SHOT_LANGUAGE]
    words = [slot.camera_movement for slot in _board(task).slots if slot.camera_movement != "Static"]
    assert words
    for path in texts:
        text = path.read_text(encoding="utf-8")
        assert "camera_movement" not in text
        assert not any(word in text for word in words if word)
    assert all(item.sha256 == sha256_of(workspace / item.path) for item in load_task(workspace).materials)


def test_the_same_seed_builds_the_same_task(film: Path, task: Built, tmp_path: Path) -> None:
    plans = assembly.plan([open_footage(film)], BuildRequest(seed=2, count=1, slots=4))
    assert build(tmp_path / "again", plans, [film])[0].entry == task.entry


def test_descriptions_of_the_author_are_used_as_they_are(film: Path, tmp_path: Path) -> None:
    shots = [(0.0, 1.75, "The first one"), (1.85, 3.75, "The second one")]
    rows = [{"source": film.name, "start_s": a, "end_s": b, "description": text} for a, b, text in shots]
    (tmp_path / "shots.json").write_text(json.dumps(rows), encoding="utf-8")
    request = BuildRequest(seed=1, count=1, slots=2, shot_list=tmp_path / "shots.json")
    task = build(tmp_path / "suite", assembly.plan([open_footage(film)], request), [film])[0]
    assert [slot.description for slot in _board(task).slots] == ["The first one", "The second one"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "is no shot list"),
        ('[{"source": "other.mp4", "start_s": 0, "end_s": 2, "description": "x"}]', "given are film.mp4"),
        ('[{"source": "film.mp4", "start_s": 90, "end_s": 92, "description": "x"}]', "holds no frame"),
    ],
)
def test_a_shot_list_that_does_not_fit_is_a_sentence(film: Path, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "shots.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        assembly.plan([open_footage(film)], BuildRequest(seed=1, count=1, shot_list=tmp_path / "shots.json"))


def test_a_film_with_too_few_shots_is_refused_with_both_numbers(tmp_path: Path) -> None:
    film = open_footage(shot_film(tmp_path / "few.mp4", (40, 12), sound=False))
    with pytest.raises(UserError, match=r"few\.mp4: 1 shots of 1\.5 s or more .* 4 slots"):
        assembly.plan([film], BuildRequest(seed=1, count=1))


def test_sources_of_one_shot_each_serve_together(tmp_path: Path) -> None:
    sizes = [(256, 144), (192, 144), (144, 192)]
    films = [shot_film(tmp_path / f"{at}.mp4", (36,), seed=at, size=size) for at, size in enumerate(sizes)]
    plans = assembly.plan([open_footage(film) for film in films], BuildRequest(seed=1, count=1, slots=3))
    task = build(tmp_path / "suite", plans, films)[0]
    assert [slot["source"] for slot in task.reference["slots"]] == ["0.mp4", "1.mp4", "2.mp4"]  # type: ignore[index]
    assert {open_footage(path).width_px for path in task.clips} == {256}


def test_shots_that_look_alike_are_refused_with_how_many_differ(tmp_path: Path) -> None:
    once = shot_film(tmp_path / "a.mp4", (36,), seed=1)
    again = shot_film(tmp_path / "b.mp4", (36,), seed=1)
    plans = assembly.plan([open_footage(once), open_footage(again)], BuildRequest(seed=1, count=1, slots=2))
    with pytest.raises(UserError, match="1 shots with enough to see that look different"):
        build(tmp_path / "suite", plans, [once, again])
    assert not (tmp_path / "suite").exists()


def test_an_unknown_variable_and_too_many_distractors_are_sentences(film: Path) -> None:
    with pytest.raises(UserError, match="no variable 'mood'"):
        assembly.plan([open_footage(film)], BuildRequest(seed=1, count=1, variables=("mood",)))
    with pytest.raises(UserError, match="at most 2 can"):
        request = BuildRequest(seed=1, count=1, variables=("shot_size",), distractors=3)
        assembly.plan([open_footage(film)], request)


GENERATOR = """
import json, shutil, sys
request = json.load(sys.stdin)
assert set(request["camera"]) == {"shot_size", "camera_angle", "lens_size", "camera_movement"}
assert request["value"] != request["camera"][request["variable"]]
shutil.copyfile(request["golden"], request["out"])
"""


def test_an_external_generator_makes_the_distractors(film: Path, tmp_path: Path) -> None:
    """Here it hands the right clip back: then all candidates of a slot come out alike, to the last byte."""
    script = tmp_path / "generate.py"
    script.write_text(GENERATOR, encoding="utf-8")
    request = BuildRequest(seed=1, count=1, slots=2, generator=shlex.join([sys.executable, str(script)]))
    task = build(tmp_path / "suite", assembly.plan([open_footage(film)], request), [film])[0]
    for slot in task.reference["slots"]:
        files = {(task.answers / "clips" / f"{name}.mp4").read_bytes() for name in slot["candidates"]}  # type: ignore[index]
        assert len(files) == 1


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-generator", "cannot be started"),
        (shlex.join([sys.executable, "-c", "raise SystemExit('out of ideas')"]), "failed with code 1: out of ideas"),
        (shlex.join([sys.executable, "-c", "pass"]), "wrote no film"),
    ],
)
def test_a_generator_that_fails_is_a_sentence(film: Path, tmp_path: Path, command: str, said: str) -> None:
    plans = assembly.plan([open_footage(film)], BuildRequest(seed=1, count=1, slots=2, generator=command))
    with pytest.raises(UserError, match=said):
        build(tmp_path / "suite", plans, [film])
    assert not (tmp_path / "suite").exists()
