"""oracle: reads the answers and hands in what they say, through `submit` like any other agent. It must score 1.

The only agent besides the vandal that sees an answers folder; what a suite's check needs to know is whether a
perfect submission is possible at all.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from avb_mcp.agents._base import Agent, Seat
from avb_mcp.agents._client import Tools, serve
from avb_mcp.agents._delivery import Delivery, cut_to
from avb_mcp.tasks.answers import Answer, load_answer
from avb_mcp.tasks.spec import load_task
from primitives._base import UserError
from primitives._task import Deliverable, Kind, Task
from verifiers._json import load_answer_model
from verifiers.video_assembly.schema import AssemblyReference
from verifiers.video_order.schema import OrderReference
from verifiers.video_repair.schema import Truth
from verifiers.video_repair_v3.schema import Profile
from verifiers.video_repair_v3.truth import truth_windows
from verifiers.video_repurpose.schema import PythonItem, load_rubric

REPORT = "Made from the answers."
FILM_SUFFIXES = frozenset({".mp4", ".mov", ".mkv", ".webm"})


def act(seat: Seat) -> None:
    if seat.answers is None:
        raise ValueError("the oracle needs the answers folder")
    answer = load_answer(seat.answers)
    hand_in = _BY_VERIFIER.get(answer.verifier)
    if hand_in is None:
        raise UserError(f"The oracle does not know the verifier {answer.verifier}.")
    hand_in(seat, answer, seat.answers)


def submit_oracle(workspace: Path, answers: Path) -> None:
    """Fill a workspace's outputs/ with the perfect submission, over a server of its own."""
    with serve(workspace) as tools:
        act(Seat(workspace, "", tools, answers))


def _submit(tools: Tools, **arguments: Any) -> None:
    """Hand in; a gate that does not pass leaves the files in outputs/, and the score will tell."""
    tools.call("submit", replace=True, **{name: value for name, value in arguments.items() if value})


def _media_name(task: Task, default: str) -> str:
    return next((item.name for item in task.deliverables if item.kind in (Kind.VIDEO, Kind.AUDIO)), default)


# ---- one function per verifier


def _order(seat: Seat, answer: Answer, answers: Path) -> None:
    reference = load_answer_model(answers / answer.reference["reference"], OrderReference)
    _clips(seat, list(reference.correct_order), "ordering")


def _assembly(seat: Seat, answer: Answer, answers: Path) -> None:
    reference = load_answer_model(answers / answer.reference["reference"], AssemblyReference)
    _clips(seat, list(reference.correct_assembly_in_slot_order), "picks")


def _clips(seat: Seat, names: list[str], argument: str) -> None:
    task = load_task(seat.workspace)
    films = {
        PurePosixPath(item.path).stem: item.path
        for item in task.materials
        if PurePosixPath(item.path).suffix.lower() in FILM_SUFFIXES
    }
    output = f"work/{_media_name(task, 'solution.mp4')}"
    seat.tools.call(
        "trim_concat", segments=[{"path": films[PurePosixPath(name).stem]} for name in names], output=output
    )
    _submit(seat.tools, files=[output], **{argument: names}, report=_text(task))


def _repair(seat: Seat, answer: Answer, answers: Path) -> None:
    folder = answers / answer.reference["answers"]
    truth = load_answer_model(folder / "truth.json", Truth)
    windows = [truth.window] if truth.window is not None else []
    found = [{"type": truth.kind.value, "start_s": item.start_s, "end_s": item.end_s} for item in windows]
    cuts = [[item.start_s, item.end_s] for item in truth.ranges]
    _golden(seat, folder / truth.golden.file, truth.deliverables.media, found, cuts)


def _repair_v3(seat: Seat, answer: Answer, answers: Path) -> None:
    profile = load_answer_model(answers / answer.reference["profile"], Profile)
    found = [
        {"type": profile.variant, "start_s": truth.window.start_s, "end_s": truth.window.end_s}
        for truth in truth_windows(profile)
    ]
    _golden(seat, answers / answer.reference["source"], answer.submission["fixed"], found, [])


def _golden(seat: Seat, film: Path, name: str, found: list[dict[str, Any]], cuts: list[list[float]]) -> None:
    task = load_task(seat.workspace)
    work = seat.workspace / "work" / name
    work.parent.mkdir(exist_ok=True)
    shutil.copyfile(film, work)
    report = _report(task)
    if report is not None and report.diagnosis and not found:
        # The kinds that are scored by their cuts, or by the picture alone: a diagnosis is asked for, not read.
        found = [{"type": "see cuts", "start_s": start_s, "end_s": end_s} for start_s, end_s in cuts or [[0.0, 1.0]]]
    _submit(seat.tools, files=[f"work/{name}"], diagnosis=found, cuts=cuts, report=_text(task))


def _repurpose(seat: Seat, answer: Answer, answers: Path) -> None:
    task = load_task(seat.workspace)
    output = f"work/{answer.submission['final']}"
    golden = answers / "final.mp4"
    if golden.is_file():
        (seat.workspace / "work").mkdir(exist_ok=True)
        shutil.copyfile(golden, seat.workspace / output)
    else:
        films = [m.path for m in task.materials if PurePosixPath(m.path).suffix.lower() in FILM_SUFFIXES]
        if not films:
            raise UserError(f"Task {task.id} has no film among its materials to cut from.")
        rubric = load_rubric(answers / answer.reference["rubric"])
        cut_to(seat.tools, films[0], of_rubric([item for item in rubric if isinstance(item, PythonItem)]), output)
    _submit(seat.tools, files=[output], report=_text(task))


def of_rubric(items: list[PythonItem]) -> Delivery:
    """What a rubric's measured items ask for."""
    wants: dict[str, dict[str, Any]] = {}
    for item in items:
        wants.setdefault(item.kind, item.params)
    length = wants.get("ffprobe_duration_range", {})
    sizes = wants.get("ffprobe_resolution_in", {}).get("options") or [[None, None]]
    size = wants.get("ffprobe_resolution_eq", {"width": sizes[0][0], "height": sizes[0][1]})
    rate, loud = wants.get("ffprobe_fps_range", {}), wants.get("ffmpeg_loudness_lufs_range", {})
    return Delivery(
        min_s=length.get("min"),
        max_s=length.get("max"),
        width_px=size["width"],
        height_px=size["height"],
        min_fps=rate.get("min"),
        max_fps=rate.get("max"),
        video_codec=_first(wants.get("ffprobe_video_codec_in", {})),
        audio_codec=_first(wants.get("ffprobe_audio_codec_in", {})),
        min_lufs=loud.get("min"),
        max_lufs=loud.get("max"),
        max_shot_s=wants.get("scenedetect_max_shot_duration", {}).get("max_seconds"),
    )


def _first(params: dict[str, Any]) -> str | None:
    codecs = params.get("codecs") or [None]
    return str(codecs[0]).lower() if codecs[0] else None


def _report(task: Task) -> Deliverable | None:
    return next((item for item in task.deliverables if item.kind is Kind.REPORT), None)


def _text(task: Task) -> str:
    """Text for the report, where one is asked for."""
    return REPORT if _report(task) is not None else ""


_BY_VERIFIER: dict[str, Callable[[Seat, Answer, Path], None]] = {
    "video_order": _order,
    "video_assembly": _assembly,
    "video_repair": _repair,
    "video_repair_v3": _repair_v3,
    "video_repurpose": _repurpose,
}
AGENT = Agent("oracle", act, sees_answers=True)
