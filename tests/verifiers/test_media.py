"""Media access: what a file says and shows is read as a player would, and nothing hostile opens."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from tests.verifiers.clips import RATE_HZ, drifting_pictures, shared_media, warble, write_clip
from verifiers._media import (
    AudioInfo,
    MediaError,
    media_info,
    mono_audio,
    read_mono_audio,
    video_frames,
)
from verifiers._prefetch import prefetched

MP4 = "mov,mp4,m4a,3gp,3g2,mj2"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("media") / "clip.mp4"
    return write_clip(path, drifting_pictures(30), warble(1.25), fps=24)


def test_a_clip_is_described_as_ffprobe_would(clip: Path) -> None:
    info = media_info(clip)
    assert info.container == MP4
    assert info.duration_s == pytest.approx(1.25, abs=0.03)
    assert [(audio.codec, audio.rate_hz, audio.channels) for audio in info.audio] == [("aac", RATE_HZ, 1)]
    assert info.video is not None
    assert (info.video.codec, info.video.width_px, info.video.height_px) == ("h264", 160, 96)
    assert (info.video.real_rate, info.video.average_rate) == (24, 24)
    assert (info.video.sample_aspect, info.video.rotation_deg) == (1, 0)
    assert info.video.frame_count_from_header == 30


def test_frames_come_in_order_with_exact_times_and_true_pictures(clip: Path) -> None:
    truth = drifting_pictures(30)
    for frame in video_frames(clip):
        assert frame.time_s == pytest.approx(frame.index / 24, abs=1e-6)
        gray = cv2.cvtColor(truth[frame.index], cv2.COLOR_BGR2GRAY)
        assert np.abs(frame.gray().astype(int) - gray).mean() < 4
        assert np.abs(frame.bgr().astype(int) - truth[frame.index]).mean() < 12
        y, u, v = frame.yuv420()
        assert (y.shape, u.shape, v.shape) == ((96, 160), (48, 80), (48, 80))
        assert np.array_equal(frame.luma(), y)
    assert frame.index == 29


def test_sound_is_read_at_the_asked_rate_and_stays_in_place(clip: Path) -> None:
    sound, truth = read_mono_audio(clip, rate_hz=RATE_HZ), warble(1.25)
    assert sound.dtype == np.float32
    count = min(sound.size, truth.size)
    assert np.corrcoef(sound[:count], truth[:count])[0, 1] > 0.97
    assert read_mono_audio(clip, rate_hz=16_000).size == pytest.approx(sound.size / 3, abs=2)


def test_blocks_are_short_so_memory_stays_flat(clip: Path) -> None:
    assert max(block.size for block in mono_audio(clip, rate_hz=RATE_HZ)) < RATE_HZ


def test_a_mix_of_two_equal_channels_is_as_loud_as_one(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    tone = (0.9 * np.sin(np.arange(RATE_HZ) / 20)).astype(np.float32)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=RATE_HZ, layout="stereo")
        frame = av.AudioFrame.from_ndarray(
            (np.repeat(tone, 2) * 32767).astype(np.int16)[None], format="s16", layout="stereo"
        )
        frame.sample_rate = RATE_HZ
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    assert np.abs(read_mono_audio(path, rate_hz=RATE_HZ) - tone).max() < 1e-3


def test_a_late_start_and_a_gap_are_silence_in_their_place(tmp_path: Path) -> None:
    path = tmp_path / "gap.mkv"
    tone = np.full((1, 4800), 0.5, np.float32)
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=10)
        video.width = video.height = 64
        audio = container.add_stream("pcm_f32le", rate=RATE_HZ, layout="mono")
        for number in range(10):
            picture = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="bgr24")
            picture.pts, picture.time_base = number, Fraction(1, 10)
            container.mux(video.encode(picture))
        container.mux(video.encode(None))
        for start_s in (0.3, 0.4, 0.7):
            frame = av.AudioFrame.from_ndarray(tone, format="flt", layout="mono")
            frame.sample_rate, frame.time_base = RATE_HZ, Fraction(1, RATE_HZ)
            frame.pts = round(start_s * RATE_HZ)
            container.mux(audio.encode(frame))
        container.mux(audio.encode(None))
    sound = read_mono_audio(path, rate_hz=RATE_HZ)
    loud = np.flatnonzero(np.abs(sound) > 0.25) / RATE_HZ
    assert loud[0] == pytest.approx(0.3, abs=0.002)
    assert sound.size / RATE_HZ == pytest.approx(0.8, abs=0.002)
    assert np.abs(sound[round(0.51 * RATE_HZ) : round(0.69 * RATE_HZ)]).max() == 0.0


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "empty.mp4"),
        (b"this is no film", "text.mp4"),
        (b"#EXTM3U\n#EXTINF:1,\nclip.mp4\n#EXT-X-ENDLIST\n", "list.m3u8"),
        (b"ffconcat version 1.0\nfile clip.mp4\n", "script.mp4"),
        (b"\x00" * 4096, "zeros.mp4"),
    ],
)
def test_what_is_no_media_file_does_not_open(clip: Path, tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / "clip.mp4").write_bytes(clip.read_bytes())
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MediaError, match=name):
        media_info(tmp_path / name)


def test_a_symlink_a_folder_and_an_address_do_not_open(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "link.mp4").symlink_to(clip)
    for path in (tmp_path / "link.mp4", tmp_path, Path("http://localhost/clip.mp4"), Path(f"concat:{clip}")):
        with pytest.raises(MediaError, match="not a regular file"):
            media_info(path)


def test_what_is_left_of_a_truncated_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cut.ts"
    write_clip(path, drifting_pictures(48), fps=24)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert 0 < sum(1 for _ in video_frames(path, skip_damaged=True)) < 48


def test_a_missing_stream_is_named(tmp_path: Path, clip: Path) -> None:
    silent = write_clip(tmp_path / "silent.mp4", drifting_pictures(3))
    with pytest.raises(MediaError, match=r"silent\.mp4 has no audio stream"):
        read_mono_audio(silent, rate_hz=RATE_HZ)
    assert media_info(silent).audio == ()


def test_a_sound_file_has_no_picture() -> None:
    speech = shared_media("speech/jfk.wav")
    assert media_info(speech).video is None
    assert media_info(speech).audio == (AudioInfo("pcm_s16le", 16_000, 1, 11.0),)
    with pytest.raises(MediaError, match="no video stream"):
        next(video_frames(speech))


def test_rotated_phone_clips_are_shown_upright() -> None:
    for name, shape in (("odd/rotated_0.mov", (320, 568)), ("odd/rotated_90.mov", (568, 320))):
        frame = next(video_frames(shared_media(name)))
        assert frame.bgr().shape[:2] == frame.luma().shape == shape


def test_a_damaged_real_file_decodes_only_with_damage_skipped() -> None:
    damaged = shared_media("odd/corrupted.mp4")
    with pytest.raises(MediaError, match=r"corrupted\.mp4"):
        list(video_frames(damaged))
    assert sum(1 for _ in video_frames(damaged, skip_damaged=True)) > 0


def test_decoding_ahead_gives_the_same_frames_and_stops_early_when_asked(clip: Path) -> None:
    with prefetched(video_frames(clip)) as frames:
        assert [frame.index for frame in frames] == list(range(30))
    with prefetched(video_frames(clip)) as frames:
        assert next(frames).index == 0


def test_trouble_while_decoding_ahead_reaches_the_reader(tmp_path: Path) -> None:
    with prefetched(video_frames(tmp_path / "none.mp4")) as frames, pytest.raises(MediaError, match="none"):
        next(frames)
