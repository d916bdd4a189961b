"""Words with their times, and lines made of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from primitives._speech.vad import Span

SNAP_S = 0.4
"""How far a word is drawn out to the beginning or end of its speech."""
STRETCHED_S, PAUSE_S, LEAST_S = 1.2, 0.2, 0.08
"""A word is not said across a pause: what it covers before one, up to so long, is something else."""
SENTENCE_ENDS = (".", "?", "!", "。", "？", "！", "…")


@dataclass(frozen=True)
class Word:
    """One word as it was heard."""

    start_s: float
    end_s: float
    text: str
    sure: float
    """The model's own probability, 0 to 1."""


@dataclass(frozen=True)
class LineRule:
    """When a line of words is full."""

    longest_s: float
    longest_characters: int
    pause_s: float


SEGMENT = LineRule(longest_s=20.0, longest_characters=160, pause_s=1.0)
CAPTION = LineRule(longest_s=6.0, longest_characters=80, pause_s=0.7)


@dataclass(frozen=True)
class Line:
    """Words that belong together."""

    words: tuple[Word, ...]

    @property
    def start_s(self) -> float:
        return self.words[0].start_s

    @property
    def end_s(self) -> float:
        return self.words[-1].end_s

    @property
    def text(self) -> str:
        return text_of(self.words)


def text_of(words: tuple[Word, ...] | list[Word]) -> str:
    return "".join(word.text for word in words).strip()


def lines(words: list[Word], rule: LineRule) -> list[Line]:
    """Words as lines: a sentence each, broken at pauses and where a line is full, best after a comma."""
    result: list[Line] = []
    line: list[Word] = []
    for word in words:
        if line and (_ends(line, word, rule)):
            result.append(Line(tuple(line)))
            line = []
        line.append(word)
        if len(text_of(line)) > rule.longest_characters or line[-1].end_s - line[0].start_s > rule.longest_s:
            kept, line = _broken(line)
            result += [Line(tuple(kept))] if kept else []
    return result + ([Line(tuple(line))] if line else [])


def _ends(line: list[Word], following: Word, rule: LineRule) -> bool:
    return line[-1].text.endswith(SENTENCE_ENDS) or following.start_s - line[-1].end_s >= rule.pause_s


def _broken(line: list[Word]) -> tuple[list[Word], list[Word]]:
    """A line that is too long, broken after the last comma of its later half, else before its last word."""
    commas = [n for n in range(len(line) // 2, len(line)) if n and line[n - 1].text.endswith((",", ";", ":"))]
    at = commas[-1] if commas else max(1, len(line) - 1)
    return line[:at], line[at:]


def snapped(words: list[Word], speech: list[Span]) -> list[Word]:
    """Words at the ends of speech, moved to where it begins and ends: a model's times are rough beside silence."""
    result: list[Word] = []
    for number, word in enumerate(words):
        touched = _own([span for span in speech if span.start_s < word.end_s and word.start_s < span.end_s], word)
        if touched:
            before_s = result[-1].end_s if result else 0.0
            after_s = words[number + 1].start_s if number + 1 < len(words) else touched[-1].end_s
            start_s, end_s = max(word.start_s, touched[0].start_s), min(word.end_s, touched[-1].end_s)
            if before_s <= touched[0].start_s and start_s - touched[0].start_s <= SNAP_S:
                start_s = touched[0].start_s
            if after_s >= touched[-1].end_s and touched[-1].end_s - end_s <= SNAP_S:
                end_s = touched[-1].end_s
            word = Word(round(start_s, 3), round(end_s, 3), word.text, word.sure)
        result.append(word)
    return result


def _own(touched: list[Span], word: Word) -> list[Span]:
    """The speech that a word belongs to: models stretch a word back over a pause and what is heard before it."""
    while len(touched) > 1:
        first, second = touched[:2]
        whole = word.start_s <= first.start_s + 0.05 and first.length_s <= STRETCHED_S
        if not whole or second.start_s - first.end_s < PAUSE_S or word.end_s - second.start_s < LEAST_S:
            break
        touched = touched[1:]
    return touched


def srt(captions: list[Line]) -> str:
    """Captions as a SubRip file."""
    ends = [min(a.end_s, b.start_s) if b.start_s > a.start_s else a.end_s for a, b in pairwise(captions)]
    ends += [line.end_s for line in captions[-1:]]
    blocks = [
        f"{number}\n{_clock(line.start_s)} --> {_clock(max(end_s, line.start_s + 0.001))}\n{line.text}\n"
        for number, (line, end_s) in enumerate(zip(captions, ends, strict=True), start=1)
    ]
    return "\n".join(blocks)


def _clock(time_s: float) -> str:
    total_ms = round(time_s * 1000)
    minutes, ms = divmod(total_ms, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{ms // 1000:02d},{ms % 1000:03d}"
