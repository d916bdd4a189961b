"""`avb-mcp check --attacks`: hand everything in, score it, and compare with what it must get."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from avb_mcp.attacks._base import Attack, Bound, Target
from avb_mcp.attacks._footage import Footage, generated_footage, real_footage
from avb_mcp.attacks.registry import targets_of
from avb_mcp.score import score_workspace


@dataclass(frozen=True)
class Row:
    family: str
    task: str
    attack: str
    expected: Bound
    obtained: float | None
    reasons: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return self.expected.holds(self.obtained)


def check_attacks(family: str, media: Path | None) -> int:
    """Print the table; 1 if a row does not hold."""
    targets = targets_of(family)
    footage = generated_footage() if media is None else real_footage(media)
    return show_rows(run_attacks(targets, footage), f"of {sum(len(target.attacks) for target in targets)}")


def show_rows(found: Iterable[Row], of: str = "") -> int:
    """Print the rows when all are in; 1 if one does not hold."""
    console = Console()
    rows: list[Row] = []
    with Console(stderr=True).status("reading the tasks") as status:
        for row in found:
            rows.append(row)
            status.update(f"{len(rows)} {of}: {row.family}, {row.task}, {row.attack}")
    console.print(_table(rows))
    failed = [row for row in rows if not row.holds]
    for row in failed:
        console.print(f"{row.family}, {row.task}, {row.attack}: {'; '.join(row.reasons) or 'no reason given'}")
    console.print(f"{len(rows)} rewards, {len(failed)} not as stated", highlight=False)
    return 1 if failed else 0


def run_attacks(targets: Sequence[Target[Any]], footage: Footage) -> Iterator[Row]:
    """Build every target's task once, in a temporary folder, and score everything that is tried on it."""
    with tempfile.TemporaryDirectory(prefix="avb-attacks-") as folder:
        for number, target in enumerate(targets):
            answers, workspace = Path(folder) / f"{number}-answers", Path(folder) / f"{number}-workspace"
            answers.mkdir()
            task = target.build(footage, answers)
            for attack in target.attacks:
                yield try_attack(target.family, target.task, attack, task, workspace)
                shutil.rmtree(workspace)
            shutil.rmtree(answers)


def try_attack(family: str, name: str, attack: Attack[Any], task: Any, workspace: Path) -> Row:
    """Hand in, in a folder made for it, and score."""
    outputs = workspace / "outputs"
    outputs.mkdir(parents=True)
    attack.hand_in(task, outputs)
    verdict = score_workspace(workspace, task.answers)
    return Row(family, name, attack.name, attack.expected, verdict.score, tuple(verdict.reasons))


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("family", "task", "attack", "expected", "obtained", "holds"):
        table.add_column(heading, justify="right" if heading in ("expected", "obtained") else "left", no_wrap=True)
    for row in rows:
        obtained = "no score" if row.obtained is None else f"{row.obtained:.3f}"
        holds = "yes" if row.holds else "[bold red]NO[/]"
        table.add_row(row.family, row.task, row.attack, str(row.expected), obtained, holds)
    return table
