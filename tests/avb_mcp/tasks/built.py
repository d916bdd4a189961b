"""Tasks built for a test, and honest submissions to them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer

from avb_mcp.tasks.footage import frames, open_footage, write_film
from avb_mcp.tasks.spec import Entry, Source, answers_of, sha256_of, workspace_of
from avb_mcp.tasks.suite import TaskPlan, write_suite


@dataclass(frozen=True)
class Built:
    entry: Entry
    workspace: Path
    answers: Path

    @property
    def reference(self) -> dict[str, list[str]]:
        return json.loads((self.answers / "reference.json").read_text(encoding="utf-8"))

    @property
    def clips(self) -> list[Path]:
        return sorted((self.workspace / "materials" / "clips").iterdir(), key=lambda path: int(path.stem))


def build(out: Path, plans: Sequence[TaskPlan], films: Sequence[Path]) -> list[Built]:
    sources = [Source(name=film.name, sha256=sha256_of(film)) for film in films]
    suite = write_suite(out, plans, sources, lambda *_: None)
    return [Built(entry, workspace_of(out, entry.id), answers_of(out, entry.id)) for entry in suite.tasks]


def submit_clips(task: Built, names: Sequence[str]) -> None:
    """Join the clips in an order, and say so."""
    outputs = task.workspace / "outputs"
    shutil.rmtree(outputs, ignore_errors=True)
    outputs.mkdir()
    films = [open_footage(task.workspace / "materials" / "clips" / f"{name}.mp4") for name in names]
    pictures = (frame for film in films for frame in frames(film, 0, film.frame_count))
    write_film(outputs / "solution.mp4", pictures, films[0].fps, None)
    segments, at_s = [], 0.0
    for name, film in zip(names, films, strict=True):
        output = [at_s, at_s + film.duration_s]
        segments.append({"source": name, "source_range": [0.0, film.duration_s], "output": output})
        at_s += film.duration_s
    (outputs / "solution.json").write_text(json.dumps({"segments": segments}), encoding="utf-8")


def opened(path: Path) -> InputContainer:
    return av.open(str(path))
