"""Defects of sharpness and time in real film, coded at crf 18, repaired: PSNR against the clean film, defect by defect.

    python benchmarks/restore_video.py [--media FOLDER] [--clips N]

Each clip gets a window of 24 frames with one defect; `restore_video` knows only the window. `target` is the gain of the
best row of earlier trials on other clips. Freezes and repeats are judged by the frames found: error at both ends.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.workspace import Workspace
from benchmarks.color_match import CLIPS, MEDIA, WINDOW, in_rgb, take
from primitives._base import Call, UserError
from primitives.restore_video import PRIMITIVE, RestoreVideoResult
from tests.scenery import Picture, changed, psnr_db, write

INSIDE = slice(WINDOW.start, WINDOW.stop)
RUN = range(WINDOW.start + 6, WINDOW.start + 16)


def blurred(sigma_px: float) -> Callable[[Picture], Picture]:
    return lambda picture: np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma_px), dtype=np.uint8)


def shrunk(times: int) -> Callable[[Picture], Picture]:
    def change(picture: Picture) -> Picture:
        height, width = picture.shape[:2]
        small = cv2.resize(picture, (width // times, height // times), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.uint8)

    return change


SHARPNESS = (
    ("blur sigma 2", "deblur", blurred(2), 2.0),
    ("blur sigma 3", "deblur", blurred(3), 2.0),
    ("blur sigma 4", "deblur", blurred(4), 2.0),
    ("blur sigma 2.5", "sharpen", blurred(2.5), 1.0),
    ("down/up x2", "upscale", shrunk(2), 0.0),
    ("down/up x3", "upscale", shrunk(3), 0.4),
)


def restored(folder: Path, kind: str) -> RestoreVideoResult:
    arguments = {"path": "broken.mp4", "start_s": WINDOW.start / 25, "end_s": WINDOW.stop / 25, "kind": kind}
    result = PRIMITIVE.call(arguments, Call(Workspace(folder))).result
    assert isinstance(result, RestoreVideoResult)
    return result


def sharpness(truth: list[Picture], kind: str, defect: Callable[[Picture], Picture], folder: Path) -> list[float]:
    """PSNR before and after."""
    source = write(folder / "broken.mp4", changed(truth, WINDOW, defect), crf=18, group=25)
    before = psnr_db(in_rgb(source)[INSIDE], truth[INSIDE])
    try:
        result = restored(folder, kind)
    except UserError as error:
        print(f"    {error}")
        return [before, before]
    return [before, psnr_db(in_rgb(folder / result.output)[INSIDE], truth[INSIDE])]


def runs(broken: list[Picture], kind: str, truth: list[Picture], folder: Path) -> str:
    """Which frames were found to repeat, and what came of it."""
    source = write(folder / "broken.mp4", broken, crf=18, group=25)
    try:
        result = restored(folder, kind)
    except UserError as error:
        return f"left: {error}"
    made, length = in_rgb(folder / result.output), len(truth) - len(RUN) * (kind == "drop_repeats")
    found = ", ".join(f"{run.first}-{run.last}" for run in result.stretches)
    if len(made) != length:
        return f"found {found} (true {RUN.start}-{RUN.stop}); {len(made)} frames instead of {length}"
    judged = slice(RUN.start, RUN.stop) if kind == "unfreeze" else slice(RUN.start, length)
    before, after = psnr_db(in_rgb(source)[judged], truth[judged]), psnr_db(made[judged], truth[judged])
    return f"found {found} (true {RUN.start}-{RUN.stop}); {before:.1f} -> {after:.1f} dB from there on"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--media", type=Path, default=MEDIA)
    parser.add_argument("--clips", type=int, default=len(CLIPS))
    parser.add_argument("--only", choices=["sharpness", "time"])
    options = parser.parse_args()
    clips = {name: take(options.media / name, first) for name, first in CLIPS[: options.clips]}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "work").mkdir()
        print("defect          kind      target  mean gain  each, dB")
        for name, kind, defect, target in SHARPNESS if options.only != "time" else ():
            rows = [sharpness(truth, kind, defect, folder) for truth in clips.values()]
            each = " ".join(f"{before:.1f}->{after:.1f}" for before, after in rows)
            gain = np.mean([after - before for before, after in rows])
            print(f"{name:15s} {kind:9s} {target:+6.1f} {gain:+10.2f}  {each}", flush=True)
        for name, truth in clips.items() if options.only != "sharpness" else ():
            held = [truth[RUN.start - 1]] * len(RUN)
            over = [*truth[: RUN.start], *held, *truth[RUN.stop :]]
            inserted = [*truth[: RUN.start], *held, *truth[RUN.start : -len(RUN)]]
            again = [*truth[: RUN.start], *truth[RUN.start - len(RUN) : RUN.start], *truth[RUN.start : -len(RUN)]]
            print(name)
            print("   frozen, unfreeze:       ", runs(over, "unfreeze", truth, folder), flush=True)
            print("   inserted, drop_repeats: ", runs(inserted, "drop_repeats", truth, folder), flush=True)
            print("   plays twice, drop:      ", runs(again, "drop_repeats", truth, folder), flush=True)


if __name__ == "__main__":
    main()
