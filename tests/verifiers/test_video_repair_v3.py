"""The released repair scheme on clips with known truth, through its public surface."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.verifiers.clips import Picture, Sound, drifting_pictures, warble, write_clip
from verifiers._verdict import Verdict
from verifiers.video_repair_v3.runner import COMPONENTS, main, verify

FPS = 24
SECONDS = 8
WINDOW_S = (3.0, 5.0)
LOSSLESS = 0
REPORT = f"## Diagnosis\n- type: freeze\n- start: {WINDOW_S[0]}\n- end: {WINDOW_S[1]}\n"
SWAP = {
    "variant": "v03_scene_swap",
    "scene_1": {"group": "A", "broken_start_s": 3.0, "broken_end_s": 4.0},
    "scene_2": {"group": "B", "broken_start_s": 4.0, "broken_end_s": 5.0},
}


class Cell:
    """One repair task in a folder: a lossless source, a profile, and somewhere to submit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pictures = drifting_pictures(FPS * SECONDS)
        self.sound = warble(SECONDS)
        self.source = write_clip(folder / "source.mp4", self.pictures, self.sound, fps=FPS, crf=LOSSLESS)

    def profile(self, **injection: object) -> Path:
        body = {"variant": "v01_frozen_scene", "start_s": WINDOW_S[0], "end_s": WINDOW_S[1]} | injection
        scenes = [{"index": 0, "start_s": 2.0, "end_s": 6.0}]
        path = self.folder / "profile.json"
        injection_part = {"injection": {"target_scene_index": 0, **body}}
        parts = {"format": {"duration_s": float(SECONDS)}, "narrative": {"scene_list": scenes}}
        path.write_text(json.dumps(parts | injection_part))
        return path

    def report(self, text: str = REPORT) -> Path:
        path = self.folder / "report.md"
        path.write_text(text)
        return path

    def fixed(self, pictures: list[Picture], sound: Sound | None, name: str = "fixed.mp4") -> Path:
        return write_clip(self.folder / name, pictures, sound, fps=FPS, crf=LOSSLESS)

    def judge(self, fixed: Path, *, fix_v03_window: bool = False, **injection: object) -> Verdict:
        profile = self.profile(**injection)
        return verify(fixed, self.report(), self.source, profile, fix_v03_window=fix_v03_window)


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    return Cell(tmp_path_factory.mktemp("cell"))


def value(verdict: Verdict, name: str) -> float | None:
    return verdict.measurements[name].value


def copy_of(path: Path, name: str) -> Path:
    return Path(shutil.copy(path, path.with_name(name)))


def frozen(pictures: list[Picture], start_s: float, end_s: float) -> list[Picture]:
    first, last = round(start_s * FPS), round(end_s * FPS)
    return pictures[:first] + [pictures[first]] * (last - first) + pictures[last:]


def test_the_source_itself_with_the_true_window_scores_1(cell: Cell) -> None:
    verdict = cell.judge(copy_of(cell.source, "golden.mp4"))
    assert (verdict.status, verdict.score) == ("scored", 1.0)
    assert verdict.components == dict.fromkeys(COMPONENTS, 1.0)
    assert all(gate.passed for gate in verdict.gates.values())
    assert verdict.reasons == []


def test_a_freeze_left_in_costs_inside_and_nothing_outside(cell: Cell) -> None:
    verdict = cell.judge(cell.fixed(frozen(cell.pictures, *WINDOW_S), cell.sound))
    assert value(verdict, "video_outside") == pytest.approx(1.0, abs=1e-9)
    assert value(verdict, "audio_inside") == pytest.approx(1.0)
    assert value(verdict, "audio_outside") == pytest.approx(1.0)
    assert 0.0 < value(verdict, "video_inside") < 0.6
    assert verdict.components["edit"] == pytest.approx(0.4, abs=1e-6)
    assert (verdict.components["format"], verdict.components["localization"]) == (1.0, 1.0)


def test_pictures_two_frames_late_cost_three_hundredths_a_frame(cell: Cell) -> None:
    late = [cell.pictures[0]] * 2 + cell.pictures[:-2]
    verdict = cell.judge(cell.fixed(late, cell.sound))
    assert value(verdict, "video_inside") == pytest.approx(0.94)
    # 80 samples, of which 25 inside (both ends count); of the 55 outside only the first is not late.
    assert value(verdict, "video_outside") == pytest.approx((1.0 + 54 * 0.94) / 55)


def test_sound_75_ms_late_costs_half(cell: Cell) -> None:
    verdict = cell.judge(cell.fixed(cell.pictures, np.concatenate((np.zeros(3600), cell.sound[:-3600]))))
    assert value(verdict, "audio_outside") == pytest.approx(0.5, abs=0.02)
    assert value(verdict, "video_inside") == 1.0


def test_a_swap_counts_every_sample_as_outside_and_says_so(cell: Cell) -> None:
    first, middle, last = (round(time_s * FPS) for time_s in (3.0, 4.0, 5.0))
    pictures = cell.pictures
    swapped = pictures[:first] + pictures[middle:last] + pictures[first:middle] + pictures[last:]
    fixed = cell.fixed(swapped, cell.sound)
    released = cell.judge(fixed, **SWAP)
    assert value(released, "video_inside") is None
    assert released.details["v03_window"] == "as released"
    assert "every sample counts as outside" in released.reasons[0]
    mended = cell.judge(fixed, fix_v03_window=True, **SWAP)
    assert mended.details["edit_window_s"] == [3.0, 5.0]
    assert value(mended, "video_inside") < value(released, "video_outside") < value(mended, "video_outside")
    assert mended.reasons == []
    assert mended.components["edit"] < released.components["edit"]


def test_another_size_is_scaled_to_the_sources_and_fails_its_item(cell: Cell) -> None:
    small = [cv2.resize(picture, (80, 48), interpolation=cv2.INTER_AREA) for picture in cell.pictures]
    verdict = cell.judge(cell.fixed(small, cell.sound))
    assert [name for name, gate in verdict.gates.items() if not gate.passed] == ["format.resolution"]
    assert 0.0 < value(verdict, "video_outside") < 0.7


def test_cutting_the_file_off_hides_no_damage(cell: Cell) -> None:
    verdict = cell.judge(cell.fixed(cell.pictures[: 2 * FPS], cell.sound[: 2 * 48_000]))
    assert value(verdict, "video_inside") == 0.0
    assert value(verdict, "audio_inside") == 0.0
    assert verdict.components["edit"] == 0.0
    assert not verdict.gates["format.duration"].passed


def test_a_source_behind_a_symlink_is_used(cell: Cell, tmp_path: Path) -> None:
    link = tmp_path / "source.mp4"
    link.symlink_to(cell.source)
    verdict = verify(copy_of(cell.source, "golden.mp4"), cell.report(), link, cell.profile())
    assert (verdict.status, verdict.score) == ("scored", 1.0)


def test_a_file_that_plays_too_fast_hides_no_damage(cell: Cell) -> None:
    fixed = write_clip(cell.folder / "fast.mp4", cell.pictures, cell.sound, fps=2400, crf=LOSSLESS)
    verdict = cell.judge(fixed)
    assert value(verdict, "video_inside") == 0.0
    assert value(verdict, "video_outside") < 0.1


def test_a_file_one_frame_short_loses_nothing_in_the_edit(cell: Cell) -> None:
    verdict = cell.judge(cell.fixed(cell.pictures[:-1], cell.sound))
    assert verdict.components["edit"] == pytest.approx(1.0, abs=1e-6)


def test_another_container_and_codecs_cost_the_format_alone(cell: Cell) -> None:
    fixed = write_clip(
        cell.folder / "fixed.mkv", cell.pictures, cell.sound, fps=FPS, crf=LOSSLESS, audio_codec="libopus"
    )
    verdict = cell.judge(fixed)
    failed = {name for name, gate in verdict.gates.items() if not gate.passed}
    assert failed == {"format.container", "format.audio_codec"}
    assert verdict.components["format"] == pytest.approx(5 / 7)
    assert verdict.components["edit"] > 0.9


def test_a_video_without_sound_earns_no_edit(cell: Cell) -> None:
    verdict = cell.judge(cell.fixed(cell.pictures, None))
    assert (verdict.components["edit"], verdict.components["format"]) == (0.0, pytest.approx(5 / 7))
    assert "has no sound" in verdict.reasons[0]


def test_black_and_silent_earns_next_to_nothing(cell: Cell) -> None:
    black = [np.zeros_like(picture) for picture in cell.pictures]
    verdict = cell.judge(cell.fixed(black, np.zeros_like(cell.sound)))
    assert verdict.components["edit"] == 0.0


# ---- what is handed in wrong


def test_nothing_at_all_is_no_submission(cell: Cell, tmp_path: Path) -> None:
    verdict = verify(tmp_path / "fixed.mp4", tmp_path / "report.md", cell.source, cell.profile())
    assert (verdict.status, verdict.score, verdict.exit_code) == ("no_submission", 0.0, 0)
    assert verdict.components == dict.fromkeys(COMPONENTS, 0.0)


def test_a_report_alone_still_earns_its_localization(cell: Cell, tmp_path: Path) -> None:
    verdict = verify(tmp_path / "fixed.mp4", cell.report(), cell.source, cell.profile())
    assert (verdict.status, verdict.score) == ("scored", pytest.approx(0.35))
    assert "was not submitted" in verdict.reasons[0]


def test_a_video_alone_still_earns_format_and_edit(cell: Cell, tmp_path: Path) -> None:
    verdict = verify(copy_of(cell.source, "alone.mp4"), tmp_path / "report.md", cell.source, cell.profile())
    assert verdict.score == pytest.approx(0.65)
    assert verdict.reasons == ["localization is 0: report.md was not submitted (No such file or directory)"]


@pytest.mark.parametrize("content", [b"", b"no film", b"#EXTM3U\nsource.mp4\n", b"\x00" * 1000])
def test_what_is_no_film_earns_nothing_for_the_video(cell: Cell, content: bytes) -> None:
    path = cell.folder / "odd.mp4"
    path.write_bytes(content)
    verdict = cell.judge(path)
    assert (verdict.status, verdict.score) == ("scored", pytest.approx(0.35))
    assert verdict.reasons[0].startswith("format and edit are 0")


def test_a_symlink_to_the_source_earns_nothing_for_the_video(cell: Cell, tmp_path: Path) -> None:
    (tmp_path / "fixed.mp4").symlink_to(cell.source)
    (tmp_path / "report.md").symlink_to(cell.report())
    verdict = verify(tmp_path / "fixed.mp4", tmp_path / "report.md", cell.source, cell.profile())
    assert (verdict.status, verdict.score) == ("invalid", 0.0)


@pytest.mark.parametrize("text", ["", "no window", "- start: 5\n- end: 3", "\0\0\0", "- start: 1e9\n- end: inf"])
def test_a_report_without_a_window_earns_no_localization(cell: Cell, text: str) -> None:
    fixed = copy_of(cell.source, "golden.mp4")
    verdict = verify(fixed, cell.report(text), cell.source, cell.profile())
    assert verdict.components["localization"] == 0.0
    assert verdict.reasons[0].startswith("localization is 0")


@pytest.mark.parametrize("missing", ["source", "profile", "broken source", "broken profile"])
def test_trouble_on_our_side_is_an_error_and_never_a_zero(
    cell: Cell, tmp_path: Path, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, profile = cell.source, cell.profile()
    if missing.endswith("source"):
        source = tmp_path / "source.mp4"
    else:
        profile = tmp_path / "profile.json"
    if missing.startswith("broken"):
        (source if missing.endswith("source") else profile).write_text("{}")
    pair = ["--fixed", str(cell.source), "--report", str(cell.report())]
    assert main([*pair, "--source", str(source), "--profile", str(profile)]) == 2
    verdict = Verdict.model_validate_json(capsys.readouterr().out)
    assert (verdict.status, verdict.score) == ("error", None)


def test_the_command_line_prints_the_same_verdict(cell: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    fixed = copy_of(cell.source, "golden.mp4")
    expected = cell.judge(fixed, **SWAP, fix_v03_window=True)
    options = ["--fixed", str(fixed), "--report", str(cell.report()), "--source", str(cell.source)]
    code = main([*options, "--profile", str(cell.profile(**SWAP)), "--fix-v03-window"])
    assert (code, Verdict.model_validate_json(capsys.readouterr().out)) == (0, expected)
