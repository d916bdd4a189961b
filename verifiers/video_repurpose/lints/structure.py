"""Shape: fields, ids, kinds, params, pillars, weights, placeholders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from verifiers._json import JsonValue
from verifiers.video_repurpose.grading import PLACEHOLDER, bind
from verifiers.video_repurpose.kinds import KINDS
from verifiers.video_repurpose.lints._base import Finding, error, steps, warning
from verifiers.video_repurpose.schema import CompoundItem, LlmItem, LlmStage, PythonStage, RubricItem
from verifiers.video_repurpose.scoring import PILLARS


def unknown_fields(where: str, row: JsonValue, item: RubricItem) -> Iterator[Finding]:
    """Fields that no grader reads; `row` is the item as it stands in the file."""
    if isinstance(row, dict):
        strangers = sorted(row.keys() - type(item).model_fields.keys())
        strangers = [name for name in strangers if row[name] is not None]
        if strangers:
            yield warning("unknown-field", where, f"nothing reads the fields {', '.join(strangers)}")


def duplicate_ids(items: tuple[RubricItem, ...]) -> Iterator[Finding]:
    for item_id, count in Counter(item.id for item in items).items():
        if count > 1:
            yield error("duplicate-id", item_id, f"{count} items share this id, so labels cannot tell them apart")


def weights_and_pillars(items: tuple[RubricItem, ...]) -> Iterator[Finding]:
    if not any(item.weight > 0 for item in items):
        yield error("no-positive-weight", "rubric", "no item has a positive weight, so there is nothing to earn")
    for item in items:
        if item.weight == 0:
            yield warning("no-effect", item.id, "weight 0: neither passing nor failing changes the score")
        if item.pillar >= len(PILLARS):
            known = ", ".join(f"{number} {name}" for number, name in enumerate(PILLARS))
            yield warning("unknown-pillar", item.id, f"pillar {item.pillar} is none of {known}")


def kinds_and_params(items: tuple[RubricItem, ...]) -> Iterator[Finding]:
    for item in items:
        for where, step in steps(item):
            check = bind(step)
            if isinstance(check, str):
                yield error("bad-params" if step.kind in KINDS else "unknown-kind", where, check)
            elif check.surplus_params:
                ignored = ", ".join(check.surplus_params)
                yield error("unknown-param", where, f"{step.kind} ignores the params {ignored}")


def questions(items: tuple[RubricItem, ...]) -> Iterator[Finding]:
    """Every question to a judge is there and has all its placeholders filled."""
    for item in items:
        if isinstance(item, LlmItem):
            yield from _question(item.id, item.question, set())
        elif isinstance(item, CompoundItem):
            yield from _compound(item)


def _compound(item: CompoundItem) -> Iterator[Finding]:
    saved: set[str] = set()
    for number, stage in enumerate(item.stages, start=1):
        where = f"{item.id} stage {number}"
        if isinstance(stage, PythonStage):
            if stage.saved_name in saved:
                yield warning("saved-twice", where, f"{stage.saved_name} replaces what an earlier stage saved")
            saved.add(stage.saved_name)
            continue
        yield from _question(where, stage.prompt or item.criterion, saved)
        named = {stage.save_as for stage in item.stages if isinstance(stage, PythonStage) and stage.save_as}
        unused = sorted(named & saved - set(PLACEHOLDER.findall(stage.prompt)))
        if unused:
            yield warning("unused-evidence", where, f"the prompt never uses {', '.join(unused)}")
        if number < len(item.stages):
            yield error("unreachable-stage", where, "the question decides the item; the stages after it never run")
        return
    if not any(isinstance(stage, LlmStage) for stage in item.stages):
        yield warning("no-question", item.id, "a compound item without an llm stage is only its python stages")


def _question(where: str, prompt: str, saved: set[str]) -> Iterator[Finding]:
    if not prompt.strip():
        yield error("no-question", where, "there is neither a prompt nor a criterion to ask about")
    missing = sorted(set(PLACEHOLDER.findall(prompt)) - saved)
    if missing:
        names = ", ".join(f"{{{name}}}" for name in missing)
        stages = ", ".join(sorted(saved)) or "nothing"
        yield error("unfilled-placeholder", where, f"no stage before it saves {names}; saved: {stages}")
