"""Sound written back: what did not change stays bit for bit, and in time."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Call, Cancelled, UserError
from primitives._media.sound_patch import SoundChange, write_sound
from primitives._media.sound_source import SoundSource, open_sound
from tests.media import make_film, numbered_frame
from tests.sounds import voice, wave_frames

SECONDS = 4


def nothing() -> None:
    """No one cancels."""


def film(path: Path, codec: str, rate_hz: int = 48_000, channels: int = 1, picture: bool = True) -> Path:
    """Voice-like sound, louder by channel, with numbered frames."""
    wave = voice(SECONDS, rate_hz)
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=25) if picture else None
        sound = container.add_stream(codec, rate=rate_hz, layout={1: "mono", 2: "stereo", 6: "5.1"}[channels])
        if video is not None:
            video.width, video.height, video.pix_fmt = 160, 90, "yuv420p"
            for number in range(SECONDS * 25):
                frame = av.VideoFrame.from_ndarray(numbered_frame(number, 160, 90), format="bgr24")
                frame.pts, frame.time_base = number, Fraction(1, 25)
                container.mux(video.encode(frame))
            container.mux(video.encode(None))
        for frame in wave_frames(np.stack([wave * (1 - 0.1 * n) for n in range(channels)]), rate_hz):
            container.mux(sound.encode(frame))
        container.mux(sound.encode(None))
    return path


def halved(source: SoundSource, folder: Path, start_s: float, end_s: float):
    """The file with a range at half its level; what was written and how."""
    first, last = source.place(start_s), source.place(end_s)
    new = source.read(first, last, nothing) * 0.5
    change = SoundChange(first, last, lambda: iter([new[:, :7000], new[:, 7000:]]))
    output = folder / "work" / source.path.name
    report = write_sound(source, change, output, Call(Workspace(folder)))
    return report, open_sound(output, output.name, nothing), new


def packets(path: Path, kind: str) -> list[tuple[int | None, bytes]]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0] if kind == "video" else container.streams.audio[0]
        return [(packet.pts, bytes(packet)) for packet in container.demux(stream) if packet.size]


@pytest.mark.parametrize(
    ("name", "codec", "channels", "how"),
    [
        ("a.mp4", "aac", 1, "packets"),
        ("a.mp4", "aac", 2, "packets"),
        ("a.mkv", "aac", 2, "packets"),
        ("a.mov", "aac", 6, "packets"),
        ("a.mov", "pcm_s16le", 2, "samples"),
        ("a.mkv", "pcm_s24le", 2, "samples"),
        ("a.mkv", "flac", 2, "encoded"),
        ("a.mp4", "libmp3lame", 2, "encoded"),
    ],
)
def test_pictures_are_copied_and_the_sound_stays_in_time(folder, name, codec, channels, how) -> None:
    source = open_sound(film(folder / "materials" / name, codec, channels=channels), name, nothing)
    report, written, new = halved(source, folder, 1.5, 2.5)
    assert report.how == how
    assert packets(source.path, "video") == packets(written.path, "video")
    before, after = (one.read(0, SECONDS * 48_000, nothing) for one in (source, written))
    inside = slice(source.place(1.5), source.place(2.5))
    error = np.mean((after[:, inside] - new) ** 2) / np.mean(new**2)
    assert error < 10 ** (-15 / 10)
    head = slice(0, source.place(1.4))
    if how == "encoded" and codec != "flac":
        assert np.mean((after[:, head] - before[:, head]) ** 2) < np.mean(before[:, head] ** 2) * 10 ** (-15 / 10)
    else:
        assert np.array_equal(after[:, head], before[:, head])


def test_only_packets_around_the_change_are_new_in_aac(folder) -> None:
    source = open_sound(film(folder / "materials/a.mp4", "aac"), "a.mp4", nothing)
    report, written, _ = halved(source, folder, 1.5, 2.5)
    old, new = packets(source.path, "audio"), packets(written.path, "audio")
    different = [number for number, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert [pts for pts, _ in old] == [pts for pts, _ in new]
    assert different[0] >= 1.5 * 48_000 // 1024 - 1 and different[-1] <= 2.5 * 48_000 // 1024 + 2
    assert report.packets - report.packets_copied == different[-1] - different[0] + 1


def test_every_pcm_sample_outside_the_change_is_the_same_and_the_change_is_exact(folder) -> None:
    source = open_sound(film(folder / "materials/a.wav", "pcm_s16le", picture=False), "a.wav", nothing)
    _, written, new = halved(source, folder, 1.234, 2.345)
    before, after = (one.read(0, SECONDS * 48_000, nothing) for one in (source, written))
    first, last = source.place(1.234), source.place(2.345)
    assert np.array_equal(before[:, :first], after[:, :first])
    assert np.array_equal(before[:, last:], after[:, last:])
    assert np.max(np.abs(after[:, first:last] - new)) <= 1 / 32768


@pytest.mark.parametrize("start", [Fraction(0), Fraction(3, 2)])
def test_a_container_that_starts_late_keeps_its_sync(folder, start) -> None:
    path = make_film(folder / "materials/late.mkv", frames=75, start=start, audio="aac")
    source = open_sound(path, "late.mkv", nothing)
    _, written, _ = halved(source, folder, 1.0, 2.0)
    assert (written.first, written.last) == (source.first, source.last)
    assert written.scan.sound == source.scan.sound


def test_blocks_of_any_size_join_to_what_one_read_gives(folder) -> None:
    source = open_sound(film(folder / "materials/a.mkv", "aac", channels=2), "a.mkv", nothing)
    whole = source.read(-500, 100_000, nothing)
    for size in (777, 48_000, 1_000_000):
        assert np.array_equal(np.concatenate(list(source.blocks(-500, 100_000, size, nothing)), axis=1), whole)


def test_a_cancelled_write_leaves_nothing_behind(folder) -> None:
    source = open_sound(film(folder / "materials/a.mp4", "aac"), "a.mp4", nothing)
    call = Call(Workspace(folder))

    def blocks():
        call.stop.set()
        yield np.zeros((1, 48_000), np.float32)

    with pytest.raises(Cancelled):
        write_sound(source, SoundChange(48_000, 96_000, blocks), folder / "work/a.mp4", call)
    assert list((folder / "work").iterdir()) == []


def test_an_unknown_suffix_is_a_sentence(folder) -> None:
    source = open_sound(film(folder / "materials/a.wav", "pcm_s16le", picture=False), "a.wav", nothing)
    change = SoundChange(0, 100, lambda: iter([np.zeros((1, 100), np.float32)]))
    with pytest.raises(UserError, match=r"ending in \.xyz cannot be written"):
        write_sound(source, change, folder / "work/a.xyz", Call(Workspace(folder)))
