"""What the autopilot decides, over numbers and words alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from avb_mcp.agents._delivery import Delivery, Span, plan_cut
from avb_mcp.agents.autopilot._findings import next_call
from avb_mcp.agents.autopilot._geometry import Marked, relate
from avb_mcp.agents.autopilot._path import EXACT_UP_TO, best_order, cost_of
from avb_mcp.agents.autopilot._repairs import ATTEMPTS, merged
from avb_mcp.agents.autopilot._steps import steps
from avb_mcp.agents.autopilot._storyboard import mismatch, read_storyboard
from avb_mcp.agents.autopilot._suspects import Suspect
from avb_mcp.agents.autopilot.repair import likeliest, read_wishes
from avb_mcp.agents.autopilot.repurpose import learn, read_brief
from avb_mcp.tasks.builders._delivery import Delivery as Asked
from avb_mcp.tasks.builders._delivery import delivery_text
from avb_mcp.tasks.builders._repair_texts import brief as repair_brief
from avb_mcp.tasks.builders.storyboard import Slot, Storyboard, assembly_brief
from primitives._defects.advice import advice
from primitives._defects.common import Finding
from primitives._defects.kinds import KINDS


def line_costs(count: int, seed: int) -> tuple[np.ndarray, list[int]]:
    """Things on a line, each nearest to the next and far from the one before; the right order is known."""
    order = np.random.default_rng(seed).permutation(count).tolist()
    place = {thing: number for number, thing in enumerate(order)}
    costs = [[abs(place[b] - place[a] - 1) + 0.1 for b in range(count)] for a in range(count)]
    return np.array(costs), order


@pytest.mark.parametrize("count", [1, 2, 7, 11, EXACT_UP_TO + 4])
def test_the_order_with_the_smallest_sum_is_found_exactly_or_by_search(count: int) -> None:
    costs, order = line_costs(count, seed=count)
    assert best_order(costs) == order


def test_the_exact_order_is_no_dearer_than_any_other() -> None:
    costs = np.random.default_rng(3).uniform(0, 1, (6, 6))
    cheapest = min(cost_of(list(way), costs) for way in itertools.permutations(range(6)))
    assert cost_of(best_order(costs), costs) == pytest.approx(cheapest)


def test_a_cut_takes_parts_from_the_whole_film_in_its_order_and_of_the_length_asked_for() -> None:
    shots = [Span(3.0 * number, 3.0 * number + 3.0) for number in range(12)]
    cut = plan_cut(shots, 10.0, longest_s=3.0)
    assert sum(span.length_s for span in cut) == pytest.approx(10.0)
    assert max(span.length_s for span in cut) <= 2.7 + 1e-9
    assert [span.start_s for span in cut] == sorted(span.start_s for span in cut)
    assert cut[0].start_s < 9.0 and cut[-1].start_s > 24.0


def test_a_cut_of_one_long_shot_is_its_beginning() -> None:
    assert plan_cut([Span(0.0, 60.0)], 12.5) == [Span(0.0, 12.5)]


def test_the_builders_own_delivery_words_are_read_back() -> None:
    asked = Asked(
        min_s=9, max_s=13, width_px=202, height_px=360, min_fps=23.75, max_fps=26.25, min_lufs=-20, max_lufs=-12,
        max_shot_s=3, max_silence_s=2,
    )  # fmt: skip
    assert read_brief(delivery_text(asked)) == Delivery(
        min_s=9, max_s=13, width_px=202, height_px=360, min_fps=23.75, max_fps=26.25, video_codec="h264",
        audio_codec="aac", container="mp4", min_lufs=-20, max_lufs=-12, max_shot_s=3,
    )  # fmt: skip


def test_a_clients_words_about_length_size_and_loudness_are_read() -> None:
    text = "The source runs 40 minutes. Please make it 60 to 90 seconds, 1080x1920 at 30 fps, around -16 LUFS. HEVC."
    read = read_brief(text)
    assert (read.min_s, read.max_s, read.width_px, read.height_px) == (60, 90, 1080, 1920)
    assert (read.min_fps, read.max_fps, read.min_lufs, read.max_lufs) == (30, 30, -17, -15)
    assert read.video_codec == "hevc"


def test_the_sentences_of_refused_gates_become_requirements() -> None:
    refused = [
        "duration: is 31.200 s, must be from 20.000 to 30.000 s",
        "size: is 640x360, must be 360x640",
        "fps: is 25.0, must be 30 ± 0.02",
        "video_codec: is hevc, must be h264",
    ]
    expected = Delivery(
        min_s=20, max_s=30, width_px=360, height_px=640, min_fps=30, max_fps=30, video_codec="h264"
    )  # fmt: skip
    assert learn(Delivery(), refused) == expected
    assert learn(expected, []) == expected


@pytest.mark.parametrize(
    ("lufs", "peak_dbtp", "gain_db"),
    [(-16.0, -3.0, 0.0), (-30.0, -20.0, 14.0), (-8.0, 0.0, -8.0), (None, None, 0.0), (-24.0, -5.0, 4.5)],
)
def test_loudness_goes_to_the_middle_of_its_range_as_far_as_the_peaks_allow(
    lufs: float | None, peak_dbtp: float | None, gain_db: float
) -> None:
    asked = replace(Delivery(), min_lufs=-20.0, max_lufs=-12.0)
    assert asked.gain_db(lufs, peak_dbtp) == pytest.approx(gain_db)


def test_a_jump_inside_a_shot_is_found_and_a_cut_or_a_drift_is_not() -> None:
    times = np.arange(0, 6, 0.1, dtype=np.float32)
    values = np.where(times < 2, 1.0, 5.0) + np.where((times >= 3.95) & (times < 5.05), -1.0, 0.0)
    values = (values + 0.05 * times).astype(np.float32)
    shots = [Span(0.0, 2.0), Span(2.0, 6.0)]
    assert [(round(step.time_s, 2), step.size < 0) for step in steps(times, values, shots, 0.5)] == [
        (4.0, True),
        (5.1, False),
    ]


def test_the_call_that_a_finding_names_is_read_and_words_are_no_call() -> None:
    finding = Finding("colour", 1.0, 2.5, 0.9)
    named = next_call(advice(finding, "materials/broken.mp4", has_picture=True))
    assert named == ("color_match", {"path": "materials/broken.mp4", "start_s": 1.0, "end_s": 2.5})
    assert next_call("look with frame_grid") is None and next_call("") is None


def test_every_kind_that_can_be_found_has_a_repair_but_lost_sound() -> None:
    assert set(KINDS) - set(ATTEMPTS) == {"dropout"}


def test_a_window_that_cannot_be_repaired_is_named_if_it_fits_the_brief() -> None:
    told = [Suspect("noise", 1.0, 2.0, 0.6), Suspect("freeze", 3.0, 4.0, 0.4), Suspect("colour", 5.0, 6.0, 0.5)]
    seen, heard = (read_wishes(f"{words} The film is materials/broken.mp4.") for words in ("It looks off.", "Listen."))
    assert likeliest(told, heard) == told[0]
    assert likeliest(told, seen) == told[2]
    assert likeliest(told[:2], seen) is None


def test_a_brief_may_be_of_what_is_seen_of_what_is_heard_or_of_both() -> None:
    opening, ending = "Could you have a look? ", " You have better eyes and ears than I have."
    wishes = [
        read_wishes(opening + words + ending)
        for words in (
            "It is hard to follow by ear.",
            "The colours look wrong.",
            "I hear it and see it apart.",
            "It is.",
        )
    ]
    assert [(one.allow("noise"), one.allow("colour")) for one in wishes] == [
        (True, False),
        (False, True),
        (True, True),
        (False, True),
    ]


def test_stretches_that_overlap_or_lie_close_are_one() -> None:
    spans = [Span(5.0, 6.0), Span(1.0, 2.0), Span(1.5, 3.0)]
    assert merged(spans) == [Span(1.0, 3.0), Span(5.0, 6.0)]
    assert merged(spans, apart_s=2.0) == [Span(1.0, 6.0)]


@pytest.mark.parametrize(
    ("scheme", "cuts", "wished"),
    [("h1", True, (True, False, False)), ("h1", False, (False, True, False)), ("v3", False, (False, False, True))],
)
def test_the_builders_own_repair_briefs_tell_what_may_be_handed_in(
    scheme: str, cuts: bool, wished: tuple[bool, bool, bool]
) -> None:
    wishes = read_wishes(repair_brief(np.random.default_rng(1), ["It hums to my ear."], scheme, cuts=cuts))
    assert (wishes.cuts, wishes.same_length, wishes.several) == wished
    assert wishes.of_sound and not wishes.of_order


def test_the_storyboard_of_a_built_brief_is_read_back_slot_by_slot() -> None:
    slot = Slot(
        slot=1, description="A boat.", shot_size="Wide", camera_angle="Eye level", lens_size="Medium",
        camera_movement="Pan left",
    )  # fmt: skip
    board = Storyboard(candidates_per_slot=3, slots=(slot, slot.model_copy(update={"slot": 2, "shot_size": None})))
    first, second = read_storyboard(assembly_brief(board))
    assert (first.description, first.shot_size, first.camera_movement) == ("A boat.", "Wide", "Pan left")
    assert (second.shot_size, second.camera_angle) == ("", "Eye level")


def test_a_description_fits_the_picture_that_has_its_colours() -> None:
    words = "From left to right dark blue, dark blue, dark blue; dark blue above, light green below."
    green_below = np.full((90, 160, 3), (110, 60, 30), np.uint8)
    green_below[45:] = (140, 220, 150)
    assert mismatch(words, green_below) < mismatch(words, green_below[::-1])
    assert mismatch("Somebody laughs.", green_below) == 0.0


def moved(points: np.ndarray, growth: float, turn: float, slant: float, bend: float) -> np.ndarray:
    cos, sin = np.exp(growth) * np.cos(turn), np.exp(growth) * np.sin(turn)
    there = points @ np.array([[cos, sin], [-sin, cos]])
    return there * (1 + slant * there[:, 1:] + bend * (there**2).sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("growth", "turn", "slant", "bend"),
    [(0.0, 0.0, 0.0, 0.0), (0.4, 0.0, 0.0, 0.0), (0.0, 0.25, 0.0, 0.0), (0.0, 0.0, 0.2, 0.0), (0.0, 0.0, 0.0, -0.06)],
)
def test_size_turn_slant_and_bend_are_told_apart_by_shared_points(
    growth: float, turn: float, slant: float, bend: float
) -> None:
    chance = np.random.default_rng(1)
    points = chance.uniform((-1.6, -0.9), (1.6, 0.9), (120, 2))
    looks = chance.normal(0, 100, (120, 128)).astype(np.float32)
    found = relate(Marked(points, looks), Marked(moved(points, growth, turn, slant, bend), looks))
    assert found.points > 60
    assert [found.growth, found.turn, found.slant, found.bend] == pytest.approx([growth, turn, slant, bend], abs=0.03)


def test_pictures_with_nothing_in_common_have_no_relation() -> None:
    chance = np.random.default_rng(2)
    one, other = (
        Marked(chance.uniform(-1, 1, (40, 2)), chance.normal(0, 100, (40, 128)).astype(np.float32)) for _ in "ab"
    )
    assert relate(one, other).points < 8
