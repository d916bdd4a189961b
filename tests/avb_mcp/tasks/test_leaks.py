"""Without looking at the pictures nothing can be guessed (benchmarks/leaks.py is the same at full size)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.footage import Footage, open_footage
from benchmarks.leak_guesses import Guess, Seen, assembly_leaks, corrected, order_guesses, order_leaks
from benchmarks.leaks import assembly_slots, order_task
from tests.avb_mcp.tasks.shot_films import shot_film

SEEDS = 5
LEAKS_BELOW = 0.01
ORDER = BuildRequest(seed=0, count=1, min_clips=7, max_clips=8)
ASSEMBLY = BuildRequest(seed=0, count=1, slots=3)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> list[Footage]:
    folder = tmp_path_factory.mktemp("films")
    lengths = np.random.default_rng(0).integers(11, 36, (SEEDS, 5))
    return [
        open_footage(shot_film(folder / f"{seed}.mp4", [*row.tolist(), 33, 35, 34], seed=seed, size=(128, 72)))
        for seed, row in enumerate(lengths)
    ]


def _most_telling(guesses: list[Guess]) -> float:
    return corrected(guesses)[0][1]


def test_no_simple_guess_orders_the_clips_better_than_chance(films: list[Footage], tmp_path: Path) -> None:
    tasks = [order_task(film, seed, tmp_path / str(seed), ORDER) for seed, film in enumerate(films)]
    guesses = order_leaks(tasks)
    assert {"name, up", "bytes, down", "video packet 1 size, up"} <= {guess.name for guess in guesses}
    assert _most_telling(guesses) > LEAKS_BELOW


def test_what_does_not_depend_on_the_content_is_the_same_for_all_clips(films: list[Footage], tmp_path: Path) -> None:
    clips, _ = order_task(films[0], 0, tmp_path / "order", ORDER)
    (candidates, _), *_ = assembly_slots(films[0], 0, tmp_path / "assembly", ASSEMBLY)
    for seen in (clips, candidates):
        same = {name for name in seen[0] if len({clip[name] for clip in seen}) == 1}
        assert {"container tags", "container start", "video tags", "video start", "video headers"} <= same
    same = {name for name in candidates[0] if len({clip[name] for clip in candidates}) == 1}
    assert {"container duration", "video duration", "video packets"} <= same


def test_no_simple_guess_finds_the_right_candidates_more_often_than_chance(
    films: list[Footage], tmp_path: Path
) -> None:
    slots = [
        slot for seed, film in enumerate(films) for slot in assembly_slots(film, seed, tmp_path / str(seed), ASSEMBLY)
    ]
    guesses = assembly_leaks(slots)
    assert {"bytes, odd one out", "name, smallest"} <= {guess.name for guess in guesses}
    assert _most_telling(guesses) > LEAKS_BELOW


def _made_up(rng: np.random.Generator, clips: int) -> tuple[list[Seen], list[int]]:
    ranks = rng.permutation(clips).tolist()
    return [{"name": float(at), "bytes": float(rng.integers(1000, 9000))} for at in range(clips)], ranks


def test_a_file_size_that_grows_with_the_order_is_noticed() -> None:
    rng = np.random.default_rng(1)
    tasks = [_made_up(rng, 8) for _ in range(SEEDS)]
    assert _most_telling(order_leaks(tasks)) > LEAKS_BELOW
    for clips, ranks in tasks:
        for clip, rank in zip(clips, ranks, strict=True):
            clip["bytes"] = 5000.0 + 100 * rank
    leak, p = corrected(order_leaks(tasks))[0]
    assert leak.name.startswith("bytes")
    assert p < 0.001


def test_packets_that_match_at_the_joins_are_noticed() -> None:
    rng = np.random.default_rng(1)
    tasks = []
    for _ in range(12):
        clips, ranks = _made_up(rng, 8)
        edges = rng.permutation(9)
        for clip, rank in zip(clips, ranks, strict=True):
            clip |= {"audio packet 1 size": float(edges[rank]), "audio packet -1 size": float(edges[rank + 1])}
            clip["audio mean size"] = float(rng.random())
        tasks.append((clips, ranks))
    leak, p = corrected(order_leaks(tasks))[0]
    assert leak.name == "audio last packet like the next first"
    assert p < 0.01


def test_a_right_candidate_that_is_always_the_smallest_is_noticed() -> None:
    rng = np.random.default_rng(1)
    slots = []
    for _ in range(20):
        right = int(rng.integers(3))
        slots.append(([{"bytes": float(10 if at == right else 50 + at)} for at in range(3)], right))
    assert {guess.name for guess, p in corrected(assembly_leaks(slots)) if p < 0.001} >= {"bytes, smallest"}


def test_a_feature_that_all_clips_share_is_no_guess() -> None:
    assert list(order_guesses([{"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 3.0}])) == ["b, up"]
