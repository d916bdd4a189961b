"""The demo: draw a film, build a task of every family from it, let agents without a model try them, show what came out.

Everything an agent does goes through `avb-mcp serve` over real stdio; nothing needs a key, a network or footage.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from avb_mcp.agents.cli_try import table_of
from avb_mcp.agents.registry import agents_named
from avb_mcp.agents.runner import Run, cases_of, run_all
from avb_mcp.demo.film import frame_count, make_film
from avb_mcp.demo.page import write_page
from avb_mcp.demo.shots import STORY
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders.registry import plan_tasks
from avb_mcp.tasks.footage import open_footage
from avb_mcp.tasks.spec import Source
from avb_mcp.tasks.suite import TaskPlan, write_suite
from primitives._task import Family

AGENTS = ("nop", "autopilot", "oracle")
SEED = 7
REPAIR_S = 16.0
"""How long the film of the repair task is: short enough to be measured quickly."""
STEPS = {"draw": 25, "build": 25, "run": 45, "page": 5}
"""Shares of the bar, about as long as each takes."""


@dataclass(frozen=True)
class Bar:
    """One bar over all steps."""

    progress: Progress
    line: TaskID

    @contextmanager
    def step(self, name: str, text: str) -> Iterator[Step]:
        names = list(STEPS)
        before = sum(STEPS[other] for other in names[: names.index(name)])
        step = Step(self, before, STEPS[name], text)
        step.at(0.0)
        yield step
        step.at(1.0)


@dataclass(frozen=True)
class Step:
    bar: Bar
    before: float
    size: float
    text: str

    def at(self, share: float, text: str = "") -> None:
        told = f"{self.text}: {text}" if text else self.text
        self.bar.progress.update(self.bar.line, completed=self.before + self.size * share, description=told)


def run_demo(out: Path) -> None:
    """The whole demo; prints the table and where the page is."""
    for name in ("suite", "runs"):
        shutil.rmtree(out / name, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    film, suite = out / "film.mp4", out / "suite"
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = Bar(progress, progress.add_task("", total=sum(STEPS.values())))
        with bar.step("draw", "drawing a film") as step:
            make_film(film, lambda done: step.at(done / frame_count()))
        with bar.step("build", "building tasks") as step:
            build(film, suite, step)
        with bar.step("run", "running agents") as step:
            runs = _try(suite, out / "runs", step)
        with bar.step("page", "writing the page"):
            page = write_page(out, film, suite, runs)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"film   {film} ({len(open_footage(film).shots)} shots, drawn)")
    console.print(f"suite  {suite} (built from it: avb-mcp build, avb-mcp check)")
    console.print(f"runs   {out / 'runs'} (every deliverable, verdict and tool call)\n")
    console.print(table_of(runs))
    console.print(f"\npage   {page}")


def build(film: Path, suite: Path, step: Step) -> None:
    """One task of every family."""
    footage = open_footage(film)
    plans = [plan for family, asked in requests().items() for plan in plan_tasks(family, [footage], asked)]
    source = Source(name=footage.name, sha256=footage.sha256, licence="Apache-2.0", provenance="drawn by avb-mcp demo")
    places = {plan.id: number for number, plan in enumerate(plans)}

    def report(task: str, share: float, what: str) -> None:
        step.at((places[task] + share) / len(plans), f"{_family(plans, task)}, {what}")

    write_suite(suite, plans, [source], report)


def requests() -> dict[Family, BuildRequest]:
    """What is built."""
    return {
        Family.SEQUENCING: BuildRequest(seed=SEED, count=1, min_clips=8, max_clips=10, overview=STORY),
        Family.REPAIR: BuildRequest(seed=SEED, count=1, kinds=("repeated_frames",), min_s=REPAIR_S, max_s=REPAIR_S + 2),
        Family.ASSEMBLY: BuildRequest(seed=SEED, count=1, slots=4),
        Family.REPURPOSE: BuildRequest(seed=SEED, count=1),
    }


def _family(plans: list[TaskPlan], task: str) -> str:
    return next(plan.family.value for plan in plans if plan.id == task)


def _try(suite: Path, out: Path, step: Step) -> list[Run]:
    jobs = max(1, min(4, os.cpu_count() or 1))
    return run_all(
        cases_of(suite),
        agents_named(AGENTS),
        out,
        lambda done, total, what: step.at(done / total, what),
        jobs=jobs,
    )
