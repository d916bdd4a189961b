"""The renderer: which frames come out, which of them bit for bit, and what becomes of the sound."""

import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Call, Cancelled, UserError
from primitives._edit import Join, OutputSpec, Piece, RenderReport
from primitives._media.render import render
from tests.edits import audio_packets, decoded, numbers, opencv_numbers, sound
from tests.media import make_film

CUTS = [range(13, 47), range(100, 160), range(20, 33), range(12)]
FILMS: dict[str, dict[str, Any]] = {
    "bframes.mp4": {"options": {"bf": "3", "g": "12"}, "audio": "aac"},
    "open_gop.mp4": {"options": {"bf": "3", "g": "10", "x264-params": "open-gop=1:scenecut=0"}},
    "no_bframes.mp4": {"options": {"bf": "0", "g": "12"}},
    "baseline.mp4": {"options": {"profile": "baseline", "g": "12"}},
    "slices.mp4": {"options": {"bf": "2", "g": "12", "slices": "4"}},
    "matroska.mkv": {"options": {"bf": "3", "g": "12"}, "audio": "aac"},
    "quicktime.mov": {"options": {"bf": "3", "g": "12"}, "audio": "aac"},
    "transport.ts": {"options": {"bf": "3", "g": "12"}, "audio": "aac"},
    "fragmented.mp4": {"options": {"g": "12"}, "container_options": {"movflags": "frag_keyframe+empty_moov"}},
    "full_range.mp4": {"options": {"g": "12"}, "pix_fmt": "yuvj420p"},
    "chroma_422.mp4": {"options": {"g": "12"}, "pix_fmt": "yuv422p"},
    "ten_bit.mp4": {"options": {"bf": "2", "g": "12"}, "pix_fmt": "yuv420p10le"},
    "ntsc.mp4": {"options": {"bf": "2", "g": "12"}, "fps": Fraction(30000, 1001)},
    "offset.mkv": {"options": {"bf": "2", "g": "12"}, "start": Fraction(7, 2)},
    "vfr.mp4": {
        "options": {"bf": "2", "g": "12"},
        "times": [Fraction(n, 30) + Fraction(n * n, 3000) for n in range(180)],
    },
}


def make(folder: Path, name: str, **film: Any) -> Path:
    options = {"preset": "ultrafast", **film.pop("options", {})}
    return make_film(folder / "materials" / name, frames=180, options=options, **film)


def edit(
    folder: Path, pieces: Sequence[Piece], output: str, spec: OutputSpec | None = None
) -> tuple[Path, RenderReport]:
    call = Call(Workspace(folder))
    path = call.output(output)
    return path, render(pieces, path, spec or OutputSpec(), call)


def same_frames(source: Path, cuts: Sequence[range], written: Path) -> int:
    """How many frames of an edit are bit for bit those of its source."""
    before, after = decoded(source), decoded(written)
    wanted = [number for frames in cuts for number in frames]
    assert len(after) == len(wanted)
    return sum(np.array_equal(after[n][1], before[number][1]) for n, number in enumerate(wanted))


@pytest.mark.parametrize("name", FILMS)
def test_every_cut_is_frame_exact_and_what_was_copied_is_identical(folder: Path, name: str) -> None:
    film = make(folder, name, **FILMS[name])
    suffix = ".mkv" if name.endswith(".ts") else film.suffix
    out, report = edit(folder, [Piece(film, name, frames) for frames in CUTS], f"work/out{suffix}")
    assert numbers(out) == [number for frames in CUTS for number in frames] == opencv_numbers(out)
    assert report.mode == "smart" and report.frames_copied > 0
    assert same_frames(film, CUTS, out) >= report.frames_copied
    times = [time for time, _ in decoded(film)]
    starts = np.cumsum([0] + [times[r.stop] - times[r.start] for r in CUTS])
    wanted = [starts[n] + times[number] - times[r.start] for n, r in enumerate(CUTS) for number in r]
    assert np.allclose([time for time, _ in decoded(out)], wanted, atol=0.0021)


def test_cuts_on_idr_pictures_copy_everything(folder: Path) -> None:
    film = make(folder, "a.mp4", options={"bf": "3", "g": "12", "keyint_min": "12", "sc_threshold": "0"})
    cuts = [range(48, 96), range(12, 24)]
    out, report = edit(folder, [Piece(film, "a.mp4", frames) for frames in cuts], "work/out.mp4")
    assert (report.frames_copied, report.frames_encoded, report.reasons) == (60, 0, ())
    assert same_frames(film, cuts, out) == 60


def test_a_change_touches_only_its_group_and_the_sound_not_at_all(folder: Path) -> None:
    film = make(folder, "a.mp4", options={"bf": "3", "g": "12"}, audio="aac")
    seen: list[int] = []

    def darken(frame: av.VideoFrame, number: int) -> av.VideoFrame:
        seen.append(number)
        return av.VideoFrame.from_ndarray((frame.to_ndarray() * 0.8).astype(np.uint8), format="yuv420p")

    pieces = [
        Piece(film, "a.mp4", range(50)),
        Piece(film, "a.mp4", range(50, 80), change=darken),
        Piece(film, "a.mp4", range(80, 180)),
    ]
    out, report = edit(folder, pieces, "work/out.mp4")
    before, after = decoded(film), decoded(out)
    changed = [n for n in range(180) if not np.array_equal(before[n][1], after[n][1])]
    assert seen == list(range(50, 80))
    assert set(range(50, 80)) <= set(changed) and min(changed) >= 48 and max(changed) < 84
    assert [time for time, _ in after] == [time for time, _ in before]
    assert report.sound == "copied" and audio_packets(out) == audio_packets(film)
    assert np.array_equal(sound(out), sound(film))


def test_profile_level_colour_and_rate_are_kept(folder: Path) -> None:
    colour = {"colorprim": "bt709", "transfer": "bt709", "colormatrix": "bt709"}
    params = ":".join(f"{key}={value}" for key, value in colour.items())
    film = make(
        folder, "a.mp4", options={"bf": "2", "g": "12", "profile": "main", "level": "4.0", "x264-params": params}
    )
    out, _ = edit(folder, [Piece(film, "a.mp4", range(5, 95))], "work/out.mp4")
    full, _ = edit(folder, [Piece(film, "a.mp4", range(5, 95))], "work/full.mp4", OutputSpec(width_px=160))
    facts = []
    for path in (film, out, full):
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            context = stream.codec_context
            facts.append(
                (context.profile, context.color_primaries, context.color_trc, context.colorspace, stream.average_rate)
            )
            if path != full:
                assert context.extradata is not None and context.extradata[3] == 40
    assert facts[0] == facts[1] and facts[0][1:] == facts[2][1:]


def test_films_with_clashing_parameter_sets_are_both_copied(folder: Path) -> None:
    first = make(folder, "a.mp4", options={"bf": "3", "g": "12"})
    second = make(folder, "b.mp4", options={"bf": "0", "g": "12", "profile": "baseline"})
    pieces = [
        Piece(first, "a.mp4", range(5, 70)),
        Piece(second, "b.mp4", range(30, 100)),
        Piece(first, "a.mp4", range(60, 80)),
    ]
    out, report = edit(folder, pieces, "work/out.mp4")
    assert numbers(out) == [*range(5, 70), *range(30, 100), *range(60, 80)] == opencv_numbers(out)
    a, b, after = decoded(first), decoded(second), decoded(out)
    source = [*a[5:70], *b[30:100], *a[60:80]]
    same = sum(np.array_equal(x[1], y[1]) for x, y in zip(source, after, strict=True))
    assert report.frames_copied > 110 and same >= report.frames_copied


def test_another_size_rate_and_layout_is_conformed_to_the_first(folder: Path) -> None:
    first = make(folder, "a.mp4", options={"g": "12"}, audio="aac")
    second = make(folder, "b.mkv", size=(480, 360), fps=50, codec="mpeg4", audio="libmp3lame", audio_rate_hz=44_100)
    out, report = edit(
        folder, [Piece(first, "a.mp4", range(48)), Piece(second, "b.mkv", range(50, 100))], "work/out.mp4"
    )
    frames = decoded(out)
    assert frames[0][1].shape == frames[-1][1].shape
    assert len(frames) == 48 + 25 and report.frames_copied >= 40
    with av.open(str(out)) as container:
        assert (container.streams.audio[0].rate, container.streams.video[0].average_rate) == (48_000, 25)
    picture = cv2.cvtColor(frames[60][1], cv2.COLOR_YUV2BGR_I420)
    assert picture[:, :30].max() < 12 and picture[:, -30:].max() < 12, "a 4:3 picture stands between black bars"


def test_codecs_that_are_not_copied_are_encoded_and_it_says_so(folder: Path) -> None:
    film = make(folder, "a.mp4", codec="libx265", options={"x265-params": "log-level=none:keyint=15"})
    out, report = edit(folder, [Piece(film, "a.mp4", frames) for frames in CUTS], "work/out.mp4")
    assert numbers(out) == [number for frames in CUTS for number in frames]
    assert (report.mode, report.frames_copied) == ("encoded", 0)
    assert report.reasons == ("a.mp4 is hevc, only H.264 is copied",)
    with av.open(str(out)) as container:
        assert container.streams.video[0].codec_context.name == "hevc"


def test_interlaced_film_is_encoded_whole_and_stays_interlaced(folder: Path) -> None:
    film = make(folder, "a.mp4", options={"x264-params": "tff=1", "g": "12"})
    out, report = edit(folder, [Piece(film, "a.mp4", range(3, 60))], "work/out.mp4")
    assert "interlaced" in report.reasons[0] and report.frames_copied == 0
    with av.open(str(out)) as container:
        assert next(container.decode(video=0)).interlaced_frame


def test_four_four_four_is_never_mixed_with_copies(folder: Path) -> None:
    film = make(folder, "a.mp4", options={"g": "12"}, pix_fmt="yuv444p")
    out, report = edit(folder, [Piece(film, "a.mp4", range(5, 60))], "work/out.mp4")
    assert report.frames_copied == 0 and "4:4:4" in report.reasons[0]
    assert numbers(out) == list(range(5, 60))


def test_rotation_is_kept_whether_copied_or_encoded(folder: Path) -> None:
    plain = make(folder, "plain.mp4", options={"g": "12"})
    film = folder / "materials" / "turned.mp4"
    with av.open(str(plain)) as source, av.open(str(film), "w") as container:
        stream = container.add_stream_from_template(source.streams.video[0])
        stream.set_display_rotation(90)
        for packet in source.demux(source.streams.video[0]):
            if packet.size:
                packet.stream = stream
                container.mux(packet)
    for output, spec in (("work/copied.mp4", OutputSpec()), ("work/encoded.mp4", OutputSpec(video_codec="hevc"))):
        out, _ = edit(folder, [Piece(film, "turned.mp4", range(5, 60))], output, spec)
        with av.open(str(out)) as container, av.open(str(film)) as source:
            assert next(container.decode(video=0)).rotation == next(source.decode(video=0)).rotation != 0


def test_a_cross_fade_overlaps_and_a_dip_goes_through_black(folder: Path) -> None:
    film = make(folder, "a.mp4", options={"g": "12"}, audio="aac")
    pieces = [
        Piece(film, "a.mp4", range(50), join=Join("fade", Fraction(2, 5))),
        Piece(film, "a.mp4", range(100, 150), join=Join("dip", Fraction(4, 5))),
        Piece(film, "a.mp4", range(60, 110)),
    ]
    out, report = edit(folder, pieces, "work/out.mp4")
    frames = decoded(out)
    assert len(frames) == 50 + 50 - 10 + 50
    assert [float(placed.start) for placed in report.placed] == [0, 1.6, 3.6]
    level = [frame[:180].mean() for _, frame in frames]
    assert min(range(len(level)), key=level.__getitem__) == 90 and level[90] < 20
    before = decoded(film)
    middle = (before[45][1].astype(float) + before[105][1]) / 2
    assert np.abs(frames[45][1] - middle).mean() < 6
    assert abs(len(sound(out)) / 48_000 - 5.6) < 0.03


def test_speed_resamples_frames_and_keeps_the_length_of_the_sound(folder: Path) -> None:
    film = make(folder, "a.mp4", options={"g": "12"}, audio="aac")
    pieces = [
        Piece(film, "a.mp4", range(100), speed=Fraction(2)),
        Piece(film, "a.mp4", range(100, 110), speed=Fraction(1, 2)),
    ]
    out, report = edit(folder, pieces, "work/out.mp4")
    assert numbers(out) == [*range(0, 100, 2), *(n for n in range(100, 110) for _ in range(2))]
    wave = sound(out)
    assert abs(len(wave) / 48_000 - 2.8) < 0.03 and report.frames_copied == 0
    spectrum = np.abs(np.fft.rfft(wave[:48_000] * np.hanning(48_000)))
    assert abs(int(spectrum.argmax()) - 440) <= 3, "the pitch stays"


def test_cancelling_stops_at_the_next_frame_and_leaves_nothing(folder: Path) -> None:
    film = make(folder, "a.mp4", options={"g": "12"}, audio="aac")
    call = Call(Workspace(folder), stop=threading.Event())

    def stop_at_ten(done: float, total: float, message: str) -> None:
        if done >= 10:
            call.stop.set()

    call.on_progress = stop_at_ten
    with pytest.raises(Cancelled):
        render([Piece(film, "a.mp4", range(3, 150))], folder / "work" / "out.mp4", OutputSpec(), call)
    assert list((folder / "work").iterdir()) == []


def test_a_full_disk_is_a_sentence_and_leaves_nothing(folder: Path) -> None:
    import resource

    film = make(folder, "a.mp4", options={"g": "12", "crf": "1"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(UserError, match=r"work/out.mp4 could not be written: no room left on the disk"):
            edit(folder, [Piece(film, "a.mp4", range(3, 150))], "work/out.mp4")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((folder / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("output", "spec", "sentence"),
    [
        ("work/a.xyz", OutputSpec(), r"ending in .xyz cannot be written. Use .mp4"),
        ("work/a.webm", OutputSpec(video_codec="h264"), r"webm does not hold h264. It holds vp9"),
        ("work/a.mp4", OutputSpec(video_codec="theora"), r"Video codec theora cannot be written. Use h264"),
        ("work/a.mp4", OutputSpec(pixel_format="rgb24"), r"h264 cannot be written as rgb24. It takes yuv420p"),
        ("work/a.mp4", OutputSpec(audio_codec="wma"), r"Audio codec wma cannot be written. Use aac"),
        ("work/a.mp4", OutputSpec(audio_rate_hz=12_345), r"aac cannot be written at 12345 Hz"),
    ],
)
def test_what_cannot_be_written_is_said_with_what_can(
    folder: Path, output: str, spec: OutputSpec, sentence: str
) -> None:
    film = make(folder, "a.mp4", options={"g": "12"}, audio="aac")
    with pytest.raises(UserError, match=sentence):
        edit(folder, [Piece(film, "a.mp4", range(20))], output, spec)
