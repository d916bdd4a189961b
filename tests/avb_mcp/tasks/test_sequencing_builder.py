"""A film cut at its own cuts, shuffled, and nothing else to tell the order by."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from avb_mcp.score import score_workspace
from avb_mcp.tasks.builders import sequencing
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.footage import Shot, open_footage
from primitives._base import UserError
from tests.avb_mcp.tasks.built import Built, build, opened, submit_clips
from tests.avb_mcp.tasks.shot_films import FPS, shot_film

LENGTHS = (24, 22, 17, 30, 12, 19, 25, 16, 21)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shot_film(tmp_path_factory.mktemp("film") / "film.mp4", LENGTHS)


@pytest.fixture(scope="module")
def task(film: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    plans = sequencing.plan([open_footage(film)], BuildRequest(seed=4, count=1, overview="Shapes come and go."))
    return build(tmp_path_factory.mktemp("suite") / "suite", plans, [film])[0]


def test_clips_lie_between_the_films_own_cuts(task: Built) -> None:
    ends = [10, *np.cumsum(LENGTHS).tolist()[:-1], sum(LENGTHS) - 10]
    clips = task.reference["source_frames"]
    assert {edge for clip in clips for edge in clip} <= set(ends)
    assert all(before[1] == after[0] for before, after in pairwise(clips))
    assert 7 <= len(clips) <= len(LENGTHS)


def test_each_clip_holds_the_frames_and_the_sound_of_its_stretch(task: Built) -> None:
    for name, (first, last) in zip(task.reference["correct_order"], task.reference["source_frames"], strict=True):
        clip = open_footage(task.workspace / "materials" / "clips" / f"{name}.mp4")
        assert clip.frame_count == last - first
        assert clip.channels == 1


def test_the_right_order_scores_one_and_nothing_scores_zero(task: Built) -> None:
    assert score_workspace(task.workspace, task.answers).score == 0.0
    submit_clips(task, task.reference["correct_order"])
    assert score_workspace(task.workspace, task.answers).score == 1.0


def test_the_order_of_the_names_is_not_the_answer(task: Built) -> None:
    order = task.reference["correct_order"]
    assert sorted(order, key=int) == [str(number) for number in range(1, len(order) + 1)]
    assert order != sorted(order, key=int)


def test_clips_start_at_zero_with_a_key_frame_and_carry_no_tags(task: Built) -> None:
    for path in task.clips:
        with opened(path) as container:
            video, audio = container.streams.video[0], container.streams.audio[0]
            first = next(packet for packet in container.demux(video))
            assert (video.start_time, audio.start_time) == (0, 0)
            assert first.is_keyframe
            assert not {"encoder", "creation_time", "title"} & {key.lower() for key in container.metadata}
            assert "creation_time" not in video.metadata


def test_the_disk_holds_the_clips_in_the_order_of_their_names(task: Built) -> None:
    written = [path.stat().st_mtime_ns for path in task.clips]
    assert written == sorted(written)


def test_answers_hold_copies_of_the_clips_and_no_links_to_them(task: Built) -> None:
    for path in task.clips:
        kept = task.answers / "clips" / path.name
        assert kept.read_bytes() == path.read_bytes()
        assert kept.stat().st_ino != path.stat().st_ino


def test_the_brief_tells_the_overview_and_no_order(task: Built) -> None:
    brief = (task.workspace / "brief.md").read_text(encoding="utf-8")
    assert "Overview: Shapes come and go." in brief
    assert sequencing.NO_OVERVIEW in sequencing.sequencing_brief(7, "")


def test_the_same_seed_builds_the_same_task_and_another_seed_another(film: Path, task: Built, tmp_path: Path) -> None:
    source = open_footage(film)
    request = BuildRequest(seed=4, count=1, overview="Shapes come and go.")
    again = build(tmp_path / "again", sequencing.plan([source], request), [film])[0]
    assert again.entry == task.entry
    other = sequencing.plan([source], request.model_copy(update={"seed": 5}))[0]
    assert (other.id, other.seed) != (task.entry.id, task.entry.seed)


def test_a_film_with_too_few_cuts_is_refused_with_both_numbers(tmp_path: Path) -> None:
    film = open_footage(shot_film(tmp_path / "few.mp4", (20, 20, 20)))
    with pytest.raises(UserError, match=r"few\.mp4 has 3 shots .* at least 7"):
        sequencing.plan([film], BuildRequest(seed=1, count=1))


def test_cutting_inside_shots_makes_up_for_missing_cuts_when_allowed(tmp_path: Path) -> None:
    film = open_footage(shot_film(tmp_path / "few.mp4", (50, 30, 40), sound=False))
    bounds = sequencing.clip_bounds(film, BuildRequest(seed=1, count=1, cut_inside=True))
    assert len(bounds) == 8
    assert {10, 50, 80, 110} <= set(bounds)


def test_a_film_too_short_for_so_many_clips_is_refused_even_then(tmp_path: Path) -> None:
    film = open_footage(shot_film(tmp_path / "short.mp4", (40,), sound=False))
    with pytest.raises(UserError, match="at least 7"):
        sequencing.plan([film], BuildRequest(seed=1, count=1, cut_inside=True))


def test_more_clips_at_least_than_at_most_is_refused(film: Path) -> None:
    with pytest.raises(UserError, match="no number is both"):
        sequencing.plan([open_footage(film)], BuildRequest(seed=1, count=1, min_clips=9, max_clips=8))


def _shot(first: int, last: int, opening: str = "cut") -> Shot:
    return Shot(first, last, first / FPS, last / FPS, opening, first, last)  # type: ignore[arg-type]


def test_dissolves_and_flashes_of_a_shot_are_no_places_to_cut() -> None:
    shots = [_shot(0, 40, "start"), _shot(40, 44), _shot(44, 80), _shot(80, 120, "dissolve"), _shot(120, 150, "fade")]
    assert sequencing.shot_bounds(shots, Fraction(20)) == [10, 40, 120, 140]


def test_the_very_start_and_end_of_a_source_are_left_out() -> None:
    shots = [_shot(0, 40, "start"), _shot(40, 80), _shot(80, 120)]
    assert sequencing.shot_bounds(shots, Fraction(20)) == [10, 40, 80, 110]


def test_a_first_or_last_shot_of_a_few_frames_is_left_out_whole() -> None:
    shots = [_shot(0, 15, "start"), _shot(15, 50), _shot(50, 90), _shot(90, 102)]
    assert sequencing.shot_bounds(shots, Fraction(20)) == [15, 50, 90]


def test_every_stretch_of_a_film_can_be_drawn() -> None:
    bounds = list(range(0, 100, 10))
    rng = np.random.default_rng(0)
    drawn = {tuple(sequencing.draw_stretch(bounds, 7, 20, rng)) for _ in range(300)}
    assert drawn == {tuple(bounds[at : at + n + 1]) for n in (7, 8, 9) for at in range(len(bounds) - n)}
