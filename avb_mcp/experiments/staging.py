"""A cell's fresh workspace and its prompt. What an arm says differently to the agent is decided here and recorded.

This runs before the agent starts and may read the answers, for a hint; nothing of them is copied.
"""

from __future__ import annotations

import json
from pathlib import Path

from avb_mcp.agents.runner import stage
from avb_mcp.experiments.arms import ArmSpec
from avb_mcp.tasks.builders.storyboard import (
    STORYBOARD_JSON,
    STORYBOARD_MD,
    SlotField,
    Storyboard,
    assembly_brief,
    storyboard_text,
)
from avb_mcp.tasks.spec import BRIEF_FILE, TASK_FILE, load_task, sha256_of
from harness_configs._base import SERVER_NAME
from primitives._base import UserError
from primitives._task import Material

NARRATIVE_FILE = "narrative.md"
TRUTH_FILE, PROFILE_FILE = "truth.json", "profile.json"
_TOOLS = (
    "Typed video tools of the MCP server `{server}` are at hand ({tools}); their paths are relative to this folder."
)


def stage_cell(source: Path, destination: Path, arm: ArmSpec) -> None:
    """A copy of the task folder with what the arm leaves out taken out."""
    stage(source, destination)
    if arm.strip:
        _strip(destination, arm.strip)


def prompt_of(workspace: Path, answers: Path, arm: ArmSpec) -> str:
    """The brief, then what the arm adds to it."""
    parts = [(workspace / load_task(workspace).brief).read_text(encoding="utf-8").strip()]
    if arm.narrative:
        parts.append(_narrative(answers))
    if arm.hint:
        parts.append(_hint(answers))
    if arm.serves_tools:
        parts.append(tools_sentence(arm))
    return "\n\n".join(parts)


def tools_sentence(arm: ArmSpec) -> str:
    """What an arm with our tools says more than one without."""
    return _TOOLS.format(server=SERVER_NAME, tools=", ".join(arm.tools))


def _strip(workspace: Path, fields: tuple[str, ...]) -> None:
    """The storyboard without some fields, in every place where the agent can read it."""
    file = workspace / "materials" / STORYBOARD_JSON
    if not file.is_file():
        raise UserError(f"{workspace.name} has no storyboard, so nothing can be stripped. Leave it out of this arm.")
    board = Storyboard.model_validate_json(file.read_bytes())
    for field in fields:
        board = board.without(_field(field))
    file.write_text(board.as_json(), encoding="utf-8")
    (workspace / "materials" / STORYBOARD_MD).write_text(storyboard_text(board), encoding="utf-8")
    (workspace / BRIEF_FILE).write_text(assembly_brief(board).strip() + "\n", encoding="utf-8")
    task = load_task(workspace)
    materials = [Material(path=item.path, sha256=sha256_of(workspace / item.path)) for item in task.materials]
    text = task.model_copy(update={"materials": materials}).model_dump_json(indent=2, exclude_defaults=True)
    (workspace / TASK_FILE).write_text(text + "\n", encoding="utf-8")


def _field(name: str) -> SlotField:
    fields: dict[str, SlotField] = {
        "description": "description",
        "shot_size": "shot_size",
        "camera_angle": "camera_angle",
        "lens_size": "lens_size",
        "camera_movement": "camera_movement",
    }
    return fields[name]


def _narrative(answers: Path) -> str:
    try:
        return "The story of the film: " + (answers / NARRATIVE_FILE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise UserError(f"{answers.name} has no {NARRATIVE_FILE}, which the arm with a narrative tells.") from None


def _hint(answers: Path) -> str:
    windows = _windows(answers)
    if not windows:
        raise UserError(f"{answers.name} has no defect with a place, which the arm with a hint tells.")
    told = "; ".join(f"from {start_s:.3f} s to {end_s:.3f} s" for start_s, end_s in windows)
    return f"Where it is: {told}."


def _windows(answers: Path) -> list[tuple[float, float]]:
    """Where the defect is, from either scheme's truth."""
    truth = answers / TRUTH_FILE
    if truth.is_file():
        document = json.loads(truth.read_bytes())
        found = [document["window"]] if document.get("window") else document.get("ranges", [])
        return [(item["start_s"], item["end_s"]) for item in found]
    profile = answers / PROFILE_FILE
    if profile.is_file():
        document = json.loads(profile.read_bytes())
        injections = document.get("injections") or [document.get("injection", {})]
        return [(item["start_s"], item["end_s"]) for item in injections if item.get("end_s") is not None]
    return []
