"""join_scores on real film, cut and coded again by the sequencing builder: the score of its best order, and CPU.

    python benchmarks/join_scores.py <folder with the real clips> [--films a b] [--clips 8 12] [--out folder]

Every film is cut into so many clips (at its shot changes, and inside shots where it has too few), then ordered by
picture and sound, by all cues, by picture alone and by sound alone. Then the few films with shots enough are cut at
shot changes only. Last, films as they are: whether their own order is the best of all orders of their shots. Tasks that
are already in --out are not built again. CPU is measured against decoding what the tool needs: four frames at each end
of a clip with all that these lean on, and a third of a second of sound at each end.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.registry import plan_tasks
from avb_mcp.tasks.footage import open_footage
from avb_mcp.tasks.spec import Source
from avb_mcp.tasks.suite import write_suite
from avb_mcp.workspace import Workspace
from primitives._base import Call, UserError
from primitives._joins.picture import FRAMES
from primitives._joins.sound import RATE_HZ, REACH
from primitives._media.frames import decode_frames
from primitives._media.scan import scan
from primitives._media.sound_read import read_sound
from primitives._task import Family
from primitives.join_scores import JoinScoresResult
from primitives.registry import by_name
from verifiers.video_order.scoring import score_order, true_ranks

FITTED = [
    "film/nasa_13013.mp4",
    "film/oa4_launch.webm",
    "odd/cinepak_win005.mkv",
    "talking_head/movie-hello_webcam_screencast.mp4",
    "odd/mp_video_with_failing_audio.mp4",
    "odd/surround_5.1_channel_id.mp4",
    "footage/intel_car-detection.mp4",
    "vlog/balle-jbart.mp4",
    "scenedetect/fades.mp4",
]
"""The constants of the tool were fitted on these."""
HELD_OUT = [
    "film/bbb_480p_30s.mp4",
    "film/fillets_intro.mpg",
    "odd/prores_like_mjpeg_diver.mov",
    "talking_head/jwpIntro.mp4",
    "film/bbb_1280x720_5s_5.1.mp4",
    "film/bikes.mp4",
    "film/shepard_1906_frenchgp.ogv",
    "footage/intel_bottle-detection.mp4",
    "talking_head/man-on-green-screen.mp4",
    "odd/tc_av1_video.mkv",
]
AT_SHOTS = {"film/bikes.mp4": 5, "film/bbb_480p_30s.mp4": 4}
"""Films that have so many shots of half a second or more."""
WHOLE = [
    "film/bbb_480p_30s.mp4",
    "film/nasa_13013.mp4",
    "film/oa4_launch.webm",
    "film/fillets_intro.mpg",
    "film/bikes.mp4",
    "footage/intel_car-detection.mp4",
    "scenedetect/fades.mp4",
]
"""Films of several shots; dissolves count, across which pictures run on."""
CUES: dict[str, list[str]] = {"both": ["picture", "sound"], "all": [], "picture": ["picture"], "sound": ["sound"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("media", type=Path)
    parser.add_argument("--films", nargs="*", default=[*FITTED, *HELD_OUT])
    parser.add_argument("--clips", nargs="*", type=int, default=[8, 12])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "avb-join-scores")
    args = parser.parse_args()
    rows = []
    print(f"{'film':34}{'set':8}{'clips':>6}{'all':>6}{'both':>6}{'picture':>9}{'sound':>7}  CPU / decoding")
    for film in args.films:
        for count in args.clips:
            task = build(args.media / film, args.out, args.seed, count, cut_inside=True)
            if task is not None:
                rows.append(measure(film, "fitted" if film in FITTED else "held", task))
    report(rows)
    shots = []
    for film, count in AT_SHOTS.items():
        task = build(args.media / film, args.out, args.seed, count, cut_inside=False) if film in args.films else None
        if task is not None:
            shots.append(measure(film, "shots", task))
    report(shots)
    for film in (film for film in WHOLE if film in args.films):
        own_order(args.media / film)


def own_order(path: Path) -> None:
    """How far the film's own order is behind the best order of its shots, in one film as it is."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / path.name)
        found = by_name()["join_scores"].call({"paths": [path.name], "picture": False}, Call(Workspace(Path(folder))))
    result = found.result
    assert isinstance(result, JoinScoresResult)
    broken = sum(join.sure == "broken" for join in result.joins)
    told = f"own order {result.own_order_behind} behind the best, {broken} joins called broken"
    print(f"{path.name}: {result.clips} shots by {' and '.join(result.cues)}, {told}")


def build(path: Path, out: Path, seed: int, count: int, cut_inside: bool) -> tuple[Path, Path] | None:
    """Workspace and answers of one task; None where the film is too short for so many clips."""
    suite = out / f"{path.stem}-{count:02d}-{'inside' if cut_inside else 'shots'}-{seed}"
    if not suite.exists():
        footage = open_footage(path)
        request = BuildRequest(seed=seed, count=1, min_clips=count, max_clips=count, cut_inside=cut_inside)
        try:
            plans = plan_tasks(Family.SEQUENCING, [footage], request)
        except UserError:
            return None
        out.mkdir(parents=True, exist_ok=True)
        write_suite(suite, plans, [Source(name=footage.name, sha256=footage.sha256)], lambda *_: None)
    (task,) = (suite / "tasks").iterdir()
    return task, suite / "answers" / task.name


Row = dict[str, float | str | list[tuple[str, bool]]]


def measure(film: str, kind: str, task: tuple[Path, Path]) -> Row:
    """The scores of one task by each set of cues, CPU time with nothing kept, and which joins were called what."""
    workspace, answers = task
    truth = json.loads((answers / "reference.json").read_text(encoding="utf-8"))["correct_order"]
    clips = sorted(path.name for path in (workspace / "materials/clips").glob("*.mp4"))
    row: Row = {"film": film, "set": kind, "clips": float(len(clips))}
    pair = {"paths": [f"materials/clips/{clip}" for clip in clips[:2]], "picture": False}
    by_name()["join_scores"].call(pair, Call(Workspace(workspace)))  # imports are not counted
    shutil.rmtree(workspace / ".avb", ignore_errors=True)
    for name, cues in CUES.items():
        arguments = {"paths": [f"materials/clips/{clip}" for clip in clips], "cues": cues, "picture": False}
        used, result = timed(lambda given=arguments: by_name()["join_scores"].call(given, Call(Workspace(workspace))))
        found = result.result
        assert isinstance(found, JoinScoresResult)
        row[name] = score_order(true_ranks([clip.removesuffix(".mp4") for clip in found.best_order], truth)).headline
        if name == "both":
            row["cpu_s"] = used
        if name == "all":
            row["further_s"] = used  # text and speech where joins are open; the ends are known by now
            after = dict(pairwise(truth))
            row["sure"] = [
                (join.sure, after.get(join.after.removesuffix(".mp4")) == join.then.removesuffix(".mp4"))
                for join in found.joins
            ]
        if name == "sound" and "sound" not in found.cues:
            row["sound"] = float("nan")
    shutil.rmtree(workspace / ".avb", ignore_errors=True)
    row["decode_s"], _ = timed(lambda: [decode(workspace / "materials/clips" / clip) for clip in clips])
    print(
        f"{film[-33:]:34}{kind:8}{len(clips):6}{row['all']:6.2f}{row['both']:6.2f}{row['picture']:9.2f}{row['sound']:7.2f}"
        f"  {row['cpu_s']:.2f} / {row['decode_s']:.2f} s, text and speech {row['further_s']:.2f} s",
        flush=True,
    )
    return row


def decode(clip: Path) -> None:
    """What the tool needs of a clip, and nothing done with it."""
    found = scan(clip, clip.name, lambda: None)
    assert found.video is not None
    frames, reach_s, end_s = range(len(found.video)), REACH / RATE_HZ, float(found.video.duration)
    for _ in decode_frames(clip, clip.name, found, sorted({*frames[:FRAMES], *frames[-FRAMES:]}), lambda: None):
        pass
    if found.sound is not None:
        for start_s in (0.0, max(0.0, end_s - reach_s)):
            read_sound(clip, clip.name, start_s, start_s + reach_s, 48_000, 1, lambda: None)


def timed(work: Callable[[], object]) -> tuple[float, object]:
    before = time.process_time()
    done = work()
    return time.process_time() - before, done


def report(rows: Sequence[Row]) -> None:
    """Means over films, each film counted once, by set and by whether there is sound."""
    print()
    for kind in ("fitted", "held", "shots"):
        for heard in (True, False):
            chosen = [row for row in rows if row["set"] == kind and np.isnan(row["sound"]) != heard]
            films = sorted({str(row["film"]) for row in chosen})
            if not films:
                continue
            means = {
                name: np.mean([np.mean([row[name] for row in chosen if row["film"] == film]) for film in films])
                for name in CUES
            }
            told = "  ".join(f"{name} {value:.2f}" for name, value in means.items() if not np.isnan(value))
            print(f"{kind}, {'with' if heard else 'without'} sound, {len(films)} films, {len(chosen)} tasks: {told}")
    sure = [pair for row in rows for pair in row["sure"]]
    for word in ("certain", "likely", "open"):
        right = [ok for called, ok in sure if called == word]
        print(f"joins called {word}: {sum(right)} of {len(right)} right")
    cpu, decoding = (sum(float(row[name]) for row in rows) for name in ("cpu_s", "decode_s"))
    if rows:
        further = sum(float(row["further_s"]) for row in rows)
        print(f"CPU {cpu:.1f} s, {cpu / decoding:.2f} times decoding what it needs; text and speech {further:.1f} s\n")


if __name__ == "__main__":
    main()
