"""Every hard gate of the deliverable's format, one wrong thing at a time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from verifiers._media import AudioInfo, MediaInfo, VideoInfo
from verifiers.video_repair.gates import duration_gate, format_gates
from verifiers.video_repair.schema import Expected, ExpectedAudio, ExpectedVideo

VIDEO = VideoInfo(
    codec="h264",
    width_px=1280,
    height_px=720,
    pixel_format="yuv420p",
    real_rate=Fraction(30000, 1001),
    average_rate=Fraction(30000, 1001),
    sample_aspect=Fraction(1),
    rotation_deg=0,
    duration_s=10.0,
    frame_count_from_header=300,
    bit_rate_bps=None,
)
SOUND = AudioInfo(codec="aac", rate_hz=48000, channels=2, duration_s=10.0)
GOOD = MediaInfo(container="mov,mp4,m4a,3gp,3g2,mj2", duration_s=10.0, bit_rate_bps=0, video=VIDEO, audio=(SOUND,))
EXPECTED = Expected(
    containers=["mp4"],
    duration_s=10.0,
    video=ExpectedVideo(codecs=["h264"], width_px=1280, height_px=720, fps="30000/1001"),
    audio=ExpectedAudio(codecs=["aac"], rate_hz=48000, channels=2),
)


def failed(info: MediaInfo, expected: Expected = EXPECTED) -> list[str]:
    gates = format_gates(expected, info, GOOD)
    return [name for name, gate in gates.items() if not gate.passed]


def with_video(**changes: object) -> MediaInfo:
    return replace(GOOD, video=replace(VIDEO, **changes))


def with_sound(**changes: object) -> MediaInfo:
    return replace(GOOD, audio=(replace(SOUND, **changes),))


def test_a_deliverable_as_the_task_asks_passes_every_gate():
    assert failed(GOOD) == []


@pytest.mark.parametrize(
    ("info", "gate"),
    [
        (replace(GOOD, container="matroska,webm"), "container"),
        (replace(GOOD, video=None), "video_codec"),
        (replace(GOOD, audio=()), "audio_codec"),
        (with_video(codec="hevc"), "video_codec"),
        (with_video(width_px=640, height_px=360), "size"),
        (with_video(sample_aspect=Fraction(4, 3)), "pixel_shape"),
        (with_video(rotation_deg=180), "pixel_shape"),
        (with_video(average_rate=Fraction(25), real_rate=Fraction(25)), "frame_rate"),
        (with_video(average_rate=None, real_rate=None), "frame_rate"),
        (with_sound(codec="mp3"), "audio_codec"),
        (with_sound(rate_hz=44100), "audio_rate"),
        (with_sound(channels=1), "audio_channels"),
    ],
)
def test_one_wrong_thing_fails_its_own_gate_only(info, gate):
    assert failed(info) == [gate]


def test_a_rate_within_two_hundredths_passes_by_either_of_its_headers():
    assert failed(with_video(average_rate=Fraction("29.96"))) == []
    assert failed(with_video(average_rate=Fraction(10))) == []


def test_a_failed_gate_says_what_it_found_and_what_the_task_asks_for():
    gate = format_gates(EXPECTED, with_sound(rate_hz=44100), GOOD)["audio_rate"]
    assert gate.reason == "the audio rate is 44100 Hz, the task asks for 48000 Hz"


def test_a_task_of_sound_alone_asks_nothing_of_a_picture():
    sound_only = Expected(containers=["wav"], duration_s=10.0, audio=EXPECTED.audio)
    assert failed(replace(GOOD, container="wav", video=None), sound_only) == []


def test_a_length_passes_up_to_its_tolerance():
    assert duration_gate(10.1, 10.0, 0.1, "sound").passed
    assert not duration_gate(10.11, 10.0, 0.1, "sound").passed
