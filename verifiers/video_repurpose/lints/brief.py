"""Does the rubric contradict the brief on resolution, duration or frame rate?

The brief is prose, so only plain statements about the deliverable count: a clause that speaks of the source,
or of a part (an opening, a shot, a title card), is left alone, and so is anything that is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verifiers.video_repurpose.kinds import header
from verifiers.video_repurpose.lints._base import Condition, Finding, error, warning
from verifiers.video_repurpose.lints.reach import Interval, allowed_resolutions, interval

ABOUT_TOLERANCE = 0.10
"""How far "about 60 seconds" may be off."""
BARE_WORDS = 2
"""A clause with no more words than this beside the duration is nothing but a statement of it."""
NTSC = 1000 / 1001
"""24 fps and 23.976 fps are the same wish."""

_NUMBER = r"\d+(?:\.\d+)?"
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "forty-five": 45, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90,
}  # fmt: skip
_UNIT = r"(?P<unit>s|secs?|seconds?|mins?|minutes?)\b"
_DURATION = re.compile(
    rf"(?P<low>{_NUMBER})(?:\s*(?:-|–|—|to|and)\s*(?P<high>{_NUMBER}))?[\s-]*{_UNIT}"
    rf"(?:\s*(?:±|\+/-|plus or minus)\s*(?P<slack>{_NUMBER}))?",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(under|below|at most|no (?:more|longer) than|max(?:imum)?(?: of)?:?|up to|less than|shorter than|"
    r"(?:not|never) (?:to )?exceed(?:ing)?|≤|<)\s*$",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(at least|min(?:imum)?(?: of)?:?|no (?:less|shorter) than|longer than|more than|over|≥|>)\s*$",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"(about|approximately|approx\.?|around|roughly|~|circa)\s*$", re.IGNORECASE)
_AT_MOST_AFTER = re.compile(r"^\s*(max(?:imum)?|or (?:less|shorter|under)|at most|tops)\b", re.IGNORECASE)
_AT_LEAST_AFTER = re.compile(r"^\s*(min(?:imum)?|or (?:more|longer)|at least)\b", re.IGNORECASE)
_LENGTH = r"duration|length|long|runtime|run[- ]time|running time|total time"
_DELIVERABLE = (
    r"recap|cut|cutdown|edit|trailer|teaser|reel|promo|montage|highlights?|summary|spot|short|version|"
    r"deliverable|video|output"
)
_ABOUT_THE_WHOLE = re.compile(rf"\b({_LENGTH}|{_DELIVERABLE}|final|target|keep it|total)\b", re.IGNORECASE)
_DELIVERABLE_NEXT = re.compile(rf"^[\s-]*(?:[\w-]+\s+){{0,2}}?({_DELIVERABLE})\b", re.IGNORECASE)
_CLOCK = re.compile(rf"\b({_LENGTH})\b(.*?)\b(\d{{1,2}}):([0-5]\d)\b", re.IGNORECASE)
_SOURCE = re.compile(r"\b(source|original|input|raw|footage)\b", re.IGNORECASE)
_PART = re.compile(
    r"\b(first|last|opening|closing|intro|outro|each|every|per|shots?|fade|hold|pause|silence|black|card|title|"
    r"hook|scenes?|beats?|segments?|ending|at the|mark)\b",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\b(\d{3,4})\s*(?:[x×*]|by)\s*(\d{3,4})\b", re.IGNORECASE)
_LINES = re.compile(r"\b(480|540|720|1080|1440|2160)p\b", re.IGNORECASE)
_LINES_BY_NAME = {
    re.compile(r"\b(4k|uhd)\b", re.IGNORECASE): 2160,
    re.compile(r"\bfull[- ]hd\b", re.IGNORECASE): 1080,
}
_FPS = re.compile(rf"({_NUMBER})\s*(?:fps|frames per second|frames/s)\b", re.IGNORECASE)
_TALL = re.compile(r"\b(vertical|portrait|9\s*:\s*16|4\s*:\s*5)\b", re.IGNORECASE)
_WIDE = re.compile(r"\b(horizontal|landscape|16\s*:\s*9)\b", re.IGNORECASE)


@dataclass(frozen=True)
class BriefFacts:
    """What the brief plainly asks of the deliverable; empty where it says nothing."""

    durations_s: tuple[Interval, ...] = ()
    sizes: frozenset[tuple[int, int]] = frozenset()
    lines: frozenset[int] = frozenset()
    """The short side, from "1080p"."""
    rates_fps: frozenset[float] = frozenset()
    tall: bool | None = None
    """True for vertical, false for horizontal, none when open or both are mentioned."""


def read_brief(text: str) -> BriefFacts:
    clauses = [clause for sentence in re.split(r"[;\n]|\.(?!\d)", text) for clause in _clauses(sentence)]
    own = [clause for clause, about_source in clauses if not about_source]
    shapes = {tall for clause in own for tall, word in ((True, _TALL), (False, _WIDE)) if word.search(clause)}
    return BriefFacts(
        durations_s=tuple(duration for clause in clauses for duration in _durations(*clause)),
        sizes=frozenset((int(w), int(h)) for clause in own for w, h in _SIZE.findall(clause)),
        lines=frozenset(lines for clause in own for lines in _lines(clause)),
        rates_fps=frozenset(float(rate) for clause in own for rate in _FPS.findall(clause)),
        tall=shapes.pop() if len(shapes) == 1 else None,
    )


def contradicts_brief(conditions: tuple[Condition, ...], brief: str) -> Iterator[Finding]:
    facts = read_brief(brief)
    for condition in conditions:
        if not condition.wanted:
            continue
        if isinstance(condition.params, header.DurationRange):
            yield from _duration(condition.where, condition.params, facts)
        elif isinstance(condition.params, header.FpsRange):
            yield from _rate(condition.where, condition.params, facts)
        sizes = allowed_resolutions(condition)
        if sizes:
            yield from _resolution(condition.where, sizes, facts)


def _clauses(sentence: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a sentence; once it speaks of the source, so does the rest of it."""
    about_source = False
    for clause in re.split(r"[,()]", sentence):
        about_source = about_source or bool(_SOURCE.search(clause))
        yield clause, about_source


def _durations(clause: str, about_source: bool) -> Iterator[Interval]:
    for word, number in _WORDS.items():
        clause = re.sub(rf"\b{word}(?=[\s-]+(?:sec|min))", str(number), clause, flags=re.IGNORECASE)
    clause = _CLOCK.sub(lambda at: f"{at[1]}{at[2]}{60 * int(at[3]) + int(at[4])} seconds", clause)
    whole = bool(_ABOUT_THE_WHOLE.search(clause)) and not about_source and not _PART.search(clause)
    for match in _DURATION.finditer(clause):
        before, after = clause[: match.start()], clause[match.end() :]
        if match["unit"] == "s" and float(match["low"]) >= 1000:
            continue  # the 1960s
        bare = not about_source and len(re.findall(r"\w+", before + after)) <= BARE_WORDS
        names_it = _DELIVERABLE_NEXT.match(after) and not _PART.search(before + match.group())
        if names_it or whole or (bare and not _PART.search(clause)):
            yield _asked(match, before, after)


def _lines(clause: str) -> Iterator[int]:
    yield from map(int, _LINES.findall(clause))
    yield from (lines for name, lines in _LINES_BY_NAME.items() if name.search(clause))


def _asked(match: re.Match[str], before: str, after: str) -> Interval:
    factor = 60.0 if match["unit"].lower().startswith("min") else 1.0
    low = float(match["low"]) * factor
    high = float(match["high"] or match["low"]) * factor
    if _AT_MOST.search(before) or _AT_MOST_AFTER.match(after):
        return Interval(0, high)
    if _AT_LEAST.search(before) or _AT_LEAST_AFTER.match(after):
        return interval(low, None)
    slack = float(match["slack"] or 0) + (ABOUT_TOLERANCE * low if _ABOUT.search(before) else 0)
    return Interval(low - slack, high + slack)


def _duration(where: str, params: header.DurationRange, facts: BriefFacts) -> Iterator[Finding]:
    allowed = interval(params.min, params.max)
    if allowed.empty or not facts.durations_s:
        return
    overlapping = [asked for asked in facts.durations_s if not (asked & allowed).empty]
    asked_text = " or ".join(map(str, facts.durations_s))
    if not overlapping:
        yield error("brief-duration", where, f"the brief asks for {asked_text} s, the rubric for {allowed} s")
    elif all((asked & allowed) != asked for asked in facts.durations_s):
        sentence = f"a film may meet the brief ({asked_text} s) and fail the rubric ({allowed} s)"
        yield warning("stricter-than-brief", where, sentence)


def _rate(where: str, params: header.FpsRange, facts: BriefFacts) -> Iterator[Finding]:
    allowed = interval(params.min, params.max)
    fits = any(allowed.low <= rate <= allowed.high for asked in facts.rates_fps for rate in (asked, asked * NTSC))
    if facts.rates_fps and not allowed.empty and not fits:
        asked_text = " or ".join(f"{rate:g}" for rate in sorted(facts.rates_fps))
        yield error("brief-fps", where, f"the brief asks for {asked_text} fps, the rubric for {allowed} fps")


def _resolution(where: str, sizes: set[tuple[int, int]], facts: BriefFacts) -> Iterator[Finding]:
    wanted = " or ".join(f"{width}x{height}" for width, height in sorted(sizes))
    asked = ""
    if facts.sizes and not facts.sizes & sizes:
        asked = " or ".join(f"{width}x{height}" for width, height in sorted(facts.sizes))
    elif not facts.sizes and facts.lines and not any(min(size) in facts.lines for size in sizes):
        asked = " or ".join(f"{lines}p" for lines in sorted(facts.lines))
    elif facts.tall is not None and all((width > height) is facts.tall for width, height in sizes):
        asked = "a vertical picture" if facts.tall else "a horizontal picture"
    if asked:
        yield error("brief-resolution", where, f"the brief asks for {asked}, the rubric for {wanted}")
