"""Do the files of sequencing and assembly tasks give the answers away? `python benchmarks/leaks.py [--media DIR]`

Builds a task of each family per seed, each from a film of its own whose shots stand in random order, so that the film's
content says nothing about order either. Then guesses by everything but the pictures, and compares with chance.
With `--media` the shots are cut from real clips, otherwise they are drawn.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from fractions import Fraction
from functools import cache
from itertools import chain
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.tasks.builders import assembly, sequencing
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.footage import RATE_HZ, Footage, open_footage, write_film
from avb_mcp.tasks.spec import Source, answers_of, workspace_of
from avb_mcp.tasks.suite import TaskPlan, write_suite
from benchmarks.cut_films import Shot, drawn_shot, read_shot, real_shots
from benchmarks.leak_guesses import Guess, Seen, assembly_leaks, corrected, observe, order_leaks
from primitives._base import UserError

SIZE_PX, FPS = (192, 108), Fraction(20)
SHOTS = (7, 10)
SHOT_S = (1.6, 2.6)
LATEST_START = 300
"""Frames: shots further into a clip take long to reach."""
SHOWN = 8
ORDER = BuildRequest(seed=0, count=1)
ASSEMBLY = BuildRequest(seed=0, count=1, slots=3)


Picture = NDArray[np.uint8]


def make_film(path: Path, seed: int, media: Path | None) -> None:
    """Shots in random order, of random lengths, each with a sound of its own."""
    chance = random.Random(seed)
    count = chance.randint(*SHOTS)
    lengths = [round(chance.uniform(*SHOT_S) * FPS) for _ in range(count)]
    if media:
        least = SHOT_S[0] * FPS
        near = [shot for shot in real_shots(media) if shot.start < LATEST_START and shot.end - shot.start > least]
        picked = chance.sample(near, count)
        shots = [_piece(_real(shot), length, chance) for shot, length in zip(picked, lengths, strict=True)]
    else:
        shots = [[_small(picture) for picture in drawn_shot(length, chance)] for length in lengths]
    rng = np.random.default_rng(seed)
    heard = np.concatenate([_noise(round(len(shot) / FPS * RATE_HZ), rng) for shot in shots])
    write_film(path, chain.from_iterable(shots), FPS, heard[None].astype(np.float32))


@cache
def _real(shot: Shot) -> list[Picture]:
    """The start of a real shot, decoded once for all seeds."""
    longest = round(2 * SHOT_S[1] * FPS)
    head = Shot(shot.clip, shot.start, min(shot.end, shot.start + longest))
    return [_small(picture) for picture in read_shot(head, longest, random.Random(0))]


def _piece(pictures: list[Picture], length: int, chance: random.Random) -> list[Picture]:
    first = chance.randint(0, max(0, len(pictures) - length))
    return pictures[first : first + length]


def _small(picture: Picture) -> Picture:
    small = cv2.resize(picture, SIZE_PX, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2YUV_I420), np.uint8)


def _noise(samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A tone in noise that swells and fades."""
    time_s = np.arange(samples) / RATE_HZ
    tone = np.sin(2 * np.pi * rng.uniform(100, 2000) * time_s)
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * rng.uniform(0.5, 3) * time_s)
    return rng.uniform(0.05, 0.4) * swell * (tone + rng.uniform(0, 1) * rng.standard_normal(samples))


def order_task(film: Footage, seed: int, folder: Path, request: BuildRequest) -> tuple[list[Seen], list[int]]:
    """The clips of a sequencing task as a stranger sees them, and the true place of each."""
    answers, workspace = _built(sequencing.plan([film], request.model_copy(update={"seed": seed})), film, folder)
    order = json.loads((answers / "reference.json").read_text(encoding="utf-8"))["correct_order"]
    names = sorted(order, key=int)
    clips = [observe(workspace / "materials" / "clips" / f"{name}.mp4") for name in names]
    return clips, [order.index(name) for name in names]


def assembly_slots(film: Footage, seed: int, folder: Path, request: BuildRequest) -> list[tuple[list[Seen], int]]:
    """The candidates of every slot as a stranger sees them, and which is the right one."""
    answers, workspace = _built(assembly.plan([film], request.model_copy(update={"seed": seed})), film, folder)
    reference = json.loads((answers / "reference.json").read_text(encoding="utf-8"))
    found = []
    for slot, right in zip(reference["slots"], reference["correct_assembly_in_slot_order"], strict=True):
        names = sorted(slot["candidates"], key=int)
        clips = [observe(workspace / "materials" / "clips" / f"{name}.mp4") for name in names]
        found.append((clips, names.index(right)))
    return found


def _built(plans: list[TaskPlan], film: Footage, folder: Path) -> tuple[Path, Path]:
    source = Source(name=film.name, sha256=film.sha256)
    suite = write_suite(folder, plans, [source], lambda *_: None)
    task = suite.tasks[-1].id
    return answers_of(folder, task), workspace_of(folder, task)


def report(title: str, guesses: list[Guess]) -> bool:
    """Print the most telling guesses; whether any beats chance."""
    rows = corrected(guesses)
    print(f"\n{title}: {len(rows)} guesses, the {SHOWN} furthest from chance")
    print(f"{'guess':<46}{'tasks':>6}{'score':>8}{'chance':>8}{'p':>9}{'p corrected':>13}")
    for guess, p in rows[:SHOWN]:
        figures = f"{guess.tasks:>6}{guess.score:>8.3f}{guess.chance:>8.3f}{guess.p:>9.4f}{p:>13.3f}"
        print(f"{guess.name:<46}{figures}")
    return any(p < 0.05 for _, p in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--media", type=Path, help="the folder of shared clips; drawn shots without it")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0, help="for a replication: other seeds than the first run's")
    options = parser.parse_args()
    tasks: list[tuple[list[Seen], list[int]]] = []
    slots: list[tuple[list[Seen], int]] = []
    for number in range(options.seeds):
        seed = options.first_seed + number
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_film(folder / f"film{seed}.mp4", seed, options.media)
            film = open_footage(folder / f"film{seed}.mp4")
            try:
                tasks.append(order_task(film, seed, folder / "order", ORDER))
                slots += assembly_slots(film, seed, folder / "assembly", ASSEMBLY)
            except UserError as error:
                print(f"seed {seed} is left out: {error}")
        print(f"\rseed {number + 1} of {options.seeds}", end="", file=sys.stderr, flush=True)
    leaking = [report("sequencing", order_leaks(tasks)), report("assembly", assembly_leaks(slots))]
    print("\n" + ("LEAK: a guess beats chance" if any(leaking) else "no guess beats chance"))
    return int(any(leaking))


if __name__ == "__main__":
    sys.exit(main())
