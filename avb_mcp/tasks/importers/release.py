"""`avb-mcp import release`: the release's task folders become tasks of a suite.

    tasks/<family>/<task>/  task.toml  environment/  steps/solve/{instruction.md, tests/, solution/}

The media is fetched from a hub when an image is built, so it must be at hand in --media, in a folder of the task's
name or under the names that the Dockerfile and the instruction use. Nothing of the folder is ever run. Its tests and
solution are kept with the answers; where they hold a reference that a verifier here reads, the task can be scored.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from avb_mcp.tasks.answers import Answer, assembly_answer, order_answer, repair_v3_answer, repurpose_answer
from avb_mcp.tasks.importers._base import (
    FILMS,
    Downloads,
    Imported,
    films_in,
    lay_out,
    refuse_archives,
    write_imported,
)
from avb_mcp.tasks.importers.fetch import Fetcher, Missing, copy_in
from avb_mcp.tasks.spec import LIMITS, Suite
from avb_mcp.tasks.suite import Bench, Made
from primitives._base import UserError
from primitives._task import Deliverable, Family, Kind, Limits, MediaSpec, Task
from verifiers._json import parse_json
from verifiers.video_repurpose.schema import parse_rubric

BUILDER = "import/release"
FAMILY_WORDS = {family.value: family for family in Family} | {"recap": Family.REPURPOSE, "order": Family.SEQUENCING}
"""Families by the words in their folders' names."""
INSTRUCTIONS = ("steps/solve/instruction.md", "instruction.md")
PRIVATE = ("steps/solve/tests", "steps/solve/solution", "tests", "solution")
KEPT = "release"
_NOT_MATERIAL = re.compile(r"^(Dockerfile.*|docker-compose.*|\.dockerignore|requirements.*\.txt|.*\.sh)$")
_MEDIA_NAME = re.compile(r"[\w\-]+(?:\.[\w\-]+)*\.(?:mp4|mov|mkv|webm|wav|mp3|m4a|zip|srt|vtt)\b")
_OUTPUT = re.compile(r"outputs?/([\w\-]+(?:\.[\w\-]+)*\.\w+)")
_KINDS = {".mp4": Kind.VIDEO, ".mov": Kind.VIDEO, ".mkv": Kind.VIDEO, ".webm": Kind.VIDEO}
_KINDS |= {".wav": Kind.AUDIO, ".m4a": Kind.AUDIO, ".mp3": Kind.AUDIO}


@dataclass(frozen=True)
class TaskFolder:
    """One folder of the release, read but not run."""

    path: Path
    family: Family
    instruction: str
    limits: Limits
    copies: list[tuple[Path, str]] = field(default_factory=list)
    """Files of environment/ and where they go below materials/."""

    @property
    def name(self) -> str:
        return re.sub(r"[^a-z0-9._-]+", "-", self.path.name.lower()).strip("-.")

    @property
    def outputs(self) -> list[str]:
        return list(dict.fromkeys(_OUTPUT.findall(self.instruction)))

    def media_names(self) -> list[str]:
        """Media that the image would hold: named in the Dockerfile or the instruction, not handed in, not there yet."""
        dockerfile = self.path / "environment" / "Dockerfile"
        text = (dockerfile.read_text(encoding="utf-8", errors="replace") if dockerfile.is_file() else "") + "\n"
        names = dict.fromkeys(_MEDIA_NAME.findall(text + self.instruction))
        there = {PurePosixPath(place).name for _, place in self.copies}
        return [name for name in names if name not in there and name not in self.outputs]


def import_release(
    folder: Path, media: Path, out: Path, *, prefix: str = "", licence: str = "", tasks: list[str] | None = None
) -> Suite:
    """Import the folders, all or those that are named."""
    folders = [read_folder(path.parent) for path in sorted(folder.rglob("task.toml"))]
    if not folders:
        raise UserError(f"{folder} holds no tasks/<family>/<task>/task.toml. Give the folder of the release.")
    if tasks:
        unknown = sorted(set(tasks) - {found.path.name for found in folders})
        if unknown:
            raise UserError(f"{folder} has no task {unknown[0]}.")
        folders = [found for found in folders if found.path.name in tasks]
    with Downloads() as progress:
        fetcher = Fetcher(media, [], offline=True, progress=progress)
        items = [_item(found, fetcher, media, prefix) for found in folders]
    return write_imported(items, out, licence, lambda item: f"the release, task {item.id}")


def read_folder(path: Path) -> TaskFolder:
    """What a task folder says; what is wrong with it is a sentence."""
    name = path.parent.name.lower()
    family = next((known for word, known in FAMILY_WORDS.items() if word in name), None)
    if family is None:
        raise UserError(f"{path} lies in {name!r}, which names no family. Use {', '.join(Family)}.")
    try:
        settings = tomllib.loads((path / "task.toml").read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path / 'task.toml'} cannot be read: {error}.") from None
    prompt = next((path / place for place in INSTRUCTIONS if (path / place).is_file()), None)
    if prompt is None:
        raise UserError(f"{path} has neither {' nor '.join(INSTRUCTIONS)}.")
    return TaskFolder(
        path,
        family,
        prompt.read_text(encoding="utf-8"),
        _limits(settings),
        list(_copies(path / "environment")),
    )


def _limits(settings: dict[str, Any]) -> Limits:
    steps = [step for step in settings.get("steps", []) if isinstance(step, dict)]
    for place in (*(step.get("agent", {}) for step in steps), settings.get("agent", {})):
        if isinstance(place, dict) and isinstance(place.get("timeout_sec"), int | float):
            return LIMITS.model_copy(update={"time_s": float(place["timeout_sec"])})
    return LIMITS


def _copies(environment: Path) -> Iterator[tuple[Path, str]]:
    """Files beside the Dockerfile, placed where its COPY lines put them, else below materials/ as they lie."""
    dockerfile = environment / "Dockerfile"
    placed = dict(_copy_lines(dockerfile)) if dockerfile.is_file() else {}
    for path in sorted(environment.rglob("*")) if environment.is_dir() else []:
        if path.is_symlink() or not path.is_file() or _NOT_MATERIAL.match(path.name):
            continue
        way = path.relative_to(environment)
        target = placed.get(way.as_posix())
        for folder in way.parents:
            if target is None and folder.as_posix() in placed and folder != Path():
                target = f"{placed[folder.as_posix()]}/{way.relative_to(folder).as_posix()}"
        yield path, _below_materials(target or way.as_posix())


def _copy_lines(dockerfile: Path) -> Iterator[tuple[str, str]]:
    """Sources and destinations of plain COPY and ADD lines; a destination that ends in / is a folder."""
    text = dockerfile.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    for line in text.splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        if not words or words[0].upper() not in ("COPY", "ADD") or any(word.startswith("--from") for word in words):
            continue
        *sources, target = [word for word in words[1:] if not word.startswith("--")]
        for source in sources:
            name = source.removeprefix("./").rstrip("/")
            into = f"{target.rstrip('/')}/{PurePosixPath(name).name}" if target.endswith("/") else target
            yield name, into.rstrip("/")


def _below_materials(place: str) -> str:
    parts = [part for part in PurePosixPath(place).parts if part not in ("/", "..", ".")]
    while parts and parts[0] in ("workspace", "app", "materials"):
        parts.pop(0)
    return "/".join(parts) or "file"


def _item(found: TaskFolder, fetcher: Fetcher, media: Path, prefix: str) -> Imported:
    item = Imported(f"{prefix}{found.family.value}-{found.name}"[:80], found.family, BUILDER, found.instruction)
    item.materials = list(found.copies)
    own = next(
        (place for place in (media / found.family / found.path.name, media / found.path.name) if place.is_dir()), None
    )
    if own is not None:
        item.materials += [
            (path, _below_materials(path.relative_to(own).as_posix()))
            for path in sorted(own.rglob("*"))
            if path.is_file()
        ]
    there = {PurePosixPath(place).name for _, place in item.materials}
    for name in found.media_names():
        if name in there:
            continue
        try:
            item.materials.append((fetcher.get(name, [found.path.name]), name))
        except Missing:
            item.missing.append(f"{name} is not below {media}")
    refuse_archives(item)
    if not any(path.suffix.lower() in FILMS | {".zip"} for path, _ in item.materials):
        item.usable = False
        item.missing.append(f"no film or archive among its materials (put them into {media / found.path.name})")
    item.make = partial(_make, found, item)
    return item


def _make(found: TaskFolder, item: Imported, bench: Bench) -> Made:
    lay_out(bench, item)
    answer = _answer(found, item, bench)
    answer = None if answer is None else handed_in_as(answer, found.outputs)
    deliverables = _deliverables(found, answer, bench)
    return Made(
        Task(id=item.id, family=item.family, deliverables=deliverables, limits=found.limits), found.instruction, answer
    )


def handed_in_as(answer: Answer, outputs: list[str]) -> Answer:
    """The answer with the names that the instruction uses: the only output of a kind is that deliverable."""

    def name_for(usual: str) -> str:
        alike = [name for name in outputs if PurePosixPath(name).suffix.lower() == PurePosixPath(usual).suffix]
        return alike[0] if len(alike) == 1 else usual

    renamed = {argument: name_for(usual) for argument, usual in answer.submission.items()}
    return answer.model_copy(update={"submission": renamed})


def _deliverables(found: TaskFolder, answer: Answer | None, bench: Bench) -> list[Deliverable]:
    """What the instruction tells the agent to write, by its name; JSON in a shape of its own is free text here."""
    clips = films_in(bench.materials)
    slots = _slots(bench) if answer is not None and answer.verifier == "video_assembly" else None
    listing = answer.submission.get("submission") if answer is not None else "solution.json"
    wanted = []
    for name in found.outputs:
        kind = _KINDS.get(PurePosixPath(name).suffix.lower(), Kind.REPORT)
        if name == listing and found.family is Family.SEQUENCING and clips:
            wanted.append(Deliverable(name=name, kind=Kind.ORDERING, clips=clips))
        elif name == listing and slots and clips:
            wanted.append(Deliverable(name=name, kind=Kind.PICKS, clips=clips, slots=slots))
        else:
            wanted.append(Deliverable(name=name, kind=kind, spec=MediaSpec()))
    return wanted


def _slots(bench: Bench) -> int:
    return len(
        json.loads((bench.answers / "reference.json").read_text(encoding="utf-8"))["correct_assembly_in_slot_order"]
    )


def _answer(found: TaskFolder, item: Imported, bench: Bench) -> Answer | None:
    """Keep what is private, and use what a verifier here can read of it."""
    kept = bench.answers / KEPT
    for place in PRIVATE:
        if (found.path / place).is_dir():
            shutil.copytree(found.path / place, kept / place, symlinks=False, ignore_dangling_symlinks=True)
    profile = source = None
    for path in sorted(kept.rglob("*")) if kept.is_dir() else []:
        if path.name == "profile.json":
            profile = path
        elif path.stem == "source" and path.suffix.lower() in FILMS:
            source = path
        elif path.suffix == ".json" and (answer := _readable(path, item, bench)):
            return answer
    if profile is not None and source is not None:
        copy_in(profile, bench.answers / "profile.json")
        copy_in(source, bench.answers / "source.mp4")
        return repair_v3_answer(item.id)
    item.missing.append("no reference that a verifier here can read")
    return None


def _readable(path: Path, item: Imported, bench: Bench) -> Answer | None:
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    if isinstance(value, dict) and "correct_order" in value and item.family is Family.SEQUENCING:
        copy_in(path, bench.answers / "reference.json")
        return order_answer(item.id, honesty=False)
    if isinstance(value, dict) and "correct_assembly_in_slot_order" in value and item.family is Family.ASSEMBLY:
        copy_in(path, bench.answers / "reference.json")
        return assembly_answer(item.id, honesty=False)
    if item.family is Family.REPURPOSE:
        try:
            parse_rubric(value)
        except ValueError:
            return None
        copy_in(path, bench.answers / "rubric.json")
        return repurpose_answer(item.id, labels=False)
    return None
