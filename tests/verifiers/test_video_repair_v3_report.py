"""Every form of `report.md` that the released scheme reads, and those it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.video_repair_v3.report import parse_time_s, reported_windows
from verifiers.video_repair_v3.truth import Window

ONE = "## Diagnosis\n- type: freeze\n- start: 00:00:12.500\n- end: 00:00:14.000\n"
NUMBERED = "- window_1_start: 1\n- window_1_end: 2\n- window_2_start: 3\n- window_2_end: 4\n"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("01:02:03.500", 3723.5),
        ("1:2:3", 3723.0),
        ("02:03.25", 123.25),
        ("100:59", 6059.0),
        ("90:5.5", 5405.5),
        ("12.5", 12.5),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("75.5", 75.5),
    ],
)
def test_a_time_in_each_form_is_read(text: str, seconds: float) -> None:
    assert parse_time_s(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", "12.5s", "-3", "1:2:3:4", "1:234", "1:002:03", "12,5", ".5", "5.", "about 3", "nan", "inf", "1e3"],
)
def test_anything_else_is_no_time(text: str) -> None:
    assert parse_time_s(text) is None


@given(st.floats(0, 9000))
def test_a_clock_time_and_seconds_mean_the_same(seconds: float) -> None:
    thousandths = round(seconds * 1000)
    clock = f"{thousandths // 3_600_000}:{thousandths // 60_000 % 60:02}:{thousandths % 60_000 / 1000:06.3f}"
    assert parse_time_s(clock) == pytest.approx(thousandths / 1000)


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        "- START: 12.5\n- End : 14",
        "   -start:12.5   \n\t-   end:\t0:14.0\n",
        "notes first\n## Repair trajectory\n- start: 12.5\n- end: 14\n",
        ONE + "- start: 1\n- end: 2\n",
        ONE + "## Diagnosis\n- start: 1\n- end: 2\n",
        "- start:\n- start: 12.5\n- end: 14",
        ONE.replace("\n", "\r\n"),
    ],
)
def test_one_truth_window_takes_the_first_start_and_end_of_the_file(text: str) -> None:
    assert reported_windows(text, 1) == [Window(12.5, 14.0)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- start: 12.5",
        "- start: 14\n- end: 14",
        "- start: 15\n- end: 14",
        "- start: 12.5 s\n- end: 14 s",
        "* start: 12.5\n* end: 14",
        "- **start**: 12.5\n- **end**: 14",
        "- start: soon\n- start: 12.5\n- end: 14",
        "- window_1_start: 12.5\n- window_1_end: 14",
        "start: 12.5\nend: 14",
    ],
)
def test_a_report_without_a_readable_window_names_none(text: str) -> None:
    assert reported_windows(text, 1) == []


@pytest.mark.parametrize(
    "text",
    [
        "## Diagnosis\n" + NUMBERED,
        "- window_2_start: 3\n- window_2_end: 4\n- window_1_end: 2\n- window_1_start: 1\n",
        "- Window 1 start: 1\n- window-1-end: 2\n- WINDOW2START: 3\n- window_2_end: 0:04\n",
        NUMBERED.replace("window_2", "window_7") + "- start: 8\n- end: 9\n",
        NUMBERED + "- window_1_start: 0\n",
        "## Diagnosis\n- start: 1\n- end: 2\n\n## diagnosis of the second\n- start: 3\n- end: 4\n",
        "## Diagnosis\n- start: 1\n- end: 2\n## Repair trajectory\n- start: 5\n- end: 6\n"
        "## Diagnosis\n- start: 3\n- end: 4\n## End\n- start: 7\n- end: 8\n",
    ],
)
def test_several_truth_windows_read_numbered_windows_or_blocks(text: str) -> None:
    assert reported_windows(text, 2) == [Window(1, 2), Window(3, 4)]


def test_a_single_plain_window_serves_several_truths() -> None:
    assert reported_windows(ONE, 2) == [Window(12.5, 14.0)]


def test_numbered_windows_take_precedence_over_blocks() -> None:
    text = "## Diagnosis\n- start: 1\n- end: 2\n## Diagnosis\n- start: 3\n- end: 4\n- window_1_start: 5\n"
    assert reported_windows(text, 2) == []
    assert reported_windows(text + "- window_1_end: 6\n", 2) == [Window(5, 6)]


def test_a_window_without_an_end_is_left_out_but_counts_as_read() -> None:
    blocks = ["## Diagnosis\n- start: 1\n"] + [f"## Diagnosis\n- start: {n}\n- end: {n + 1}\n" for n in range(20)]
    assert len(reported_windows("".join(blocks), 2)) == 11
    assert len(reported_windows("".join(blocks), 8)) == 15


@given(st.text(alphabet="-#: \tstartendwindow_0123456789.\nD", max_size=300), st.integers(1, 3))
def test_any_text_is_read_without_trouble(text: str, truths: int) -> None:
    assert all(window.start_s < window.end_s for window in reported_windows(text, truths))


def test_a_very_long_line_is_read_in_no_time() -> None:
    hostile = "- start:" + " " * 500_000 + "\n" + " " * 500_000 + "- end:" + "\t" * 500_000
    assert reported_windows(hostile, 2) == []
