"""Kinds that the headers answer, on films whose headers are known; limits belong to the range."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.verifiers.repurpose_media import moving, tone, write_film
from verifiers.video_repurpose.film import watch
from verifiers.video_repurpose.kinds import KINDS
from verifiers.video_repurpose.scoring import Outcome

CONTRACT_KINDS = {
    "ffprobe_duration_range",
    "ffprobe_resolution_eq",
    "ffprobe_resolution_in",
    "ffprobe_video_codec_in",
    "ffprobe_audio_codec_in",
    "ffprobe_format_in",
    "ffprobe_fps_range",
    "ffprobe_audio_streams",
    "ffprobe_audio_channels_eq",
    "ffprobe_bitrate_min",
    "ffmpeg_audio_loudness_min",
    "ffmpeg_loudness_lufs_range",
    "ffmpeg_blackdetect_max_run",
    "ffmpeg_freeze_max_run",
    "ffmpeg_brightness_at_times",
    "ffmpeg_decode_no_errors",
    "scenedetect_median_shot_duration",
    "scenedetect_max_shot_duration",
    "pytesseract_substring_match",
    "librosa_silence_max_run",
}


def check(film, kind, **params):
    return KINDS[kind].bind(params).run(film)


@pytest.fixture(scope="module")
def mp4(tmp_path_factory):
    """3 s, 128x96, H.264 at 30000/1001 fps, one stereo and one mono AAC stream."""
    path = tmp_path_factory.mktemp("header") / "film.mp4"
    sounds = [tone(3, channels=2), tone(3)]
    write_film(path, [(3.003, moving(120))], sounds, fps=Fraction(30000, 1001), audio_codec="aac")
    return watch(path, [])


@pytest.fixture(scope="module")
def webm(tmp_path_factory):
    """1 s of silent VP9 in Matroska, which gives no bit rate for its stream."""
    path = tmp_path_factory.mktemp("header") / "film.mkv"
    write_film(path, [(1, moving(120))], video_codec="libvpx-vp9", video_options={"crf": "40", "b": "0"})
    return watch(path, [])


@pytest.fixture(scope="module")
def sound_only(tmp_path_factory):
    return watch(write_film(tmp_path_factory.mktemp("header") / "sound.mkv", [], [tone(1)]), [])


def test_the_registry_holds_exactly_the_kinds_of_the_contract():
    assert set(KINDS) == CONTRACT_KINDS


PASSES = [
    ("ffprobe_duration_range", {"min": 3.003, "max": 3.003}),
    ("ffprobe_duration_range", {"min": "2.9", "max": 4}),
    ("ffprobe_resolution_eq", {"width": 128, "height": 96}),
    ("ffprobe_resolution_in", {"options": [[96, 128], [128, 96]]}),
    ("ffprobe_video_codec_in", {"codecs": ["hevc", "H264"]}),
    ("ffprobe_audio_codec_in", {"codecs": ["aac"]}),
    ("ffprobe_format_in", {"substrings": ["webm", "MP4"]}),
    ("ffprobe_fps_range", {"min": 29.97}),
    ("ffprobe_fps_range", {"min": 24, "max": 29.9701}),
    ("ffprobe_audio_streams", {"min": 2}),
    ("ffprobe_audio_streams", {"max": 2}),
    ("ffprobe_audio_streams", {"eq": 2}),
    ("ffprobe_audio_streams", {}),
    ("ffprobe_audio_streams", {"eq": 2, "min": 5}),
    ("ffprobe_audio_channels_eq", {"channels": 2}),
    ("ffprobe_bitrate_min", {"min_bps": 1}),
]
FAILS = [
    ("ffprobe_duration_range", {"min": 3.004, "max": 9}),
    ("ffprobe_duration_range", {"min": 1, "max": 3.002}),
    ("ffprobe_resolution_eq", {"width": 96, "height": 128}),
    ("ffprobe_resolution_in", {"options": [[96, 128]]}),
    ("ffprobe_resolution_in", {"options": []}),
    ("ffprobe_video_codec_in", {"codecs": ["h26"]}),
    ("ffprobe_audio_codec_in", {"codecs": ["opus", "mp3"]}),
    ("ffprobe_format_in", {"substrings": ["matroska"]}),
    ("ffprobe_fps_range", {"min": 29.98}),
    ("ffprobe_fps_range", {"min": 24, "max": 29.97}),
    ("ffprobe_audio_streams", {"min": 3}),
    ("ffprobe_audio_streams", {"max": 1}),
    ("ffprobe_audio_streams", {"eq": 1}),
    ("ffprobe_audio_channels_eq", {"channels": 1}),
    ("ffprobe_bitrate_min", {"min_bps": 10**9}),
]


@pytest.mark.parametrize(("kind", "params"), PASSES)
def test_a_film_that_meets_the_header_check_passes(mp4, kind, params):
    finding = check(mp4, kind, **params)
    assert finding.outcome is Outcome.PASSED, finding.evidence


@pytest.mark.parametrize(("kind", "params"), FAILS)
def test_a_film_that_misses_the_header_check_fails(mp4, kind, params):
    finding = check(mp4, kind, **params)
    assert finding.outcome is Outcome.FAILED, finding.evidence


def test_the_bit_rate_limit_is_reached_by_the_video_streams_own_rate(mp4):
    exact = mp4.info.video.bit_rate_bps
    assert exact != mp4.info.bit_rate_bps
    assert check(mp4, "ffprobe_bitrate_min", min_bps=exact).outcome is Outcome.PASSED
    assert check(mp4, "ffprobe_bitrate_min", min_bps=exact + 1).outcome is Outcome.FAILED


def test_a_stream_without_a_bit_rate_is_judged_by_the_containers(webm):
    assert webm.info.video.bit_rate_bps is None
    exact = webm.info.bit_rate_bps
    assert check(webm, "ffprobe_bitrate_min", min_bps=exact).outcome is Outcome.PASSED
    assert check(webm, "ffprobe_bitrate_min", min_bps=exact + 1).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("kind", "params"),
    [("ffprobe_audio_codec_in", {"codecs": ["aac", ""]}), ("ffprobe_audio_channels_eq", {"channels": 0})],
)
def test_a_film_without_sound_fails_what_is_asked_of_its_sound(webm, kind, params):
    assert check(webm, kind, **params).outcome is Outcome.FAILED
    assert check(webm, "ffprobe_audio_streams", eq=0).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("ffprobe_resolution_eq", {"width": 0, "height": 0}),
        ("ffprobe_video_codec_in", {"codecs": [""]}),
        ("ffprobe_fps_range", {"min": 0}),
    ],
)
def test_a_file_without_pictures_fails_what_is_asked_of_its_pictures(sound_only, kind, params):
    assert check(sound_only, kind, **params).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("ffprobe_duration_range", {"min": 1}),
        ("ffprobe_resolution_eq", {"width": "wide", "height": 1}),
        ("ffprobe_resolution_in", {"options": [[1, 2, 3]]}),
        ("ffmpeg_brightness_at_times", {"times": [], "min_brightness": 1}),
        ("pytesseract_substring_match", {"substrings": ["a"], "sample_fps": 0}),
        ("pytesseract_substring_match", {"substrings": ["a"], "mode": "most"}),
    ],
)
def test_params_that_do_not_fit_are_refused_by_name(kind, params):
    with pytest.raises(ValueError, match="param "):
        KINDS[kind].bind(params)
