"""Reading sound: every sample at its own time, whatever the file is like."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from primitives._base import UserError
from primitives._media.sound_read import Samples, mixing, read_sound, sound_blocks, sound_channels, sound_kind
from primitives._media.source import WAV_PROBE_BYTES
from tests.media import make_film, make_sound

CLICK_S = (1.0, 2.5)


def never() -> None:
    """Nobody stops the work."""


def clicks(path: Path, codec: str, rate_hz: int, layout: str = "mono") -> Path:
    """Four seconds of nothing but two short tone bursts, at full length in every channel."""
    wave = np.zeros(4 * rate_hz, np.float32)
    shape = 0.6 * np.hanning(81) * np.cos(2 * np.pi * 1000 * np.arange(-40, 41) / rate_hz)
    for time_s in CLICK_S:
        wave[round(time_s * rate_hz) - 40 : round(time_s * rate_hz) + 41] = shape
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate_hz, layout=layout)
        resampler = av.AudioResampler(format=stream.codec_context.format.name, layout=layout)
        for at in range(0, wave.size, 1024):
            chunk = np.repeat(wave[None, at : at + 1024], len(av.AudioLayout(layout).channels), axis=0)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(chunk), "fltp", layout)
            frame.sample_rate, frame.pts, frame.time_base = rate_hz, at, Fraction(1, rate_hz)
            for made in resampler.resample(frame):
                container.mux(stream.encode(made))
        container.mux(stream.encode(None))
    return path


FILES = [
    ("a.wav", "pcm_s16le", 48_000, "mono", 0.0002),
    ("a.m4a", "aac", 48_000, "stereo", 0.0002),
    ("a.mp3", "libmp3lame", 44_100, "stereo", 0.0002),
    ("a.flac", "flac", 96_000, "stereo", 0.0002),
    ("low.wav", "pcm_s16le", 8_000, "mono", 0.0002),
    ("a.mka", "aac", 44_100, "5.1", 0.0015),  # Matroska counts time in milliseconds
]


@pytest.mark.parametrize(("name", "codec", "rate_hz", "layout", "near_s"), FILES, ids=[file[0] for file in FILES])
@pytest.mark.parametrize("to_hz", [16_000, 48_000])
def test_a_click_is_where_it_was_put(
    tmp_path: Path, name: str, codec: str, rate_hz: int, layout: str, near_s: float, to_hz: int
) -> None:
    path = clicks(tmp_path / name, codec, rate_hz, layout)
    for start_s, click_s in ((0.0, 1.0), (0.7, 1.0), (2.2, 2.5)):
        heard = read_sound(path, name, start_s, 3.0, to_hz, 1, never)[0]
        assert heard.shape == (round(3 * to_hz) - round(start_s * to_hz),)
        near = slice(round((click_s - start_s - 0.1) * to_hz), round((click_s - start_s + 0.1) * to_hz))
        at_s = start_s + (np.argmax(np.abs(heard[near])) + near.start) / to_hz
        assert abs(at_s - click_s) <= near_s
        assert abs(np.abs(heard[near]).max() - 0.6) < 0.07


def test_blocks_are_the_whole_cut_up(tmp_path: Path) -> None:
    path = make_sound(tmp_path / "a.wav", seconds=2.5)
    whole = read_sound(path, "a.wav", 0.3, 2.5, 16_000, 1, never)
    blocks = list(sound_blocks(path, "a.wav", 0.3, 2.5, 16_000, 1, 0.7, never))
    assert [block.shape[1] for block in blocks] == [11_200, 11_200, 11_200, 1_600]
    assert np.array_equal(np.concatenate(blocks, axis=1), whole)


def test_beyond_the_end_there_is_silence_and_without_an_end_it_stops(tmp_path: Path) -> None:
    path = make_sound(tmp_path / "a.wav", seconds=1.0)
    longer = read_sound(path, "a.wav", 0, 3, 48_000, None, never)
    assert longer.shape == (1, 144_000) and longer[0, 48_001:].max() == 0 < longer[0, :48_000].max()
    assert sum(b.shape[1] for b in sound_blocks(path, "a.wav", 0, None, None, None, 0.4, never)) == 48_000


def test_time_0_is_the_films_first_frame(tmp_path: Path) -> None:
    shifted = make_film(tmp_path / "a.mkv", frames=25, start=Fraction(3), audio="pcm_s16le")
    heard = read_sound(shifted, "a.mkv", 0, 0.5, 48_000, 1, never)[0]
    expected = 0.25 * np.sin(2 * np.pi * 440 * np.arange(24_000) / 48_000)
    assert np.abs(heard - expected).max() < 0.001


@pytest.mark.parametrize(("layout", "channels"), [("mono", 2), ("stereo", 1), ("5.1", 1), ("5.1", 2), ("7.1", 2)])
def test_a_mix_is_never_louder_than_its_loudest_channel(layout: str, channels: int) -> None:
    rows = mixing(av.AudioLayout(layout), channels)
    assert rows.shape == (channels, len(av.AudioLayout(layout).channels))
    assert np.allclose(rows.sum(axis=1), 1) and (rows >= 0).all()


def test_left_and_right_stay_apart_in_a_mix_of_surround_sound() -> None:
    left, right = mixing(av.AudioLayout("5.1"), 2)
    assert left[0] > 0 == left[1] and right[1] > 0 == right[0] and left[3] == right[3] == 0


def test_a_file_without_sound_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = make_film(tmp_path / "a.mp4", frames=5)
    with pytest.raises(UserError, match=r"a\.mp4 has no sound"):
        read_sound(path, "a.mp4", 0, 1, 16_000, 1, never)


def test_damage_is_a_hole_and_what_follows_keeps_its_time(tmp_path: Path) -> None:
    path = clicks(tmp_path / "a.mp3", "libmp3lame", 44_100)
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 8 : len(data) * 4 // 8] = bytes(len(data) // 8)  # between the clicks
    path.write_bytes(data)
    heard: Samples = read_sound(path, "a.mp3", 0, 3, 48_000, 1, never)
    assert heard.shape == (1, 144_000) and np.isfinite(heard).all()
    assert abs(np.argmax(np.abs(heard[0, :96_000])) / 48_000 - 1.0) < 0.001


def test_the_very_first_samples_of_aac_are_those_that_were_coded(tmp_path: Path) -> None:
    from avb_mcp.tasks.film_write import write_film

    time_s = np.arange(48_000) / 48_000
    wave = (0.3 * np.sin(2 * np.pi * 440 * time_s + 1)).astype(np.float32)[None]
    write_film(tmp_path / "a.mp4", [np.full((24, 16), 90, np.uint8)] * 25, Fraction(25), wave)
    heard = read_sound(tmp_path / "a.mp4", "a.mp4", 0, 1, 48_000, 1, never)
    wrong = heard[0, :960] - wave[0, :960]
    assert np.mean(wrong**2) < 0.01 * np.mean(wave[0, :960] ** 2)


@pytest.mark.parametrize(("name", "codec", "rate_hz", "layout", "near_s"), FILES, ids=[file[0] for file in FILES])
def test_channels_read_without_a_copy_are_the_same_sound(
    tmp_path: Path, name: str, codec: str, rate_hz: int, layout: str, near_s: float
) -> None:
    path = clicks(tmp_path / name, codec, rate_hz, layout)
    assert sound_kind(path, name)[0] == rate_hz
    for start_s, end_s in ((0.0, None), (0.9, 2.0), (3.5, 6.0)):  # the sound ends at 4 s
        blocks = sound_blocks(path, name, start_s, end_s, None, None, 0.7, never)
        whole = np.concatenate(list(blocks), axis=1)
        parts = list(sound_channels(path, name, rate_hz, start_s, end_s, rate_hz // 3, never))
        assert {len(part[0]) for part in parts[:-1]} == {rate_hz // 3}
        assert np.array_equal(np.concatenate(parts, axis=1), whole)


def test_a_wav_is_read_whole_behind_a_chunk_that_is_larger_than_what_is_probed(tmp_path: Path) -> None:
    path = make_sound(tmp_path / "a.wav", seconds=1.0)
    plain = read_sound(path, "a.wav", 0.0, 1.0, 48_000, 1, never)
    riff, rest = path.read_bytes()[:12], path.read_bytes()[12:]
    chunk = b"junk" + (2 * WAV_PROBE_BYTES).to_bytes(4, "little") + bytes(2 * WAV_PROBE_BYTES)
    size = (len(rest) + len(chunk) + 4).to_bytes(4, "little")
    path.write_bytes(riff[:4] + size + riff[8:] + chunk + rest)
    assert np.array_equal(read_sound(path, "a.wav", 0.0, 1.0, 48_000, 1, never), plain)
