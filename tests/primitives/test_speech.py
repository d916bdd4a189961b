"""Speech without a model: how a film is cut for reading, how words make lines, how text is found. Pure."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from primitives._speech.fillers import Candidate, candidates, steadiness
from primitives._speech.find import find, plain
from primitives._speech.plan import APART_S, LONGEST_S, SECTION_S, cut_near, plan_windows, section_count
from primitives._speech.vad import STEP_S, Span, gaps, islands
from primitives._speech.words import CAPTION, SEGMENT, Line, Word, lines, snapped, srt
from tests.speech import um


def spoken(text: str, each_s: float = 0.3, start_s: float = 0.0) -> list[Word]:
    return [
        Word(round(start_s + n * each_s, 3), round(start_s + (n + 0.9) * each_s, 3), f" {word}", 0.9)
        for n, word in enumerate(text.split())
    ]


spans = st.lists(st.tuples(st.floats(0.05, 12), st.floats(0.1, 60)), max_size=40).map(
    lambda pairs: [
        Span(end - length, end)
        for (_, length), end in zip(pairs, itertools.accumulate(sum(pair) for pair in pairs), strict=True)
    ]
)


@given(spans)
def test_windows_hold_all_speech_and_fit_the_model(speech: list[Span]) -> None:
    end_s = speech[-1].end_s if speech else 1.0
    windows = plan_windows(speech, 0.0, end_s)
    assert all(window.length_s <= LONGEST_S + 2 for window in windows)
    assert all(a.end_s <= b.start_s for a, b in itertools.pairwise(windows))
    for island in speech:
        covered = sum(max(0.0, min(w.end_s, island.end_s) - max(w.start_s, island.start_s)) for w in windows)
        assert abs(covered - island.length_s) < 0.01 * max(1, len(windows))


def test_windows_are_cut_at_the_longest_pause() -> None:
    speech = [Span(0, 9.8), Span(10, 14.5), Span(15.5, 20), Span(20.2, 30)]
    assert plan_windows(speech, 0, 30) == [Span(0, 14.9), Span(15.1, 30)]


def test_long_silence_is_not_read() -> None:
    assert plan_windows([Span(1, 2), Span(2 + APART_S, 9)], 0, 10) == [Span(0.6, 2.4), Span(6.6, 9.4)]


def test_sections_end_in_silence_near_their_place() -> None:
    assert cut_near(SECTION_S, [Span(290, 297), Span(298, 310)]) == 297.5
    assert cut_near(SECTION_S, [Span(290, 292)]) == SECTION_S
    assert cut_near(SECTION_S, [Span(280, 320)]) == SECTION_S
    assert [section_count(s) for s in (0.1, 300, 359, 361, 7200)] == [1, 1, 1, 2, 24]


def test_islands_bridge_short_silence_and_leave_out_clicks() -> None:
    probability = np.array([0, 0.9, 0.9, 0.2, 0.9, 0.9, 0, 0, 0, 0, 0, 0.9, 0, 0, 0], np.float32)
    (island,) = islands(probability, 10.0, 11.0)
    assert abs(island.start_s - (10 + STEP_S - 0.03)) < 1e-6 and abs(island.end_s - (10 + 6 * STEP_S + 0.03)) < 1e-6
    assert islands(np.zeros(0, np.float32), 0, 0) == []


def test_gaps_are_what_is_between() -> None:
    assert gaps([Span(1, 2), Span(3, 4)], 0, 4) == [Span(0, 1), Span(2, 3)]
    assert gaps([], 0, 4) == [Span(0, 4)]


def test_a_line_ends_with_its_sentence_at_a_pause_or_when_it_is_full() -> None:
    words = [*spoken("One two. Three four"), *spoken("five", start_s=4.0), *spoken("six " * 40, start_s=4.5)]
    made = lines(words, CAPTION)
    assert [line.text for line in made[:3]] == ["One two.", "Three four", "five" + " six" * 18]
    assert all(len(line.text) <= CAPTION.longest_characters and line.end_s - line.start_s <= 6.0 for line in made)
    assert [word for line in made for word in line.words] == words
    assert lines([], SEGMENT) == []


def test_captions_are_subrip_and_do_not_overlap() -> None:
    first, second = Word(3599.5, 3601.2, " Über", 1.0), Word(3601.0, 3602.0, " uns.", 1.0)
    assert srt([Line((first,)), Line((second,))]) == (
        "1\n00:59:59,500 --> 01:00:01,000\nÜber\n\n2\n01:00:01,000 --> 01:00:02,000\nuns.\n"
    )


def test_words_beside_silence_begin_and_end_with_the_speech() -> None:
    words = snapped([Word(0.0, 1.0, " so", 1), Word(1.0, 3.0, " it", 1), Word(8.0, 9.0, " is", 1)], [Span(0.5, 2.2)])
    assert [(word.start_s, word.end_s) for word in words] == [(0.5, 1.0), (1.0, 2.2), (8.0, 9.0)]
    words = snapped(
        [Word(0.7, 1.0, " so", 1), Word(1.1, 2.0, " it", 1), Word(3.6, 4.0, " is", 1)], [Span(0.5, 2.2), Span(3, 4)]
    )
    assert [(word.start_s, word.end_s) for word in words] == [(0.5, 1.0), (1.1, 2.2), (3.6, 4.0)]


def test_a_word_stretched_over_an_um_is_put_where_it_is_said() -> None:
    speech = [Span(0, 1), Span(1.5, 2.0), Span(2.4, 4)]
    words = snapped([Word(0.2, 1.0, " so", 1), Word(1.0, 2.9, " in", 1), Word(2.9, 4.0, " all", 1)], speech)
    assert [(word.start_s, word.end_s) for word in words] == [(0.0, 1.0), (2.4, 2.9), (2.9, 4.0)]


def test_an_unsure_um_without_a_sound_of_its_own_is_left_out() -> None:
    words = [*spoken("that is all"), Word(0.87, 0.9, " uh", 0.05)]
    assert candidates(words, [], [Span(0, 2.0)]) == []


def test_numbers_are_compared_as_they_are_said() -> None:
    text = "In 1455, the 15th of 42 O'Clock’s 1900s"
    said = "in fourteen fifty five the fifteenth of forty two o'clock's one thousand nine hundreds"
    assert " ".join(plain(text)) == said


def test_a_passage_is_found_although_it_was_heard_a_little_differently() -> None:
    words = spoken("and so my fellow americans ask not what your country can do for you ask what you can do")
    (hit,) = find("ask not what you're country can do", words)
    assert (hit.first, hit.last) == (5, 12) and hit.likeness > 0.9
    joined = spoken("the black bird sang in the dead of night")
    assert [(hit.first, hit.last) for hit in find("blackbird", joined)] == [(1, 3)]
    assert find("forty-two lines", spoken("the 42 line bible"))[0].first == 1
    assert find("quarterly revenue", words) == [] == find("...", words) == find("ask", [])


def test_every_occurrence_is_found_once_best_first() -> None:
    words = spoken("i have a dream today that i have a dream and you have the cream")
    assert [(hit.first, hit.last) for hit in find("I have a dream", words)][:2] == [(0, 4), (6, 10)]


def test_ums_repeats_and_hesitations_are_candidates() -> None:
    words = [*spoken("so um I was I was going"), Word(4.0, 4.5, " home.", 1), Word(5.9, 6.2, " Then", 1)]
    found = candidates(words, [Candidate("sound", 5.0, 5.3, "", 0.8)], [Span(0.32, 0.52)])
    assert [(one.kind, one.text) for one in found] == [
        ("filler", "um"), ("repeat", "I was"), ("pause", ""), ("sound", ""),
    ]  # fmt: skip
    assert (found[0].start_s, found[0].end_s) == (0.32, 0.52)
    assert (found[1].start_s, found[1].end_s) == (0.6, 1.2)
    assert (found[2].start_s, found[2].end_s) == (words[6].end_s, 4.0)


def test_a_held_vowel_is_steady_and_noise_and_sweeps_are_not() -> None:
    rng = np.random.default_rng(1)
    assert steadiness(um(0.4, 120)) > 0.3
    assert steadiness(rng.normal(0, 0.1, 6400).astype(np.float32)) == 0
    assert steadiness(np.zeros(6400, np.float32)) == 0 == steadiness(np.zeros(10, np.float32))
