"""Exact frames from every kind of file: read the number burned into the picture, not what the file claims."""

from fractions import Fraction
from pathlib import Path

import av
import pytest

from primitives._base import Cancelled, UserError
from primitives._media.frames import decode_frames, plan_stretches
from primitives._media.picture import Look, bgr
from primitives._media.scan import scan
from tests.media import loop_packets, make_film, read_number

NTSC = Fraction(30000, 1001)
FILMS: dict[str, dict[str, object]] = {
    "h264_bframes.mp4": {"options": {"bf": "3", "g": "12"}},
    "h264_open_gop.mp4": {"options": {"bf": "3", "g": "10", "x264-params": "open-gop=1:scenecut=0"}},
    "h264_open_gop.mkv": {"options": {"bf": "3", "g": "10", "x264-params": "open-gop=1:scenecut=0"}},
    "h264_one_keyframe.mp4": {"options": {"bf": "2", "g": "9999"}},
    "h264_ntsc.mov": {"fps": NTSC},
    "h264_interlaced.mp4": {"options": {"x264-params": "interlaced=1"}},
    "h264_fragmented.mp4": {"container_options": {"movflags": "frag_keyframe+empty_moov"}, "options": {"g": "10"}},
    "h264_10bit.mp4": {"pix_fmt": "yuv420p10le"},
    "hevc.mp4": {"codec": "libx265", "options": {"x265-params": "log-level=none:keyint=15"}},
    "vp9.webm": {"codec": "libvpx-vp9", "options": {"deadline": "realtime", "cpu-used": "8", "g": "15"}},
    "av1.mkv": {"codec": "libsvtav1", "options": {"preset": "12", "svtav1-params": "keyint=15"}},
    "mpeg2.ts": {"codec": "mpeg2video", "options": {"bf": "2", "g": "12"}},
    "h264.ts": {"options": {"bf": "2", "g": "12"}},
    "mpeg2.mpg": {"codec": "mpeg2video", "options": {"bf": "2", "g": "12"}},
    "mpeg4_bframes.avi": {"codec": "mpeg4", "options": {"bf": "2", "g": "12"}},
    "h264_bframes.avi": {"options": {"bf": "2", "g": "12"}},
    "mjpeg.avi": {"codec": "mjpeg", "pix_fmt": "yuvj420p"},
    "vfr.mp4": {"times": [Fraction(n * n, 500) + Fraction(n, 30) for n in range(50)]},
    "offset.mkv": {"start": Fraction(7, 2)},
    "offset.ts": {"start": Fraction(5), "options": {"bf": "2", "g": "12"}},
}
WANTED = [0, 1, 9, 10, 11, 12, 24, 25, 37, 48, 49]


def numbers(path: Path, wanted: list[int]) -> list[tuple[int, int, int]]:
    found = scan(path, path.name, lambda: None)
    return [
        (shown.wanted, shown.number, read_number(bgr(shown.frame, Look(), 320, 180)))
        for shown in decode_frames(path, path.name, found, wanted, lambda: None)
    ]


@pytest.mark.parametrize("name", FILMS)
def test_every_wanted_frame_is_the_one_that_comes(tmp_path: Path, name: str) -> None:
    film = make_film(tmp_path / name, **FILMS[name])  # type: ignore[arg-type]
    assert len(scan(film, name, lambda: None).video or []) == 50
    assert numbers(film, WANTED) == [(n, n, n) for n in WANTED]


@pytest.mark.parametrize("name", FILMS)
def test_frame_zero_is_at_time_zero_and_times_are_exact(tmp_path: Path, name: str) -> None:
    spec = FILMS[name]
    film = scan(make_film(tmp_path / name, **spec), name, lambda: None).video  # type: ignore[arg-type]
    assert film is not None
    times = spec.get("times") or [n / Fraction(spec.get("fps", 25)) for n in range(50)]  # type: ignore[call-overload]
    assert all(abs(film.time_of(n) - times[n]) <= Fraction(1, 1000) for n in range(50))


def test_an_edit_list_hides_the_frames_it_cuts_off(tmp_path: Path) -> None:
    whole = make_film(tmp_path / "whole.mp4", frames=60, options={"bf": "2", "g": "20"})
    cut = tmp_path / "cut.mp4"
    with av.open(str(whole)) as source, av.open(str(cut), "w") as container:
        stream = source.streams.video[0]
        copy = container.add_stream_from_template(stream)
        offset = round(Fraction(10, 25) / stream.time_base)
        for packet in source.demux(stream):
            if packet.size:
                packet.pts, packet.dts, packet.stream = packet.pts - offset, packet.dts - offset, copy
                container.mux(packet)
    found = scan(cut, "cut.mp4", lambda: None)
    assert found.video is not None
    first = next(decode_frames(cut, "cut.mp4", found, [0], lambda: None))
    assert read_number(bgr(first.frame, Look(), 320, 180)) == 60 - len(found.video)


def test_a_truncated_film_is_used_as_far_as_it_goes_and_says_so(tmp_path: Path) -> None:
    film = make_film(tmp_path / "a.mkv", frames=100, options={"g": "10"})
    film.write_bytes(film.read_bytes()[: film.stat().st_size // 2])
    fast = make_film(tmp_path / "b.mp4", frames=100, options={"g": "10"}, container_options={"movflags": "+faststart"})
    fast.write_bytes(fast.read_bytes()[: fast.stat().st_size * 2 // 3])
    for path in (film, fast):
        found = scan(path, path.name, lambda: None)
        assert found.video is not None
        assert 10 < len(found.video) < 100
        *_, last = decode_frames(path, path.name, found, [len(found.video) - 1], lambda: None)
        assert read_number(bgr(last.frame, Look(), 320, 180)) == last.number
    assert any("claims 100 frames" in note for note in scan(fast, "b.mp4", lambda: None).notes)


def test_an_hour_of_film_gives_exact_frames_and_decodes_little(tmp_path: Path) -> None:
    film = loop_packets(make_film(tmp_path / "a.mp4", frames=250, options={"g": "25"}), tmp_path / "hour.mp4", 360)
    found = scan(film, "hour.mp4", lambda: None)
    assert found.video is not None and found.duration == 3600
    wanted = [0, 12_345, 45_000, 89_999]
    assert numbers(film, wanted) == [(n, n, n % 250) for n in wanted]
    assert [stretch.frames for stretch in plan_stretches(found.video, wanted)] == [(n,) for n in wanted]


def test_neighbouring_frames_are_read_in_one_go(tmp_path: Path) -> None:
    film = make_film(tmp_path / "a.mp4", frames=50, options={"g": "10"})
    video = scan(film, "a.mp4", lambda: None).video
    assert video is not None
    assert [stretch.frames for stretch in plan_stretches(video, range(5, 35))] == [tuple(range(5, 35))]


def test_a_cancelled_decode_stops_at_the_next_packet(tmp_path: Path) -> None:
    film = make_film(tmp_path / "a.mp4")
    found = scan(film, "a.mp4", lambda: None)

    def stop() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        list(decode_frames(film, "a.mp4", found, [30], stop))


def test_a_header_that_claims_a_gigantic_picture_is_not_decoded(tmp_path: Path) -> None:
    film = make_film(tmp_path / "a.avi", frames=5, codec="mjpeg", pix_fmt="yuvj420p", size=(64, 64))
    data = film.read_bytes().replace(b"\x00\x40\x00\x40\x03", b"\xea\x60\xea\x60\x03")
    film.write_bytes(data)
    found = scan(film, "a.avi", lambda: None)
    assert list(decode_frames(film, "a.avi", found, [0], lambda: None)) == []


def test_a_file_without_pictures_says_so(tmp_path: Path) -> None:
    from tests.media import make_sound

    sound = make_sound(tmp_path / "a.wav")
    with pytest.raises(UserError, match=r"a\.wav has no video"):
        list(decode_frames(sound, "a.wav", scan(sound, "a.wav", lambda: None), [0], lambda: None))
