"""Volume, loudness and silence, on sound whose level is known (a 1 kHz sine, PCM)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.verifiers.repurpose_media import RATE_HZ, moving, tone, write_film
from verifiers._loudness import LevelTrack
from verifiers._media import read_mono_audio
from verifiers.video_repurpose.film import watch
from verifiers.video_repurpose.kinds import KINDS
from verifiers.video_repurpose.kinds.sound import longest_run
from verifiers.video_repurpose.measures.sound import LevelsDb, LoudnessLufs, MeanVolumeDb
from verifiers.video_repurpose.scoring import Outcome

HOP_S = LevelTrack.HOP / LevelTrack.RATE_HZ
WINDOW_S = LevelTrack.WINDOW / LevelTrack.RATE_HZ


def check(path, kind, **params):
    bound = KINDS[kind].bind(params)
    return bound.run(watch(path, bound.measures))


def verdict(path, kind, **params):
    return check(path, kind, **params).outcome is Outcome.PASSED


def film(tmp_path, *parts, picture_s=1.0, **options):
    sound = np.concatenate(parts, axis=1)
    return write_film(tmp_path / "film.mkv", [(picture_s, moving(120))], [sound], **options)


def silence(seconds, channels=1):
    return np.zeros((channels, round(seconds * RATE_HZ)), np.float32)


def test_mean_volume_is_the_rms_of_all_channels_and_must_exceed_the_threshold(tmp_path):
    path = film(tmp_path, tone(2, amplitude=0.5), picture_s=2)
    volume_db = watch(path, [MeanVolumeDb()])[MeanVolumeDb()]
    assert volume_db == pytest.approx(20 * np.log10(0.5 / np.sqrt(2)), abs=0.01)
    assert verdict(path, "ffmpeg_audio_loudness_min", threshold_db=-9.1)
    assert not verdict(path, "ffmpeg_audio_loudness_min", threshold_db=-9.0)
    assert not verdict(path, "ffmpeg_audio_loudness_min", threshold_db=volume_db)


def test_one_silent_channel_of_two_costs_three_decibels_of_mean_volume(tmp_path):
    stereo = np.vstack([tone(1), silence(1)])
    path = film(tmp_path, stereo)
    assert watch(path, [MeanVolumeDb()])[MeanVolumeDb()] == pytest.approx(-9.03 - 3.01, abs=0.02)


def test_digital_silence_has_the_volume_floor_and_no_loudness(tmp_path):
    path = film(tmp_path, silence(2), picture_s=2)
    assert check(path, "ffmpeg_audio_loudness_min", threshold_db=-60).value == -91.0
    assert not verdict(path, "ffmpeg_loudness_lufs_range", min=-69.9)
    assert not verdict(path, "ffmpeg_loudness_lufs_range", min=-99)
    assert verdict(path, "ffmpeg_loudness_lufs_range", max=-14)


@pytest.mark.parametrize(("channels", "expected_lufs"), [(1, -23.05), (2, -20.04)])
def test_integrated_loudness_of_a_reference_sine_is_as_the_standard_says(tmp_path, channels, expected_lufs):
    # BS.1770: a 0 dBFS 1 kHz sine in one channel reads -3.01 LKFS; at -20 dBFS it reads -23.01.
    path = film(tmp_path, tone(4, amplitude=0.1, channels=channels), picture_s=4)
    assert watch(path, [LoudnessLufs()])[LoudnessLufs()] == pytest.approx(expected_lufs, abs=0.1)
    assert verdict(path, "ffmpeg_loudness_lufs_range", min=expected_lufs - 0.2, max=expected_lufs + 0.2)
    assert not verdict(path, "ffmpeg_loudness_lufs_range", min=expected_lufs + 0.2)
    assert not verdict(path, "ffmpeg_loudness_lufs_range", max=expected_lufs - 0.2)


def test_quiet_stretches_are_gated_out_of_the_loudness(tmp_path):
    loud = film(tmp_path, tone(4, amplitude=0.1), picture_s=4)
    alone = watch(loud, [LoudnessLufs()])[LoudnessLufs()]
    padded = film(tmp_path, tone(4, amplitude=0.1), silence(4), picture_s=8)
    assert watch(padded, [LoudnessLufs()])[LoudnessLufs()] == pytest.approx(alone, abs=0.3)


def test_a_silence_is_measured_within_one_window_and_compared_with_the_limit(tmp_path):
    path = film(tmp_path, tone(1), silence(2), tone(1), picture_s=4)
    finding = check(path, "librosa_silence_max_run", max_seconds=2.0)
    assert finding.outcome is Outcome.PASSED
    assert 2.0 - WINDOW_S - HOP_S <= finding.value <= 2.0
    assert not verdict(path, "librosa_silence_max_run", max_seconds=1.8)


def test_what_counts_as_silent_is_set_by_the_threshold(tmp_path):
    path = film(tmp_path, tone(1), tone(2, amplitude=0.02), tone(1), picture_s=4)  # -37 dB in the middle
    assert verdict(path, "librosa_silence_max_run", max_seconds=0.5)
    assert not verdict(path, "librosa_silence_max_run", max_seconds=0.5, threshold_db=-30)


def test_sound_that_stops_before_the_picture_leaves_silence(tmp_path):
    path = film(tmp_path, tone(1), picture_s=4)
    assert check(path, "librosa_silence_max_run", max_seconds=2).value == pytest.approx(3.0, abs=2 * WINDOW_S)
    assert not verdict(path, "librosa_silence_max_run", max_seconds=2)


def test_opposite_channels_cancel_in_the_mono_mix_and_equal_ones_keep_their_level(tmp_path):
    left = tone(2)
    cancelled = film(tmp_path, np.vstack([left, -left]), picture_s=2)
    assert not verdict(cancelled, "librosa_silence_max_run", max_seconds=1)
    path = film(tmp_path, np.vstack([left, left]), picture_s=2)
    assert np.median(watch(path, [LevelsDb()])[LevelsDb()]) == pytest.approx(-9.03, abs=0.05)


def test_levels_equal_a_direct_computation_over_the_whole_signal(tmp_path):
    rng = np.random.default_rng(7)
    loudness = np.repeat(rng.uniform(0.001, 0.5, 40), RATE_HZ // 20)
    sound = (rng.standard_normal(loudness.size) * loudness * 0.3).astype(np.float32)[None, :]
    path = film(tmp_path, sound, picture_s=2)
    levels_db = watch(path, [LevelsDb()])[LevelsDb()]
    mono = read_mono_audio(path, rate_hz=LevelTrack.RATE_HZ).astype(np.float64)
    padded = np.pad(mono, LevelTrack.WINDOW // 2)
    starts = range(0, padded.size - LevelTrack.WINDOW + 1, LevelTrack.HOP)
    expected = [20 * np.log10(np.sqrt(np.mean(padded[start : start + LevelTrack.WINDOW] ** 2))) for start in starts]
    assert levels_db.size == pytest.approx(len(expected), abs=1)
    common = min(levels_db.size, len(expected)) - 3  # the resampler's last samples differ by its delay
    assert levels_db[:common] == pytest.approx(np.array(expected[:common]), abs=0.05)


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("ffmpeg_audio_loudness_min", {"threshold_db": -100}),
        ("ffmpeg_loudness_lufs_range", {"max": 0}),
        ("librosa_silence_max_run", {"max_seconds": 99}),
    ],
)
def test_a_film_without_sound_passes_no_sound_check(tmp_path, kind, params):
    assert not verdict(write_film(tmp_path / "mute.mkv", [(1, moving(120))]), kind, **params)


@pytest.mark.parametrize(
    ("flags", "longest"), [([], 0), ([0, 0], 0), ([1], 1), ([1, 1, 0, 1], 2), ([0, 1, 1, 1], 3), ([1, 1], 2)]
)
def test_the_longest_run_of_flags_is_counted(flags, longest):
    assert longest_run(np.array(flags, bool)) == longest
