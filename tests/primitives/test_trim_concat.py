"""trim_concat as a caller sees it: segments, drops, order, sound, the report and the timeline beside it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from primitives._base import Answer, UserError
from primitives._text import as_text
from primitives.trim_concat import TrimConcatResult
from tests.edits import audio_packets, burst_starts_s, make_clicking_film, numbers, opencv_numbers, sound
from tests.media import make_film, make_sound, real_clip

Run = Callable[..., Answer]
OPTIONS = {"g": "12", "bf": "2", "preset": "ultrafast"}


@pytest.fixture
def film(folder: Path) -> Path:
    return make_film(folder / "materials" / "a.mp4", frames=250, options=OPTIONS, audio="aac")


def result_of(answer: Answer) -> TrimConcatResult:
    assert isinstance(answer.result, TrimConcatResult)
    return answer.result


def test_segments_play_in_the_asked_order(run: Run, film: Path, folder: Path) -> None:
    segments = [
        {"start_s": 6, "end_s": 8.04},
        {"start_s": 0.2, "end_s": 1},
        {"path": "materials/a.mp4", "start_s": 9.6},
    ]
    result = result_of(run("trim_concat", path="materials/a.mp4", segments=segments))
    expected = [*range(150, 201), *range(5, 25), *range(240, 250)]
    assert numbers(folder / result.written.path) == expected
    assert [(r.source_start_s, r.source_end_s, r.start_s, r.end_s, r.frames) for r in result.edit] == [
        (6, 8.04, 0, 2.04, 51),
        (0.2, 1, 2.04, 2.84, 20),
        (9.6, 10, 2.84, 3.24, 10),
    ]
    assert result.written.video == "h264 320x180 25.000 fps 81 frames"
    assert result.frames_copied + result.frames_encoded == 81 and result.frames_copied > 40
    assert result.written.path == "work/a_edit.mp4" and result.timeline == "work/a_edit.otio"


def test_dropped_ranges_are_gone_and_the_rest_is_there(run: Run, film: Path, folder: Path) -> None:
    drop = [[4, 5.2], [1, 2], [1.8, 2.4]]
    result = result_of(run("trim_concat", path="materials/a.mp4", drop=drop, output="outputs/b.mp4"))
    assert numbers(folder / "outputs/b.mp4") == [*range(25), *range(60, 100), *range(130, 250)]
    assert [row.frames for row in result.edit] == [25, 40, 120]


def test_a_whole_film_goes_over_bit_for_bit(run: Run, film: Path, folder: Path) -> None:
    result = result_of(run("trim_concat", path="materials/a.mp4", segments=[{"end_s": 4}, {"start_s": 4}]))
    assert (result.frames_copied, result.frames_encoded, result.sound) == (250, 0, "copied untouched")
    assert audio_packets(folder / result.written.path) == audio_packets(film)


def test_picture_and_sound_stay_together_over_two_hundred_joins(run: Run, folder: Path) -> None:
    make_clicking_film(folder / "materials" / "c.mp4", frames=1000)
    # Each segment starts somewhere before a burst; 7 to 19 frames each, so that the bursts fall everywhere.
    starts = [25 * (1 + n * 7 % 38) - 3 - n % 5 for n in range(201)]
    segments = [{"start_s": s / 25, "end_s": (s + 12 + n % 7) / 25} for n, s in enumerate(starts)]
    result = result_of(run("trim_concat", path="materials/c.mp4", segments=segments))
    shown = numbers(folder / result.written.path)
    expected = [number for n, s in enumerate(starts) for number in range(s, s + 12 + n % 7)]
    assert shown == expected == opencv_numbers(folder / result.written.path)
    flashes_s = [place / 25 for place, number in enumerate(shown) if number % 25 == 0]
    heard_s = burst_starts_s(sound(folder / result.written.path), 48_000)
    assert len(heard_s) == len(flashes_s) == 201
    assert max(abs(a - b) for a, b in zip(flashes_s, heard_s, strict=True)) < 0.005
    assert result.more_rows == 161 and len(as_text(result)) <= 8_000


def test_joins_do_not_click(run: Run, film: Path, folder: Path) -> None:
    segments = [{"start_s": 1, "end_s": 2}, {"start_s": 5, "end_s": 6.04}, {"start_s": 3, "end_s": 4.52}]
    result = result_of(run("trim_concat", path="materials/a.mp4", segments=segments))
    wave = sound(folder / result.written.path)[4800:-4800]
    # A 440 Hz tone of this level never steps by more than 0.0146 between samples.
    assert np.abs(np.diff(wave)).max() < 0.03


def test_gain_mute_and_another_sound(run: Run, film: Path, folder: Path) -> None:
    make_sound(folder / "materials" / "tone.wav", 3.0, rate_hz=44_100)
    segments: list[dict[str, Any]] = [
        {"start_s": 0, "end_s": 1, "gain_db": -12},
        {"start_s": 1, "end_s": 2, "mute": True},
        {"start_s": 2, "end_s": 3, "audio_path": "materials/tone.wav", "audio_start_s": 1.5},
        {"start_s": 3, "end_s": 4},
    ]
    result = result_of(run("trim_concat", path="materials/a.mp4", segments=segments))
    wave = sound(folder / result.written.path)
    level = [float(np.sqrt(np.mean(wave[n * 48_000 + 4800 : (n + 1) * 48_000 - 4800] ** 2))) for n in range(4)]
    assert level[3] == pytest.approx(0.25 / np.sqrt(2), rel=0.03)
    assert level[0] == pytest.approx(level[3] * 10 ** (-12 / 20), rel=0.03)
    assert level[1] < 1e-4 and level[2] == pytest.approx(level[3], rel=0.05)
    assert result.sound == "cut to the sample, encoded once"


def test_a_silent_film_gets_the_sound_that_is_asked_for(run: Run, folder: Path) -> None:
    make_film(folder / "materials" / "s.mp4", frames=50, options=OPTIONS)
    make_sound(folder / "materials" / "tone.wav", 3.0)
    result = result_of(run("trim_concat", segments=[{"path": "materials/s.mp4", "audio_path": "materials/tone.wav"}]))
    assert result.frames_copied == 50 and result.written.audio == "aac 48000 Hz"
    assert len(sound(folder / result.written.path)) == pytest.approx(2 * 48_000, abs=1100)


def test_the_asked_spec_is_what_comes_out(run: Run, film: Path, folder: Path) -> None:
    result = result_of(
        run(
            "trim_concat", path="materials/a.mp4", segments=[{"end_s": 2}], output="work/b.webm", width_px=160, fps=12.5
        )
    )
    assert result.written.video == "vp9 160x90 12.500 fps 25 frames" and result.written.container == "webm"
    assert result.written.audio == "opus 48000 Hz" and result.frames_copied == 0
    assert numbers(folder / "work/b.webm") == list(range(0, 50, 2))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Give either segments"),
        ({"drop": [[1, 2]]}, "drop needs path"),
        ({"segments": [{"end_s": 2}]}, "A segment has no path"),
        ({"path": "materials/a.mp4", "drop": [[1, 2]], "width_px": 4}, "width_px=4 must be from 16 to 8192"),
        ({"path": "materials/a.mp4", "drop": [[2, 1]]}, r"drop=\[2.0, 1.0\] must be \[start_s, end_s\]"),
        ({"path": "materials/a.mp4", "drop": [[0, 10]]}, r"drop leaves nothing of materials/a.mp4 \(10.000 s\)"),
        ({"path": "materials/a.mp4", "segments": [{"start_s": 99}]}, r"start_s=99.0 is past the end .* \(10.000 s\)"),
        (
            {"path": "materials/a.mp4", "segments": [{"end_s": 11}]},
            r"end_s=11.0 is past the end .*\. Use end_s <= 10.000",
        ),
        ({"path": "materials/a.mp4", "segments": [{"start_s": 3, "end_s": 2}]}, r"end_s=2.0 must be greater"),
        ({"path": "materials/a.mp4", "segments": [{}], "output": "materials/a.mp4"}, "cannot be written"),
        ({"path": "materials/t.wav", "segments": [{}]}, "materials/t.wav has no video"),
        ({"path": "materials/a.mp4", "segments": [{"audio_path": "materials/n.mp4"}]}, "materials/n.mp4 has no sound"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(
    run: Run, film: Path, folder: Path, arguments: dict[str, Any], sentence: str
) -> None:
    make_sound(folder / "materials" / "t.wav")
    make_film(folder / "materials" / "n.mp4", frames=5)
    with pytest.raises(UserError, match=sentence):
        run("trim_concat", **arguments)
    assert list((folder / "work").iterdir()) == []


def test_the_timeline_beside_it_tells_the_whole_edit(run: Run, film: Path, folder: Path) -> None:
    segments: list[dict[str, Any]] = [
        {"start_s": 1, "end_s": 3, "transition": "fade", "transition_s": 0.4},
        {"start_s": 5, "end_s": 7, "speed": 2, "transition": "dip"},
        {"start_s": 8, "end_s": 9, "mute": True},
    ]
    result = result_of(run("trim_concat", path="materials/a.mp4", segments=segments))
    timeline = json.loads((folder / result.timeline).read_text(encoding="utf-8"))
    video, audio = timeline["tracks"]["children"]
    clips = [child for child in video["children"] if child["OTIO_SCHEMA"] == "Clip.2"]
    assert [child["OTIO_SCHEMA"] for child in video["children"]] == [
        "Clip.2", "Transition.1", "Clip.2", "Transition.1", "Clip.2",
    ]  # fmt: skip
    spans = [(c["source_range"]["start_time"]["value"], c["source_range"]["duration"]["value"]) for c in clips]
    assert spans == [(25, 45), (135, 20), (200, 25)]
    assert clips[0]["media_references"]["DEFAULT_MEDIA"]["target_url"] == "../materials/a.mp4"
    assert audio["children"][-1]["media_references"]["DEFAULT_MEDIA"]["OTIO_SCHEMA"] == "MissingReference.1"
    assert sum(length for _, length in spans) / 25 == pytest.approx(result.written.duration_s, abs=0.03)


def test_opentimelineio_itself_reads_the_timeline(run: Run, film: Path, folder: Path) -> None:
    otio = pytest.importorskip("opentimelineio", reason="the opentimelineio package is not installed")
    segments = [{"start_s": 1, "end_s": 3, "transition": "fade"}, {"start_s": 5, "end_s": 6}]
    result = result_of(run("trim_concat", path="materials/a.mp4", segments=segments))
    timeline = otio.adapters.read_from_file(str(folder / result.timeline))
    assert timeline.duration().to_seconds() == pytest.approx(result.written.duration_s, abs=0.03)


def test_real_film_is_cut_exactly_and_copied_where_it_may_be(run: Run, folder: Path) -> None:
    from tests.edits import decoded

    film = folder / "materials" / "bbb.mp4"
    film.write_bytes(real_clip("film/bbb_480p_30s.mp4").read_bytes())
    cuts = [(285, 378), (553, 700), (10, 200)]
    segments = [{"start_s": a / 24, "end_s": b / 24} for a, b in cuts]
    result = result_of(run("trim_concat", path="materials/bbb.mp4", segments=segments))
    before, after = decoded(film), decoded(folder / result.written.path)
    wanted = [number for a, b in cuts for number in range(a, b)]
    same = sum(np.array_equal(before[n][1], picture) for n, (_, picture) in zip(wanted, after, strict=True))
    assert same >= result.frames_copied > len(wanted) // 3
    # What was encoded is still the right frame: closer to its own source than to the one beside it.
    for number, (_, picture) in zip(wanted, after, strict=True):
        assert np.abs(before[number][1].astype(int) - picture).mean() < 4


@pytest.mark.parametrize(
    "name",
    [
        "odd/negative_dts_h264.mp4",
        "odd/corrupted.mp4",
        "odd/mp_video_with_failing_audio.mp4",
        "odd/vp9_187fps_slowmo.avi",
        "odd/mp_fire2.mp4",
        "odd/rotated_90.mov",
        "odd/cv_big_buck_bunny.wmv",
    ],
)
def test_odd_real_files_are_cut_to_the_frame(run: Run, folder: Path, name: str) -> None:
    from primitives._media.frames import decode_straight
    from primitives._media.scan import scan

    film = folder / "materials" / Path(name).name
    film.write_bytes(real_clip(name).read_bytes())
    found = scan(film, name, lambda: None)
    assert found.video is not None
    first, last = len(found.video) // 3, max(len(found.video) * 2 // 3, 1)
    times = {"start_s": float(found.video.time_of(first)), "end_s": float(found.video.time_of(last))}
    result = result_of(run("trim_concat", path=f"materials/{film.name}", segments=[times]))
    written = folder / result.written.path
    pairs = []
    for path, frames in ((film, range(first, last)), (written, range(last - first))):
        shown = decode_straight(path, name, scan(path, name, lambda: None), frames, lambda: None)
        pairs.append([item.frame.to_ndarray(format="gray") for item in shown])
    assert len(scan(written, name, lambda: None).video or []) == last - first == len(pairs[1])
    assert max(np.abs(a.astype(int) - b).mean() for a, b in zip(*pairs, strict=True)) < 4


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_stereo_sound_keeps_its_sides_at_another_speed(folder: Path, run: Run, speed: float) -> None:
    film = make_film(folder / "materials/a.mp4", frames=100)
    with_sides = folder / "materials/stereo.mp4"
    time_s = np.arange(4 * 48_000) / 48_000
    left = (0.4 * np.sin(2 * np.pi * 440 * time_s)).astype(np.float32)
    with av.open(str(film)) as source, av.open(str(with_sides), "w") as container:
        video = container.add_stream_from_template(source.streams.video[0])
        sides = container.add_stream("aac", rate=48_000, layout="stereo")
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = video
                container.mux(packet)
        frame = av.AudioFrame.from_ndarray(np.stack([left, np.zeros_like(left)]), format="fltp", layout="stereo")
        frame.sample_rate, frame.pts = 48_000, 0
        container.mux(sides.encode(frame))
        container.mux(sides.encode(None))
    segments = [{"start_s": 1.0, "end_s": 3.0, "speed": speed}]
    run("trim_concat", path="materials/stereo.mp4", segments=segments, output="work/out.mp4")
    with av.open(str(folder / "work/out.mp4")) as made:
        heard = np.concatenate([frame.to_ndarray() for frame in made.decode(audio=0)], axis=1)
    assert heard.shape[1] == pytest.approx(2.0 / speed * 48_000, abs=2048)
    assert float(np.abs(heard[0]).max()) > 0.3
    assert float(np.abs(heard[1]).max()) < 0.02
