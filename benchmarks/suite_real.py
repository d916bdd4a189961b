"""A whole suite from real footage, by the command line alone: build, approve, check, attack.

    python benchmarks/suite_real.py <folder with the real clips> [--out folder] [--skip-attacks]

Every repair defect of both schemes, two sequencing tasks, two assembly tasks and one repurpose task. Clips that are too
short alone are joined into reels of 320x180 at 25 fps first. A suite that is already in --out is not built again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np

from avb_mcp.tasks.builders.repair import kinds
from avb_mcp.tasks.footage import RATE_HZ, Footage, Image, Sound, frames, open_footage, sound, write_film

SIZE, FPS = (320, 180), Fraction(25)
PART_S = 9.0
"""No clip fills more of a reel than this."""
REELS = {
    "bunny": ["film/bbb_480p_30s.mp4", "film/oa4_launch.webm", "film/bbb_1280x720_5s_5.1.mp4", "film/bikes.mp4"],
    "voices": [
        "talking_head/grid_bbaf2n.mpg",
        "talking_head/movie-hello_webcam_screencast.mp4",
        "talking_head/grid_sbia1a.mpg",
        "film/nasa_13013.mp4",
        "talking_head/jwpIntro.mp4",
        "talking_head/grid_lwbsza.mpg",
        "talking_head/man-on-green-screen.mp4",
        "odd/cockatoo_yuv444_mp3.mp4",
    ],
    "places": [
        "film/fillets_intro.mpg",
        "footage/intel_car-detection.mp4",
        "vlog/balle-jbart.mp4",
        "odd/prores_like_mjpeg_diver.mov",
        "film/bikes.mp4",
        "odd/cv_big_buck_bunny.mp4",
        "film/oa4_launch.webm",
    ],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("footage", type=Path)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "avb-suite-real")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--repair-s", type=float, nargs=2, default=(10.0, 16.0), help="shortest and longest repair film"
    )
    parser.add_argument("--skip-attacks", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    suite = args.out / "suite"
    reels = [reel(name, args.footage, args.out) for name in REELS]
    if not suite.exists():
        terms = [_licences(name, args.footage) for name in REELS]
        for words, chosen in plan_builds(args.seed, *args.repair_s):
            sources = [
                word for number in chosen for word in ("--source", str(reels[number]), "--licence", terms[number])
            ]
            told = ["--provenance", f"joined from {args.footage.name}"]
            if avb("build", *words, *sources, *told, "--out", str(suite)):
                return 1
    avb("approve", str(suite), "--by", "First Reviewer (script)")
    avb("approve", str(suite), "--by", "Second Reviewer (script)")
    failed = avb("check", str(suite))
    return failed if args.skip_attacks else avb("check", str(suite), "--attacks") or failed


def plan_builds(seed: int, min_s: float, max_s: float) -> Iterator[tuple[list[str], list[int]]]:
    """The words of the build commands, and the reels that each uses: every third defect of a scheme has its own."""
    for scheme in ("h1", "v3"):
        for number in range(len(REELS)):
            names = kinds(scheme)[number :: len(REELS)]
            lengths = ["--min-s", str(min_s), "--max-s", str(max_s)]
            count = ["--count", str(len(names)), "--seed", str(seed + number)]
            yield ["repair", "--kinds", ",".join(names), *count, *lengths], [number]
    yield ["sequencing", "--count", "2", "--seed", str(seed), "--max-clips", "9", "--cut-inside"], [0, 1]
    yield ["assembly", "--count", "2", "--seed", str(seed)], [1, 2]
    yield ["repurpose", "--count", "1", "--seed", str(seed)], [2]


def avb(*words: str) -> int:
    """Run a command, show it and how long it took; its exit code."""
    print(f"\n$ avb-mcp {' '.join(words)}", flush=True)
    begun_s = time.monotonic()
    code = subprocess.run([sys.executable, "-m", "avb_mcp", *words]).returncode
    print(f"[exit {code}, {time.monotonic() - begun_s:.0f} s]", flush=True)
    return code


# ---- reels


def reel(name: str, footage: Path, folder: Path) -> Path:
    """The clips of a reel one after another, on one size and rate."""
    path = folder / f"{name}.mp4"
    if not path.exists():
        clips = [open_footage(footage / clip) for clip in REELS[name]]
        track = np.concatenate([_stereo(clip) for clip in clips], axis=1)
        write_film(path, (picture for clip in clips for picture in _conformed(clip)), FPS, track)
    return path


def _count(clip: Footage) -> int:
    return int(min(clip.duration_s, PART_S) * FPS)


def _conformed(clip: Footage) -> Iterator[Image]:
    pictures, at = frames(clip, 0, clip.frame_count), -1
    picture: Image | None = None
    for number in range(_count(clip)):
        while at < min(int(number * clip.fps / FPS), clip.frame_count - 1):
            picture, at = next(pictures), at + 1
        assert picture is not None
        bgr = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_YUV2BGR_I420), SIZE, interpolation=cv2.INTER_AREA)
        yield np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2YUV_I420), np.uint8)


def _stereo(clip: Footage) -> Sound:
    count = round(_count(clip) / FPS * RATE_HZ)
    heard = sound(clip, 0.0, float(_count(clip) / FPS))
    if heard is None:
        return np.zeros((2, count), np.float32)
    both = np.repeat(heard, 2, axis=0) if len(heard) == 1 else heard
    return np.pad(both[:, :count], ((0, 0), (0, max(0, count - both.shape[1]))))


def _licences(name: str, footage: Path) -> str:
    known = {row["file"]: row["licence"] for row in json.loads((footage / "MANIFEST.json").read_text("utf-8"))["files"]}
    return "; ".join(dict.fromkeys(known[clip] for clip in REELS[name]))


if __name__ == "__main__":
    sys.exit(main())
