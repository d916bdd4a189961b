"""Assembly: a storyboard, and for each of its slots one clip that fits and some that differ in one variable.

The candidates of a slot are one real shot seen through several synthetic cameras (`_moves`). They differ in the value
of one variable; all the values are drawn alike and one of them becomes the storyboard's. So the right clip is right
by construction, and nothing but the storyboard tells it from the others: neither sharpness nor size nor which of three
is the odd one out. A slot's shot is one whose own camera was measured to stand still, or a held frame where a source
has too few of those; the answers say which. All clips of a task have one length, one size and no sound.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from avb_mcp.tasks.answers import assembly_answer
from avb_mcp.tasks.builders._base import BuildRequest
from avb_mcp.tasks.builders._clip_tasks import (
    clip_deliverables,
    seconds,
    shuffled_names,
    task_id,
    task_seed,
    write_clips,
)
from avb_mcp.tasks.builders._moves import BASE_SHARE, VALUES, Image, Variable, View, filmed, seen
from avb_mcp.tasks.builders._slots import (
    MAX_SLOT_S,
    MIN_SLOT_S,
    FoundSlot,
    SlotsAsked,
    Stretch,
    find_slots,
    stretches,
)
from avb_mcp.tasks.builders.generator import CommandGenerator, Generator, GeneratorRequest
from avb_mcp.tasks.builders.storyboard import (
    SHOT_LANGUAGE,
    SHOT_LANGUAGE_TEXT,
    Slot,
    Storyboard,
    assembly_brief,
    board_texts,
)
from avb_mcp.tasks.footage import Export, Footage, frames, open_footage, write_film
from avb_mcp.tasks.spec import LIMITS
from avb_mcp.tasks.suite import Bench, Made, TaskPlan, seed_of
from primitives._base import UserError
from primitives._task import Family, Kind, Task

MIN_HEIGHT_PX = 144
"""Clips of a small source are not made smaller than this, or than the source."""


def plan(footage: Sequence[Footage], request: BuildRequest) -> list[TaskPlan]:
    """Tasks from the sources in turn; sources with too few shots serve together."""
    variables = _variables(request)
    generator = CommandGenerator(request.generator) if request.generator else None
    plans = []
    for number in range(1, request.count + 1):
        films = _films(footage, number, request)
        options = (request.slots, request.distractors, request.variables, request.generator, _text(request.shot_list))
        shas = [film.sha256 for film in films]
        seed = task_seed(Family.ASSEMBLY, number, request.seed, *shas, *options)
        name = task_id(request.prefix, Family.ASSEMBLY, number, seed)
        maker = _Maker(name, seed, films, request, variables, generator)
        sources = tuple(film.name for film in films)
        plans.append(TaskPlan(name, Family.ASSEMBLY, "assembly", sources, seed, maker.make))
    return plans


def _variables(request: BuildRequest) -> tuple[Variable, ...]:
    known = tuple(Variable)
    unknown = [name for name in request.variables if name not in known]
    if unknown:
        raise UserError(f"There is no variable {unknown[0]!r}; a distractor can change {', '.join(known)}.")
    variables = tuple(Variable(name) for name in request.variables) or known
    usable = tuple(variable for variable in variables if len(VALUES[variable]) > request.distractors)
    if not usable:
        most = max(len(VALUES[variable]) for variable in variables) - 1
        raise UserError(f"{request.distractors} distractors per slot cannot be made; at most {most} can.")
    return usable


def _films(footage: Sequence[Footage], number: int, request: BuildRequest) -> tuple[Footage, ...]:
    """One source if it has enough shots, else all of them together."""
    film = footage[(number - 1) % len(footage)]
    if request.shot_list is None and len(_long_enough(stretches([film], None))) >= request.slots:
        return (film,)
    together = _long_enough(stretches(footage, request.shot_list))
    if len(together) >= request.slots:
        return tuple(footage)
    names = ", ".join(source.name for source in footage)
    raise UserError(
        f"{names}: {len(together)} shots of {MIN_SLOT_S:g} s or more (without the fades); an assembly task with "
        f"{request.slots} slots needs as many. Give more sources, or fewer --slots."
    )


def _long_enough(places: Sequence[Stretch]) -> list[Stretch]:
    return [place for place in places if place.duration_s > MIN_SLOT_S + seconds(1, place.film.fps)]


def _text(path: Path | None) -> str:
    return path.read_text(encoding="utf-8") if path else ""


def clip_size(film: Footage) -> tuple[int, int]:
    """Width and height of the clips: the usual framing keeps the source's pixels."""
    height_px = max(round(film.height_px * BASE_SHARE), min(film.height_px, MIN_HEIGHT_PX)) // 2 * 2
    return round(height_px * film.width_px / film.height_px) // 2 * 2, height_px


def storyboard_of(slots: Sequence[FoundSlot], candidates_per_slot: int) -> Storyboard:
    """What the right candidates show, in the contract's words."""
    return Storyboard(
        candidates_per_slot=candidates_per_slot,
        slots=tuple(
            Slot(slot=number, description=slot.source.description, **asdict(slot.candidates.cameras[0]))
            for number, slot in enumerate(slots, start=1)
        ),
    )


@dataclass(frozen=True)
class _Maker:
    id: str
    seed: int
    films: tuple[Footage, ...]
    request: BuildRequest
    variables: tuple[Variable, ...]
    generator: Generator | None

    def make(self, bench: Bench) -> Made:
        candidates, film = self.request.distractors + 1, self.films[0]
        length_s, slots = self._slots(bench.rng)
        frame_count = round(length_s * film.fps)
        names = shuffled_names(len(slots) * candidates, bench.rng)
        with tempfile.TemporaryDirectory() as folder:
            writer = _Writer(slots, film, frame_count, self.generator, self.seed, Path(folder))
            write_clips(bench, names, lambda clip, path: writer.write(*divmod(clip, candidates), path))
        board = storyboard_of(slots, candidates)
        _write_texts(bench, board, slots, names)
        duration_s = len(slots) * seconds(frame_count, film.fps)
        deliverables = clip_deliverables(Kind.PICKS, names, duration_s, slots=len(slots))
        return Made(
            task=Task(id=self.id, family=Family.ASSEMBLY, deliverables=deliverables, limits=LIMITS),
            brief=assembly_brief(board),
            answer=assembly_answer(self.id, honesty=True),
        )

    def _slots(self, rng: np.random.Generator) -> tuple[float, list[FoundSlot]]:
        """The length of the clips and the slots, in the order of the source."""
        places = _long_enough(stretches(self.films, self.request.shot_list))
        variables = [self.variables[index] for index in rng.permutation(len(self.variables))]
        usual_s = sorted(place.duration_s for place in places)[len(places) // 2]
        width_px, height_px = clip_size(self.films[0])
        found: list[FoundSlot] = []
        for length_s in (float(rng.uniform(MIN_SLOT_S, min(MAX_SLOT_S, usual_s))), MIN_SLOT_S):
            ask = SlotsAsked(
                self.request.slots, self.request.distractors + 1, length_s, variables, width_px / height_px
            )
            found = find_slots(places, ask, rng)
            if len(found) == self.request.slots:
                return length_s, sorted(found, key=lambda slot: (self.films.index(slot.source.film), slot.source.first))
        names = ", ".join(film.name for film in self.films)
        raise UserError(
            f"{names}: {len(found)} shots with enough to see that look different from each other; an assembly task "
            f"with {self.request.slots} slots needs as many. Give more or other sources, or fewer --slots."
        )


class _Writer:
    """Writes the candidates of all slots, by one path."""

    def __init__(
        self,
        slots: Sequence[FoundSlot],
        film: Footage,
        frame_count: int,
        generator: Generator | None,
        seed: int,
        folder: Path,
    ) -> None:
        self._slots, self._generator, self._seed, self._folder = slots, generator, seed, folder
        self._fps, self._frame_count, self._size = film.fps, frame_count, clip_size(film)
        self._export = Export(colour=film.colour)

    def write(self, slot: int, candidate: int, path: Path) -> None:
        """Candidate 0 is the right one."""
        if self._generator is None:
            self._film(slot, candidate, path)
        else:
            self._again(self._generated(slot, candidate, self._generator), path)

    def _film(self, slot: int, candidate: int, path: Path) -> None:
        source, candidates = self._slots[slot].source, self._slots[slot].candidates
        pictures = source.frames(self._frame_count, float(self._fps))
        camera = candidates.cameras[candidate]
        self._encode(path, filmed(pictures, self._frame_count, camera, candidates.amounts, self._size))

    def _generated(self, slot: int, candidate: int, generator: Generator) -> Path:
        """The right clip, or what the generator makes of it."""
        golden = self._folder / f"{slot}.mp4"
        if not golden.exists():
            self._film(slot, 0, golden)
        if candidate == 0:
            return golden
        found = self._slots[slot]
        out = self._folder / f"{slot}-{candidate}.mp4"
        variable, right = found.candidates.variable, found.candidates.cameras[0]
        generator(
            GeneratorRequest(
                golden=golden,
                out=out,
                description=found.source.description,
                camera=asdict(right),
                variable=variable,
                value=getattr(found.candidates.cameras[candidate], variable),
                width_px=self._size[0],
                height_px=self._size[1],
                fps=float(self._fps),
                frame_count=self._frame_count,
                seed=seed_of(self._seed, slot, candidate),
            )
        )
        return out

    def _again(self, film: Path, path: Path) -> None:
        made = open_footage(film)
        if made.frame_count < self._frame_count:
            raise UserError(f"The generator wrote {made.frame_count} frames; {self._frame_count} were asked for.")
        whole = View(share=1.0)
        self._encode(path, (seen(frame, whole, self._size) for frame in frames(made, 0, self._frame_count)))

    def _encode(self, path: Path, pictures: Iterable[Image]) -> None:
        write_film(path, pictures, self._fps, None, self._export)


def _write_texts(bench: Bench, board: Storyboard, slots: Sequence[FoundSlot], names: Sequence[str]) -> None:
    for name, text in (board_texts(board) | {SHOT_LANGUAGE: SHOT_LANGUAGE_TEXT}).items():
        (bench.materials / name).write_text(text, encoding="utf-8")
    count = board.candidates_per_slot
    rows = [_row(slot, names[at * count : (at + 1) * count]) for at, slot in enumerate(slots)]
    reference = {
        "correct_assembly_in_slot_order": list(names[::count]),
        "candidates_per_slot": count,
        "slots": rows,
    }
    (bench.answers / "reference.json").write_text(json.dumps(reference, indent=1) + "\n", encoding="utf-8")


def _row(slot: FoundSlot, names: Sequence[str]) -> dict[str, object]:
    """How a slot was made; the verifier does not read it."""
    candidates = slot.candidates
    return {
        "variable": candidates.variable,
        "candidates": {
            name: getattr(camera, candidates.variable) for name, camera in zip(names, candidates.cameras, strict=True)
        },
        "source": slot.source.film.name,
        "first_frame": slot.source.first,
        "held_frame": slot.source.held,
    }
