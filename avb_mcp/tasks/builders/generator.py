"""Where the wrong candidates of an assembly task may come from instead of the synthetic camera.

A generator gets the right clip of a slot and must write a clip of the same scene in which exactly one cinematic
variable has another value. Whatever it writes goes through the same decode, resize and encode as the right clip, which
makes one more generation of it for that reason; what the generator's own pictures look like remains its affair.

`--generator "command ..."` calls a program once per wrong candidate with the request as JSON on its standard input:

    {"golden": "/…/golden.mp4", "out": "/…/distractor.mp4", "description": "…",
     "camera": {"shot_size": "Medium", "camera_angle": "Eye level", "lens_size": "Medium", "camera_movement": "Static"},
     "variable": "camera_movement", "value": "Pan left",
     "width_px": 512, "height_px": 288, "fps": 24.0, "frame_count": 60, "seed": 123456789}

It must leave a film of at least `frame_count` frames at `out` and exit with 0. A suite built this way is as
reproducible as the program is for a given `seed`.
"""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from avb_mcp.tasks.builders._moves import Variable
from primitives._base import UserError

TIMEOUT_S = 3600


class GeneratorRequest(BaseModel):
    """One wrong candidate to make."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    golden: Path
    """The right clip, to look at."""
    out: Path
    """Where to write the film."""
    description: str
    camera: dict[str, str]
    """The four variables of the right clip."""
    variable: Variable
    """The one to change."""
    value: str
    """What to change it to."""
    width_px: int
    height_px: int
    fps: float
    frame_count: int
    seed: int


class Generator(Protocol):
    """Makes one wrong candidate: afterwards there is a film at `request.out`."""

    def __call__(self, request: GeneratorRequest) -> None: ...


class CommandGenerator:
    """A program that is called once per request."""

    def __init__(self, command: str) -> None:
        self._command = command
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UserError(f"--generator {command!r} cannot be read as a command: {error}.") from None
        if not self._words:
            raise UserError("--generator is empty. Give the command that makes a distractor.")

    def __call__(self, request: GeneratorRequest) -> None:
        text = request.model_dump_json()
        try:
            done = subprocess.run(
                self._words, input=text, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except OSError as error:
            raise UserError(f"The generator {self._command!r} cannot be started: {error.strerror}.") from None
        except subprocess.TimeoutExpired:
            raise UserError(f"The generator {self._command!r} took longer than {TIMEOUT_S} s for one clip.") from None
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise UserError(f"The generator {self._command!r} failed with code {done.returncode}: {last[:300]}")
        if not request.out.is_file():
            raise UserError(f"The generator {self._command!r} ended well but wrote no film at `out`.")
