"""What sequencing and assembly have in common: clips with neutral names, and the two deliverables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from avb_mcp.tasks.suite import Bench, seed_of
from primitives._task import Deliverable, Family, Kind, MediaSpec

CLIPS = "clips"
RENDER_TOLERANCE_S = 0.5
"""How far the length of an honest render may be off: a frame or so at every join."""


def task_id(prefix: str, family: Family, number: int, seed: int) -> str:
    """An id that tells nothing about the task but its family."""
    return f"{prefix}{family.value}-{number:02d}-{seed % 0x10000:04x}"


def task_seed(family: Family, number: int, *decisive: object) -> int:
    """The seed of one task, out of everything that decides it."""
    return seed_of(family.value, number, *decisive)


def shuffled_names(count: int, rng: np.random.Generator) -> list[str]:
    """`1` to `count` in an order that is nothing but chance."""
    return [str(number + 1) for number in rng.permutation(count)]


def write_clips(bench: Bench, names: Sequence[str], write: Callable[[int, Path], None]) -> None:
    """Write clip number i as `<names[i]>.mp4`, one after the other by name: the disk keeps no other order either.

    The answers get copies of their own, never links.
    """
    folders = [bench.materials / CLIPS, bench.answers / CLIPS]
    for folder in folders:
        folder.mkdir()
    by_name = sorted(range(len(names)), key=lambda clip: int(names[clip]))
    for done, clip in enumerate(by_name):
        bench.progress(done / len(names), f"clip {done + 1} of {len(names)}")
        here, there = (folder / f"{names[clip]}.mp4" for folder in folders)
        write(clip, here)
        shutil.copyfile(here, there)


def clip_path(name: str) -> str:
    """A clip as the agent finds it."""
    return f"materials/{CLIPS}/{name}.mp4"


def listed(names: Sequence[str]) -> list[str]:
    """Names in the order in which anybody would list them."""
    return sorted(names, key=int)


def clip_deliverables(
    kind: Kind, names: Sequence[str], duration_s: float, *, slots: int | None = None
) -> list[Deliverable]:
    """`solution.json` in the contract's shape and the film that it describes."""
    listing = listed(names)
    film = MediaSpec(
        container="mp4",
        like=clip_path(listing[0]),
        duration_s=round(duration_s, 3),
        duration_tolerance_s=RENDER_TOLERANCE_S,
    )
    return [
        Deliverable(name="solution.json", kind=kind, clips=listing, slots=slots),
        Deliverable(name="solution.mp4", kind=Kind.VIDEO, spec=film),
    ]


def seconds(frames: int, fps: Fraction) -> float:
    return float(frames / fps)


SOLUTION_SHAPE = """\
```json
{"segments": [
  {"source": "6", "source_range": [0.0, 2.5], "output": [0.0, 2.5]},
  {"source": "2", "source_range": [0.0, 1.8], "output": [2.5, 4.3]}
]}
```
`source` is a clip's name, `source_range` the part of the clip that is used and `output` where that part stands in
`solution.mp4`, both in seconds. The numbers above only show the shape."""
