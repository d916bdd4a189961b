"""Odd films through every edit tool: a sound answer whose file opens again, or one sentence."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from avb_mcp.workspace import Workspace
from primitives._base import Call, UserError
from primitives.registry import by_name
from tests.media import SHARED_MEDIA, make_film, make_sound

pytestmark = pytest.mark.slow

LONGEST_S = 1.2
TOOLS: dict[str, Callable[[float], dict[str, Any]]] = {
    "scene_cuts": lambda end_s: {"end_s": end_s, "sheet": True},
    "trim_concat": lambda end_s: {"segments": [{"start_s": end_s / 2, "end_s": end_s}, {"end_s": end_s / 3}]},
    "color_match": lambda end_s: {"start_s": end_s / 3, "end_s": end_s * 2 / 3},
    "deblur": lambda end_s: {"start_s": end_s / 3, "end_s": end_s * 2 / 3, "kind": "deblur"},
    "unfreeze": lambda end_s: {"start_s": end_s / 3, "end_s": end_s * 2 / 3, "kind": "unfreeze"},
}
REAL = sorted(path.name for path in (SHARED_MEDIA / "odd").glob("*") if path.is_file())


def damaged(path: Path) -> Path:
    whole = make_film(path, frames=40, options={"g": "10"}, audio="aac").read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(400) + whole[middle + 400 :])
    return path


def cut_short(path: Path) -> Path:
    options = {"movflags": "frag_keyframe+empty_moov"}
    whole = make_film(path, frames=40, options={"g": "10"}, container_options=options).read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    return path


def text(path: Path) -> Path:
    path.write_text("no film at all\n" * 20, encoding="utf-8")
    return path


ODD: dict[str, Callable[[Path], Path]] = {
    "one_frame.mp4": lambda path: make_film(path, frames=1),
    "two_frames.mkv": lambda path: make_film(path, frames=2, audio="aac"),
    "odd_size.mkv": lambda path: make_film(path, frames=30, size=(35, 17), pix_fmt="yuv444p"),
    "tiny.mp4": lambda path: make_film(path, frames=30, size=(16, 16)),
    "grey.mkv": lambda path: make_film(path, frames=30, codec="ffv1", pix_fmt="gray"),
    "rgb.mkv": lambda path: make_film(path, frames=30, codec="ffv1", pix_fmt="bgr0"),
    "alpha.webm": lambda path: make_film(path, frames=30, codec="libvpx-vp9", pix_fmt="yuva420p"),
    "moving_jpeg.avi": lambda path: make_film(path, frames=30, codec="mjpeg", pix_fmt="yuvj420p"),
    "old.mpg": lambda path: make_film(path, frames=30, codec="mpeg2video"),
    "deep.mp4": lambda path: make_film(path, frames=30, codec="libx265", pix_fmt="yuv420p10le"),
    "late.mkv": lambda path: make_film(path, frames=30, start=Fraction(5), audio="aac"),
    "uneven.mp4": lambda path: make_film(path, frames=30, times=[Fraction(n * n, 600) for n in range(30)]),
    "sound_only.wav": make_sound,
    "damaged.mp4": damaged,
    "cut_short.mp4": cut_short,
    "text.mp4": text,
}


def length_s(path: Path) -> float:
    try:
        with av.open(str(path)) as container:
            return min(LONGEST_S, (container.duration or 1_000_000) / 1e6)
    except av.error.FFmpegError:
        return LONGEST_S


def survives(folder: Path, path: Path, tool: str) -> str:
    """What came of it; the written file is opened and read."""
    name = {"deblur": "restore_video", "unfreeze": "restore_video"}.get(tool, tool)
    arguments = {"path": f"materials/{path.name}", **TOOLS[tool](max(0.01, length_s(path)))}
    try:
        answer = by_name()[name].call(arguments, Call(Workspace(folder)))
    except UserError as error:
        assert 20 < len(str(error)) < 600 and "\n" not in str(error) and str(error).endswith(".")
        return "refused"
    assert len(answer.result.model_dump_json()) < 8_000
    for written in (folder / "work").glob("*"):
        if written.suffix not in {".otio", ".json"}:
            with av.open(str(written)) as container:
                assert next(container.decode(video=0)).width > 0
    return "done"


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", ODD)
def test_an_odd_film_is_handled_or_refused_with_a_sentence(folder: Path, name: str, tool: str) -> None:
    outcome = survives(folder, ODD[name](folder / "materials" / name), tool)
    if name in {"text.mp4", "sound_only.wav"}:
        assert outcome == "refused"
    elif tool in {"scene_cuts", "trim_concat"} and name != "cut_short.mp4":
        assert outcome == "done"


@pytest.mark.skipif(not REAL, reason="real odd media not found: set AVB_TEST_MEDIA to a folder that holds odd/")
@pytest.mark.parametrize("name", REAL)
def test_a_real_odd_film_is_handled_or_refused_with_a_sentence(folder: Path, name: str) -> None:
    link = folder / "materials" / name
    link.write_bytes((SHARED_MEDIA / "odd" / name).read_bytes())
    outcomes = {tool: survives(folder, link, tool) for tool in TOOLS}
    assert outcomes["scene_cuts"] == outcomes["trim_concat"]
