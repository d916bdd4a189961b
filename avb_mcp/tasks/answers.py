"""answer.json: which verifier scores a task, on which deliverables, against which references.

The three mappings are the arguments of the verifier's `verify` function, which its command line also has, so a
new verifier needs no change here. A sequencing task:

    {"task_id": "seq-001", "verifier": "video_order",
     "submission": {"submission": "solution.json", "render": "solution.mp4"},
     "reference": {"reference": "reference.json", "clips": "clips"}}

Naming `render` and `clips` is what turns the honesty check on.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator

from verifiers._json import AnswerError, load_answer_model
from verifiers.registry import VERIFIERS, runner

ANSWER_FILE = "answer.json"


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise ValueError(f"{path!r} must be a path inside the answers folder")
    return path


OutputName = Annotated[str, StringConstraints(pattern=r"^(\.|[^/\\\x00-\x1f.][^/\\\x00-\x1f]{0,199})$")]
"""A plain file name in outputs/, or `.` for the folder itself."""
AnswerPath = Annotated[str, StringConstraints(min_length=1), AfterValidator(_inside)]
"""A path in the answers folder, or `.` for the folder itself."""


class Answer(BaseModel):
    """The whole of answer.json."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    task_id: str = Field(min_length=1)
    """The task that these answers belong to."""
    verifier: str
    """The package in verifiers/ that scores it."""
    submission: dict[str, OutputName]
    """Arguments that are deliverables, by their names in outputs/."""
    reference: dict[str, AnswerPath] = Field(default_factory=dict)
    """Arguments that are references, by their paths in the answers folder."""
    options: dict[str, bool] = Field(default_factory=dict)
    """Switches of the verifier, such as `fix_v03_window`."""

    @field_validator("verifier")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in VERIFIERS:
            raise ValueError(f"there is no verifier {name!r}; known are {', '.join(sorted(VERIFIERS))}")
        return name

    def arguments(self, outputs: Path, references: Mapping[str, Path]) -> dict[str, Path | bool]:
        """What to call `verify` with; `AnswerError` when it does not take these."""
        deliverables = {name: outputs / file for name, file in self.submission.items()}
        given: dict[str, Path | bool] = {**deliverables, **references, **self.options}
        try:
            inspect.signature(runner(self.verifier).verify).bind(**given)
        except TypeError as error:
            raise AnswerError(f"{ANSWER_FILE} does not fit the verifier {self.verifier}: {error}") from error
        return given


def load_answer(answers: Path) -> Answer:
    """answer.json of an answers folder; any trouble is `AnswerError`."""
    return load_answer_model(answers / ANSWER_FILE, Answer)


def save_answer(answer: Answer, answers: Path) -> None:
    text = answer.model_dump_json(indent=2, exclude_defaults=True)
    (answers / ANSWER_FILE).write_text(text + "\n", encoding="utf-8")


# The usual answers. A builder whose task asks for other names passes its own `Answer`.


def order_answer(task_id: str, *, honesty: bool) -> Answer:
    """Sequencing: reference.json, and with honesty the folder clips/."""
    return _clips_answer(task_id, "video_order", honesty)


def assembly_answer(task_id: str, *, honesty: bool) -> Answer:
    """Assembly: reference.json, and with honesty the folder clips/."""
    return _clips_answer(task_id, "video_assembly", honesty)


def repair_answer(task_id: str) -> Answer:
    """Repair by Appendix H.1: truth.json and the media that it names, which also names the deliverables."""
    return Answer(task_id=task_id, verifier="video_repair", submission={"submission": "."}, reference={"answers": "."})


def repair_v3_answer(task_id: str) -> Answer:
    """Repair by the released scheme: source.mp4 and profile.json."""
    return Answer(
        task_id=task_id,
        verifier="video_repair_v3",
        submission={"fixed": "fixed.mp4", "report": "report.md"},
        reference={"source": "source.mp4", "profile": "profile.json"},
    )


def repurpose_answer(task_id: str, *, labels: bool) -> Answer:
    """Repurpose: rubric.json, and where a person has judged the film, labels.json."""
    reference = {"rubric": "rubric.json"} | ({"labels": "labels.json"} if labels else {})
    return Answer(task_id=task_id, verifier="video_repurpose", submission={"final": "final.mp4"}, reference=reference)


def _clips_answer(task_id: str, verifier: str, honesty: bool) -> Answer:
    submission, reference = {"submission": "solution.json"}, {"reference": "reference.json"}
    if honesty:
        submission["render"], reference["clips"] = "solution.mp4", "clips"
    return Answer(task_id=task_id, verifier=verifier, submission=submission, reference=reference)
