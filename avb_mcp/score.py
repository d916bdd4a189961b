"""`avb-mcp score`: one verdict on what lies in a task's outputs/, by the answers folder that belongs to it.

Everything in the workspace may come from an agent and is read as such; trouble with it is judged. Trouble with
the answers is status `error`. The two never mix: a broken answer is no zero, and a broken submission no error.
"""

from __future__ import annotations

import hashlib
import json
import stat
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from avb_mcp.tasks.answers import ANSWER_FILE, Answer, load_answer
from primitives._base import UserError
from verifiers._cli import refused
from verifiers._files import AnswerError, SubmissionError, SubmissionMissing, require_submission_folder
from verifiers._json import load_submission_json
from verifiers._verdict import Status, Verdict
from verifiers.registry import runner

OUTPUT_FOLDERS = ("outputs", "output")
"""The folder of the deliverables and its alias; the alias is looked at when the first has nothing in it."""
UNKNOWN_VERIFIER = "unknown"
MAX_SHOWN_REASONS = 8


def score_workspace(workspace: Path, answers: Path) -> Verdict:
    """Judge a task folder's outputs; the verdict's details also say which task it was and whether the seal held."""
    _require_apart(workspace, answers)
    try:
        answer = load_answer(answers)
        _require_same_task(answer, workspace)
    except AnswerError as error:
        return Verdict(verifier=UNKNOWN_VERIFIER, status=Status.ERROR, reasons=[str(error)])
    outputs = _outputs(workspace)
    references = {name: answers / path for name, path in answer.reference.items()}
    verdict = score_outputs(answer, outputs, references)
    facts = {"task_id": answer.task_id, "outputs": outputs.name, "seal": seal_facts(workspace, outputs)}
    return verdict.model_copy(update={"details": verdict.details | facts})


def score_outputs(answer: Answer, outputs: Path, references: Mapping[str, Path]) -> Verdict:
    """Run the answer's verifier on a folder of deliverables; never raises."""
    try:
        require_submission_folder(outputs)
    except SubmissionMissing:
        pass  # every verifier has its own words for files that are not there
    except SubmissionError as error:
        return refused(answer.verifier, error)
    try:
        verdict: Verdict = runner(answer.verifier).verify(**answer.arguments(outputs, references))
    except AnswerError as error:
        return Verdict(verifier=answer.verifier, status=Status.ERROR, reasons=[str(error)])
    except Exception as error:  # noqa: BLE001 - the top: a defect of ours must not look like a zero, nor end a run
        traceback.print_exc(file=sys.stderr)
        reason = f"the verifier failed: {type(error).__name__}: {ascii(str(error))[1:-1]}"
        return Verdict(verifier=answer.verifier, status=Status.ERROR, reasons=[reason])
    return verdict


def seal_facts(workspace: Path, outputs: Path) -> dict[str, object]:
    """What submit sealed, and which of those files are no longer what was sealed."""
    try:
        seal = load_submission_json(workspace / ".avb" / "seal.json")
    except SubmissionMissing:
        return {"sealed": False}
    except SubmissionError as error:
        return {"sealed": False, "problem": str(error)}
    if not isinstance(seal, dict):
        return {"sealed": False, "problem": "seal.json does not hold digests by name"}
    changed = sorted(name for name, digest in seal.items() if _digest(outputs, name) != digest)
    return {"sealed": True, "intact": not changed, "changed": changed}


def report(verdict: Verdict, out: Path | None, reward: Path | None = None) -> int:
    """The verdict as JSON on stdout (and in `out`), as a short table on stderr; the exit code.

    `reward` gets the score alone, and nothing at all where there is none: a missing score is no zero.
    """
    text = verdict.model_dump_json(indent=2) + "\n"
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
    if reward is not None and verdict.score is not None:
        reward.parent.mkdir(parents=True, exist_ok=True)
        reward.write_text(json.dumps({"reward": verdict.score}) + "\n", encoding="utf-8")
    sys.stdout.write(text)
    sys.stdout.flush()
    _print_table(verdict)
    return verdict.exit_code


def _print_table(verdict: Verdict) -> None:
    console = Console(stderr=True, markup=False, highlight=False)
    score = "no score" if verdict.score is None else f"{verdict.score:.4f}"
    console.print(f"{verdict.verifier}: {verdict.status}, {score}")
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in verdict.components.items():
        table.add_row(f"  {name}", f"{value:.4f}")
    if table.row_count:
        console.print(table)
    for reason in verdict.reasons[:MAX_SHOWN_REASONS]:
        console.print(f"  - {reason}")
    if len(verdict.reasons) > MAX_SHOWN_REASONS:
        console.print(f"  - and {len(verdict.reasons) - MAX_SHOWN_REASONS} more")


def _require_apart(workspace: Path, answers: Path) -> None:
    for folder, what in ((workspace, "workspace"), (answers, "answers folder")):
        if not folder.is_dir():
            raise UserError(f"{folder} is not a folder. Give the task's {what}.")
    if answers.resolve().is_relative_to(workspace.resolve()):
        raise UserError(f"{answers} lies inside the workspace, where the agent could read it. Keep answers elsewhere.")


def _require_same_task(answer: Answer, workspace: Path) -> None:
    """A workspace that says which task it is must be scored by that task's answers."""
    try:
        task = load_submission_json(workspace / "task.json")
    except SubmissionError:
        return  # a folder without a (readable) task.json is scored by what it is given
    task_id = task.get("id") if isinstance(task, dict) else None
    if isinstance(task_id, str) and task_id != answer.task_id:
        raise AnswerError(f"the workspace is task {task_id[:80]!a}, but {ANSWER_FILE} is for {answer.task_id!a}")


def _outputs(workspace: Path) -> Path:
    outputs, alias = (workspace / name for name in OUTPUT_FOLDERS)
    if _is_used(outputs) or not _is_used(alias) or alias.resolve() == outputs.resolve():
        return outputs
    return alias


def _is_used(folder: Path) -> bool:
    """A folder with something in it, or something else in the folder's place."""
    try:
        return folder.is_symlink() or any(folder.iterdir())
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _digest(outputs: Path, name: str) -> str | None:
    """sha256 of a regular file that lies in outputs/ itself; None for anything else."""
    path = outputs / name
    if path.parent != outputs:
        return None
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
