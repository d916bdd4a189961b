"""Planning an edit: pure functions over frame numbers and timestamps, and H.264's bytes."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primitives._base import UserError
from primitives._edit import Join, Piece
from primitives._edit_plan import CopyRun, copied_delay, copy_runs, encoded_delay, lay_out, plan_blocks
from primitives._edit_ranges import frame_rate, kept_frames, segment_frames
from primitives._media import h264
from primitives._media.sound_track import tempo_steps
from primitives._media.timeline import Timeline


def film(frames: int, step: int = 512, time_base: Fraction = Fraction(1, 12_800)) -> Timeline:
    pts = np.arange(frames) * step
    return Timeline(pts, time_base, frames * step, np.zeros(frames, dtype=np.int64))


def piece(frames: range, **more: object) -> Piece:
    return Piece(Path("a.mp4"), "a.mp4", frames, **more)  # type: ignore[arg-type]


# I P B B pattern of a closed group of 8 frames: shown 0 4 2 1 3 7 6 5.
GROUP = np.array([0, 4, 2, 1, 3, 7, 6, 5])
SHOWN = np.concatenate([GROUP + 8 * n for n in range(4)])
STARTS = np.array([0, 8, 16, 24])


@pytest.mark.parametrize(
    ("frames", "runs"),
    [
        (range(32), [CopyRun(0, 32, 0, 32)]),
        (range(8, 24), [CopyRun(8, 24, 8, 24)]),
        (range(3, 32), [CopyRun(8, 32, 8, 32)]),
        (range(15), [CopyRun(0, 13, 0, 13)]),
        (range(1, 8), []),
        (range(8, 12), [CopyRun(8, 9, 8, 9)]),
    ],
)
def test_runs_start_at_an_idr_picture_and_end_where_nothing_is_missing(frames: range, runs: list[CopyRun]) -> None:
    assert copy_runs(SHOWN, STARTS, frames.start, frames.stop) == runs


def test_a_hidden_packet_ends_a_run_and_the_next_idr_starts_another() -> None:
    shown = SHOWN.copy()
    shown[11] = -1
    assert copy_runs(shown, STARTS, 0, 32) == [CopyRun(0, 9, 0, 9), CopyRun(16, 32, 16, 32)]


@given(st.integers(0, 31), st.integers(1, 32))
def test_a_run_shows_each_of_its_frames_once_and_no_other(first: int, length: int) -> None:
    last = min(32, first + length)
    for run in copy_runs(SHOWN, STARTS, first, last):
        assert sorted(SHOWN[run.first_packet : run.last_packet]) == list(range(run.first_frame, run.last_frame))
        assert first <= run.first_frame < run.last_frame <= last and run.first_packet in STARTS


def test_blocks_cover_every_frame_in_order() -> None:
    layout = lay_out([piece(range(3, 15)), piece(range(2, 30))], [film(32)] * 2, Fraction(25), Fraction(1, 12_800))
    runs = [copy_runs(SHOWN, STARTS, int(span.frames[0]), int(span.frames[-1]) + 1) for span in layout.spans]
    spans = [s for block in plan_blocks(layout.spans, runs) for s in getattr(block, "spans", None) or (block.span,)]  # type: ignore[union-attr]
    assert np.concatenate([span.frames for span in spans]).tolist() == [*range(3, 15), *range(2, 30)]
    assert np.concatenate([span.ticks for span in spans]).tolist() == layout.ticks.tolist()


def test_two_hundred_odd_pieces_do_not_drift() -> None:
    ntsc = film(2000, 1001, Fraction(1, 30_000))
    pieces = [piece(range(n, n + 7)) for n in range(0, 1400, 7)]
    layout = lay_out(pieces, [ntsc] * 200, ntsc.frame_rate, Fraction(1, 1000))
    exact = [Fraction(n * 1001, 30) for n in range(1400)]
    assert max(abs(int(tick) - time) for tick, time in zip(layout.ticks, exact, strict=True)) <= Fraction(1, 2)


def test_a_fade_is_whole_frames_and_at_most_half_a_piece() -> None:
    pieces = [piece(range(10), join=Join("fade", Fraction(5))), piece(range(20, 60))]
    layout = lay_out(pieces, [film(100)] * 2, Fraction(25), Fraction(1, 25))
    assert [placed.start for placed in layout.placed] == [0, Fraction(5, 25)]
    assert len(layout.ticks) == 45 and layout.ticks.tolist() == list(range(45))
    mixed = layout.spans[1].mix
    assert mixed is not None and mixed.frames.tolist() == [20, 21, 22, 23, 24]
    assert layout.spans[2].frames[0] == 25


def test_delays_are_the_smallest_that_keep_decoding_before_showing() -> None:
    ticks = np.arange(32) * 10
    assert copied_delay(SHOWN, CopyRun(0, 32, 0, 32), ticks) == 20
    assert (encoded_delay(ticks, 2), encoded_delay(ticks, 0)) == (20, 0)


def test_dropping_everything_and_reaching_past_the_end_are_sentences() -> None:
    assert kept_frames(film(100), [[1, 2], [3.2, 4]], "a") == [range(25), range(50, 80)]
    with pytest.raises(UserError, match="leaves nothing"):
        kept_frames(film(100), [[0, 4]], "a")
    assert segment_frames(film(100), 1.0, 4.019, "a", 4.0) == range(25, 100)
    with pytest.raises(UserError, match=r"end_s=4.1 is past the end of a \(4.000 s\)"):
        segment_frames(film(100), 1.0, 4.1, "a", 4.0)


def test_decimal_rates_mean_their_exact_ones() -> None:
    assert [frame_rate(fps) for fps in (23.976, 29.97, 59.94, 25, 12.5)] == [
        Fraction(24_000, 1001), Fraction(30_000, 1001), Fraction(60_000, 1001), 25, Fraction(25, 2),
    ]  # fmt: skip


@given(st.floats(0.1, 20))
def test_tempo_steps_multiply_to_the_speed(speed: float) -> None:
    steps = tempo_steps(speed)
    assert np.prod(steps) == pytest.approx(speed) and all(0.5 <= step <= 2 for step in steps)


def test_parameter_sets_survive_the_way_through_avcc() -> None:
    sps = bytes.fromhex("6764001facd9405005bb0110000003001000000303 20f1831960".replace(" ", ""))
    pps = bytes.fromhex("68ebe3cb22c0")
    sets = h264.parameter_sets([sps, pps])
    facts = h264.sequence_facts(sps)
    assert (facts.profile_idc, facts.level_idc, facts.frames_only, facts.bit_depth) == (100, 31, True, 8)
    assert h264.read_extradata(h264.build_avcc(sets)) == (4, sets)
    assert list(h264.split(sets.in_band(), 4)) == [sps, pps] == list(h264.split(b"\0\0\0\1" + sps + b"\0\0\1" + pps, 0))


def test_sets_with_one_id_and_two_meanings_clash() -> None:
    one, other = h264.ParameterSets({0: b"a"}, {0: b"p"}), h264.ParameterSets({1: b"b"}, {0: b"q"})
    assert one.clashes_with(other) and not one.clashes_with(one)
    assert not one.clashes_with(h264.ParameterSets({1: b"b"}, {1: b"q"}))


def test_a_cut_short_record_is_not_h264() -> None:
    with pytest.raises(h264.NotH264):
        h264.read_extradata(b"\x01\x64\x00\x1f\xff\xe1\x00")
