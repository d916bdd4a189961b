"""Colour defects in real film, coded at crf 18, repaired: RGB PSNR against the clean film, shift by shift.

    python benchmarks/color_match.py [--media FOLDER] [--clips 3]

Each clip gets a window of 24 frames, across keyframes, with one defect; `color_match` knows only the window. `target`
is the best figure of earlier trials on other clips, `bound` a polynomial fitted to the clean film itself on these ones.
Also counted: frames outside the window that are bit-identical after decoding, and how far the others are off.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.workspace import Workspace
from primitives._base import Call, UserError
from primitives._colour.choose import METHODS
from primitives._colour.fit import Evidence
from primitives.color_match import PRIMITIVE, ColorMatchResult
from tests.scenery import Picture, changed, grade, psnr_db, read_coded, write

MEDIA = Path(os.environ.get("AVB_TEST_MEDIA", Path(__file__).resolve().parents[2] / "shared" / "media"))
CLIPS = (
    ("film/bikes.mp4", 0),
    ("film/bbb_480p_30s.mp4", 290),
    ("talking_head/jwpIntro.mp4", 20),
    ("vlog/balle-jbart.mp4", 20),
    ("footage/intel_car-detection.mp4", 20),
    ("film/bbb_1280x720_5s_5.1.mp4", 30),
)
TARGET_DB = {
    "gain": 34,
    "dark": 34,
    "gamma": 35,
    "temperature": 34,
    "saturation": 34,
    "combination": 34,
    "contract": 34,
}
FRAMES, WINDOW = 75, range(23, 47)


@dataclass(frozen=True)
class Row:
    """One clip with one defect."""

    broken_db: float
    repaired_db: float
    bound_db: float
    method: str
    same_outside: int
    other_outside_db: float
    size_ratio: float
    """The written file's size to the broken one's."""


def take(path: Path, first: int) -> list[Picture]:
    frames: list[Picture] = []
    with av.open(str(path)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number >= first:
                picture = frame.to_ndarray(format="rgb24")
                frames.append(picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2])
            if len(frames) == FRAMES:
                break
    return frames


def in_rgb(path: Path) -> list[Picture]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def measure(truth: list[Picture], shift: str, folder: Path) -> Row:
    source = write(folder / "broken.mp4", changed(truth, WINDOW, grade(shift)), crf=18, group=25)
    arguments = {"path": "broken.mp4", "start_s": WINDOW.start / 25, "end_s": WINDOW.stop / 25}
    inside = slice(WINDOW.start, WINDOW.stop)
    broken = in_rgb(source)
    try:
        result = PRIMITIVE.call(arguments, Call(Workspace(folder))).result
    except UserError:
        left = psnr_db(broken[inside], truth[inside])
        return Row(left, left, _bound(broken[inside], truth[inside]), "left", FRAMES - len(WINDOW), float("inf"), 1.0)
    assert isinstance(result, ColorMatchResult) and result.output is not None
    repaired = in_rgb(folder / result.output)
    before, after = read_coded(source), read_coded(folder / result.output)
    outside = [number for number in range(FRAMES) if number not in WINDOW]
    changed_outside = [number for number in outside if not np.array_equal(before[number], after[number])]
    drift = [psnr_db([repaired[n]], [broken[n]]) for n in changed_outside]
    return Row(
        psnr_db(broken[inside], truth[inside]),
        psnr_db(repaired[inside], truth[inside]),
        _bound(broken[inside], truth[inside]),
        result.method,
        len(outside) - len(changed_outside),
        min(drift, default=float("inf")),
        (folder / result.output).stat().st_size / source.stat().st_size,
    )


def _bound(broken: list[Picture], truth: list[Picture]) -> float:
    def rows(frames: list[Picture], step: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return np.concatenate([f[::step, ::step].reshape(-1, 3) for f in frames[::6]]).astype(np.float32) / 255

    change = METHODS["poly"](Evidence(rows(broken, 4), rows(truth, 4), aligned=True))
    made = np.clip(np.rint(change(rows(broken, 2)) * 255), 0, 255)
    return psnr_db([made.astype(np.uint8)], [np.rint(rows(truth, 2) * 255).astype(np.uint8)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--media", type=Path, default=MEDIA)
    parser.add_argument("--clips", type=int, default=len(CLIPS))
    options = parser.parse_args()
    clips = {name: take(options.media / name, first) for name, first in CLIPS[: options.clips]}
    print(f"{len(clips)} clips, {FRAMES} frames each, window {WINDOW.start}-{WINDOW.stop}; PSNR in dB, mean over clips")
    print("shift          broken repaired  target  bound  identical outside  worst other  size  methods")
    missed = []
    for shift, target in TARGET_DB.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            (folder / "work").mkdir()
            rows = [measure(frames, shift, folder) for frames in clips.values()]
        broken, repaired, bound = (
            float(np.mean([getattr(row, name) for row in rows])) for name in ("broken_db", "repaired_db", "bound_db")
        )
        same = f"{sum(row.same_outside for row in rows)}/{len(rows) * (FRAMES - len(WINDOW))}"
        worst = min(row.other_outside_db for row in rows)
        methods = ",".join(row.method for row in rows)
        size = float(np.mean([row.size_ratio for row in rows]))
        print(
            f"{shift:14s} {broken:6.1f} {repaired:8.1f} {target:7d} {bound:6.1f} {same:>18s} {worst:12.1f} "
            f"{size:5.1f}  {methods}",
            flush=True,
        )
        print("    each: " + " ".join(f"{row.broken_db:.1f}->{row.repaired_db:.1f}" for row in rows), flush=True)
        if repaired < target - 1:
            missed.append(shift)
    print("within 1 dB of the target for every shift" if not missed else f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
