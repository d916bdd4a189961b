"""A frame on its own is the frame of the whole film, whatever was passed over on the way to it."""

from pathlib import Path

import av
import numpy as np
import pytest

from primitives._media.frames import decode_frames
from primitives._media.needed import Sparing
from primitives._media.scan import scan
from tests.edits import decoded
from tests.x264_films import ENCODERS, FRAMES, make


def nothing() -> None:
    pass


def spared(film: Path, place: int) -> frozenset[int]:
    """The pictures, in decoding order, that are passed over on the way to one."""
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        payloads = [bytes(packet) for packet in container.demux(stream) if packet.size]
        return Sparing(stream.codec_context.extradata).spared(payloads[: place + 1], [place])


@pytest.mark.parametrize("name", ENCODERS)
def test_each_frame_on_its_own_is_the_films(tmp_path: Path, name: str) -> None:
    film = make(tmp_path / "a.mp4", ENCODERS[name])
    whole = decoded(film)
    found = scan(film, film.name, nothing)
    for number in range(0, FRAMES, 3):
        (shown,) = decode_frames(film, film.name, found, [number], nothing)
        assert shown.number == number
        assert np.array_equal(shown.frame.to_ndarray(), whole[number][1])


def test_b_pictures_that_only_their_neighbours_lean_on_are_passed_over(tmp_path: Path) -> None:
    film = make(tmp_path / "a.mp4", "bframes=3:ref=1:b-pyramid=normal:b-adapt=0:keyint=64")
    assert len(spared(film, 60)) > 8


def test_b_pictures_that_p_pictures_lean_on_are_decoded(tmp_path: Path) -> None:
    film = make(tmp_path / "a.mp4", "bframes=3:ref=6:b-pyramid=normal:b-adapt=0:keyint=64")
    assert not spared(film, 60)


@pytest.mark.parametrize(
    "damage", [b"", b"\x00\x00\x00\x09", b"\x00\x00\x00\x02\x41", b"\x00\x00\x00\x09\x41" + bytes(8)]
)
def test_nothing_is_passed_over_where_the_headers_are_damaged(tmp_path: Path, damage: bytes) -> None:
    film = make(tmp_path / "a.mp4", "bframes=3:ref=1:b-pyramid=normal:b-adapt=0:keyint=64")
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        payloads = [bytes(packet) for packet in container.demux(stream) if packet.size]
        sparing = Sparing(stream.codec_context.extradata)
        assert not sparing.spared([*payloads[:20], damage, *payloads[21:61]], [60])
