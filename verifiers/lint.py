"""Lint a rubric, alone or against its brief: `python -m verifiers.lint rubric.json [--brief brief.md]`.

Prints the findings as JSON. Exit code 0: no errors (warnings may remain), 1: errors, 2: a file is unreadable.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from verifiers._json import AnswerError, JsonValue, load_answer_json
from verifiers.video_repurpose.lints import structure
from verifiers.video_repurpose.lints._base import Finding, Severity, conditions, error
from verifiers.video_repurpose.lints.brief import contradicts_brief
from verifiers.video_repurpose.lints.polarity import polarity
from verifiers.video_repurpose.lints.reach import contradictions, unreachable
from verifiers.video_repurpose.schema import RubricItem, parse_item, rubric_rows

__all__ = ["Finding", "Severity", "lint", "main"]

VIDEO_SUFFIXES = (".mp4", ".mov", ".mkv", ".webm")


def lint(rubric: JsonValue, brief: str | None = None, task: Mapping[str, object] | None = None) -> list[Finding]:
    """Everything wrong with `rubric` as loaded from JSON.

    `brief` is the prompt as text; `task` a task record (`task.json`), whose own `brief` is read as well.
    """
    try:
        rows = rubric_rows(rubric)
    except ValueError as fault:
        return [error("not-a-rubric", "rubric", str(fault))]
    findings: list[Finding] = []
    items: list[RubricItem] = []
    for number, row in enumerate(rows, start=1):
        try:
            item = parse_item(row)
        except ValueError as fault:
            findings.append(error("malformed-item", _place(row, number), str(fault)))
            continue
        items.append(item)
        findings += structure.unknown_fields(item.id, row, item)
    return findings + _lint_items(tuple(items), brief, task)


def _lint_items(items: tuple[RubricItem, ...], brief: str | None, task: Mapping[str, object] | None) -> list[Finding]:
    checks = conditions(items)
    text = "\n".join(part for part in (brief, _brief_of(task)) if part)
    return list(
        chain(
            structure.duplicate_ids(items),
            structure.weights_and_pillars(items),
            structure.kinds_and_params(items),
            structure.questions(items),
            polarity(items),
            unreachable(checks),
            contradictions(checks),
            contradicts_brief(checks, text),
            _deliverables(task),
        )
    )


def _brief_of(task: Mapping[str, object] | None) -> str:
    brief = (task or {}).get("brief")
    return brief if isinstance(brief, str) else ""


def _deliverables(task: Mapping[str, object] | None) -> list[Finding]:
    """A rubric judges a film, so the task must ask for one."""
    deliverables = (task or {}).get("deliverables")
    if not isinstance(deliverables, list):
        return []
    names = [str(row.get("name", "")) if isinstance(row, dict) else str(row) for row in deliverables]
    if any(name.endswith(VIDEO_SUFFIXES) for name in names):
        return []
    named = ", ".join(names) or "nothing"
    return [error("no-film", "task", f"the rubric judges a film, but the task's deliverables are {named}")]


def _place(row: JsonValue, number: int) -> str:
    item_id = row.get("id") if isinstance(row, dict) else None
    return str(item_id) if item_id else f"item {number}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verifiers.lint", description="Lint a rubric.")
    parser.add_argument("rubric", type=Path)
    parser.add_argument("--brief", type=Path, help="the brief as text")
    parser.add_argument("--task", type=Path, help="the task record, task.json")
    args = parser.parse_args(argv)
    try:
        rubric = load_answer_json(args.rubric)
        task = load_answer_json(args.task) if args.task else None
        brief = args.brief.read_text(encoding="utf-8") if args.brief else None
    except (AnswerError, OSError, UnicodeDecodeError) as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    findings = lint(rubric, brief, task if isinstance(task, dict) else None)
    sys.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2) + "\n")
    return int(any(finding.severity is Severity.ERROR for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
