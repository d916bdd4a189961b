"""What was heard of a film, kept piece by piece, so that nothing is done twice.

Below the film's own place in the workspace's cache: one file per section, which says where somebody speaks. Each is
written at once or not at all.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from primitives._base import Call
from primitives._media.sound_read import read_sound
from primitives._speech import plan, vad
from primitives._speech.vad import RATE_HZ, Span

WORK_S = 25.0
"""After so long a call returns what it has: sooner than the call budget and any harness's own limit."""


class Kept(BaseModel):
    """Something that a file in the cache holds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


KeptT = TypeVar("KeptT", bound=Kept)


def load(file: Path, kind: type[KeptT]) -> KeptT | None:
    """What a file holds; None where there is none, or it is damaged."""
    try:
        return kind.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


class Section(Kept):
    """A stretch of the film between two silences, and where in it somebody speaks."""

    start_s: float
    end_s: float
    speech: list[tuple[float, float]]

    @property
    def spans(self) -> list[Span]:
        return [Span(start_s, end_s) for start_s, end_s in self.speech]

    @property
    def windows(self) -> list[Span]:
        return plan.plan_windows(self.spans, self.start_s, self.end_s)


@dataclass(frozen=True)
class Heard:
    """Where somebody speaks, up to `done_s`."""

    done_s: float
    speech: list[Span]


class Ears:
    """One film's sound, and what is kept of it, for the length of one call."""

    def __init__(self, call: Call, path: Path, name: str, duration_s: float) -> None:
        self.call, self._path, self._name, self._duration_s = call, path, name, duration_s
        self._until = time.monotonic() + WORK_S

    @property
    def tired(self) -> bool:
        """Whether the call has worked long enough."""
        return time.monotonic() > self._until

    def folder(self, kind: str) -> Path:
        """Where things of a kind are kept for this film, until its content changes."""
        return self.call.workspace.derived(self._path, kind).with_suffix("")

    def kept(self, file: Path, kind: type[KeptT], make: Callable[[], KeptT]) -> KeptT:
        """What a file holds, or what is made now and kept there."""
        found = load(file, kind)
        if found is not None:
            return found
        made = make()
        # A full disk costs the next call time, not this one its answer.
        with contextlib.suppress(OSError), self.call.workspace.atomic(file) as part:
            part.write_text(made.model_dump_json(), encoding="utf-8")
        return made

    def samples(self, start_s: float, end_s: float) -> NDArray[np.float32]:
        """A short stretch of the sound, 16 kHz mono."""
        samples: NDArray[np.float32] = read_sound(self._path, self._name, start_s, end_s, RATE_HZ, 1, self.call.check)[
            0
        ]
        return samples

    def sections(self, start_s: float, end_s: float) -> Iterator[Section]:
        """The sections that a range touches; their bounds do not depend on it."""
        count = plan.section_count(self._duration_s)
        folder = self.folder("speech")
        first = min(count - 1, int(max(0.0, start_s - plan.CUT_REACH_S) // plan.SECTION_S))
        for number in range(first, count):

            def hear(number: int = number) -> Section:
                return self._hear(number, count)

            section = self.kept(folder / f"{number:05d}.json", Section, hear)
            if section.start_s >= end_s:
                return
            if section.end_s > start_s:
                yield section

    def hear(self, start_s: float, end_s: float) -> Heard:
        """Where somebody speaks in a range, as far as one call gets."""
        speech: list[Span] = []
        done_s = start_s
        for section in self.sections(start_s, end_s):
            speech += section.spans
            done_s = min(end_s, section.end_s)
            self.call.progress(done_s - start_s, end_s - start_s, f"listened up to {done_s:.0f} s")
            if self.tired:
                break
        return Heard(done_s, vad.within(speech, start_s, done_s))

    def _hear(self, number: int, count: int) -> Section:
        start_s = self._cut(number) if number else 0.0
        end_s = self._cut(number + 1) if number + 1 < count else self._duration_s
        speech = self._speech(start_s, end_s)
        return Section(start_s=start_s, end_s=end_s, speech=[(span.start_s, span.end_s) for span in speech])

    def _cut(self, number: int) -> float:
        at_s = number * plan.SECTION_S
        return plan.cut_near(at_s, self._speech(at_s - plan.CUT_REACH_S, at_s + plan.CUT_REACH_S))

    def _speech(self, start_s: float, end_s: float) -> list[Span]:
        probability = vad.speech_probability(self.samples(start_s, end_s))
        found = vad.islands(probability, start_s, end_s)
        return [Span(round(span.start_s, 3), round(span.end_s, 3)) for span in found]
