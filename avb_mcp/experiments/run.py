"""Run a plan: what is missing is started, what is finished is written down, a stop at any moment can be resumed.

runs/<plan>/  plan.json  expected.jsonl  ledger.jsonl  cells/<cell>/<attempt>/…
"""

from __future__ import annotations

import heapq
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from avb_mcp import npm
from avb_mcp.experiments.cell import CellJob
from avb_mcp.experiments.engines import Engine
from avb_mcp.experiments.isolation import choose as choose_isolation
from avb_mcp.experiments.ledger import LEDGER_FILE, Ledger
from avb_mcp.experiments.outcome import backoff_s, is_final
from avb_mcp.experiments.plan import Budget, Cell, Plan
from avb_mcp.experiments.record import CellRecord, Outcome
from avb_mcp.experiments.usage import Prices
from avb_mcp.tasks.spec import load_suite
from harness_configs.registry import HARNESSES
from primitives._base import UserError

PLAN_FILE, EXPECTED_FILE = "plan.json", "expected.jsonl"
_POLL_S = 0.2


def default_folder(plan: Plan, beside: Path) -> Path:
    return beside / "runs" / re.sub(r"[^a-z0-9]+", "-", plan.name.lower()).strip("-")


def save_expected(folder: Path, plan: Plan, cells: Sequence[Cell]) -> None:
    """The resolved plan and its cells, beside what became of them; cells of an earlier plan stay expected."""
    known = {cell.id: cell for cell in load_expected(folder)} | {cell.id: cell for cell in cells}
    _put(folder / PLAN_FILE, plan.model_dump_json(indent=1) + "\n")
    save_cells(folder, list(known.values()))


def save_cells(folder: Path, cells: Sequence[Cell]) -> None:
    """Which cells are expected, in place of what was said before."""
    _put(folder / EXPECTED_FILE, "".join(cell.model_dump_json() + "\n" for cell in cells))


def _put(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def load_expected(folder: Path) -> list[Cell]:
    file = folder / EXPECTED_FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [Cell.model_validate_json(line) for line in lines]


def past_records(folder: Path) -> list[CellRecord]:
    """Records of this run and of those beside it: what a cell of the same kind has cost before."""
    found: list[CellRecord] = []
    for path in sorted(folder.parent.glob(f"*/{LEDGER_FILE}")):
        with suppress(UserError):  # one of another version says nothing about this one
            found += Ledger(path.parent).records()
    return found


def install_harnesses(cells: Sequence[Cell], say: Callable[[str], None]) -> None:
    """Every harness that the cells need, before the first one starts: no cell pays for an installation."""
    for name in sorted({cell.agent.harness for cell in cells} & HARNESSES.keys()):
        package = HARNESSES[name].package
        if npm.find(package) is None:
            say(f"installing {package.name} {package.version}")
        npm.ensure(package)


@dataclass
class Spent:
    """What the run has cost so far."""

    prices: Prices
    budget: Budget
    started: float = field(default_factory=time.monotonic)
    usd: float = 0.0
    turns: int = 0
    unpriced: int = 0
    """Attempts whose cost is not known."""

    def add(self, record: CellRecord) -> None:
        cost = self.prices.cost_usd(record.cell.agent.model, record.usage)
        self.usd += cost or 0.0
        self.turns += record.turns or 0
        self.unpriced += cost is None and not record.cell.agent.is_policy and not record.cell.agent.is_scripted

    @property
    def exhausted(self) -> str:
        """Which budget is spent; empty while none is."""
        if self.budget.time_s is not None and time.monotonic() - self.started >= self.budget.time_s:
            return f"the time of {self.budget.time_s:g} s is up"
        if self.budget.usd is not None and self.usd >= self.budget.usd:
            return f"{self.usd:.2f} of {self.budget.usd:.2f} dollars are spent"
        if self.budget.turns is not None and self.turns >= self.budget.turns:
            return f"{self.turns} of {self.budget.turns} turns are used"
        return ""


@dataclass(frozen=True)
class Ended:
    """How a run came to its end."""

    finished: int
    missing: int
    reason: str
    """Why cells are missing; empty when none is."""


Watcher = Callable[[CellRecord | None, Sequence[str]], None]
"""Told of each finished attempt, and of what is running."""


@dataclass
class Runner:
    plan: Plan
    folder: Path
    beside: Path
    ledger: Ledger
    spent: Spent
    watcher: Watcher
    name: str = ""
    """As `one_runner` gave it."""
    ended: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    """Attempts by cell and outcome, of earlier runs too."""

    def run(self, cells: Sequence[Cell], engine: Engine) -> Ended:
        standing = self.ledger.standing(cells)
        for record in self.ledger.records():
            self.spent.add(record)
            self.ended[record.cell_id, record.outcome] += 1
        suites = {load_suite(folder).name: folder for folder in self.plan.suites}
        isolation = choose_isolation(self.plan.isolation)
        queue: list[tuple[float, int, CellJob]] = []
        for number, cell in enumerate(standing.missing):
            job = CellJob(
                plan=self.plan,
                cell=cell,
                suite=suites[cell.suite].resolve(),
                folder=self.folder.resolve(),
                beside=self.beside.resolve(),
                attempt=standing.attempts.get(cell.id, 0) + 1,
                isolation=isolation,
                runner=self.name,
            )
            queue.append((0.0, number, job))
        reason = self._drain(queue, engine)
        left = len(self.ledger.standing(cells).missing)
        return Ended(len(cells) - left, left, reason if left else "")

    def _drain(self, queue: list[tuple[float, int, CellJob]], engine: Engine) -> str:
        """Run what is due until nothing is left; why it ended early, or nothing."""
        heapq.heapify(queue)
        running: dict[Future[CellRecord], tuple[int, CellJob]] = {}
        reason = ""
        while running or (queue and not reason):
            try:
                reason = reason or self.spent.exhausted
                room = engine.room() - len(running)
                while queue and not reason and room > 0 and queue[0][0] <= time.monotonic():
                    room -= 1
                    _, number, job = heapq.heappop(queue)
                    running[engine.start(job)] = (number, job)
                self.watcher(None, [job.cell.id for _, job in running.values()])
                done, _ = wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
                if not running:
                    time.sleep(_POLL_S)  # all that is left waits for its next try
            except KeyboardInterrupt:
                if reason:
                    raise
                reason = "interrupted"
                engine.stop()
                continue
            for future in done:
                number, job = running.pop(future)
                again = self._finish(future, job)
                if again is not None:
                    heapq.heappush(queue, (time.monotonic() + self._pause_s(job.cell.id), number, again))
        return reason

    def _pause_s(self, cell_id: str) -> float:
        tries = max(count for (cell, _), count in self.ended.items() if cell == cell_id)
        return backoff_s(tries, self.plan.retries)

    def _finish(self, future: Future[CellRecord], job: CellJob) -> CellJob | None:
        """Write the attempt down; the next one, if there is to be one."""
        if future.cancelled():
            return None
        record = future.result()
        before = self.ended[record.cell_id, record.outcome]
        record = record.model_copy(update={"final": is_final(record, self.plan.retries, before)})
        self.ledger.append(record)
        self.ended[record.cell_id, record.outcome] += 1
        self.spent.add(record)
        self.watcher(record, ())
        if record.final or record.outcome is Outcome.STOPPED:
            return None
        return job.model_copy(update={"attempt": job.attempt + 1})


def require_folder_apart(folder: Path, plan: Plan) -> None:
    for suite in plan.suites:
        if folder.resolve().is_relative_to(suite.resolve()):
            raise UserError(f"{folder} lies inside the suite {suite}. Give --out a folder elsewhere.")
