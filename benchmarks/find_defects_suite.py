"""`find_defects` on the repair tasks that `avb-mcp build repair` makes of real clips: what agents meet.

    python benchmarks/find_defects_suite.py [--set development|check] [--suite FOLDER] [--kinds blur] [--verbose]

Each of the 22 defects, drawn and put in by the builder's own functions into reels of real clips. `first` is the share
of films where the first row has the right kind and overlaps the truth; `IoU first` is what the first row shares with
the nearest window of the truth, `IoU best` what the best of all rows does, doubtful ones included; then what the first
row is called. Reels of `check` were not looked at while limits were chosen. With --suite: the repair tasks of a suite
that is already built (shot_swap aside, whose answer has no times).
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.repair import pick_stretch
from avb_mcp.tasks.defects._base import CannotPlace, Damage, Defect, Stretch, broken_frames, broken_sound
from avb_mcp.tasks.defects.registry import DEFECTS
from avb_mcp.tasks.footage import Footage, open_footage, write_film
from avb_mcp.workspace import Workspace
from benchmarks.suite_repair import REELS, reel
from primitives._base import Call
from primitives._defects.common import Finding
from primitives._defects.search import LEAST_CONFIDENCE, find_all
from primitives._media.scan import scan
from primitives._media.tracks import film_tracks
from primitives._tracks import FilmTracks

Window = tuple[float, float]
REELS["places"] = [
    "vlog/balle-jbart.mp4",
    "odd/prores_like_mjpeg_diver.mov",
    "film/bikes.mp4",
    "talking_head/man-on-green-screen.mp4",
    "odd/cinepak_win005.mkv",
    "odd/mp_video_with_failing_audio.mp4",
]
SETS = {"development": (("bunny", "fish"), (1, 2)), "check": (("voices", "places"), (3,))}
SAID = {
    "background_noise": "noise",
    "noise_floor": "noise",
    "room_echo": "echo",
    "clipping": "clipping",
    "colour_shift": "colour",
    "colour_grade": "colour",
    "blur": "blur",
    "lost_sharpness": "softness",
    "shot_swap": "out_of_order",
    "scene_swap_gapped": "out_of_order",
    "scene_swap_adjacent": "out_of_order",
    "repeated_frames": "repeat",
    "duplicate_segment": "repeat",
    "frozen_scene": "freeze",
    "frozen_picture": "freeze",
    "buffering": "freeze",
    "desync_constant": "desync",
    "desync_window": "desync",
    "desync_drift": "desync",
}
"""What `find_defects` calls it; not said of words, nor of two defects at once."""


@dataclass(frozen=True, eq=False)
class Film:
    reel: str
    defect: str
    seed: int
    windows: tuple[Window, ...]
    tracks: FilmTracks


@cache
def footage_of(name: str, folder: Path) -> Footage:
    path = folder / f"{name}.mp4"
    return open_footage(path if path.exists() else reel(name, folder))


def truth(stretch: Stretch, damage: Damage) -> tuple[Window, ...]:
    """When the broken film is wrong."""
    spans = damage.ranges or ((damage.window,) if damage.window else ())
    if spans:
        return tuple((stretch.seconds(first), stretch.seconds(last)) for first, last in spans)
    if damage.injection:
        return tuple(w for entry in damage.injection.get("injections", [damage.injection]) for w in _told(entry))
    # Shots in each other's place: all runs but the first, the last and what stays between them.
    ends = np.cumsum([0, *(len(part) for part in damage.parts)])
    numbers = (1, len(damage.parts) - 2)
    return tuple((stretch.seconds(int(ends[n])), stretch.seconds(int(ends[n + 1]))) for n in numbers)


def _told(entry: dict[str, Any]) -> list[Window]:
    parts = entry.get("windows") or ([entry] if "start_s" in entry else [])
    if parts:
        return [(part["start_s"], part["end_s"]) for part in parts]
    scenes = [value for key, value in entry.items() if key.startswith("scene_")]
    groups = [[scene for scene in scenes if scene["group"] == group] for group in "AB"]
    return [(min(s["broken_start_s"] for s in own), max(s["broken_end_s"] for s in own)) for own in groups]


def film_of(folder: Path, name: str, defect: Defect[Any], seed: int) -> Film | None:
    """A broken film's tracks, made once; None where the reel cannot carry the defect."""
    kept = folder / f"{name}-{defect.name}-{seed}.pickle"
    if not kept.exists():
        made = _make(folder, name, defect, seed)
        kept.write_bytes(pickle.dumps(made))
    return pickle.loads(kept.read_bytes())


def _make(folder: Path, name: str, defect: Defect[Any], seed: int) -> Film | None:
    rng = np.random.default_rng([seed, *defect.name.encode()])
    request = BuildRequest(seed=seed, count=1, kinds=(defect.name,), min_s=14, max_s=24)
    for _ in range(20):
        try:
            stretch = pick_stretch(footage_of(name, folder), defect.needs, request, rng)
            damage = defect.damage(stretch, defect.draw(stretch, rng))
        except CannotPlace:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "broken.mp4"
            write_film(path, broken_frames(stretch, damage), stretch.fps, broken_sound(stretch, damage))
            return Film(name, defect.name, seed, truth(stretch, damage), _measured(path))
    return None


def _measured(path: Path) -> FilmTracks:
    with tempfile.TemporaryDirectory() as scratch:
        call = Call(Workspace(Path(scratch)))
        return film_tracks(call, path, path.name, scan(path, path.name, call.check))


def suite_films(suite: Path, kinds: Sequence[str]) -> Iterator[Film]:
    """The broken films of a suite's repair tasks whose answers tell times."""
    for answers in sorted((suite / "answers").glob("*repair*")):
        defect = json.loads((answers / "recipe.json").read_text(encoding="utf-8"))["defect"]
        told = next(path for path in (answers / "truth.json", answers / "profile.json") if path.exists())
        found = json.loads(told.read_text(encoding="utf-8"))
        spans = found.get("ranges") or [found["window"]] if "window" in found else []
        entries = found.get("injections") or [found["injection"]] if "window" not in found else []
        windows = [(span["start_s"], span["end_s"]) for span in spans if span]
        windows += [window for entry in entries for window in _told(entry)]
        if windows and defect in kinds:
            path = suite / "tasks" / answers.name / "materials" / "broken.mp4"
            yield Film(answers.name, defect, 0, tuple(windows), _measured(path))


def shared(finding: Finding, windows: Sequence[Window]) -> float:
    """Intersection over union with the nearest window, or with all of them together."""
    spans = [*windows, (min(a for a, _ in windows), max(b for _, b in windows))]
    return max(
        max(0.0, min(finding.end_s, b) - max(finding.start_s, a)) / (max(finding.end_s, b) - min(finding.start_s, a))
        for a, b in spans
    )


def report(defect: str, films: Sequence[Film], verbose: bool) -> None:
    found = [find_all(film.tracks, least=LEAST_CONFIDENCE / 2) for film in films]
    sure = [[row for row in rows if row.confidence >= LEAST_CONFIDENCE] for rows in found]
    firsts = [shared(rows[0], film.windows) if rows else 0.0 for film, rows in zip(films, sure, strict=True)]
    bests = [
        max((shared(row, film.windows) for row in rows), default=0.0) for film, rows in zip(films, found, strict=True)
    ]
    right = [
        bool(rows) and share > 0 and rows[0].kind == SAID.get(defect) for share, rows in zip(firsts, sure, strict=True)
    ]
    said = Counter(rows[0].kind if rows else "nothing" for rows in sure)
    told = ", ".join(f"{kind} {count}" for kind, count in said.most_common())
    first = f"{np.mean(right):5.0%}" if defect in SAID else "    -"
    print(f"{defect:20s} {len(films):3d} {first}  {np.mean(firsts):5.2f} {np.mean(bests):5.2f}  {told}", flush=True)
    for film, rows in zip(films, found, strict=True) if verbose else ():
        windows = " ".join(f"{a:.2f}-{b:.2f}" for a, b in film.windows)
        rows_told = ", ".join(f"{r.kind} {r.start_s:.2f}-{r.end_s:.2f} ({r.confidence:.2f})" for r in rows[:5])
        print(f"      {film.reel} {film.seed}: {windows} of {film.tracks.duration_s:.1f} | {rows_told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=list(SETS), default="check")
    parser.add_argument("--suite", type=Path, help="a built suite; its answers are read")
    parser.add_argument("--kinds", default=",".join(defect.name for defect in DEFECTS))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "find_defects_tasks")
    parser.add_argument("--verbose", action="store_true", help="print every film")
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    print(f"{options.suite or options.set}: defect, films, first, IoU first, IoU best, first row said")
    if options.suite:
        built = list(suite_films(options.suite, kinds))
        for kind in kinds:
            if films := [film for film in built if film.defect == kind]:
                report(kind, films, options.verbose)
        return
    options.cache.mkdir(parents=True, exist_ok=True)
    names, seeds = SETS[options.set]
    for defect in DEFECTS:
        if defect.name in kinds:
            made = [film_of(options.cache, name, defect, seed) for name in names for seed in seeds]
            if films := [film for film in made if film is not None]:
                report(defect.name, films, options.verbose)


if __name__ == "__main__":
    main()
