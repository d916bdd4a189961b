"""What is said in a film, read window by window and kept: one file per window for each model and set of options.

A killed process loses the window it was reading; any later range pays for the windows that are new to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from primitives._speech import fillers, models, vad
from primitives._speech.store import Ears, Kept, Section, load
from primitives._speech.vad import Span
from primitives._speech.words import Word, snapped

_VERSION = 3
"""Counts up when the same window would be read differently."""


class Window(Kept):
    """What was read in a window."""

    start_s: float
    end_s: float
    language: str
    words: list[tuple[float, float, str, float]]
    sounds: list[tuple[float, float, float]]

    def heard(self) -> list[Word]:
        return [Word(*word) for word in self.words]

    def candidates(self) -> list[fillers.Candidate]:
        return [fillers.Candidate("sound", start_s, end_s, "", sure) for start_s, end_s, sure in self.sounds]


@dataclass(frozen=True)
class Reading:
    """What is said in a range, up to `done_s`."""

    done_s: float
    speech: list[Span]
    words: list[Word]
    sounds: list[fillers.Candidate]
    language: str | None
    new_windows: int


class Reader:
    """Reads one film with one model."""

    def __init__(self, ears: Ears, model: models.SpeechModel, language: str | None, with_fillers: bool) -> None:
        self._ears, self._model, self._with_fillers = ears, model, with_fillers
        self._language = "en" if model.english_only else language
        options = f"{_VERSION} {model.mark} {self._language} {with_fillers}"
        self._folder = ears.folder(f"words-{hashlib.sha256(options.encode()).hexdigest()[:12]}")
        self._read: dict[str, Window] = {}
        """Of this call, by file: on a full disk the file may be missing."""

    def read(self, start_s: float, end_s: float) -> Reading:
        """What is said in a range, as far as one call gets; at least one new window."""
        windows: list[Window] = []
        speech: list[Span] = []
        new = 0
        for section in self._ears.sections(start_s, end_s):
            speech += section.spans
            for span in section.windows:
                if not span.overlaps(Span(start_s, end_s)):
                    continue
                fresh = not self._file(span).is_file()
                if fresh and new and self._ears.tired:
                    return _reading(windows, speech, start_s, max(start_s, span.start_s), new)
                new += fresh
                windows.append(self._window(span, section))
                self._ears.call.progress(span.end_s - start_s, end_s - start_s, f"read up to {span.end_s:.0f} s")
        return _reading(windows, speech, start_s, end_s, new)

    def everything(self) -> list[Word]:
        """All words read so far, in whichever call."""
        return [word for window in self._windows() for word in window.heard()]

    def _windows(self) -> Iterator[Window]:
        """The windows that are kept or were read just now, in order of time."""
        kept = {file.name for file in self._folder.glob("[0-9]*.json")}
        for name in sorted(kept | self._read.keys()):
            window = self._read.get(name) or load(self._folder / name, Window)
            if window is not None:
                yield window

    def _file(self, span: Span) -> Path:
        return self._folder / f"{round(span.start_s * 1000):09d}-{round(span.end_s * 1000):09d}.json"

    def _window(self, span: Span, section: Section) -> Window:
        file = self._file(span)
        window = self._ears.kept(file, Window, lambda: self._listen(span, section))
        self._read[file.name] = window
        return window

    def _listen(self, span: Span, section: Section) -> Window:
        """Read one window."""
        samples = self._ears.samples(span.start_s, span.end_s)
        segments, about = models.load(self._model.folder).transcribe(
            samples,
            language=self._language or self._spoken_before(),
            beam_size=5,
            temperature=(0.0, 0.4),
            condition_on_previous_text=False,
            word_timestamps=True,
            hotwords=fillers.HOT_WORDS if self._with_fillers else None,
        )
        words: list[Word] = []
        for segment in segments:
            self._ears.call.check()
            for word in segment.words or []:
                at_s, until_s = (min(span.start_s + float(t), span.end_s) for t in (word.start, word.end))
                words.append(Word(round(at_s, 3), round(until_s, 3), word.word, round(float(word.probability), 3)))
        speech = vad.within(section.spans, span.start_s, span.end_s)
        words = snapped(words, speech)
        sounds = fillers.unexplained(words, speech, samples, span.start_s) if self._with_fillers else []
        return Window(
            start_s=span.start_s,
            end_s=span.end_s,
            language=about.language,
            words=[(word.start_s, word.end_s, word.text, word.sure) for word in words],
            sounds=[(sound.start_s, sound.end_s, sound.sure) for sound in sounds],
        )

    def _spoken_before(self) -> str | None:
        """The language found in the first window that was read: short windows alone may mislead."""
        first = next(self._windows(), None)
        return first.language if first else None


def _reading(windows: list[Window], speech: list[Span], start_s: float, end_s: float, new: int) -> Reading:
    words = [word for window in windows for word in window.heard()]
    sounds = [sound for window in windows for sound in window.candidates()]
    return Reading(
        done_s=end_s,
        speech=vad.within(speech, start_s, end_s),
        words=[word for word in words if start_s <= (word.start_s + word.end_s) / 2 < end_s],
        sounds=[sound for sound in sounds if start_s <= sound.start_s < end_s],
        language=windows[0].language if windows else None,
        new_windows=new,
    )
