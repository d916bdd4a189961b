"""join_scores: clips of one film in any order are put back, and what is uncertain is said to be."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.sequencing import clip_bounds
from avb_mcp.tasks.footage import RATE_HZ, frames, open_footage, sound, write_film
from avb_mcp.workspace import Workspace
from primitives._base import Answer, Call, Cancelled, UserError
from primitives._joins.order import best_ordering, score_of
from primitives._joins.proven import Search
from primitives._text import as_text
from primitives.join_scores import JoinScoresResult
from primitives.registry import by_name
from tests.avb_mcp.tasks.shot_films import FPS, gliding_sound
from tests.media import make_sound, real_clip
from tests.scenery import landscape

Run = Callable[..., Answer]
Pictures = list[NDArray[np.uint8]]
SIZE = (192, 108)
ORDER = (4, 1, 6, 0, 3, 5, 2)
"""Which file holds which part of the film."""


def take(seed: int, count: int) -> Pictures:
    """A shot in which the camera moves and something crosses it, as planar YUV."""
    ground = landscape(seed, SIZE[0] + 2 * count, SIZE[1])
    made = []
    for number in range(count):
        picture = ground[:, 2 * number : 2 * number + SIZE[0]].copy()
        cv2.circle(picture, (10 + 5 * number % SIZE[0], 50), 9, (250, 240, 30), -1)
        made.append(np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420), np.uint8))
    return made


def cut_up(folder: Path, pictures: Pictures, bounds: Sequence[int], wave: NDArray[np.float32] | None) -> list[str]:
    """Clips between the bounds, coded on their own and named out of order; their names in the film's order."""
    for part, (first, last) in enumerate(pairwise(bounds)):
        at, until = (round(number / FPS * RATE_HZ) for number in (first, last))
        piece = None if wave is None else wave[:, at:until]
        write_film(folder / f"materials/{ORDER[part] + 1}.mp4", pictures[first:last], FPS, piece)
    return [f"{ORDER[part] + 1}.mp4" for part in range(len(bounds) - 1)]


def call(run: Run, clips: Sequence[str], **arguments: object) -> JoinScoresResult:
    answer = run("join_scores", paths=[f"materials/{clip}" for clip in sorted(clips)], **arguments)
    assert isinstance(answer.result, JoinScoresResult)
    return answer.result


BOUNDS = (0, 20, 37, 60, 78, 95, 120, 140)


def test_a_silent_take_that_was_cut_up_is_put_back_and_every_join_is_certain(run: Run, folder: Path) -> None:
    truth = cut_up(folder, take(1, 140), BOUNDS, None)
    found = call(run, truth)
    assert found.best_order == truth
    assert found.runs == [truth] and {join.sure for join in found.joins} == {"certain"}
    assert found.cues == ["picture"] and "there is no sound" in " ".join(found.notes)
    assert found.margin == pytest.approx(found.alternatives[0].behind) and found.margin > 5


def test_sound_that_runs_on_orders_shots_that_have_nothing_in_common(run: Run, folder: Path) -> None:
    shots = [picture for seed, (a, b) in enumerate(pairwise(BOUNDS)) for picture in take(10 + seed, b - a)]
    truth = cut_up(folder, shots, BOUNDS, gliding_sound(140, 1))
    assert call(run, truth).best_order == truth
    assert call(run, truth, cues=["sound"]).best_order == truth
    by_picture = call(run, truth, cues=["picture"])
    assert "open" in {join.sure for join in by_picture.joins}
    assert len(by_picture.runs) > 1


def test_the_answer_has_the_matrix_in_whole_numbers_and_a_picture_of_the_order(run: Run, folder: Path) -> None:
    truth = cut_up(folder, take(2, 140), BOUNDS, gliding_sound(140, 1))
    answer = run("join_scores", paths=[f"materials/{clip}" for clip in sorted(truth)])
    assert isinstance(answer.result, JoinScoresResult) and answer.image is not None
    assert answer.result.matrix[0] == "then: 1.mp4 2.mp4 3.mp4 4.mp4 5.mp4 6.mp4 7.mp4"
    scores = dict(row.split(": ") for row in answer.result.matrix[1:])
    for a, b in pairwise(truth):
        row = [int(score) if score != "." else -99 for score in scores[a].split()]
        assert int(b.split(".")[0]) - 1 == int(np.argmax(row))
    sheet = cv2.imdecode(np.frombuffer(answer.image.data, np.uint8), cv2.IMREAD_COLOR)
    assert sheet is not None and max(sheet.shape) <= 1568
    assert len(as_text(answer.result)) < 4000


def test_a_film_in_order_is_said_to_be_and_two_swapped_shots_are_found(run: Run, folder: Path) -> None:
    shots = [take(20 + seed, 30) for seed in range(6)]
    wave = gliding_sound(180, 3)
    for name, order in (("right", [0, 1, 2, 3, 4, 5]), ("wrong", [0, 3, 2, 1, 4, 5])):
        pictures = [picture for shot in order for picture in shots[shot]]
        samples = round(30 / FPS * RATE_HZ)
        follows = np.concatenate([wave[:, shot * samples : (shot + 1) * samples] for shot in order], axis=1)
        write_film(folder / f"materials/{name}.mp4", pictures, FPS, follows)
    right, wrong = call(run, ["right.mp4"]), call(run, ["wrong.mp4"])
    assert right.own_order_behind == 0 and "broken" not in {join.sure for join in right.joins}
    assert [join.sure == "broken" for join in wrong.joins] == [True, True, True, True, False]
    assert wrong.own_order_behind is not None and wrong.own_order_behind > 5
    assert wrong.best_order == ["1@0.00s", "4@4.50s", "3@3.00s", "2@1.50s", "5@6.00s", "6@7.50s"]


def test_ends_are_kept_and_serve_other_sets_of_clips(run: Run, folder: Path) -> None:
    truth = cut_up(folder, take(3, 140), BOUNDS, gliding_sound(140, 1))
    first = call(run, truth)
    kept = {path: path.stat().st_mtime_ns for path in (folder / ".avb/cache").glob("*.ends-*")}
    assert len(kept) == len(truth)
    assert call(run, truth) == first
    assert call(run, truth[2:]).best_order == truth[2:]
    assert {path: path.stat().st_mtime_ns for path in (folder / ".avb/cache").glob("*.ends-*")} == kept


def test_work_that_nobody_wants_stops(folder: Path) -> None:
    truth = cut_up(folder, take(4, 60), BOUNDS[:4], None)
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(Cancelled):
        by_name()["join_scores"].call(
            {"paths": [f"materials/{clip}" for clip in truth]}, Call(Workspace(folder), stop=stopped)
        )


def test_what_cannot_be_ordered_is_a_sentence(run: Run, folder: Path) -> None:
    truth = cut_up(folder, take(5, 60), BOUNDS[:4], None)
    make_sound(folder / "materials/song.wav")
    with pytest.raises(UserError, match=r"paths names materials/5\.mp4 twice\. Give every clip once"):
        run("join_scores", paths=["materials/5.mp4", "materials/5.mp4"])
    with pytest.raises(UserError, match=r"song\.wav has no pictures"):
        run("join_scores", paths=["materials/5.mp4", "materials/song.wav"])
    with pytest.raises(UserError, match=r"has 1 shots there; 2 to 30 can be checked at once\. Give a longer range"):
        call(run, truth[:1])
    with pytest.raises(UserError, match="start_s and end_s are for one film"):
        call(run, truth, start_s=1.0)
    with pytest.raises(UserError, match="at most 30"):
        run("join_scores", paths=[f"materials/{number}.mp4" for number in range(31)])


@pytest.mark.parametrize("count", [2, 3, 6])
def test_the_order_is_the_best_of_all_and_its_margin_that_over_the_second(count: int) -> None:
    scores = np.random.default_rng(count).normal(size=(count, count))
    ranked = sorted(itertools.permutations(range(count)), key=lambda order: -score_of(order, scores))
    found = best_ordering(scores)
    assert found.best.clips == ranked[0]
    assert found.alternatives[0].clips == ranked[1]
    for join, margin in zip(pairwise(ranked[0]), found.margins, strict=True):
        lacking = next(order for order in ranked if join not in pairwise(order))
        assert margin == pytest.approx(score_of(ranked[0], scores) - score_of(lacking, scores))


def test_the_search_for_many_clips_finds_what_going_through_all_sets_finds() -> None:
    scores = np.random.default_rng(9).normal(size=(11, 11))
    exact = best_ordering(scores)
    search = Search(scores, lambda: None)
    best = search.best()
    assert best is not None and tuple(best) == exact.best.clips
    search.leave_out(best)
    second = search.best()
    assert second is not None and score_of(second, scores) == pytest.approx(exact.alternatives[0].score)


def test_margins_of_many_clips_claim_no_more_than_there_is() -> None:
    chance = np.random.default_rng(1)
    order, scores = chance.permutation(18), chance.normal(-3, 2, (18, 18))
    for a, b in pairwise(order):
        scores[a, b] += chance.normal(6, 2)
    found = best_ordering(scores)
    for (a, b), margin in zip(pairwise(found.best.clips), found.margins, strict=True):
        lacking = scores.copy()
        lacking[a, b] = -1e3
        other = Search(lacking, lambda: None).best()
        assert other is not None
        assert 0 <= margin <= found.best.score - score_of(other, scores) + 1e-6
    assert max(found.margins) > 3


def test_a_search_stops_while_the_solver_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    release, begun = threading.Event(), threading.Event()

    def solve(*_: object, **__: object) -> None:
        begun.set()
        release.wait(10)

    def check() -> None:
        if begun.is_set():
            raise Cancelled

    monkeypatch.setattr("primitives._joins.proven.milp", solve)
    try:
        with pytest.raises(Cancelled):
            Search(np.zeros((20, 20)), check).best()
        assert not release.is_set()
    finally:
        release.set()


@pytest.mark.parametrize("count", [16, 17, 30])
def test_many_clips_are_ordered_and_the_order_is_proven(count: int) -> None:
    chance = np.random.default_rng(count)
    order = tuple(chance.permutation(count).tolist())
    scores = chance.normal(-3, 2, (count, count))
    for a, b in pairwise(order):
        scores[a, b] += 9
    found = best_ordering(scores)
    assert found.proven and found.best.score >= score_of(order, scores)
    assert sum(join in pairwise(order) for join in pairwise(found.best.clips)) >= count - 3
    assert min(found.margins) == pytest.approx(found.best.score - found.alternatives[0].score)
    assert min(found.margins) >= 0


def test_a_real_film_with_sound_is_put_back_as_the_builder_cut_it(run: Run, folder: Path) -> None:
    film = open_footage(real_clip("film/nasa_13013.mp4"))
    bounds = clip_bounds(film, BuildRequest(seed=1, count=1, min_clips=7, max_clips=7, cut_inside=True))
    for part, (first, last) in enumerate(pairwise(bounds)):
        wave = sound(film, film.time_of(first), film.time_of(last))
        write_film(folder / f"materials/{ORDER[part] + 1}.mp4", frames(film, first, last), film.fps, wave)
    truth = [f"{ORDER[part] + 1}.mp4" for part in range(7)]
    assert call(run, truth).best_order == truth
