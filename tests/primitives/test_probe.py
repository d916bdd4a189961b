"""probe: counted, not claimed."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from primitives._base import Answer, UserError
from primitives._text import as_text
from primitives.probe import ProbeResult
from tests.media import make_film, make_sound

Run = Callable[..., Answer]


def result(answer: Answer) -> ProbeResult:
    assert isinstance(answer.result, ProbeResult)
    return answer.result


def test_a_film_is_described_by_what_is_in_it(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=60, fps=Fraction(30000, 1001), audio="aac", options={"g": "30"})
    (file,) = result(run("probe", path="materials/a.mp4")).files
    assert file.video is not None and file.audio is not None
    assert (file.container, file.video.codec, file.audio.codec) == ("mp4", "h264", "aac")
    assert (file.video.fps_exact, file.video.variable_frame_rate) == ("30000/1001", False)
    assert (file.video.frame_count, file.video.width_px, file.video.height_px) == (60, 320, 180)
    assert file.video.duration_s == pytest.approx(2.002, abs=0.001)
    assert (file.audio.sample_rate_hz, file.audio.channels) == (48000, 1)
    assert file.video.longest_keyframe_gap_s == pytest.approx(30 * 1001 / 30000, abs=0.001)


def test_variable_frame_rate_is_seen(folder: Path, run: Run) -> None:
    make_film(folder / "materials/a.mp4", frames=20, times=[Fraction(n * n, 100) for n in range(20)])
    (file,) = result(run("probe", path="materials/a.mp4")).files
    assert file.video is not None and file.video.variable_frame_rate


def test_sound_alone_is_fine_and_its_loudness_is_measured_on_request(folder: Path, run: Run) -> None:
    make_sound(folder / "materials/a.wav", seconds=3)
    (file,) = result(run("probe", path="materials/a.wav", loudness=True)).files
    assert file.video is None and file.audio is not None
    assert file.duration_s == 3.0
    # A mono sine at -12 dBFS peak measures about -15 LUFS by BS.1770 (its RMS, less 0.69 dB, plus K-weighting).
    assert file.audio.integrated_lufs == pytest.approx(-15.7, abs=1.0)
    assert file.audio.true_peak_dbtp == pytest.approx(-12.0, abs=0.2)


def test_without_a_path_it_lists_the_media_materials_first(folder: Path, run: Run) -> None:
    make_sound(folder / "a_first_by_name.wav")
    make_sound(folder / "materials/z.wav")
    (folder / "materials/notes.txt").write_text("not media")
    listed = [file.path for file in result(run("probe")).media]
    assert listed == ["materials/z.wav", "a_first_by_name.wav"]


def test_an_empty_folder_says_what_to_do(run: Run) -> None:
    with pytest.raises(UserError, match="no media file in the workspace"):
        run("probe")


def test_many_files_are_described_in_a_line_each(folder: Path, run: Run) -> None:
    names = [f"materials/{n}.wav" for n in range(30)]
    for name in names:
        make_sound(folder / name, seconds=0.1)
    answer = run("probe", paths=names)
    assert [file.path for file in result(answer).brief] == names
    assert len(as_text(answer.result)) < 8000
