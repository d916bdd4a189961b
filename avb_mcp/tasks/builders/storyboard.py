"""The storyboard of an assembly task, as data: what the agent reads is rendered from it, by one function each.

An experiment that strips a field (`strip_field`) renders the same texts from what is left.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from avb_mcp.tasks.builders._clip_tasks import SOLUTION_SHAPE
from avb_mcp.tasks.spec import BRIEF_FILE, MATERIALS, TASK_FILE, load_task, sha256_of

STORYBOARD_JSON, STORYBOARD_MD, SHOT_LANGUAGE = "storyboard.json", "storyboard.md", "shot_language.md"

SlotField = Literal["description", "shot_size", "camera_angle", "lens_size", "camera_movement"]
FIELDS: tuple[SlotField, ...] = ("description", "shot_size", "camera_angle", "lens_size", "camera_movement")
_TITLES: dict[SlotField, str] = {
    "description": "Description",
    "shot_size": "Shot size",
    "camera_angle": "Camera angle",
    "lens_size": "Lens size",
    "camera_movement": "Camera movement",
}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Slot(_Model):
    """What one place of the film should show; None where the field was stripped."""

    slot: int = Field(ge=1)
    description: str | None = None
    shot_size: str | None = None
    camera_angle: str | None = None
    lens_size: str | None = None
    camera_movement: str | None = None


class Storyboard(_Model):
    """The whole of storyboard.json."""

    candidates_per_slot: int = Field(ge=2)
    slots: tuple[Slot, ...] = Field(min_length=1)

    def without(self, field: SlotField) -> Storyboard:
        """The same storyboard with one field stripped from every slot."""
        slots = tuple(slot.model_copy(update={field: None}) for slot in self.slots)
        return self.model_copy(update={"slots": slots})

    def as_json(self) -> str:
        return self.model_dump_json(indent=2, exclude_none=True) + "\n"


def storyboard_text(board: Storyboard) -> str:
    """The storyboard in words."""
    parts = []
    for slot in board.slots:
        values = [(_TITLES[field], getattr(slot, field)) for field in FIELDS]
        lines = [f"- {title}: {value}" for title, value in values if value is not None]
        parts.append("\n".join([f"## Slot {slot.slot}", "", *lines]))
    return "\n\n".join(["# Storyboard", *parts]) + "\n"


def board_texts(board: Storyboard) -> dict[str, str]:
    """The storyboard's two files among the materials."""
    return {STORYBOARD_JSON: board.as_json(), STORYBOARD_MD: storyboard_text(board)}


def strip_field(workspace: Path, field: SlotField) -> None:
    """Take a field out of an assembly task's storyboard wherever the agent could read it; the hashes follow."""
    materials = workspace / MATERIALS
    board = Storyboard.model_validate_json((materials / STORYBOARD_JSON).read_bytes()).without(field)
    for name, text in board_texts(board).items():
        (materials / name).write_text(text, encoding="utf-8")
    (workspace / BRIEF_FILE).write_text(assembly_brief(board), encoding="utf-8")
    task = load_task(workspace)
    listed = [item.model_copy(update={"sha256": sha256_of(workspace / item.path)}) for item in task.materials]
    text = task.model_copy(update={"materials": listed}).model_dump_json(indent=2, exclude_defaults=True)
    (workspace / TASK_FILE).write_text(text + "\n", encoding="utf-8")


def assembly_brief(board: Storyboard) -> str:
    """The prompt: what there is, the storyboard, what to hand in."""
    slots, candidates = len(board.slots), board.candidates_per_slot
    clips = slots * candidates
    return f"""\
# Assemble the film of a storyboard

`materials/clips/` holds {clips} clips without sound, `1.mp4` to `{clips}.mp4`; the numbers mean nothing. The storyboard
below (also `materials/{STORYBOARD_MD}` and `.json`) has {slots} slots. For each slot there are {candidates} candidates
among the clips: one fits the storyboard, the others show the same shot but differ from it in one of shot size, camera
angle, lens size and camera movement. The words are explained in `materials/{SHOT_LANGUAGE}`. Pick the clip that fits,
for every slot.

Hand in, in `outputs/`:

1. `solution.json`: one entry per slot, in the order of the storyboard, with the whole clip:
{SOLUTION_SHAPE}
2. `solution.mp4`: the picked clips joined in that order, pictures unchanged, in the format of the clips.

{storyboard_text(board)}"""


SHOT_LANGUAGE_TEXT = """\
# Shot language

The words of the storyboard. The clips of this task were made from real shots by a synthetic camera, so that its words
are relative to the shot as it was taken; compare the candidates of a slot with each other.

## Shot size: how much of the scene is in the picture

From the widest to the tightest: Extreme Wide, Wide, Medium Wide, Medium, Medium Close Up, Close Up, Extreme Close Up.
Here: *Wide* shows nine tenths of the shot's height, *Medium* six tenths, *Close Up* four tenths.

## Camera angle: where the camera stands and how it is held

- Eye level, Shoulder level, Hip level, Knee level, Ground level: the camera's height, looking straight ahead. Here
  *Eye level* is the shot as it was taken.
- Low angle: looks up; upright lines lean towards each other at the top.
- High angle: looks down; upright lines lean towards each other at the bottom.
- Overhead, Aerial: from straight above; from far above.
- Dutch angle: the camera is tilted sideways, the horizon slants.

## Lens size: how wide the lens sees

- Ultra Wide & Fisheye: sees far to the sides; straight lines near the edges bulge outwards strongly.
- Wide: the same, mildly.
- Medium: straight lines stay straight.
- Long Lens: sees little to the sides; straight lines near the edges bend inwards slightly.

## Camera movement: what the camera does during the shot

- Static: nothing.
- Zoom in, Zoom out: the picture grows from the middle, or shrinks towards it. Push in, Pull out, Dolly forward, Dolly
  backward: the same by moving the camera itself, so that near things change faster than far ones. Dolly zoom: both at
  once against each other.
- Pan left, Pan right: the camera turns to that side; things drift to the other.
- Tilt up, Tilt down: the camera turns up or down; things drift the other way.
- Boom up, Boom down, Dolly left, Dolly right, Arc: the camera itself travels up, down, sideways, around the subject.
- Camera roll: the picture turns about its middle.
"""
