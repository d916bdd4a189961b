"""What was heard and read of a film, kept piece by piece, so that nothing is done twice.

Below the film's own place in the workspace's cache: one file per section (where somebody speaks) and, for each model
and set of options, one file per window (what is said). Each is written at once or not at all; a killed process loses
the window it was reading.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from primitives._base import Call
from primitives._media.sound_read import read_sound
from primitives._speech import fillers, models, plan, vad
from primitives._speech.vad import RATE_HZ, Span
from primitives._speech.words import Word, snapped

WORK_S = 25.0
"""After so long a call returns what it has, before the shortest of the harnesses' limits and the call budget."""
_VERSION = 1


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Section(_Kept):
    """A stretch of the film between two silences, and where in it somebody speaks."""

    start_s: float
    end_s: float
    speech: list[tuple[float, float]]

    @property
    def spans(self) -> list[Span]:
        return [Span(start_s, end_s) for start_s, end_s in self.speech]


class Window(_Kept):
    """What was read in a window."""

    start_s: float
    end_s: float
    language: str
    words: list[tuple[float, float, str, float]]
    sounds: list[tuple[float, float, float]]


KeptT = TypeVar("KeptT", bound=_Kept)


@dataclass(frozen=True)
class Reading:
    """What is known of a range, up to `done_s`."""

    done_s: float
    speech: list[Span]
    words: list[Word]
    sounds: list[fillers.Candidate]
    language: str | None
    new_windows: int


class Ears:
    """One film's sound, and what is kept of it."""

    def __init__(self, call: Call, path: Path, name: str, duration_s: float) -> None:
        self._call, self._path, self._name, self._duration_s = call, path, name, duration_s
        self._sections = self._folder("speech")
        self._until = time.monotonic() + WORK_S

    def _folder(self, kind: str) -> Path:
        return self._call.workspace.derived(self._path, kind).with_suffix("")

    @property
    def tired(self) -> bool:
        return time.monotonic() > self._until

    def sections(self, start_s: float, end_s: float) -> Iterator[Section]:
        """The sections that a range touches; their bounds do not depend on it."""
        count = max(1, int((self._duration_s + plan.SECTION_S - 60) // plan.SECTION_S))
        first = min(count - 1, int(max(0.0, start_s - plan.CUT_REACH_S) // plan.SECTION_S))
        for number in range(first, count):
            section = self._kept(self._sections / f"{number:05d}.json", Section, lambda n=number: self._hear(n, count))
            if section.start_s >= end_s:
                return
            if section.end_s > start_s:
                yield section

    def _hear(self, number: int, count: int) -> Section:
        start_s = self._cut(number) if number else 0.0
        end_s = self._cut(number + 1) if number + 1 < count else self._duration_s
        return Section(start_s=start_s, end_s=end_s, speech=[(s.start_s, s.end_s) for s in self._speech(start_s, end_s)])

    def _cut(self, number: int) -> float:
        at_s = number * plan.SECTION_S
        return plan.cut_near(at_s, self._speech(at_s - plan.CUT_REACH_S, at_s + plan.CUT_REACH_S))

    def _speech(self, start_s: float, end_s: float) -> list[Span]:
        samples = read_sound(self._path, self._name, start_s, end_s, RATE_HZ, 1, self._call.check)[0]
        found = vad.islands(vad.speech_probability(samples), start_s, end_s)
        return [Span(round(span.start_s, 3), round(span.end_s, 3)) for span in found]

    def _kept(self, file: Path, kind: type[KeptT], make: Callable[[], KeptT]) -> KeptT:
        """What a file holds, or what is made now and kept there."""
        try:
            return kind.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            made = make()
        with self._call.workspace.atomic(file) as part:
            part.write_text(made.model_dump_json(), encoding="utf-8")
        return made

    def hear(self, start_s: float, end_s: float) -> Reading:
        """Where somebody speaks in a range."""
        speech: list[Span] = []
        done_s = start_s
        for section in self.sections(start_s, end_s):
            speech += section.spans
            done_s = min(end_s, section.end_s)
            self._call.progress(done_s - start_s, end_s - start_s, f"listened to {done_s:.0f} s of {end_s:.0f} s")
            if self.tired:
                break
        return Reading(done_s, vad.within(speech, start_s, done_s), [], [], None, 0)

    def read(
        self, start_s: float, end_s: float, model: models.SpeechModel, language: str | None, with_fillers: bool
    ) -> Reading:
        """What is said in a range, as far as one call gets."""
        kept = self._windows(model, language, with_fillers)
        speech: list[Span] = []
        windows: list[Window] = []
        new, done_s = 0, start_s
        for section in self.sections(start_s, end_s):
            speech += section.spans
            for span in plan.plan_windows(section.spans, section.start_s, section.end_s):
                if span.end_s <= start_s or span.start_s >= end_s:
                    continue
                file = kept / f"{round(span.start_s * 1000):09d}-{round(span.end_s * 1000):09d}.json"
                if not file.is_file():
                    if self.tired and new:
                        return self._reading(windows, speech, start_s, span.start_s, new)
                    new += 1
                known = language or (windows[-1].language if windows else None)
                make = lambda s=span, x=section, k=known: self._read_window(s, x, model, k, with_fillers)  # noqa: E731
                windows.append(self._kept(file, Window, make))
                done_s = min(end_s, span.end_s)
                self._call.progress(done_s - start_s, end_s - start_s, f"read {done_s:.0f} s of {end_s:.0f} s")
        return self._reading(windows, speech, start_s, end_s, new)
