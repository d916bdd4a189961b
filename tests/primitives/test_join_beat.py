"""join_scores by the beat: music that keeps its time across a cut."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avb_mcp.tasks.footage import write_film
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives._joins.beat import beat_evidence, onsets
from primitives._joins.clips import whole_clips
from primitives._joins.further import beaten

ROWS = 600


def drums(period: int, length: int, seed: int = 0) -> NDArray[np.float64]:
    """Levels of a drum in 10 ms, as bands: every beat another strength."""
    rng = np.random.default_rng(seed)
    levels = np.full((length, 4), -60.0)
    for at in range(0, length, period):
        fall = np.maximum(-60.0, rng.uniform(-25, -10) - 1.5 * np.arange(min(25, length - at)))
        levels[at : at + len(fall)] = fall[:, None]
    return levels + rng.normal(0, 0.5, levels.shape)


def test_a_beat_goes_on_only_where_it_does_not_stumble() -> None:
    played = drums(47, 3 * ROWS)
    pieces = [onsets(played[first : first + ROWS]) for first in (0, ROWS, ROWS + 17)]
    told = beat_evidence(pieces[:1], pieces[1:])[0]
    assert told[0] > 0.5 and told[1] < 0


def test_another_tempo_does_not_go_on() -> None:
    tail, head = onsets(drums(47, 2 * ROWS)[:ROWS]), onsets(drums(47, 2 * ROWS)[ROWS:])
    other = onsets(drums(61, ROWS, seed=1))
    goes_on, differs = beat_evidence([tail], [head, other])[0]
    assert goes_on > differs + 0.5


def test_what_is_short_or_silent_says_nothing() -> None:
    tail = onsets(drums(47, ROWS))
    assert beat_evidence([tail], [onsets(drums(47, 100)), onsets(np.zeros((0, 4))), np.zeros(ROWS)]).tolist() == [
        [0.0, 0.0, 0.0]
    ]


def test_clips_go_on_where_their_beat_does(folder: Path) -> None:
    """Bursts of noise every half second, cut between them into clips."""
    rate, period, fps = 48_000, 24_000, 25
    bounds = (0, 68, 146, 224, 302)  # frames: each seam at another place between two beats
    rng = np.random.default_rng(3)
    sound = rng.normal(0, 1e-3, (1, bounds[-1] * rate // fps)).astype(np.float32)
    for at in range(4_000, sound.shape[1] - 6_000, period):
        sound[0, at : at + 4_000] += 0.4 * rng.normal(0, 1, 4_000) * np.exp(-np.arange(4_000) / 900)
    grey, names = np.full((135, 160), 128, np.uint8), [f"{number}.mp4" for number in range(4)]
    for name, (first, last) in zip(names, pairwise(bounds), strict=True):
        piece = np.repeat(sound[:, first * rate // fps : last * rate // fps], 2, axis=0)
        write_film(folder / "materials" / name, [grey] * (last - first), Fraction(fps), piece)
    call = Call(Workspace(folder))
    told = beaten(call, whole_clips(call, [f"materials/{name}" for name in names], names), range(4), range(4))
    assert all(told[n, n + 1] > 0.5 and np.argmax(told[n]) == n + 1 for n in range(3))
