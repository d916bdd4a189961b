"""scene_cuts against bare decoding (speed) and PySceneDetect (speed and F1), in one run.

    python benchmarks/scene_cuts.py [--media ../shared/media] [--rounds 3] [--speed-only | --quality-only]

Speed: CPU time of child processes over a long film (a real clip looped, or a drawn film where there is no media).
Quality: films with known transitions (`cut_films.py`: joined from real footage, and drawn) and the clips whose cuts
MANIFEST.json states. A detection counts when it falls on a transition, give or take two frames, each once.
PySceneDetect is installed from PyPI into a scratch environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.cut_films import Transition, make_cut_film  # noqa: E402
from tests.media import loop_packets  # noqa: E402

TOLERANCE_FRAMES = 2
SEEDS = {"joined A": 101, "joined B": 102, "drawn": 103}
"""The detector's constants were set on films of seeds 1 to 3."""
OURS = """
import json, sys, tempfile
from pathlib import Path
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.registry import by_name
film, out, found, offset = Path(sys.argv[1]), Path(sys.argv[2]), [], 0
while True:
    call = Call(Workspace(film.parent))
    result = by_name()["scene_cuts"].call({"path": film.name, "limit": 100, "offset": offset}, call).result
    found += [[shot.frame, shot.begins] for shot in result.shots]
    offset += 100
    if offset >= result.shot_count:
        break
out.write_text(json.dumps(found[1:]))
"""
BARE = """
import av, sys
with av.open(sys.argv[1]) as container:
    stream = container.streams.video[0]
    if sys.argv[2] != "default":
        stream.codec_context.thread_count = int(sys.argv[2])
    for frame in container.decode(stream):
        pass
"""
PEER = """
import json, logging, sys, scenedetect
from pathlib import Path
logging.disable(logging.CRITICAL)
detector = getattr(scenedetect, sys.argv[3])()
scenes = scenedetect.detect(sys.argv[1], detector)
Path(sys.argv[2]).write_text(json.dumps([[start.frame_num, "cut"] for start, _ in scenes[1:]]))
"""


@dataclass
class Score:
    """Counts over films; figures come from the sums."""

    truth: int = 0
    found: int = 0
    hits: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)

    def add(self, truth: list[Transition], found: list[tuple[int, str]]) -> None:
        unused = list(found)
        for change in truth:
            low, high = change.start - TOLERANCE_FRAMES, change.end + TOLERANCE_FRAMES
            hit = next((one for one in unused if low <= one[0] <= high), None)
            self.by_kind[change.kind] += 1
            if hit is not None:
                unused.remove(hit)
                self.hits += 1
                self.named[change.kind] += hit[1] == change.kind
        self.truth += len(truth)
        self.found += len(found)

    @property
    def f1(self) -> float:
        return 2 * self.hits / max(1, self.truth + self.found)


def measured(command: list[str]) -> tuple[float, int]:
    """CPU seconds and peak memory in MB of a child process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def peer_python(folder: Path) -> str:
    """An environment with PySceneDetect."""
    venv.create(folder / "peers", with_pip=True)
    python = str(folder / "peers/bin/python")
    subprocess.run([python, "-m", "pip", "install", "-q", "scenedetect", "opencv-python-headless"], check=True)
    return python


def detectors(film: Path, out: Path, peer: str) -> dict[str, list[str]]:
    return {
        "scene_cuts": [sys.executable, "-c", OURS, str(film), str(out)],
        "PySceneDetect adaptive": [peer, "-c", PEER, str(film), str(out), "AdaptiveDetector"],
        "PySceneDetect content": [peer, "-c", PEER, str(film), str(out), "ContentDetector"],
    }


def speed(folder: Path, media: Path | None, peer: str, rounds: int) -> None:
    (folder / "speed").mkdir()
    film = folder / "speed/long.mp4"
    if media:
        loop_packets(media / "film/bbb_480p_30s.mp4", film, 10)
    else:
        make_cut_film(film, 7, 120)
    print(f"speed: {film.name}, {film.stat().st_size / 1e6:.0f} MB")
    commands = {
        "bare decode, one thread": [sys.executable, "-c", BARE, str(film), "1"],
        "bare decode, default": [sys.executable, "-c", BARE, str(film), "default"],
        **detectors(film, folder / "speed/out.json", peer),
    }
    for number in range(1, rounds + 1):
        for store in (folder / "speed/.avb/cache").glob("*"):
            store.unlink()
        results = {name: measured(command) for name, command in commands.items()}
        bare = results["bare decode, default"][0]
        for name, (cpu, memory) in results.items():
            print(f"round {number}: {name:24} {cpu:7.2f} s CPU  {cpu / bare:5.2f} x bare  {memory:4d} MB", flush=True)


def annotated(media: Path) -> dict[Path, list[Transition]]:
    """The clips with stated cuts. The fades of fades.mp4 are stated by their darkest frame."""
    films: dict[Path, list[Transition]] = {}
    for entry in json.loads((media / "MANIFEST.json").read_text(encoding="utf-8"))["files"]:
        cuts = entry.get("cuts") or {}
        if "hard_cuts_frames" in cuts:
            films[media / entry["file"]] = [Transition("cut", at, at) for at in cuts["hard_cuts_frames"]]
        elif "expected" in cuts:
            films[media / entry["file"]] = [
                Transition("fade", at - 5, at + 5) for at in cuts["expected"]["ThresholdDetector"]
            ]
    return films


def quality(folder: Path, media: Path | None, peer: str) -> None:
    groups: dict[str, dict[Path, list[Transition]]] = {"annotated clips": annotated(media) if media else {}}
    for name, seed in SEEDS.items():
        film = folder / f"{name.replace(' ', '_')}.mp4"
        if name == "drawn" or media:
            groups[name] = {film: make_cut_film(film, seed, 60, None if name == "drawn" else media)}
    total = {name: Score() for name in detectors(Path(), Path(), peer)}
    for group, films in groups.items():
        scores = {name: Score() for name in total}
        for clip, truth in films.items():
            work = Path(tempfile.mkdtemp(dir=folder))
            film = work / clip.name
            film.write_bytes(clip.read_bytes())
            for name, command in detectors(film, work / "out.json", peer).items():
                measured(command)
                found = [(int(at), str(kind)) for at, kind in json.loads((work / "out.json").read_text())]
                scores[name].add(truth, found)
                total[name].add(truth, found)
        report(group, scores)
    report("all", total)


def report(group: str, scores: dict[str, Score]) -> None:
    for name, score in scores.items():
        kinds = ", ".join(f"{score.named[kind]}/{count} {kind}s" for kind, count in sorted(score.by_kind.items()))
        false = score.found - score.hits
        print(
            f"{group:16} {name:24} F1 {score.f1:.3f}  {score.hits}/{score.truth} found, {false} false; named: {kinds}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--media", type=Path, default=ROOT.parent / "shared" / "media")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--speed-only", action="store_true")
    parser.add_argument("--quality-only", action="store_true")
    options = parser.parse_args()
    media = options.media.resolve() if (options.media / "MANIFEST.json").is_file() else None
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        peer = peer_python(folder)
        if not options.quality_only:
            speed(folder, media, peer, options.rounds)
        if not options.speed_only:
            quality(folder, media, peer)


if __name__ == "__main__":
    main()
