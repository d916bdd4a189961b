"""Repurpose: a source film, a brief and a rubric. The author's own, or a start made from delivery requirements.

A starter rubric is proved to be reachable: the builder cuts a plain example out of the source that scores 1, and keeps
it with the answers as `final.mp4`. Drawn requirements that the source itself cannot meet (a film of held pictures, say)
are dropped first. Requirements that the author gives are taken as they are.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from avb_mcp.tasks.answers import repurpose_answer
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders._clip_tasks import task_id, task_seed
from avb_mcp.tasks.builders._delivery import (
    Delivery,
    delivery_text,
    draw_delivery,
    load_delivery,
    require_length,
    starter_rubric,
)
from avb_mcp.tasks.builders._example_cut import write_example
from avb_mcp.tasks.footage import Footage
from avb_mcp.tasks.spec import LIMITS
from avb_mcp.tasks.suite import Bench, Made, TaskPlan
from primitives._base import UserError
from primitives._task import Deliverable, Family, Kind, MediaSpec, Task
from verifiers._json import AnswerError, JsonValue, load_answer_json
from verifiers._media import MediaError
from verifiers.lint import Severity, lint
from verifiers.video_repurpose.film import watch
from verifiers.video_repurpose.measures.decode import DecodeFaults
from verifiers.video_repurpose.runner import verify

FINAL, REPORT, RUBRIC = "final.mp4", "report.md", "rubric.json"
DROPPABLE = {
    "black": "max_black_s",
    "frozen": "max_freeze_s",
    "shots": "max_shot_s",
    "silence": "max_silence_s",
    "loudness": "min_lufs",
}
"""Starter items whose requirement a source may be unable to meet, and the field that asks for it."""


def plan(footage: Sequence[Footage], request: BuildRequest) -> list[TaskPlan]:
    """Tasks from the sources in turn."""
    texts = _load_texts(request)
    plans = []
    for number in range(1, request.count + 1):
        film = footage[(number - 1) % len(footage)]
        seed = task_seed(Family.REPURPOSE, number, request.seed, film.sha256, texts.brief, texts.rubric, texts.delivery)
        maker = _Maker(task_id(request.prefix, Family.REPURPOSE, number, seed), film, texts)
        if texts.rubric is None and texts.delivery is None:
            require_length(film)
        plans.append(TaskPlan(maker.id, Family.REPURPOSE, "repurpose", (film.name,), seed, maker.make))
    return plans


@dataclass(frozen=True)
class _Texts:
    """What the author has given."""

    brief: str
    rubric: JsonValue
    delivery: Delivery | None


def _load_texts(request: BuildRequest) -> _Texts:
    if request.rubric is not None and request.brief is None:
        raise UserError("A rubric needs the brief that it judges by. Give --brief too.")
    if request.rubric is not None and request.delivery is not None:
        raise UserError("Delivery requirements make a starter rubric. Give --rubric or --delivery, not both.")
    try:
        brief = request.brief.read_text(encoding="utf-8") if request.brief else ""
        rubric = load_answer_json(request.rubric) if request.rubric else None
    except (OSError, UnicodeDecodeError, AnswerError) as error:
        raise UserError(f"The brief or the rubric cannot be read: {error}") from None
    delivery = load_delivery(request.delivery) if request.delivery else None
    if request.brief is not None and not brief.strip():
        raise UserError(f"{request.brief} is empty. A brief says what film is wanted.")
    if request.rubric is not None:
        _refuse_faults(rubric, brief, str(request.rubric))
    return _Texts(brief, rubric, delivery)


def _refuse_faults(rubric: JsonValue, brief: str, name: str) -> None:
    """A rubric that cannot score what its author meant is not built into a task."""
    faults = [finding for finding in lint(rubric, brief) if finding.severity is Severity.ERROR]
    if faults:
        more = f" (and {len(faults) - 1} more; `python -m verifiers.lint` lists all)" if len(faults) > 1 else ""
        raise UserError(f"{name}: {faults[0].where}: {faults[0].sentence}{more}")


@dataclass(frozen=True)
class _Maker:
    id: str
    film: Footage
    texts: _Texts

    def make(self, bench: Bench) -> Made:
        bench.progress(0.0, "reading the source")
        _refuse_damage(self.film)
        source = f"source{self.film.path.suffix.lower()}"
        shutil.copyfile(self.film.path, bench.materials / source)
        rubric, wanted, spec = self.texts.rubric, "", MediaSpec(container="mp4")
        if rubric is None:
            delivery = self._delivery(bench)
            rubric, wanted, spec = _as_json(starter_rubric(delivery)), delivery_text(delivery), delivery.spec
        (bench.answers / RUBRIC).write_text(json.dumps(rubric, indent=1) + "\n", encoding="utf-8")
        deliverables = [
            Deliverable(name=FINAL, kind=Kind.VIDEO, spec=spec),
            Deliverable(name=REPORT, kind=Kind.REPORT),
        ]
        brief = repurpose_brief(source, self.texts.brief, wanted)
        if self.texts.rubric is None:
            _refuse_faults(rubric, brief, "The starter rubric")
        return Made(
            task=Task(id=self.id, family=Family.REPURPOSE, deliverables=deliverables, limits=LIMITS),
            brief=brief,
            answer=repurpose_answer(self.id, labels=False),
        )

    def _delivery(self, bench: Bench) -> Delivery:
        """The requirements, with an example in the answers that meets them all where there is one."""
        delivery = self.texts.delivery or draw_delivery(self.film, bench.rng)
        bench.progress(0.2, "an example cut")
        failed = self._try(bench, delivery)
        if failed and self.texts.delivery is None:
            missed = [DROPPABLE[name] for name in failed if name in DROPPABLE]
            nothing: dict[str, None] = dict.fromkeys(missed) | ({"max_lufs": None} if "min_lufs" in missed else {})
            delivery = delivery.model_copy(update=nothing)
            failed = self._try(bench, delivery)
        if failed:
            (bench.answers / FINAL).unlink()
            if self.texts.delivery is None:
                raise UserError(f"{self.film.name} does not serve: an example cut misses {', '.join(failed)}.")
        return delivery

    def _try(self, bench: Bench, delivery: Delivery) -> list[str]:
        """Write the example; the items that it fails."""
        rubric, final = bench.answers / RUBRIC, bench.answers / FINAL
        rubric.write_text(json.dumps(starter_rubric(delivery)), encoding="utf-8")
        write_example(self.film, delivery, final)
        verdict = verify(final, rubric)
        items = verdict.details.get("items")
        if not isinstance(items, list):
            raise UserError(f"The example cut of {self.film.name} cannot be judged: {'; '.join(verdict.reasons)}")
        return [str(item["id"]) for item in items if item["outcome"] != "passed"]


def _refuse_damage(film: Footage) -> None:
    """The agent gets the source as it is, so all of it has to play, not only what the example shows."""
    try:
        faults = watch(film.path, [DecodeFaults()])[DecodeFaults()]
    except MediaError as error:
        faults = (str(error),)
    if faults:
        raise UserError(f"{film.name} is damaged: {faults[0]}. Use a source that plays to its end.")


def _as_json(rows: list[dict[str, object]]) -> JsonValue:
    value: JsonValue = json.loads(json.dumps(rows))
    return value


def repurpose_brief(source: str, brief: str, wanted: str) -> str:
    """The prompt: the author's brief or a plain one, the delivery requirements, what to hand in."""
    asked = brief.strip() or (
        "# A short version\n\nMake a short version of the film for people who will not watch the whole of it. Choose "
        "what matters, keep it in an order that makes sense, and let no cut fall into a word or a movement."
    )
    parts = [
        asked,
        f"The source is `materials/{source}`.",
        wanted,
        f"""Hand in, in `outputs/`:

1. `{FINAL}`: the finished film.
2. `{REPORT}`: in a few sentences, what you kept, what you left out, and why.""",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
