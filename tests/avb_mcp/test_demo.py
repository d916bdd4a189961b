"""The demo's film and page; the agents and builders that it runs have tests of their own."""

from __future__ import annotations

import re

import numpy as np
import pytest

from avb_mcp.agents import nop, oracle
from avb_mcp.agents.runner import cases_of, run_all
from avb_mcp.demo.film import FPS, cuts_s, draw, frame_count
from avb_mcp.demo.page import write_page
from avb_mcp.demo.run import requests
from avb_mcp.demo.shots import SHOTS
from avb_mcp.demo.sound import RATE_HZ, soundtrack
from avb_mcp.tasks.builders import repurpose
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.footage import open_footage
from avb_mcp.tasks.spec import Source
from avb_mcp.tasks.suite import write_suite
from primitives._task import Family
from tests.avb_mcp.tasks.shot_films import shot_film


def frame(number: int) -> np.ndarray:
    """One frame of the film by its number."""
    first = 0
    for shot in SHOTS:
        count = round(shot.length_s * FPS)
        if number < first + count:
            return draw(shot, shot.layers(), (number - first) / count, number / (frame_count() - 1)).astype(int)
        first += count
    raise IndexError(number)


def test_every_cut_of_the_film_is_where_it_is_said_to_be() -> None:
    for cut_s in cuts_s()[:4]:
        at = round(cut_s * FPS)
        before, last, first, after = (frame(number) for number in (at - 2, at - 1, at, at + 1))
        assert np.abs(first - last).mean() > 3 * max(np.abs(last - before).mean(), np.abs(after - first).mean(), 3.0)


def test_the_film_is_the_same_every_time_and_nothing_in_it_stands_still() -> None:
    assert np.array_equal(frame(40), frame(40))
    assert np.abs(frame(40) - frame(60)).mean() > 1.0


def test_the_sound_lasts_as_long_as_the_shots_and_never_clips() -> None:
    sound = soundtrack([1.6, 2.0])
    assert sound.shape == (1, round(3.6 * RATE_HZ))
    assert 0.1 < np.abs(sound).max() < 0.96


def test_one_task_of_every_family_is_built() -> None:
    assert set(requests()) == set(Family) and all(request.count == 1 for request in requests().values())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("demo")
    film = shot_film(out / "film.mp4", (40, 40, 40, 40, 40))
    footage = open_footage(film)
    plans = repurpose.plan([footage], BuildRequest(seed=1, count=1))
    write_suite(out / "suite", plans, [Source(name=footage.name, sha256=footage.sha256)], lambda *_: None)
    runs = run_all(cases_of(out / "suite"), [nop.AGENT, oracle.AGENT], out / "runs", lambda *_: None)
    return write_page(out, film, out / "suite", runs).read_text(encoding="utf-8")


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    sources = re.findall(r'(?:src|href|url)[=(]"?([^">)]{1,40})', page)
    assert sources and all(source.startswith("data:image/jpeg;base64,") for source in sources)


def test_the_page_shows_the_scores_the_brief_and_the_film_that_was_handed_in(page: str) -> None:
    assert "Repurpose" in page and "oracle" in page and "1.00" in page and "0.00" in page
    assert "Make a short version of the film" in page and "Loudness: from -20 to -12 LUFS" in page
    assert page.count("data:image/jpeg") >= 2
    assert "a kind of defect that the tools find well" in page and "its sound runs on across the cuts" in page
