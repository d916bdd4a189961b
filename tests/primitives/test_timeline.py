"""Frames and times: the pure core that everything frame-exact stands on."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primitives._media.timeline import Timeline, spread

RATES = [Fraction(24), Fraction(25), Fraction(30), Fraction(60), Fraction(24000, 1001), Fraction(30000, 1001)]


def timeline(steps: list[int], start: int = 0, time_base: Fraction = Fraction(1, 1000)) -> Timeline:
    pts = np.cumsum([start, *steps], dtype=np.int64)
    return Timeline(pts[:-1], time_base, int(pts[-1]), np.full(len(steps), start, dtype=np.int64))


def constant(rate: Fraction, frames: int, ticks: int = 90_000, start: int = 0) -> Timeline:
    pts = np.array([round(n * ticks / rate) + start for n in range(frames + 1)], dtype=np.int64)
    return Timeline(pts[:-1], Fraction(1, ticks), int(pts[-1]), np.full(frames, start, dtype=np.int64))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("ticks", [1000, 12_800, 90_000])
def test_rounding_to_the_time_base_does_not_hide_the_frame_rate(rate: Fraction, ticks: int) -> None:
    film = constant(rate, 2000, ticks)
    assert (film.frame_rate, film.is_vfr) == (rate, False)


def test_uneven_steps_are_variable_frame_rate() -> None:
    assert timeline([33, 33, 185, 33, 33, 33]).is_vfr


@given(st.lists(st.integers(4, 500), min_size=1, max_size=60), st.integers(-5000, 5000))
def test_a_printed_time_leads_back_to_its_frame(steps: list[int], start: int) -> None:
    film = timeline(steps, start)
    assert [film.frame_at(round(float(film.time_of(n)), 3)) for n in range(len(film))] == list(range(len(film)))


@given(st.sampled_from(RATES), st.integers(1, 400), st.floats(0, 30))
def test_a_time_names_the_frame_on_screen(rate: Fraction, frames: int, time_s: float) -> None:
    film = constant(rate, frames)
    shown = film.frame_at(time_s)
    assert float(film.time_of(shown)) <= time_s + 0.001
    assert shown == frames - 1 or float(film.time_of(shown + 1)) > time_s


@given(st.lists(st.integers(4, 500), min_size=3, max_size=60), st.data())
def test_adjacent_ranges_share_no_frame_and_miss_none(steps: list[int], data: st.DataObject) -> None:
    film = timeline(steps)
    cut = data.draw(st.integers(1, len(film) - 1))
    at_s, end_s = float(film.time_of(cut)), float(film.duration)
    assert [*film.frames_in(0.0, at_s), *film.frames_in(at_s, end_s)] == list(range(len(film)))


def test_time_zero_is_the_first_frame_whatever_the_offset() -> None:
    assert constant(Fraction(25), 10, start=-7200).time_of(0) == 0
    assert constant(Fraction(25), 10, start=123_456).time_of(1) == Fraction(1, 25)


@given(st.integers(1, 300), st.integers(1, 100))
def test_a_spread_keeps_both_ends_and_never_repeats(frames: int, count: int) -> None:
    film = constant(Fraction(25), frames)
    chosen = spread(film, range(frames), count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(frames, count)
    if count > 1:
        assert (chosen[0], chosen[-1]) == (0, frames - 1)
