"""Real clips, odd ones among them: each is handled or refused with a sentence, and counted right."""

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from primitives._base import Answer
from primitives._media.frames import decode_frames
from primitives._media.scan import scan
from primitives._media.source import video_stream
from primitives.frame_grid import FrameGridResult
from primitives.probe import ProbeResult
from tests.media import SHARED_MEDIA, cut_cells

Run = Callable[..., Answer]


def clips() -> list[dict[str, Any]]:
    manifest = SHARED_MEDIA / "MANIFEST.json"
    if not manifest.is_file():
        return []
    files: list[dict[str, Any]] = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    return [entry for entry in files if "video" in entry or "audio" in entry]


CLIPS = clips()
FILMS = [entry for entry in CLIPS if "video" in entry]
needs_clips = pytest.mark.skipif(not CLIPS, reason="no real media: set AVB_TEST_MEDIA to a folder with MANIFEST.json")
DAMAGED = {"odd/corrupted.mp4"}


def bring(folder: Path, entry: dict[str, Any]) -> str:
    name = "materials/" + Path(entry["file"]).name
    (folder / name).write_bytes((SHARED_MEDIA / entry["file"]).read_bytes())
    return name


@needs_clips
@pytest.mark.parametrize("entry", CLIPS, ids=lambda entry: entry["file"])
def test_probe_counts_what_decoding_counts(folder: Path, run: Run, entry: dict[str, Any]) -> None:
    answer = run("probe", path=bring(folder, entry)).result
    assert isinstance(answer, ProbeResult)
    (file,) = answer.files
    if "video" in entry:
        assert file.video is not None
        if entry["file"] not in DAMAGED:
            assert file.video.frame_count == entry["video"]["frames_decoded"]
        assert file.video.variable_frame_rate == entry["video"]["vfr"]
    if "audio" in entry:
        assert file.audio is not None
        assert (file.audio.sample_rate_hz, file.audio.channels) == (entry["audio"]["rate"], entry["audio"]["channels"])


@needs_clips
@pytest.mark.parametrize("entry", FILMS, ids=lambda entry: entry["file"])
def test_a_sheet_shows_first_and_last_frame(folder: Path, run: Run, entry: dict[str, Any]) -> None:
    answer = run("frame_grid", path=bring(folder, entry), count=6)
    assert isinstance(answer.result, FrameGridResult) and answer.image is not None
    frames = [cell.frame for cell in answer.result.cells]
    last = answer.result.frame_count
    assert last is not None
    assert frames == sorted(set(frames))
    assert (frames[0], frames[-1]) == (0, last - 1)
    assert not any("does not decode" in note for note in answer.result.notes)


@needs_clips
@pytest.mark.parametrize("entry", FILMS, ids=lambda entry: entry["file"])
def test_a_frame_taken_by_seeking_is_the_frame_that_playing_shows(folder: Path, entry: dict[str, Any]) -> None:
    path = SHARED_MEDIA / entry["file"]
    found = scan(path, path.name, lambda: None)
    assert found.video is not None
    count = len(found.video)
    wanted = sorted({round(share * (count - 1)) for share in (0.13, 0.31, 0.5, 0.67, 0.89, 1.0)})
    sought = {
        shown.number: shown.frame.to_ndarray(format="bgr24")
        for shown in decode_frames(path, "x", found, wanted, lambda: None)
    }
    assert list(sought) == wanted
    with av.open(str(path)) as container:
        stream = video_stream(container, "x")
        assert stream is not None
        packets = container.demux(stream)
        played = (frame for packet in packets for frame in decoded(packet) if frame.pts is not None)
        for frame in played:
            number = found.video.index_of(frame.pts)
            if number in sought and entry["file"] not in DAMAGED:
                assert np.array_equal(frame.to_ndarray(format="bgr24"), sought[number]), number


def decoded(packet: av.Packet) -> list[Any]:
    try:
        return list(packet.decode())
    except av.error.FFmpegError:
        return []


@needs_clips
def test_a_cut_known_by_frame_is_seen_at_that_frame(folder: Path, run: Run) -> None:
    """Hard cuts annotated by frame: the picture changes most between cut - 1 and cut."""
    checked = 0
    for entry in FILMS:
        for cut in (entry.get("cuts") or {}).get("hard_cuts_frames", [])[:3]:
            fps = Fraction(entry["video"]["avg_fps"])
            asked = {"start_s": float((cut - 2) / fps), "end_s": float((cut + 2) / fps), "all_frames": True}
            answer = run("frame_grid", path=bring(folder, entry), **asked)
            cells = [cv2.resize(cell[40:], (64, 36), interpolation=cv2.INTER_AREA) for cell in cut_cells(answer)]
            steps = [float(np.abs(b.astype(int) - a.astype(int)).mean()) for a, b in itertools.pairwise(cells)]
            assert int(np.argmax(steps)) == 1, (entry["file"], cut, steps)
            checked += 1
    assert checked >= 5
