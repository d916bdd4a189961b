"""Tiny suites with answers that are right by construction."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from avb_mcp.attacks._clips import MASTER, write_clip
from avb_mcp.attacks._footage import Footage, generated_footage
from avb_mcp.attacks.assembly import build as build_assembly
from avb_mcp.attacks.repair import build as build_repair
from avb_mcp.attacks.repair_v3 import GRADE
from avb_mcp.attacks.repair_v3 import build as build_v3
from avb_mcp.tasks.answers import load_answer, order_answer
from avb_mcp.tasks.spec import LIMITS, Source, Suite
from avb_mcp.tasks.suite import Bench, Made, TaskPlan, write_suite
from primitives._task import Deliverable, Family, Kind, MediaSpec, Task
from verifiers.video_repair.schema import Kind as Defect

SOURCES = [
    Source(name="a.mp4", sha256="a" * 64, licence="CC0", provenance="drawn"),
    Source(name="b.mp4", sha256="b" * 64, licence="CC0", provenance="drawn"),
]
CLIPS = 4


def order_plan(
    task_id: str = "order-1", first: int = 0, source: str = "a.mp4", footage: Footage | None = None
) -> TaskPlan:
    """Four clips of half a second, shuffled."""

    def make(bench: Bench) -> Made:
        shots = (footage or generated_footage()).shots[first : first + CLIPS]
        names = [str(number + 1) for number in np.random.default_rng(first + 1).permutation(CLIPS)]
        for place in (bench.materials, bench.answers):
            (place / "clips").mkdir()
        for name, shot in zip(names, shots, strict=True):
            clip = bench.materials / "clips" / f"{name}.mp4"
            write_clip(clip, shot.part(0.0, 0.5 + 0.1 * int(name)), MASTER)
            shutil.copyfile(clip, bench.answers / "clips" / clip.name)
        (bench.answers / "reference.json").write_text(json.dumps({"correct_order": names}), encoding="utf-8")
        wanted = [
            Deliverable(name="solution.json", kind=Kind.ORDERING, clips=sorted(names)),
            Deliverable(name="solution.mp4", kind=Kind.VIDEO),
        ]
        task = Task(id=task_id, family=Family.SEQUENCING, deliverables=wanted, limits=LIMITS)
        brief = "Put the clips of materials/clips in order: solution.json and solution.mp4."
        return Made(task, brief, order_answer(task_id, honesty=True))

    return TaskPlan(task_id, Family.SEQUENCING, "test/order", (source,), 1, make)


def repair_plan(task_id: str = "repair-1", defect: Defect = Defect.COLOUR_SHIFT, source: str = "b.mp4") -> TaskPlan:
    """One defect in six seconds."""

    def make(bench: Bench) -> Made:
        build_repair(defect, generated_footage(), bench.answers)
        (bench.answers / "report.md").unlink(missing_ok=True)
        shutil.copyfile(bench.answers / "broken.mp4", bench.materials / "broken.mp4")
        answer = load_answer(bench.answers).model_copy(update={"task_id": task_id})
        wanted = [
            Deliverable(name="fixed.mp4", kind=Kind.VIDEO, spec=MediaSpec(like="materials/broken.mp4")),
            Deliverable(name="report.md", kind=Kind.REPORT, diagnosis=True),
        ]
        task = Task(id=task_id, family=Family.REPAIR, deliverables=wanted, limits=LIMITS)
        return Made(task, "Something looks off in broken.mp4. Hand in fixed.mp4 and report.md.", answer)

    return TaskPlan(task_id, Family.REPAIR, f"test/{defect}", (source,), 1, make)


def v3_plan(task_id: str = "repair-2", source: str = "b.mp4") -> TaskPlan:
    """A colour grade by the released scheme."""

    def make(bench: Bench) -> Made:
        build_v3(GRADE, generated_footage(), bench.answers)
        (bench.answers / "report.md").unlink()
        (bench.answers / "broken.mp4").replace(bench.materials / "broken.mp4")
        answer = load_answer(bench.answers).model_copy(update={"task_id": task_id})
        wanted = [Deliverable(name="fixed.mp4", kind=Kind.VIDEO), Deliverable(name="report.md", kind=Kind.REPORT)]
        task = Task(id=task_id, family=Family.REPAIR, deliverables=wanted, limits=LIMITS)
        return Made(task, "Something looks off in broken.mp4. Hand in fixed.mp4 and report.md.", answer)

    return TaskPlan(task_id, Family.REPAIR, "test/v3", (source,), 1, make)


def assembly_plan(task_id: str = "assembly-1", source: str = "a.mp4") -> TaskPlan:
    """Four slots with three candidates each."""

    def make(bench: Bench) -> Made:
        built = build_assembly(generated_footage(), bench.answers)
        shutil.copytree(bench.answers / "clips", bench.materials / "clips")
        answer = load_answer(bench.answers).model_copy(update={"task_id": task_id})
        wanted = [
            Deliverable(name="solution.json", kind=Kind.PICKS, clips=list(built.clips), slots=len(built.right)),
            Deliverable(name="solution.mp4", kind=Kind.VIDEO),
        ]
        task = Task(id=task_id, family=Family.ASSEMBLY, deliverables=wanted, limits=LIMITS)
        return Made(task, "Fill the slots from materials/clips: solution.json and solution.mp4.", answer)

    return TaskPlan(task_id, Family.ASSEMBLY, "test/assembly", (source,), 1, make)


def write(out: Path, *plans: TaskPlan) -> Suite:
    return write_suite(out, plans, SOURCES, lambda _task, _share, _note: None)
