"""listen: the picture and the figures say what was put into the sound."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import resample_poly

from primitives._base import Answer, UserError
from primitives._hearing.draw import LEFT_PX, RIGHT_PX, WIDTH_PX
from primitives._hearing.figures import loudness_lufs, noise_floor_dbfs
from primitives._hearing.measure import Sound, measure
from primitives._media.loudness import measure_loudness
from primitives._media.sound_read import sound_blocks
from primitives._sheet import MAX_BYTES, MAX_SIDE_PX
from primitives._text import as_text
from primitives.listen import ClipSound, ListenResult
from tests.media import make_film, real_clip
from tests.speech import mono, write_wav

Run = Callable[..., Answer]
RATE_HZ = 48_000
CLIPPED_BGR, SILENCE_BGR, SPEECH_BGR = (60, 60, 255), (200, 110, 60), (90, 200, 90)


def never() -> None:
    """Nobody stops the work."""


def tone(seconds: float, level: float, frequency_hz: float = 997, rate_hz: int = RATE_HZ) -> NDArray[np.float32]:
    return (level * np.sin(2 * np.pi * frequency_hz * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.float32)


def noise(seconds: float, level: float, seed: int = 1) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, level, round(seconds * RATE_HZ)).astype(np.float32)


def clips(answer: Answer) -> list[ClipSound]:
    assert isinstance(answer.result, ListenResult)
    return answer.result.clips


def pixels(answer: Answer) -> NDArray[np.uint8]:
    assert answer.image is not None
    picture = cv2.imdecode(np.frombuffer(answer.image.data, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return np.asarray(picture, np.uint8)


def times_of(picture: NDArray[np.uint8], colour: tuple[int, int, int], length_s: float) -> list[float]:
    """First and last time at which a colour stands in a picture of one whole clip."""
    near = np.abs(picture.astype(int) - colour).max(axis=2) < 24
    columns = np.flatnonzero(near[:, LEFT_PX:].sum(axis=0) >= 6)
    width = WIDTH_PX - LEFT_PX - RIGHT_PX
    return [columns[0] / width * length_s, (columns[-1] + 1) / width * length_s] if columns.size else []


def heard(path: Path, length_s: float) -> Sound:
    return measure(path, path.name, 0.0, None, length_s, never, lambda at_s: None)


def test_a_tone_is_as_loud_as_the_standard_says(folder: Path, run: Run) -> None:
    write_wav(folder / "materials/a.wav", np.stack([tone(10, 0.1)] * 2), RATE_HZ)
    (clip,) = clips(run("listen", path="materials/a.wav"))
    assert clip.loudness_lufs == pytest.approx(-20.0, abs=0.1)  # BS.1770: 997 Hz at -20 dBFS in both channels
    assert clip.true_peak_dbtp == pytest.approx(-20.0, abs=0.1)
    assert (clip.channels, clip.sample_rate_hz, clip.end_s) == (2, RATE_HZ, 10.0)


def test_the_peak_between_samples_is_found(folder: Path, run: Run) -> None:
    shifted = 0.5 * np.sin(np.pi / 2 * np.arange(RATE_HZ) + np.pi / 4)  # every sample is at 0.707 of the true peak
    write_wav(folder / "materials/a.wav", shifted.astype(np.float32), RATE_HZ)
    (clip,) = clips(run("listen", path="materials/a.wav"))
    assert clip.true_peak_dbtp == pytest.approx(-6.0, abs=0.2)


@pytest.mark.parametrize("name", ["speech/jfk.wav", "film/bbb_480p_30s.mp4", "film/fillets_intro.mpg"])
def test_loudness_and_peak_agree_with_libavs_meter(name: str) -> None:
    path = real_clip(name)
    meter = measure_loudness(path, name, never)
    sound = heard(path, 60.0)
    loudness = loudness_lufs(sound)
    assert meter is not None and loudness is not None
    assert abs(loudness - meter.integrated_lufs) <= 0.3
    assert abs(20 * np.log10(sound.true_peak) - meter.true_peak_dbtp) <= 0.2


def test_a_long_range_is_measured_as_the_same_sound_in_short(tmp_path: Path) -> None:
    speech = mono(real_clip("speech/jfk.wav"))
    path = write_wav(tmp_path / "a.wav", np.tile(speech, 4))
    whole, sampled = heard(path, 44.0), heard(path, 3600.0)
    assert sampled.sampled and not whole.sampled and sampled.end_s == whole.end_s
    assert sampled.true_peak == pytest.approx(whole.true_peak, rel=0.02) and sampled.peak == whole.peak
    assert loudness_lufs(sampled) == pytest.approx(loudness_lufs(whole), abs=0.6)
    assert noise_floor_dbfs(sampled) == pytest.approx(noise_floor_dbfs(whole), abs=4)


@pytest.mark.parametrize("name", ["speech/jfk.wav", "film/bbb_480p_30s.mp4", "film/fillets_intro.mpg"])
def test_the_true_peak_of_a_long_range_is_that_of_all_samples_oversampled(name: str) -> None:
    path = real_clip(name)
    blocks = list(sound_blocks(path, name, 0, None, None, None, 60.0, never))
    every = max(float(np.abs(resample_poly(block, 8, 1, axis=1)).max()) for block in blocks)
    assert 20 * np.log10(heard(path, 3600.0).true_peak / every) == pytest.approx(0, abs=0.1)


def test_a_peak_between_samples_is_found_under_higher_samples(tmp_path: Path) -> None:
    between = 0.9 * np.sin(np.pi / 2 * np.arange(2_000) + np.pi / 4)  # no sample is above 0.64
    wave = np.concatenate([tone(5, 0.7), between, tone(5, 0.7)])
    path = write_wav(tmp_path / "a.wav", wave.astype(np.float32), RATE_HZ)
    for length_s in (10.0, 3600.0):
        assert heard(path, length_s).true_peak == pytest.approx(0.9, rel=0.02)


def test_silence_speech_and_clipping_stand_at_their_times(folder: Path, run: Run) -> None:
    speech = mono(real_clip("speech/jfk.wav"))[5 * 16_000 : 8 * 16_000]
    loud = np.clip(8 * speech[: 16_000 * 2], -0.5, 0.5)
    quiet = np.zeros(16_000 * 4, np.float32)
    write_wav(folder / "materials/a.wav", np.concatenate([speech, quiet, loud]))
    answer = run("listen", path="materials/a.wav")
    (clip,) = clips(answer)
    assert clip.silences == [[pytest.approx(3.0, abs=0.3), pytest.approx(7.0, abs=0.6)]]
    assert clip.speech[0][0] == pytest.approx(0.4, abs=0.2) and clip.speech[-1][0] >= 7.0
    assert clip.clipped and clip.clipped[0][0] >= 7.0
    shown = pixels(answer)
    assert times_of(shown, SILENCE_BGR, 9.0) == [pytest.approx(v, abs=0.05) for v in clip.silences[0]]
    assert min(times_of(shown, CLIPPED_BGR, 9.0)) == pytest.approx(clip.clipped[0][0], abs=0.05)
    assert times_of(shown, SPEECH_BGR, 9.0)[0] == pytest.approx(clip.speech[0][0], abs=0.05)


def test_a_clean_wave_has_no_clipping(folder: Path, run: Run) -> None:
    parts = [tone(1, 0.9, 100), tone(1, 0.3, 1000), noise(1, 0.2), mono(real_clip("speech/jfk.wav"))]
    write_wav(folder / "materials/a.wav", np.concatenate(parts), RATE_HZ)
    (clip,) = clips(run("listen", path="materials/a.wav"))
    assert clip.clipped == []


def test_a_louder_band_is_brighter_at_its_own_height(folder: Path, run: Run) -> None:
    write_wav(folder / "materials/low.wav", tone(2, 0.3, 200), RATE_HZ)
    write_wav(folder / "materials/high.wav", tone(2, 0.3, 6000), RATE_HZ)
    rows = []
    for name in ("low", "high"):
        spectrum = pixels(run("listen", path=f"materials/{name}.wav"))[184:396, 400:1000].sum(axis=(1, 2))
        rows.append(int(np.argmax(spectrum)))
    assert rows[0] > 180 and 30 < rows[1] < 110  # low frequencies stand at the bottom


def test_several_clips_share_one_scale_and_the_picture_keeps_its_limits(folder: Path, run: Run) -> None:
    names = []
    for number in range(6):
        names.append(f"materials/{number}.wav")
        write_wav(folder / names[-1], noise(1 + number, 0.1, number), RATE_HZ)
    answer = run("listen", paths=names)
    assert [clip.end_s for clip in clips(answer)] == [1, 2, 3, 4, 5, 6]
    shown = pixels(answer)
    assert max(shown.shape) <= MAX_SIDE_PX and answer.image is not None and len(answer.image.data) <= MAX_BYTES
    height = shown.shape[0] // 6
    first_wave = shown[30:60, LEFT_PX + 4 :].max(axis=(0, 2)) > 100
    assert first_wave.nonzero()[0].max() == pytest.approx((WIDTH_PX - LEFT_PX - RIGHT_PX) / 6, abs=10)
    assert (shown[5 * height + 30 : 5 * height + 60, -60:-30] > 100).any()
    assert len(as_text(answer.result)) < 8_000


def test_a_range_does_not_begin_with_a_click_of_its_own(folder: Path, run: Run) -> None:
    write_wav(folder / "materials/a.wav", tone(2, 0.5, 200), RATE_HZ)
    sound = measure(folder / "materials/a.wav", "a.wav", 1.00125, 1.5, 0.5, never, lambda at_s: None)
    assert sound.mel[0, 60:].sum() < 10 * sound.mel[40, 60:].sum() + 1e-6


def test_a_range_is_zoomed(folder: Path, run: Run) -> None:
    write_wav(folder / "materials/a.wav", np.concatenate([tone(2, 0.1), tone(1, 0.5), tone(2, 0.1)]), RATE_HZ)
    (clip,) = clips(run("listen", path="materials/a.wav", start_s=2.25, end_s=2.75))
    assert (clip.start_s, clip.end_s) == (2.25, 2.75)
    assert clip.true_peak_dbtp == pytest.approx(-6.0, abs=0.1)


ODD = {
    "silence": np.zeros(RATE_HZ),
    "dc": np.full(RATE_HZ, 0.5),
    "one sample": np.full(1, 0.5),
    "5.1": np.random.default_rng(1).normal(0, 0.1, (6, RATE_HZ)),
}


@pytest.mark.parametrize(("kind", "rate_hz"), [*((kind, 48_000) for kind in ODD), ("dc", 8_000), ("5.1", 96_000)])
def test_odd_sound_is_shown_and_described(folder: Path, run: Run, kind: str, rate_hz: int) -> None:
    write_wav(folder / "materials/a.wav", ODD[kind].astype(np.float32), rate_hz)
    answer = run("listen", path="materials/a.wav")
    (clip,) = clips(answer)
    assert answer.image is not None and clip.sample_rate_hz == rate_hz and clip.speech == []
    if kind == "silence":
        assert clip.loudness_lufs is None and "digital silence: every sample is 0" in clip.notes
    if kind == "dc":
        assert clip.dc_offset == pytest.approx(0.5, abs=0.05) and clip.true_peak_dbtp == pytest.approx(-6.0, abs=0.2)
        assert (clip.loudness_lufs is None or clip.loudness_lufs < -40) and clip.clipped == []
    if kind == "5.1":
        assert clip.channels == 6 and clip.loudness_lufs is not None


def test_bad_input_is_refused_with_a_sentence(folder: Path, run: Run) -> None:
    make_film(folder / "materials/mute.mp4", frames=5)
    write_wav(folder / "materials/a.wav", tone(1, 0.1), RATE_HZ)
    (folder / "materials/bad.wav").write_bytes(b"RIFF\x00\x00\x00\x00WAVE" + bytes(range(256)))
    for arguments, sentence in (
        ({"path": "materials/mute.mp4"}, r"mute\.mp4 has no sound"),
        ({"path": "materials/a.wav", "start_s": 2}, r"start_s=2\.0 is past the end of the sound of materials/a\.wav"),
        ({"path": "materials/bad.wav"}, r"bad\.wav"),
        ({}, "Give either path"),
        ({"path": "materials/a.wav", "start_s": 0.5, "end_s": 0.2}, r"end_s=0\.2 must be greater than start_s=0\.5"),
    ):
        with pytest.raises(UserError, match=sentence):
            run("listen", **arguments)


def test_a_file_cut_short_is_heard_as_far_as_it_goes(folder: Path, run: Run) -> None:
    path = make_film(folder / "materials/a.mkv", frames=100, audio="pcm_s16le")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (clip,) = clips(run("listen", path="materials/a.mkv"))
    assert 0.5 < clip.end_s < 3.9 and clip.true_peak_dbtp == pytest.approx(-12.0, abs=0.2)
