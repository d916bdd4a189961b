"""`camera_motion` on films whose camera is known: class and direction, still cameras, CPU against bare decoding.

    python benchmarks/camera_motion.py [--set held|development] [--seeds 2] [--media ../shared/media] [--cpu]

Limits were set on the development clips and seeds below 300; `held` are other clips and seeds from 300 on. A film
counts as right when class and direction are. Drawn scenes have depth, so that truck, boom and push differ from pan,
tilt and zoom there. Tripod footage is judged in windows of three seconds, after the whole clip (what was seen of it is
kept).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from avb_mcp.workspace import Workspace  # noqa: E402
from benchmarks.camera_films import TRIPOD, Film, drawn_films, real_films  # noqa: E402
from primitives._base import Call  # noqa: E402
from primitives.camera_motion import CameraMotionResult, ShotMotion  # noqa: E402
from primitives.registry import by_name  # noqa: E402

WINDOW_S = 3.0
CPU_CLIPS = (
    "film/bbb_480p_30s.mp4",
    "footage/intel_car-detection.mp4",
    "odd/cockatoo_yuv444_mp3.mp4",
    "film/bikes.mp4",
)
BARE = """
import av, sys
with av.open(sys.argv[1]) as container:
    stream = container.streams.video[0]
    stream.codec_context.thread_count = 1
    for frame in container.decode(stream):
        pass
"""
OURS = """
import sys
from pathlib import Path
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.registry import by_name
film = Path(sys.argv[1])
tool = by_name()[sys.argv[2]]
tool.call({"path": film.name}, Call(Workspace(film.parent)))
"""
IMPORTS = "import avb_mcp.workspace, primitives.registry, primitives._media.moves, primitives._camera.judge"


def motion(folder: Path, path: Path, **how: object) -> ShotMotion:
    arguments = {"path": path.relative_to(folder).as_posix(), "by_shot": False, **how}
    result = by_name()["camera_motion"].call(arguments, Call(Workspace(folder))).result
    assert isinstance(result, CameraMotionResult)
    return result.rows[0]


def classes(title: str, folder: Path, films: Iterable[Film]) -> None:
    """Confusion by class and direction, and the share that is right by confidence."""
    table: Counter[tuple[str, str]] = Counter()
    by_confidence: dict[bool, list[bool]] = {True: [], False: []}
    for film in films:
        row = motion(folder, film.path)
        truth = f"{film.movement} {film.direction or ''}".strip()
        found = f"{row.movement} {row.direction or ''}".strip()
        table[truth, found] += 1
        by_confidence[row.confidence >= 0.6].append(truth == found)
        if truth != found:
            print(f"  wrong: {film.name}: {found}, confidence {row.confidence}, also {row.also}", flush=True)
        film.path.unlink()
    print(title)
    for truth in dict.fromkeys(truth for truth, _ in table):
        row_counts = {found: count for (one, found), count in table.items() if one == truth}
        told = ", ".join(f"{count} {found}" for found, count in sorted(row_counts.items(), key=lambda item: -item[1]))
        print(f"  {truth:24} {told}")
    right, total = sum(count for (truth, found), count in table.items() if truth == found), table.total()
    print(f"  right class and direction: {right}/{total} = {right / max(1, total):.1%}")
    for sure, judged in by_confidence.items():
        share = sum(judged) / max(1, len(judged))
        print(f"  confidence {'from 0.6 on' if sure else 'below 0.6'}: {sum(judged)}/{len(judged)} right = {share:.1%}")


def tripod(folder: Path, media: Path, which: str) -> None:
    found: Counter[str] = Counter()
    for clip, start_s, end_s in TRIPOD[which]:
        path = Path(shutil.copy(media / clip, folder / Path(clip).name))
        here: Counter[str] = Counter()
        motion(folder, path)
        first_s = start_s
        while first_s + min(WINDOW_S, end_s - start_s) <= end_s + 1e-6:
            last_s = first_s + min(WINDOW_S, end_s - start_s)
            row = motion(folder, path, start_s=first_s, end_s=last_s)
            here[row.movement] += 1
            first_s += WINDOW_S / 2
        print(f"  {clip:50} {dict(here)}", flush=True)
        found += here
    print(f"tripod, windows of {WINDOW_S:g} s: {found['static']}/{found.total()} static, the others {dict(found)}")


def measured(command: list[str]) -> float:
    """CPU seconds of a child process."""
    process = subprocess.Popen(command, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime


def cpu(folder: Path, media: Path) -> None:
    """CPU against decoding the same film with one thread, both without the time to import."""
    for clip in CPU_CLIPS:
        work = Path(tempfile.mkdtemp(dir=folder))
        film = Path(shutil.copy(media / clip, work / Path(clip).name))
        idle = measured([sys.executable, "-c", "import av"])
        imports = measured([sys.executable, "-c", IMPORTS])
        bare = measured([sys.executable, "-c", BARE, str(film)]) - idle
        ours = measured([sys.executable, "-c", OURS, str(film), "camera_motion"]) - imports
        print(f"  {clip:40} decode {bare:5.2f} s, camera_motion {ours:5.2f} s: {ours / bare:.2f} x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=("development", "held"), default="held")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--media", type=Path, default=ROOT.parent / "shared" / "media")
    parser.add_argument("--cpu", action="store_true", help="only the CPU time")
    options = parser.parse_args()
    first = 0 if options.set == "development" else 300
    seeds = range(first, first + options.seeds)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        media = options.media.resolve() if (options.media / "MANIFEST.json").is_file() else None
        if media and options.cpu:
            cpu(folder, media)
            return
        classes(f"drawn, seeds {list(seeds)}", folder, drawn_films(folder, seeds))
        if media:
            classes(f"real footage, {options.set}", folder, real_films(media, folder, options.set, seeds))
            tripod(folder, media, options.set)


if __name__ == "__main__":
    main()
