"""Run the gates over a suite, and show what they found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from avb_mcp.attacks.own import attack_suite
from avb_mcp.attacks.table import show_rows
from avb_mcp.tasks.check import asset, authoring, review, verifier
from avb_mcp.tasks.check._base import Finding, GateName, Subject, subjects_of
from avb_mcp.tasks.check.approvals import load_approvals
from primitives._base import UserError
from verifiers._files import AnswerError


@dataclass(frozen=True)
class Checked:
    """What came of a check."""

    suite: str
    tasks: tuple[str, ...]
    gates: tuple[GateName, ...]
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        return not any(finding.fails for finding in self.findings)

    def of(self, task: str, gate: GateName) -> list[Finding]:
        return [finding for finding in self.findings if (finding.task, finding.gate) == (task, gate)]

    def passes(self, task: str, gate: GateName) -> bool:
        return not any(finding.fails for finding in self.of(task, gate))


def gates_named(names: Sequence[str]) -> tuple[GateName, ...]:
    """The gates to run, in their own order; all when none is named."""
    for name in names:
        if name not in list(GateName):
            raise UserError(f"There is no gate {name!r}. Use {', '.join(GateName)}.")
    return tuple(gate for gate in GateName if not names or gate in names)


def check_suite(folder: Path, gates: Sequence[GateName], tasks: Sequence[str] = ()) -> Checked:
    """Every gate on every task."""
    subjects = subjects_of(folder, list(tasks))
    if not subjects:
        raise UserError(f"{folder} holds no tasks. Add some with `avb-mcp build` or `avb-mcp import`.")
    findings: list[Finding] = []
    with Console(stderr=True).status("checking") as status:
        for number, subject in enumerate(subjects, start=1):
            for gate in gates:
                status.update(f"{number} of {len(subjects)}: {subject.entry.id}, {gate} gate")
                findings += _findings(subject, gate)
        if GateName.ASSET in gates:
            findings += asset.check_suite(subjects)
    ids = tuple(subject.entry.id for subject in subjects)
    return Checked(subjects[0].suite.name, ids, tuple(gates), tuple(findings))


def attack_tasks(folder: Path, tasks: Sequence[str]) -> int:
    """Every known trick on every task; 1 if one does not get its stated reward."""
    subjects = subjects_of(folder, list(tasks))
    entries = [subject.entry for subject in subjects]
    if not entries:
        raise UserError(f"{folder} holds no tasks.")
    try:
        return show_rows(attack_suite(folder, subjects[0].suite, entries, lambda _attack: True))
    except AnswerError as error:
        raise UserError(f"A task cannot be attacked: {error}. See `avb-mcp check {folder}`.") from error


def _findings(subject: Subject, gate: GateName) -> Iterator[Finding]:
    if gate is GateName.AUTHORING:
        return authoring.check(subject)
    if gate is GateName.ASSET:
        return asset.check(subject)
    if gate is GateName.REVIEW:
        return review.check(subject, load_approvals(subject.folder))
    return verifier.check(subject)


def print_table(checked: Checked) -> None:
    """One row per task, one column per gate, the reasons below."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("task", no_wrap=True)
    for gate in checked.gates:
        table.add_column(str(gate), no_wrap=True)
    for task in checked.tasks:
        table.add_row(
            task, *("[green]pass[/]" if checked.passes(task, gate) else "[bold red]FAIL[/]" for gate in checked.gates)
        )
    console.print(table)
    for finding in checked.findings:
        about = finding.task or "suite"
        sign = "FAIL" if finding.fails else "note"
        console.print(f"{sign}  {about}, {finding.gate}: {finding.sentence}", markup=False, soft_wrap=True)
    failed = sum(not all(checked.passes(task, gate) for gate in checked.gates) for task in checked.tasks)
    whole = "" if all(checked.passes("", gate) for gate in checked.gates) else ", and the suite as a whole does not"
    console.print(f"{len(checked.tasks) - failed} of {len(checked.tasks)} tasks pass {_gates(checked)}{whole}.")


def _gates(checked: Checked) -> str:
    return "the four gates" if len(checked.gates) == len(GateName) else f"the gates {', '.join(checked.gates)}"


def as_json(checked: Checked) -> str:
    """The same for programs."""

    def rows(task: str) -> dict[str, object]:
        return {
            gate.value: {
                "passed": checked.passes(task, gate),
                "reasons": [finding.sentence for finding in checked.of(task, gate) if finding.fails],
                "notes": [finding.sentence for finding in checked.of(task, gate) if not finding.fails],
            }
            for gate in checked.gates
        }

    tasks = [{"id": task, "gates": rows(task)} for task in checked.tasks]
    whole = {"suite": checked.suite, "passed": checked.passed, "gates": rows(""), "tasks": tasks}
    return json.dumps(whole, indent=2, ensure_ascii=False)
