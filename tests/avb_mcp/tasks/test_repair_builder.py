"""Repair tasks: golden is worth 1, nothing and the broken film 0; nothing tells the defect; trouble is a sentence."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from avb_mcp.score import score_workspace
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.repair import kinds, left_out, pick_stretch, plan
from avb_mcp.tasks.defects._base import Needs
from avb_mcp.tasks.defects.registry import by_name
from avb_mcp.tasks.footage import Footage, open_footage, write_film
from avb_mcp.tasks.spec import Source, load_suite, load_task
from avb_mcp.tasks.suite import write_suite
from primitives._base import UserError
from tests.avb_mcp.tasks.spoken_films import SHOTS, spoken_film
from tests.avb_mcp.tasks.test_defects import TELLING
from tests.media import make_film, real_clip
from verifiers.video_repair.schema import Truth

KINDS = ("clipping", "colour_shift", "shot_swap", "filler_words", "wrong_sentences", "combined")


def request_of(*names: str, count: int | None = None, **more: Any) -> BuildRequest:
    return BuildRequest(seed=11, count=count or len(names) or 1, kinds=names, **({"min_s": 10, "max_s": 16} | more))


def build(footage: Footage, out: Path, *names: str) -> Path:
    source = Source(name=footage.name, sha256=footage.sha256)
    write_suite(out, plan([footage], request_of(*names)), [source], lambda *_: None)
    return out


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Footage:
    return open_footage(spoken_film(tmp_path_factory.mktemp("film") / "film.mp4", (*SHOTS, 60, 70)))


@pytest.fixture(scope="module")
def suite(film: Footage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(film, tmp_path_factory.mktemp("suite") / "suite", *KINDS)


def ids(suite: Path) -> dict[str, str]:
    return {entry.builder.removeprefix("repair/"): entry.id for entry in load_suite(suite).tasks}


def right_report(answers: Path) -> str:
    if (answers / "truth.json").exists():
        truth = Truth.model_validate_json((answers / "truth.json").read_bytes())
        return "```json\n" + json.dumps([[item.start_s, item.end_s] for item in truth.ranges]) + "\n```\n"
    profile = json.loads((answers / "profile.json").read_text())
    return "\n".join(
        f"## Diagnosis\n- type: defect\n- start: {entry['start_s']:.3f}\n- end: {entry['end_s']:.3f}\n"
        for entry in profile.get("injections") or [profile["injection"]]
    )


def handed_in(suite: Path, task: str, media: Path | None, report: str = "", folder: Path | None = None) -> float:
    """The score of a copy of the workspace with these deliverables."""
    assert folder is not None
    workspace = folder / task
    shutil.copytree(suite / "tasks" / task, workspace)
    (workspace / "outputs").mkdir()
    if media is not None:
        shutil.copyfile(media, workspace / "outputs" / "fixed.mp4")
        (workspace / "outputs" / "report.md").write_text(report, encoding="utf-8")
    verdict = score_workspace(workspace, suite / "answers" / task)
    shutil.rmtree(workspace)
    assert verdict.score is not None, verdict.reasons
    return verdict.score


@pytest.mark.parametrize("kind", KINDS)
def test_golden_is_worth_one_and_nothing_is_worth_nothing(kind: str, suite: Path, tmp_path: Path) -> None:
    task = ids(suite)[kind]
    answers = suite / "answers" / task
    golden = answers / ("golden.mp4" if (answers / "golden.mp4").exists() else "source.mp4")
    assert handed_in(suite, task, golden, right_report(answers), tmp_path) == pytest.approx(1.0)
    assert handed_in(suite, task, None, folder=tmp_path) == 0.0


@pytest.mark.parametrize("kind", [kind for kind in KINDS if by_name()[kind].scheme == "h1"])
def test_the_broken_film_is_worth_nothing(kind: str, suite: Path, tmp_path: Path) -> None:
    task = ids(suite)[kind]
    broken = suite / "tasks" / task / "materials" / "broken.mp4"
    assert handed_in(suite, task, broken, right_report(suite / "answers" / task), tmp_path) == 0.0


def test_a_freeze_that_costs_a_copy_nothing_is_no_task(tmp_path: Path) -> None:
    """A film that only grows lighter: there is movement by its luma, and no frame that would be missed."""
    grey = np.full((45, 160), 128, np.uint8)
    shades = (np.vstack([np.full((90, 160), 60 + number // 8, np.uint8), grey]) for number in range(480))
    write_film(tmp_path / "dawn.mp4", shades, Fraction(25), None)
    dawn = open_footage(tmp_path / "dawn.mp4")
    with pytest.raises(UserError, match=r"dawn\.mp4 cannot carry frozen_picture: .* hardly be measured"):
        build(dawn, tmp_path / "suite", "frozen_picture")


def test_building_again_gives_the_same_bytes_and_another_seed_another_task(film: Footage, tmp_path: Path) -> None:
    chosen = ("blur", "noise_floor")
    first, second = (load_suite(build(film, tmp_path / name, *chosen)).tasks for name in ("one", "two"))
    assert [entry.digest for entry in first] == [entry.digest for entry in second]
    other = plan([film], request_of(*chosen).model_copy(update={"seed": 12}))
    assert not {entry.id for entry in first} & {item.id for item in other}


def test_the_task_tells_neither_what_nor_where(suite: Path) -> None:
    for kind, task_id in ids(suite).items():
        folder = suite / "tasks" / task_id
        assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
            "brief.md",
            "broken.mp4",
            "task.json",
        ]
        brief = (folder / "brief.md").read_text(encoding="utf-8")
        client = brief.split("The film is")[0].lower()
        assert not [word for word in TELLING if word in f" {client}"] and not any(c.isdigit() for c in client)
        assert kind not in brief and kind not in (folder / "task.json").read_text() and kind not in task_id
        with av.open(str(folder / "materials" / "broken.mp4")) as broken:
            assert not {"creation_time", "encoder", "title", "comment"} & broken.metadata.keys()


def test_lengths_are_asked_for_only_where_they_are_the_broken_films_own(suite: Path) -> None:
    stated = {
        kind: load_task(suite / "tasks" / task).deliverables[0].spec.duration_s is not None
        for kind, task in ids(suite).items()
    }
    assert {kind for kind, has_length in stated.items() if has_length} == {"clipping", "colour_shift", "shot_swap"}


def test_a_report_of_ranges_is_asked_for_where_ranges_are_scored(suite: Path) -> None:
    reports = {kind: load_task(suite / "tasks" / task).deliverables[1] for kind, task in ids(suite).items()}
    assert {kind for kind, report in reports.items() if report.cuts} == {"filler_words", "wrong_sentences"}
    assert all(report.diagnosis != report.cuts for report in reports.values())


def test_answers_share_no_file_with_the_workspace_and_say_how_it_was_made(suite: Path) -> None:
    for kind, task in ids(suite).items():
        answers = suite / "answers" / task
        recipe = json.loads((answers / "recipe.json").read_text())
        assert recipe["defect"] == kind and recipe["source"]["name"] == "film.mp4"
        if (answers / "broken.mp4").exists():
            assert not (answers / "broken.mp4").samefile(suite / "tasks" / task / "materials" / "broken.mp4")
    wrong = json.loads((suite / "answers" / ids(suite)["wrong_sentences"] / "recipe.json").read_text())
    assert "elsewhere in the same source" in wrong["note"]


def test_all_kinds_take_their_turn_over_all_sources(film: Footage) -> None:
    plans = plan([film, film], request_of(count=23))
    assert [item.builder.removeprefix("repair/") for item in plans[:10]] == kinds("h1")
    assert len({item.id for item in plans}) == 23 and all("repair-" in item.id for item in plans)


def test_kinds_that_no_source_can_carry_are_left_out_with_the_reason_unless_asked_for_by_name(tmp_path: Path) -> None:
    silent = open_footage(spoken_film(tmp_path / "silent.mp4", (160,), sound=False))
    request = request_of(count=8, min_s=8)
    plans = plan([silent], request)
    built = {"colour_shift", "blur", "lost_sharpness", "repeated_frames"}
    assert {item.builder for item in plans} == {f"repair/{kind}" for kind in built}
    told = left_out([silent], request)
    assert {sentence.split()[0] for sentence in told} == set(kinds("h1")) - built
    assert "room_echo is left out: silent.mp4 has no sound, which room_echo needs." in told


@pytest.mark.parametrize(
    ("kind", "shots", "sound", "sentence"),
    [
        ("blur", (40, 40), True, "lasts 5.0 s; blur needs at least 10 s. Give a longer source or a lower --min-s"),
        ("room_echo", (90, 100), False, "has no sound, which room_echo needs"),
        ("shot_swap", (190,), True, "has 1 shots; shot_swap needs at least 4"),
        ("wrong_sentences", (90, 100), True, "needs at least 16 s"),
    ],
)
def test_a_source_that_cannot_serve_gets_a_sentence_that_says_what_is_needed(
    kind: str, shots: tuple[int, ...], sound: bool, sentence: str, tmp_path: Path
) -> None:
    footage = open_footage(spoken_film(tmp_path / "film.mp4", shots, sound=sound))
    with pytest.raises(UserError, match=sentence):
        plan([footage], request_of(kind))


def test_an_unknown_kind_or_one_of_the_other_scheme_names_the_known_ones(film: Footage) -> None:
    with pytest.raises(UserError, match=r"no defect 'smell'.*room_echo"):
        plan([film], request_of("smell"))
    with pytest.raises(UserError, match="scheme v3; h1 has background_noise"):
        plan([film], request_of("combined", scheme="h1"))


def test_a_film_in_which_a_defect_finds_no_place_leaves_no_half_made_suite(tmp_path: Path) -> None:
    still = np.full((144, 160), 128, np.uint8)
    path = tmp_path / "still.mp4"
    write_film(path, [still] * 165, Fraction(16), None)
    footage = open_footage(path)
    with pytest.raises(UserError, match=r"still.mp4 cannot carry blur: no measurement of blur"):
        build(footage, tmp_path / "suite", "blur")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["still.mp4"]


def test_uneven_and_turned_sources_become_tasks(tmp_path: Path) -> None:
    times = [Fraction(number, 30) + (Fraction(1, 3) if number >= 170 else 0) for number in range(320)]
    uneven = open_footage(make_film(tmp_path / "uneven.mp4", frames=320, fps=30, times=times, size=(160, 96)))
    suite = build(uneven, tmp_path / "suite", "colour_shift")
    broken = suite / "tasks" / load_suite(suite).tasks[0].id / "materials" / "broken.mp4"
    with av.open(str(broken)) as film:
        stamps = [frame.pts for frame in film.decode(video=0)]
    assert len(set(np.diff(stamps).tolist())) == 1
    turned = open_footage(real_clip("odd/rotated_90.mov"))
    assert turned.height_px > turned.width_px
    with pytest.raises(UserError, match="lasts"):
        plan([turned], request_of("blur"))


def test_a_stretch_is_within_the_asked_length_and_has_the_needed_shots(film: Footage) -> None:
    for seed in range(10):
        stretch = pick_stretch(film, Needs(shots=4, spare_s=5.0), request_of(), np.random.default_rng(seed))
        assert 10 <= stretch.duration_s <= 16.1 and len(stretch.shots) >= 4
        assert 0 <= stretch.first < stretch.last <= film.frame_count
