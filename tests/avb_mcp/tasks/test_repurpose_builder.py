"""Repurpose tasks from the author's own texts, or from delivery requirements that an example is seen to meet."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from avb_mcp.score import score_workspace
from avb_mcp.tasks.builders import repurpose
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders._delivery import Delivery, delivery_text, draw_delivery, starter_rubric
from avb_mcp.tasks.builders._example_cut import choose_pieces
from avb_mcp.tasks.footage import open_footage, write_film
from primitives._base import UserError
from tests.avb_mcp.tasks.built import Built, build
from tests.avb_mcp.tasks.shot_films import shot_film
from verifiers.lint import lint

LENGTHS = (46, 40, 44, 38, 42)
BRIEF = "Make a 3 to 4 seconds teaser of the film."


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shot_film(tmp_path_factory.mktemp("film") / "film.mp4", LENGTHS, seed=1)


@pytest.fixture(scope="module")
def task(film: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    plans = repurpose.plan([open_footage(film)], BuildRequest(seed=1, count=1))
    return build(tmp_path_factory.mktemp("suite") / "suite", plans, [film])[0]


def _hand_in(task: Built, film: Path) -> None:
    outputs = task.workspace / "outputs"
    outputs.mkdir(exist_ok=True)
    (outputs / "final.mp4").write_bytes(film.read_bytes())


def test_the_example_scores_one_the_source_less_and_nothing_zero(task: Built, film: Path) -> None:
    assert score_workspace(task.workspace, task.answers).score == 0.0
    _hand_in(task, film)
    source = score_workspace(task.workspace, task.answers).score
    assert source is not None
    assert source < 0.9
    _hand_in(task, task.answers / "final.mp4")
    assert score_workspace(task.workspace, task.answers).score == 1.0


def test_the_agent_gets_the_source_and_no_rubric(task: Built, film: Path) -> None:
    held = {path.relative_to(task.workspace).as_posix() for path in task.workspace.rglob("*") if path.is_file()}
    assert held - {"outputs/final.mp4"} == {"brief.md", "task.json", "materials/source.mp4"}
    assert (task.workspace / "materials" / "source.mp4").read_bytes() == film.read_bytes()


def test_the_brief_says_everything_that_the_starter_rubric_measures(task: Built) -> None:
    brief = (task.workspace / "brief.md").read_text(encoding="utf-8")
    rubric = json.loads((task.answers / "rubric.json").read_text(encoding="utf-8"))
    assert lint(rubric, brief) == []
    length = next(item["params"] for item in rubric if item["id"] == "length")
    assert f"Length: {length['min']:g} to {length['max']:g} seconds" in brief


def test_the_same_seed_builds_the_same_task(film: Path, task: Built, tmp_path: Path) -> None:
    plans = repurpose.plan([open_footage(film)], BuildRequest(seed=1, count=1))
    assert build(tmp_path / "again", plans, [film])[0].entry == task.entry


@pytest.mark.parametrize("seed", range(6))
def test_drawn_requirements_make_a_rubric_without_faults(film: Path, seed: int) -> None:
    delivery = draw_delivery(open_footage(film), np.random.default_rng(seed))
    assert lint(starter_rubric(delivery), delivery_text(delivery)) == []


def test_requirements_left_out_are_neither_asked_for_nor_measured() -> None:
    delivery = Delivery(min_s=5, max_s=6, width_px=64, height_px=64, sound=False, max_black_s=None, max_freeze_s=None)
    names = {item["id"] for item in starter_rubric(delivery)}
    assert names == {"length", "size", "container", "video-codec", "decodes"}
    assert "sound" not in delivery_text(delivery)
    assert "LUFS" not in delivery_text(delivery)


def test_what_a_source_cannot_give_is_not_asked_for(tmp_path: Path) -> None:
    """A film of one held picture cannot be cut without freezes."""
    held = tmp_path / "held.mp4"
    write_film(held, [np.full((108, 128), 120, np.uint8)] * 200, Fraction(20), None)
    task = build(tmp_path / "suite", repurpose.plan([open_footage(held)], BuildRequest(seed=3, count=1)), [held])[0]
    rubric = json.loads((task.answers / "rubric.json").read_text(encoding="utf-8"))
    assert "frozen" not in {item["id"] for item in rubric}
    assert "frozen" not in (task.workspace / "brief.md").read_text(encoding="utf-8")
    _hand_in(task, task.answers / "final.mp4")
    assert score_workspace(task.workspace, task.answers).score == 1.0


def test_an_author_s_brief_and_rubric_are_used_as_they_are(film: Path, tmp_path: Path) -> None:
    rubric = [
        {"id": "a", "criterion": "It is short.", "pillar": 0, "weight": 1, "dispatch": "python",
         "kind": "ffprobe_duration_range", "params": {"min": 3, "max": 4}},
        {"id": "b", "criterion": "It has an arc.", "pillar": 2, "weight": 2, "dispatch": "llm", "prompt": "An arc?"},
    ]  # fmt: skip
    task = build(tmp_path / "suite", repurpose.plan([open_footage(film)], _asked(tmp_path, BRIEF, rubric)), [film])[0]
    assert json.loads((task.answers / "rubric.json").read_text(encoding="utf-8")) == rubric
    assert (task.workspace / "brief.md").read_text(encoding="utf-8").startswith(BRIEF)
    assert not (task.answers / "final.mp4").exists()


def test_a_rubric_that_contradicts_its_brief_is_refused(film: Path, tmp_path: Path) -> None:
    rubric = [
        {"id": "a", "criterion": "It is long.", "pillar": 0, "weight": 1, "dispatch": "python",
         "kind": "ffprobe_duration_range", "params": {"min": 60, "max": 90}},
    ]  # fmt: skip
    with pytest.raises(UserError, match=r"rubric\.json: a: the brief asks for"):
        repurpose.plan([open_footage(film)], _asked(tmp_path, BRIEF, rubric))


def test_a_brief_alone_gets_delivery_requirements_and_a_starter_rubric(film: Path, tmp_path: Path) -> None:
    (tmp_path / "brief.md").write_text("Cut a teaser that makes people curious.", encoding="utf-8")
    request = BuildRequest(seed=1, count=1, brief=tmp_path / "brief.md")
    task = build(tmp_path / "suite", repurpose.plan([open_footage(film)], request), [film])[0]
    brief = (task.workspace / "brief.md").read_text(encoding="utf-8")
    assert brief.startswith("Cut a teaser")
    assert "## Delivery" in brief


def test_given_requirements_are_taken_as_they_are(film: Path, tmp_path: Path) -> None:
    asked = Delivery(min_s=3, max_s=4, width_px=96, height_px=96, max_shot_s=2)
    (tmp_path / "delivery.json").write_text(asked.model_dump_json(), encoding="utf-8")
    request = BuildRequest(seed=1, count=1, delivery=tmp_path / "delivery.json")
    task = build(tmp_path / "suite", repurpose.plan([open_footage(film)], request), [film])[0]
    assert json.loads((task.answers / "rubric.json").read_text(encoding="utf-8")) == starter_rubric(asked)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"rubric": "[]"}, "Give --brief too"),
        ({"rubric": "[]", "brief": "Cut it."}, "nothing to earn"),
        ({"rubric": "no json", "brief": "Cut it."}, "cannot be read"),
        ({"brief": "  "}, "is empty"),
        ({"delivery": '{"min_s": 5, "max_s": 4, "width_px": 96, "height_px": 96}'}, "above the maximum"),
        ({"delivery": '{"length": 5}'}, "Fields: min_s"),
        ({"rubric": "[]", "brief": "Cut it.", "delivery": "{}"}, "not both"),
    ],
)
def test_texts_that_do_not_serve_are_sentences(film: Path, tmp_path: Path, files: dict[str, str], said: str) -> None:
    given = {}
    for name, text in files.items():
        given[name] = tmp_path / name
        given[name].write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        repurpose.plan([open_footage(film)], BuildRequest(seed=1, count=1, **given))


def test_a_source_too_short_to_shorten_is_refused(tmp_path: Path) -> None:
    film = open_footage(shot_film(tmp_path / "short.mp4", (40,), sound=False))
    with pytest.raises(UserError, match=r"short\.mp4 lasts 2\.0 s; .* at least 8 s"):
        repurpose.plan([film], BuildRequest(seed=1, count=1))


def test_a_source_that_is_damaged_behind_the_example_is_refused(film: Path, tmp_path: Path) -> None:
    data = bytearray(film.read_bytes())
    late = len(data) * 7 // 10
    data[late : late + 4000] = bytes(4000)
    (tmp_path / "film.mp4").write_bytes(data)
    plans = repurpose.plan([open_footage(tmp_path / "film.mp4")], BuildRequest(seed=1, count=1))
    with pytest.raises(UserError, match=r"film\.mp4 is damaged: .* plays to its end"):
        build(tmp_path / "suite", plans, [film])
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]


def test_the_example_takes_the_heads_of_shots_none_longer_than_allowed(film: Path) -> None:
    source = open_footage(film)
    asked = Delivery(min_s=3, max_s=5, width_px=96, height_px=96, max_shot_s=1)
    pieces = choose_pieces(source, asked)
    starts = [0, *np.cumsum(LENGTHS).tolist()]
    assert [piece.first for piece in pieces] == starts[: len(pieces)]
    assert all(piece.last - piece.first <= 20 for piece in pieces)
    assert 60 <= sum(piece.last - piece.first for piece in pieces) <= 100


def _asked(folder: Path, brief: str, rubric: object) -> BuildRequest:
    (folder / "brief.md").write_text(brief, encoding="utf-8")
    (folder / "rubric.json").write_text(json.dumps(rubric), encoding="utf-8")
    return BuildRequest(seed=1, count=1, brief=folder / "brief.md", rubric=folder / "rubric.json")
