"""`find_defects` on real film with every kind of defect injected: where it looks, what it says, what it costs.

    python benchmarks/find_defects.py [--set known|new|newest] [--kinds freeze,blur] [--cache FOLDER] [--cpu]

Thirteen kinds x three strengths x five seeds, coded as H.264 at crf 18 and AAC at 128 kb/s. Limits were chosen on the
clips of `known`; those of `new` (other sources, other windows) were looked at once, after that. `first` is the share of
films where the first row has the right kind and overlaps the truth; errors are those of the best row of that kind
(median over the films where there is one). Echo goes into clips with read speech: a room is heard in a voice. Also:
rows found in the clean clips, and CPU against bare decoding.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.workspace import Workspace
from benchmarks.defect_clips import CLIPS, SETS
from benchmarks.defect_films import MEDIA, Broken, Clip, load, write_picture, write_sound
from benchmarks.defects_injected import INJECTIONS
from primitives._base import Call
from primitives._defects.common import Finding
from primitives._defects.search import find_all
from primitives._media.scan import scan
from primitives._media.tracks import film_tracks
from primitives._tracks import FilmTracks

STRENGTHS = 3
CPU_ROUNDS = 5
SEEDS = {"known": (10, 11, 12, 13, 14), "new": (20, 21, 22, 23, 24), "newest": (50, 51, 52, 53, 54)}


@dataclass(frozen=True, eq=False)
class Film:
    """A clip's tracks with a defect, or without."""

    clip: str
    kind: str
    strength: int
    seed: int
    windows: tuple[tuple[float, float], ...]
    tracks: FilmTracks


@cache
def clip_of(name: str) -> Clip:
    return load(CLIPS[name])


@dataclass(frozen=True)
class Coded:
    """A film on disk, coded once: what was changed lies in its folder, the rest in the clean clip's."""

    folder: Path
    windows: tuple[tuple[float, float], ...]
    duration_s: float


def coded(folder: Path, name: str, make: Callable[[Clip], Broken]) -> Coded:
    """Coding takes long: the same film is made once."""
    told = folder / "truth.json"
    if not told.exists():
        folder.mkdir(parents=True, exist_ok=True)
        clip = clip_of(name)
        made = make(clip)
        frames = clip.frames if made.frames is None else made.frames
        if made.frames is not None:
            write_picture(folder / "a.mp4", made.frames, clip.fps)
        if made.sound is not None:
            write_sound(folder / "a.m4a", made.sound)
        told.write_text(json.dumps({"windows": made.windows, "duration_s": len(frames) / clip.fps}))
    truth = json.loads(told.read_text())
    return Coded(folder, tuple((a, b) for a, b in truth["windows"]), truth["duration_s"])


def tracks_of(film: Coded, whole: FilmTracks | None = None) -> FilmTracks:
    """A film measured as `find_defects` does it; measures are kept beside it as a workspace keeps them."""
    call = Call(Workspace(film.folder))
    seen, heard = (whole.picture, whole.sound) if whole else (None, None)
    for name in ("a.mp4", "a.m4a"):
        path = film.folder / name
        if path.exists():
            found = film_tracks(call, path, name, scan(path, name, call.check))
            seen, heard = found.picture or seen, found.sound or heard
    return FilmTracks(seen, heard, film.duration_s)


@cache
def clean(folder: Path, name: str) -> Film:
    place = folder / "clean" / name.replace(" ", "_")
    film = coded(place, name, lambda clip: Broken((), clip.frames, clip.sound))
    return Film(name, "clean", 0, 0, (), tracks_of(film))


def broken(folder: Path, name: str, kind: str, strength: int, seed: int) -> Film:
    chance = np.random.default_rng([seed, strength, list(INJECTIONS).index(kind)])
    place = folder / f"{kind}-{strength}-{seed}-{name.replace(' ', '_')}"
    film = coded(place, name, lambda clip: INJECTIONS[kind](clip, strength, chance))
    return Film(name, kind, strength, seed, film.windows, tracks_of(film, clean(folder, name).tracks))


def films(folder: Path, chosen: str, kinds: list[str]) -> list[Film]:
    """Each kind in each clip, or in as many as there are films: another strength for each kind."""
    recipes = SETS[chosen]
    voices = [name for name in recipes if recipes[name].read]
    names = {kind: voices if kind == "echo" else list(recipes) for kind in INJECTIONS}
    return [
        broken(
            folder,
            names[kind][(len(SEEDS[chosen]) * strength + seed + number) % len(names[kind])],
            kind,
            strength,
            seed,
        )
        for number, kind in enumerate(INJECTIONS)
        if kind in kinds
        for strength in range(STRENGTHS)
        for seed in SEEDS[chosen]
    ]


def overlap(finding: Finding, window: tuple[float, float]) -> float:
    both = min(finding.end_s, window[1]) - max(finding.start_s, window[0])
    return max(0.0, both) / (max(finding.end_s, window[1]) - min(finding.start_s, window[0]))


@dataclass(frozen=True)
class Score:
    """How one film went."""

    first: bool
    found: bool
    start_error_s: float
    end_error_s: float


def new_rows(findings: list[Finding], own: list[Finding]) -> list[Finding]:
    """Rows that the clean clip does not have."""
    return [row for row in findings if not any(row.kind == other.kind and row.overlap(other) > 0.5 for other in own)]


def judge(film: Film, findings: list[Finding]) -> Score:
    pairs = [
        (overlap(row, window), row, window) for row in findings if row.kind == film.kind for window in film.windows
    ]
    best = max(pairs, key=lambda pair: pair[0], default=None)
    if best is None or best[0] <= 0:
        return Score(False, False, np.inf, np.inf)
    _, row, window = best
    first = findings[0].kind == film.kind and any(overlap(findings[0], w) > 0 for w in film.windows)
    return Score(first, True, abs(row.start_s - window[0]), abs(row.end_s - window[1]))


Rows = dict[str, list[Finding]]


def report(kind: str, rows: list[tuple[Film, list[Finding]]], own: Rows, verbose: bool) -> None:
    scores = [judge(film, found) for film, found in rows]
    aside = np.mean([judge(film, new_rows(found, own[film.clip])).first for film, found in rows])
    starts, ends = (
        np.median([getattr(s, side) for s in scores if s.found] or [np.inf])
        for side in ("start_error_s", "end_error_s")
    )
    first, found = np.mean([s.first for s in scores]), np.mean([s.found for s in scores])
    each = [
        np.mean([s.first for s, (f, _) in zip(scores, rows, strict=True) if f.strength == n]) for n in range(STRENGTHS)
    ]
    others = np.mean([sum(row.kind != kind for row in found_rows) for _, found_rows in rows])
    said = Counter(found_rows[0].kind if found_rows else "nothing" for _, found_rows in rows)
    print(
        f"{kind:13s} {len(rows):3d} {first:6.0%} {aside:6.0%} {found:6.0%}  {starts:7.3f} {ends:7.3f}  {others:6.2f}   "
        + " ".join(f"{share:4.0%}" for share in each)
        + "   "
        + ", ".join(f"{told} {count}" for told, count in said.most_common()),
        flush=True,
    )
    for score, (film, found_rows) in zip(scores, rows, strict=True) if verbose else ():
        if not (score.first and score.start_error_s < 0.3 and score.end_error_s < 0.3):
            truth = " ".join(f"{a:.2f}-{b:.2f}" for a, b in film.windows)
            told = ", ".join(f"{r.kind} {r.start_s:.2f}-{r.end_s:.2f} ({r.confidence:.2f})" for r in found_rows[:4])
            print(f"      {film.clip} strength {film.strength} seed {film.seed}: {truth} | {told}")


def cpu() -> None:
    """CPU of a whole call, against decoding picture and sound with one thread; both on one core, for two that share a
    core's parts count more time for the same work. Imports are not counted."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    names = ("film/bbb_480p_30s.mp4", "talking_head/man-on-green-screen.mp4", "vlog/balle-jbart.mp4")
    _cpu_of(MEDIA / names[-1])
    for name in names:
        rounds = [_cpu_of(MEDIA / name) for _ in range(CPU_ROUNDS)]
        ratios = [found_s / decoded_s for decoded_s, found_s, _ in rounds]
        decoded_s, found_s, again_s = np.median(rounds, axis=0)
        print(
            f"{name}: decode {decoded_s:.2f} s, find_defects {found_s:.2f} s "
            f"({' / '.join(f'{ratio:.2f}' for ratio in ratios)} x), again {again_s:.2f} s",
            flush=True,
        )


def _cpu_of(film: Path) -> tuple[float, float, float]:
    """Seconds to decode a film, to find its defects, and to find them once more."""
    from primitives.find_defects import PRIMITIVE

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "a.mp4").write_bytes(film.read_bytes())
        started = time.process_time()
        for sort in ("video", "audio"):
            with av.open(str(folder / "a.mp4")) as container:
                container.streams.video[0].thread_count = 1
                for _ in container.decode(**{sort: 0}):
                    pass
        decoded = time.process_time()
        PRIMITIVE.call({"path": "a.mp4"}, Call(Workspace(folder)))
        done = time.process_time()
        PRIMITIVE.call({"path": "a.mp4"}, Call(Workspace(folder)))
        return decoded - started, done - decoded, time.process_time() - done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=list(SEEDS), default="known")
    parser.add_argument("--kinds", default=",".join(INJECTIONS))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "find_defects_films")
    parser.add_argument("--verbose", action="store_true", help="print the films that went wrong")
    parser.add_argument("--cpu", action="store_true", help="only measure CPU")
    options = parser.parse_args()
    if options.cpu:
        cpu()
        return
    print(
        f"{options.set}: kind, films, right kind first, the same without rows that the clean clip has too, found at "
        "all, median errors of start and end in seconds, rows of other kinds, first by strength, what the first row "
        "is called"
    )
    own = {name: find_all(clean(options.cache, name).tracks) for name in SETS[options.set]}
    for kind in options.kinds.split(","):
        rows = [(film, find_all(film.tracks)) for film in films(options.cache, options.set, [kind])]
        report(kind, rows, own, options.verbose)
    print(f"clean clips: {np.mean([len(rows) for rows in own.values()]):.2f} windows a clip")
    for name, rows in own.items():
        print(f"   {name}: " + ", ".join(f"{r.kind} {r.start_s:.2f}-{r.end_s:.2f} ({r.confidence:.2f})" for r in rows))


if __name__ == "__main__":
    main()
