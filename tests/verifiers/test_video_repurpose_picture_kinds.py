"""Black, frozen, bright, cut and decodable, on films whose every frame is known (10 fps, lossless)."""

from __future__ import annotations

import av
import numpy as np
import pytest

from tests.verifiers.repurpose_media import HEIGHT, WIDTH, flat, moving, tone, write_film
from verifiers.video_repurpose.film import watch
from verifiers.video_repurpose.kinds import KINDS
from verifiers.video_repurpose.measures.picture import BlackRuns, FrozenRuns, Run
from verifiers.video_repurpose.measures.shots import ShotDurations
from verifiers.video_repurpose.scoring import Outcome

# Luma 37 is the last level that counts as black at the default threshold: 16 + 0.10 x 219 = 37.9.
LAST_BLACK = 37


def check(path, kind, **params):
    bound = KINDS[kind].bind(params)
    return bound.run(watch(path, bound.measures))


def verdict(path, kind, **params):
    return check(path, kind, **params).outcome is Outcome.PASSED


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """2 s moving, 1.5 s black, 2 s moving and brighter, 1 s held gray: 6.5 s, cuts at 2.0, 3.5 and 5.5 s."""
    stretches = [(2, moving(120)), (1.5, flat(16)), (2, moving(200)), (1, flat(90))]
    return write_film(tmp_path_factory.mktemp("picture") / "film.mp4", stretches)


def make(tmp_path, *stretches, **options):
    return write_film(tmp_path / "made.mp4", stretches, **options)


def test_black_and_frozen_runs_and_shots_are_found_to_the_frame(film):
    measured = watch(film, [BlackRuns(0.10), FrozenRuns(), ShotDurations()])
    assert measured[BlackRuns(0.10)] == (Run(2.0, 3.5),)
    assert measured[FrozenRuns()] == (Run(2.0, 3.5), Run(5.5, 6.5))
    assert measured[ShotDurations()] == pytest.approx((2.0, 1.5, 2.0, 1.0))


def test_a_black_run_of_exactly_the_limit_passes_and_a_longer_one_fails(film):
    assert verdict(film, "ffmpeg_blackdetect_max_run", max_seconds=1.5)
    finding = check(film, "ffmpeg_blackdetect_max_run", max_seconds=1.4)
    assert finding.outcome is Outcome.FAILED
    assert finding.value == pytest.approx(1.5)


def test_black_at_the_end_counts_unless_it_lies_in_the_excluded_end(tmp_path):
    path = make(tmp_path, (2, moving(120)), (1, flat(16)))
    assert not verdict(path, "ffmpeg_blackdetect_max_run", max_seconds=0.5)
    assert verdict(path, "ffmpeg_blackdetect_max_run", max_seconds=0.5, exclude_last_seconds=1)


def test_only_the_part_of_a_black_run_before_the_excluded_end_counts(tmp_path):
    path = make(tmp_path, (1, moving(120)), (3, flat(16)))
    assert verdict(path, "ffmpeg_blackdetect_max_run", max_seconds=1.0, exclude_last_seconds=2)
    assert not verdict(path, "ffmpeg_blackdetect_max_run", max_seconds=0.9, exclude_last_seconds=2)


def test_the_pixel_threshold_separates_black_from_dark(tmp_path):
    black = make(tmp_path, (1, flat(LAST_BLACK)))
    assert not verdict(black, "ffmpeg_blackdetect_max_run", max_seconds=0.5)
    dark = make(tmp_path, (1, flat(LAST_BLACK + 1)))
    assert verdict(dark, "ffmpeg_blackdetect_max_run", max_seconds=0.5)
    assert not verdict(dark, "ffmpeg_blackdetect_max_run", max_seconds=0.5, pix_th=0.2)


def test_full_range_video_has_its_own_black_level(tmp_path):
    path = make(tmp_path, (1, flat(30)), full_range=True)
    assert verdict(path, "ffmpeg_blackdetect_max_run", max_seconds=0.5)
    path = make(tmp_path, (1, flat(25)), full_range=True)
    assert not verdict(path, "ffmpeg_blackdetect_max_run", max_seconds=0.5)


def _with_bright_share(share):
    def paint(_):
        picture = np.full(WIDTH * HEIGHT, 16, np.uint8)
        picture[: round(share * picture.size)] = 200
        return picture.reshape(HEIGHT, WIDTH)

    return paint


def test_a_picture_is_black_when_ninety_eight_percent_of_it_is(tmp_path):
    assert not verdict(make(tmp_path, (1, _with_bright_share(0.019))), "ffmpeg_blackdetect_max_run", max_seconds=0.5)
    assert verdict(make(tmp_path, (1, _with_bright_share(0.021))), "ffmpeg_blackdetect_max_run", max_seconds=0.5)


def test_a_freeze_of_exactly_the_limit_passes_and_a_longer_one_fails(film):
    assert verdict(film, "ffmpeg_freeze_max_run", max_seconds=1.5)
    assert not verdict(film, "ffmpeg_freeze_max_run", max_seconds=1.49)


def test_a_still_that_lasts_to_the_end_is_a_freeze_unless_excluded(tmp_path):
    path = make(tmp_path, (2, moving(120)), (2, flat(90)))
    assert not verdict(path, "ffmpeg_freeze_max_run", max_seconds=1)
    assert verdict(path, "ffmpeg_freeze_max_run", max_seconds=1, exclude_last_seconds=2)
    whole = make(tmp_path, (3, flat(90)))
    assert check(whole, "ffmpeg_freeze_max_run", max_seconds=1).value == pytest.approx(3.0)


def _drift(levels_per_frame):
    return lambda index: np.full((HEIGHT, WIDTH), round(100 + levels_per_frame * index), np.uint8)


def test_noise_below_three_permille_stays_frozen_and_a_slow_drift_does_not(tmp_path):
    # 0.003 x 256 = 0.768 levels over all planes; luma is two thirds of the samples, so 1 luma level is 0.667.
    flicker = lambda index: np.full((HEIGHT, WIDTH), 100 + index % 2, np.uint8)  # noqa: E731
    assert not verdict(make(tmp_path, (2, flicker)), "ffmpeg_freeze_max_run", max_seconds=1)
    assert verdict(make(tmp_path, (2, _drift(1))), "ffmpeg_freeze_max_run", max_seconds=1)


def test_a_slide_show_of_long_frames_is_frozen(tmp_path):
    path = write_film(tmp_path / "slides.mp4", [(8, lambda i: np.full((HEIGHT, WIDTH), 60 + 20 * i, np.uint8))], fps=1)
    assert check(path, "ffmpeg_freeze_max_run", max_seconds=0.5).value == pytest.approx(1.0)


@pytest.mark.parametrize(("filter_name", "key"), [("blackdetect", "black"), ("freezedetect", "freezedetect.freeze")])
def test_runs_equal_those_of_libavs_own_filter(tmp_path, filter_name, key):
    stretches = [(1, moving(60)), (0.7, flat(30)), (0.6, _drift(1)), (0.5, flat(20)), (1, moving(90))]
    path = make(tmp_path, *stretches)
    measure = BlackRuns(0.10) if filter_name == "blackdetect" else FrozenRuns()
    options = "d=0.15" if filter_name == "blackdetect" else "n=0.003:d=0.15"
    theirs = _filter_runs(path, filter_name, options, key)
    ours = [run for run in watch(path, [measure])[measure] if run.end_s - run.start_s >= 0.15]
    assert theirs
    assert np.array([(run.start_s, run.end_s) for run in ours]) == pytest.approx(np.array(theirs))


def _filter_runs(path, name, options, key):
    starts, ends = [], []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        graph = av.filter.Graph()
        source, detect, sink = (
            graph.add_buffer(template=stream),
            graph.add(name, options),
            graph.add("buffersink"),
        )
        source.link_to(detect)
        detect.link_to(sink)
        graph.configure()
        for frame in container.decode(stream):
            graph.push(frame)
            tags = graph.pull().metadata
            starts += [float(tags[name]) for name in tags if name.endswith(f"{key}_start")]
            ends += [float(tags[name]) for name in tags if name.endswith(f"{key}_end")]
    return list(zip(starts, ends, strict=True))


def test_brightness_counts_pictures_above_the_level_at_their_times(film):
    times = [0.5, 2.5, 4.0]
    assert verdict(film, "ffmpeg_brightness_at_times", times=times, min_brightness=100, min_passing=2)
    assert not verdict(film, "ffmpeg_brightness_at_times", times=times, min_brightness=100, min_passing=3)
    assert not verdict(film, "ffmpeg_brightness_at_times", times=times, min_brightness=100)
    assert verdict(film, "ffmpeg_brightness_at_times", times=[0.5, 4.0], min_brightness=100)


def test_brightness_is_full_scale_luma_and_must_exceed_the_limit(tmp_path):
    path = make(tmp_path, (1, flat(235)))
    assert check(path, "ffmpeg_brightness_at_times", times=[0], min_brightness=254).outcome is Outcome.PASSED
    assert check(path, "ffmpeg_brightness_at_times", times=[0], min_brightness=255).outcome is Outcome.FAILED


def test_brightness_looks_at_the_first_picture_at_or_after_the_time(film):
    def bright_at(time_s):
        return verdict(film, "ffmpeg_brightness_at_times", times=[time_s], min_brightness=50)

    assert [bright_at(time_s) for time_s in (1.9, 1.91, 2.0, 3.4, 3.41)] == [True, False, False, False, True]


def test_a_time_beyond_the_end_never_counts_as_bright(film):
    assert not verdict(film, "ffmpeg_brightness_at_times", times=[60], min_brightness=0)


def test_the_median_shot_is_the_upper_middle_one_and_limits_belong_to_the_range(film):
    assert verdict(film, "scenedetect_median_shot_duration", min=2.0, max=2.0)
    assert not verdict(film, "scenedetect_median_shot_duration", max=1.9)
    assert not verdict(film, "scenedetect_median_shot_duration", min=2.1)
    assert verdict(film, "scenedetect_median_shot_duration")


def test_the_longest_shot_may_last_exactly_the_limit(film):
    assert verdict(film, "scenedetect_max_shot_duration", max_seconds=2.0)
    assert not verdict(film, "scenedetect_max_shot_duration", max_seconds=1.9)


def test_a_film_without_a_cut_is_one_shot(tmp_path):
    path = make(tmp_path, (4, moving(120)))
    assert verdict(path, "scenedetect_max_shot_duration", max_seconds=4)
    assert not verdict(path, "scenedetect_max_shot_duration", max_seconds=3.9)
    assert verdict(path, "scenedetect_median_shot_duration", min=4, max=4)


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("ffmpeg_blackdetect_max_run", {"max_seconds": 1}),
        ("ffmpeg_freeze_max_run", {"max_seconds": 1}),
        ("ffmpeg_brightness_at_times", {"times": [0], "min_brightness": -1}),
        ("scenedetect_median_shot_duration", {"min": 0}),
        ("scenedetect_max_shot_duration", {"max_seconds": 9}),
    ],
)
def test_a_file_without_pictures_passes_no_picture_check(tmp_path, kind, params):
    assert not verdict(write_film(tmp_path / "sound.mkv", [], [tone(1)]), kind, **params)


def test_a_clean_file_decodes_without_errors(film):
    assert verdict(film, "ffmpeg_decode_no_errors")


def test_damage_in_the_picture_data_is_a_decode_error(tmp_path):
    noise = np.random.default_rng(1).integers(16, 235, (20, HEIGHT, WIDTH)).astype(np.uint8)
    path = make(tmp_path, (2, lambda index: noise[index]))
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = bytes(2000)
    path.write_bytes(data)
    finding = check(path, "ffmpeg_decode_no_errors")
    assert finding.outcome is Outcome.FAILED
    assert "video" in finding.evidence


def test_a_file_cut_short_is_a_decode_error(tmp_path):
    path = write_film(tmp_path / "film.mkv", [(4, moving(120))], [tone(4)])
    assert verdict(path, "ffmpeg_decode_no_errors")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    finding = check(path, "ffmpeg_decode_no_errors")
    assert finding.outcome is Outcome.FAILED
    assert "its header says 4.000 s" in finding.evidence
