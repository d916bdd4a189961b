"""Rubric items, a brief, and what the linter finds."""

from __future__ import annotations

from verifiers.lint import lint

BRIEF = """Cut a 60-second vertical recap of the attached film (the source is 1920x1080, 92 minutes long).
Deliver final.mp4 at 1080x1920, 30 fps. Hook the viewer in the first 3 seconds, end on a 2-second title."""


def check(item_id, kind, weight=1, criterion="", **params):
    return {
        "id": item_id, "criterion": criterion, "pillar": 0, "weight": weight,
        "dispatch": "python", "kind": kind, "params": params,
    }  # fmt: skip


def question(item_id, text, weight=1):
    return {
        "id": item_id,
        "criterion": text,
        "pillar": 2,
        "weight": weight,
        "dispatch": "llm",
        "prompt": text,
    }


def compound(item_id, *stages):
    return {
        "id": item_id,
        "criterion": "Pace",
        "pillar": 1,
        "weight": 1,
        "dispatch": "compound",
        "stages": stages,
    }


def found(rubric, brief=None, task=None):
    return {(finding.code, finding.where) for finding in lint(rubric, brief, task)}
