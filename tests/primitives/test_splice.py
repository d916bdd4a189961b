"""Splices: a change in the middle of a group leaves every other frame bit for bit, whatever encoded the film."""

from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives._edit import OutputSpec, Piece, RenderReport
from primitives._media.render import render
from tests.edits import decoded
from tests.x264_films import ENCODERS, FRAMES, make


def darkened(frame: av.VideoFrame, number: int) -> av.VideoFrame:
    return av.VideoFrame.from_ndarray((frame.to_ndarray() * 0.7).astype(np.uint8), format="yuv420p")


def changed(folder: Path, film: Path, window: range) -> tuple[Path, RenderReport]:
    call = Call(Workspace(folder))
    parts = [range(window.start), window, range(window.stop, FRAMES)]
    pieces = [Piece(film, film.name, part, darkened if part == window else None) for part in parts if len(part)]
    out = call.output(f"work/out{film.suffix}")
    return out, render(pieces, out, OutputSpec(quality="best"), call)


@pytest.mark.parametrize("name", ENCODERS)
def test_frames_outside_a_change_stay_bit_for_bit(folder: Path, name: str) -> None:
    film = make(folder / "materials/a.mp4", ENCODERS[name])
    before = decoded(film)
    for window in (range(5, 9), range(18, 31), range(2), range(60, 64), range(33, 34)):
        out, report = changed(folder, film, window)
        after = decoded(out)
        assert [time for time, _ in after] == [time for time, _ in before]
        assert [n for n in range(FRAMES) if not np.array_equal(before[n][1], after[n][1])] == list(window)
        assert (report.frames_copied, report.frames_encoded) == (FRAMES - len(window), len(window))


@pytest.mark.parametrize(("profile", "suffix"), [("baseline", ".mp4"), ("main", ".mkv"), ("high", ".mov")])
def test_profile_and_level_stay_and_other_players_read_every_frame(folder: Path, profile: str, suffix: str) -> None:
    film = make(folder / f"materials/a{suffix}", "bframes=2:ref=2:keyint=40" * (profile != "baseline"), profile)
    out, _ = changed(folder, film, range(18, 31))
    facts = []
    for path in (film, out):
        with av.open(str(path)) as container:
            context = container.streams.video[0].codec_context
            facts.append((context.profile, context.extradata[3] if suffix != ".mkv" else None))
    assert facts[0] == facts[1]
    player, read = cv2.VideoCapture(str(out)), 0
    while player.read()[0]:
        read += 1
    assert read == FRAMES


def test_where_a_splice_cannot_be_done_the_frames_are_encoded_hardly_visibly(folder: Path) -> None:
    film = folder / "materials/a.mp4"
    make(film, "bframes=2:keyint=40")
    ten_bit = folder / "materials/b.mp4"
    with av.open(str(film)) as source, av.open(str(ten_bit), "w") as container:
        video = container.add_stream("libx264", rate=25, options={"x264-params": "keyint=40", "crf": "20"})
        video.width, video.height, video.pix_fmt = 150, 84, "yuv420p10le"
        for frame in source.decode(video=0):
            container.mux(video.encode(frame.reformat(format="yuv420p10le")))
        container.mux(video.encode(None))
    call = Call(Workspace(folder))
    out = call.output("work/out.mp4")
    pieces = [Piece(ten_bit, "b.mp4", part) for part in (range(20, 50), range(55, 60))]
    report = render(pieces, out, OutputSpec(quality="best"), call)
    before, after = decoded(ten_bit), decoded(out)
    errors = [
        float(np.mean((before[n][1].astype(float) - after[place][1]) ** 2))
        for place, n in enumerate([*range(20, 50), *range(55, 60)])
    ]
    assert report.frames_encoded > 0
    assert 10 * np.log10(1023**2 / max(errors)) > 48


@pytest.mark.parametrize(("level", "stored"), [("10", False), ("11", True)])
def test_pictures_are_stored_without_loss_only_where_the_level_has_room_for_one(
    folder: Path, level: str, stored: bool
) -> None:
    film = make(folder / "materials/a.mp4", f"bframes=2:ref=2:keyint=40:level={level}", "main")
    before = decoded(film)
    out, report = changed(folder, film, range(18, 31))
    same = [n for n, (a, b) in enumerate(zip(before, decoded(out), strict=True)) if np.array_equal(a[1], b[1])]
    assert (len(same) == FRAMES - 13) is stored
    assert any("level allows" in reason for reason in report.reasons) is not stored
    assert any("without loss" in note for note in report.notes) is stored
