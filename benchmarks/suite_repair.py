"""Every repair defect built from three real films, and what the tasks are worth to whom.

    python benchmarks/suite_repair.py [--scheme h1|v3] [--kinds room_echo,blur] [--films bunny] [--once] [--keep folder]

A row is one task: what golden, nothing and the broken file score, whether building again gives the same bytes, and how
long it took. Clips are made small and joined into reels first, because most are too short alone. Needs a folder with
the real clips: AVB_TEST_MEDIA, or ../shared/media beside the project.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from avb_mcp.score import score_workspace
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.repair import kinds, plan
from avb_mcp.tasks.defects._pictures import joined, planes
from avb_mcp.tasks.footage import RATE_HZ, Footage, Image, Sound, frames, open_footage, sound, write_film
from avb_mcp.tasks.spec import Source
from avb_mcp.tasks.suite import write_suite
from primitives._base import UserError

ROOT = Path(__file__).resolve().parents[1]
MEDIA = Path(os.environ.get("AVB_TEST_MEDIA", ROOT.parent / "shared" / "media"))
SIZE, FPS = (320, 180), Fraction(25)
REELS = {
    "bunny": ["film/bbb_480p_30s.mp4", "film/oa4_launch.webm", "film/bbb_1280x720_5s_5.1.mp4"],
    "fish": ["film/fillets_intro.mpg"],
    "voices": [
        "talking_head/grid_bbaf2n.mpg",
        "talking_head/movie-hello_webcam_screencast.mp4",
        "talking_head/grid_sbia1a.mpg",
        "film/nasa_13013.mp4",
        "talking_head/jwpIntro.mp4",
        "talking_head/grid_lwbsza.mpg",
        "film/oa4_launch.webm",
    ],
}


def reel(name: str, folder: Path) -> Path:
    """The film of that name: its clips one after another, on one small size and rate."""
    opened = [open_footage(MEDIA / clip) for clip in REELS[name]]
    track = np.concatenate([_stereo(clip) for clip in opened], axis=1)
    path = folder / f"{name}.mp4"
    write_film(path, (picture for clip in opened for picture in _conformed(clip)), FPS, track)
    return path


def _count(clip: Footage) -> int:
    return int(clip.duration_s * FPS)


def _conformed(clip: Footage) -> Iterator[Image]:
    source, at = frames(clip, 0, clip.frame_count), -1
    picture: Image | None = None
    for number in range(_count(clip)):
        while at < min(int(number * clip.fps / FPS), clip.frame_count - 1):
            picture, at = next(source), at + 1
        assert picture is not None
        yield _scaled(picture)


def _scaled(picture: Image) -> Image:
    width, height = SIZE[0] // 4 * 4, SIZE[1] // 4 * 4
    parts = planes(picture)
    sizes = ((width, height), (width // 2, height // 2), (width // 2, height // 2))
    y, u, v = (
        np.asarray(cv2.resize(np.ascontiguousarray(plane), size, interpolation=cv2.INTER_AREA), np.uint8)
        for plane, size in zip((parts.y, parts.u, parts.v), sizes, strict=True)
    )
    return joined(y, u, v)


def _stereo(clip: Footage) -> Sound:
    count = round(_count(clip) / FPS * RATE_HZ)
    heard = sound(clip, 0.0, clip.duration_s)
    if heard is None:
        return np.zeros((2, count), np.float32)
    heard = np.repeat(heard, 2, axis=0) if len(heard) == 1 else heard
    return np.pad(heard[:, :count], ((0, 0), (0, max(0, count - heard.shape[1]))))


def build(footage: Footage, kind: str, out: Path) -> tuple[str, str]:
    """One task; its id and digest."""
    request = BuildRequest(seed=7, count=1, kinds=(kind,), min_s=14, max_s=18)
    source = Source(name=footage.name, sha256=footage.sha256)
    suite = write_suite(out, plan([footage], request), [source], lambda *_: None)
    return suite.tasks[0].id, suite.tasks[0].digest


def scored(suite: Path, task: str, media: Path | None, report: str) -> float:
    """What a workspace with these deliverables is worth."""
    outputs = suite / "tasks" / task / "outputs"
    shutil.rmtree(outputs, ignore_errors=True)
    outputs.mkdir()
    if media is not None:
        shutil.copyfile(media, outputs / "fixed.mp4")
        (outputs / "report.md").write_text(report, encoding="utf-8")
    verdict = score_workspace(suite / "tasks" / task, suite / "answers" / task)
    if verdict.score is None:
        raise SystemExit(f"{task}: {verdict.reasons}")
    return verdict.score


def right_report(answers: Path) -> str:
    """The report that an oracle hands in."""
    if (answers / "truth.json").exists():
        ranges = json.loads((answers / "truth.json").read_text())["ranges"]
        return "```json\n" + json.dumps([[item["start_s"], item["end_s"]] for item in ranges]) + "\n```\n"
    profile = json.loads((answers / "profile.json").read_text())
    return "".join(block for entry in _entries(profile) for block in _blocks(entry))


def _entries(profile: dict[str, Any]) -> list[dict[str, Any]]:
    return profile.get("injections") or [profile["injection"]]


def _blocks(entry: dict[str, Any]) -> Iterator[str]:
    spans = [(entry["start_s"], entry["end_s"])] if "start_s" in entry else []
    if not spans:
        scenes = [value for key, value in entry.items() if key.startswith("scene_")]
        for group in "AB":
            own = [scene for scene in scenes if scene["group"] == group]
            spans.append((min(s["broken_start_s"] for s in own), max(s["broken_end_s"] for s in own)))
    for start_s, end_s in spans:
        yield f"## Diagnosis\n- type: defect\n- start: {start_s:.3f}\n- end: {end_s:.3f}\n\n"


def row(footage: Footage, kind: str, folder: Path, once: bool) -> str:
    """One line of the table."""
    started = time.process_time()
    try:
        task, digest = build(footage, kind, folder / "one")
    except UserError as error:
        return f"{kind:22} {error}"
    spent_s = time.process_time() - started
    suite = folder / "one"
    answers = suite / "answers" / task
    golden = answers / ("golden.mp4" if (answers / "golden.mp4").exists() else "source.mp4")
    broken = suite / "tasks" / task / "materials" / "broken.mp4"
    right = right_report(answers)
    figures = (
        scored(suite, task, golden, right),
        scored(suite, task, None, ""),
        scored(suite, task, broken, right if golden.name == "golden.mp4" else ""),
    )
    again = "-" if once else "same" if build(footage, kind, folder / "two")[1] == digest else "DIFFERS"
    drawn = json.loads((answers / "recipe.json").read_text())["drawn"]
    shown = " ".join(f"{value:7.3f}" for value in figures)
    return f"{kind:22} {shown}  {again:8}{spent_s:6.1f}  {json.dumps(drawn)[:110]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scheme", choices=("h1", "v3"))
    parser.add_argument("--kinds", default="")
    parser.add_argument("--films", default=",".join(REELS))
    parser.add_argument("--once", action="store_true", help="do not build again")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    schemes = [options.scheme] if options.scheme else ["h1", "v3"]
    wanted = options.kinds.split(",") if options.kinds else [kind for scheme in schemes for kind in kinds(scheme)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        for name in options.films.split(","):
            footage = open_footage(reel(name, Path(scratch)))
            size = f"{footage.width_px}x{footage.height_px}"
            print(f"\n{name}: {footage.duration_s:.1f} s, {size}, {footage.fps} fps, {len(footage.shots)} shots")
            print(f"{'defect':22}  golden nothing  broken  rebuilt  CPU s  drawn", flush=True)
            for kind in wanted:
                own = folder / name / kind
                shutil.rmtree(own, ignore_errors=True)
                own.mkdir(parents=True)
                print(row(footage, kind, own, options.once), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
