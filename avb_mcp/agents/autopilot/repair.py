"""Find what is wrong with a film and repair it: by `find_defects` where that is listed, and by looking.

What the tool is sure of comes first. Then what pictures tell in contact sheets: frames that play twice (the tool finds
those itself), colour and sharpness that jump inside a shot, shots whose light fits better elsewhere; then what the tool
holds for doubtful. Every candidate is tried with its repair primitive, which writes nothing where it would not help.
When nothing can be repaired the film goes back as it is, and the report names the likeliest window if there is one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from avb_mcp.agents._client import ToolRefused, Tools
from avb_mcp.agents._delivery import Span
from avb_mcp.agents.autopilot import _suspects
from avb_mcp.agents.autopilot._findings import CERTAIN, LIKELY, SOUND_KINDS, fillers, findings
from avb_mcp.agents.autopilot._repairs import (
    ATTEMPTS,
    OUTPUT,
    Repaired,
    cut_out,
    finding,
    merged,
    repeats,
    without_stops,
)
from avb_mcp.agents.autopilot._suspects import Suspect
from avb_mcp.agents.autopilot._watch import Watched, watch

MOST_REPAIRS = 2
"""Certain findings that are repaired together, where the brief allows for several."""
PART_S, MOST_PARTS = 5.0, 20
"""Windows in which repeated frames are looked for when the whole film is too much."""
SHORTENS = frozenset({"repeat", "black"})
SCENE_KINDS = frozenset({"noise", "echo", "level"})
NEAR_S = 0.25
CUT_KINDS = frozenset({"repeat", "freeze"})
_PHRASES = r"have a look|eyes and ears"
"""Words of sight and sound that tell nothing about the film."""
_SOUND_WORDS = r"\b(sound|hear|heard|listen|ear|ears|headphones|speakers|volume|loud|words?|voice|noise|dubbed)\b"
_SIGHT_WORDS = r"\b(sees?|seen|look(s|ed|ing)?|eyes?|screen|watch\w*|picture|image|dubbed)\b"
_ORDER_WORDS = (
    r"\b(order|story|thread|timeline by accident|jumps ahead|circles|first this|before the question|cut she)\b"
)
_TIME_WORDS = r"\b(again|twice|just seen|longer|runs a little|stutter|hiccup|trips|stumbl|connection|breath|line had)"


@dataclass(frozen=True)
class Wishes:
    """What a brief asks for, by its words."""

    cuts: bool
    """The film without stretches that are listed, and nothing else."""
    same_length: bool
    several: bool
    of_time: bool
    of_order: bool
    of_sound: bool
    of_sight: bool

    def allow(self, kind: str) -> bool:
        """Whether it is something that is heard, or seen, as the words say; without any word it is seen."""
        return self.of_sound if kind in SOUND_KINDS else self.of_sight or not self.of_sound


def read_wishes(brief: str) -> Wishes:
    told = re.sub(_PHRASES, "", brief.split("The film is", 1)[0])
    of_time, of_order, of_sound, of_sight = (
        bool(re.search(words, told, re.I)) for words in (_TIME_WORDS, _ORDER_WORDS, _SOUND_WORDS, _SIGHT_WORDS)
    )
    return Wishes(
        cuts=bool(re.search(r"without the stretches|fenced JSON", brief)),
        same_length=bool(re.search(r"of the same length", brief)),
        several=bool(re.search(r"for each thing that is wrong", brief)),
        of_time=of_time,
        of_order=of_order,
        of_sound=of_sound,
        of_sight=of_sight,
    )


def solve(brief: str, tools: Tools, materials: Sequence[str]) -> None:
    path = next((name for name in materials if "broken" in name), materials[0])
    wishes = read_wishes(brief)
    film = watch(tools, path)
    done = (_shortened if wishes.cuts else _mended)(tools, film, wishes) or _unchanged(tools, film)
    found, cuts = ([], done.cuts) if wishes.cuts else (done.found, [])
    if wishes.cuts and not cuts:
        cuts = [[0.0, round(film.step_s, 3)]]
    tools.call("submit", files=[done.path], diagnosis=found, cuts=cuts, report=f"# Report\n\n{done.told}", replace=True)


# ---- stretches to cut out


def _shortened(tools: Tools, film: Watched, wishes: Wishes) -> Repaired | None:
    """Frames that play twice, or ums."""
    ways = [_without_repeats, _without_fillers]
    for way in reversed(ways) if wishes.of_sound and not wishes.of_time else ways:
        done = way(tools, film)
        if done is not None:
            return done
    return None


def _without_repeats(tools: Tools, film: Watched) -> Repaired | None:
    """What the repair tool finds in the whole film, else what the search is sure of, else in one part after another."""
    spans = repeats(tools, film, Suspect("repeat", 0.0, film.duration_s, LIKELY))
    if not spans:
        rows = [row for row in findings(tools, film.path) if row.kind in CUT_KINDS and row.confidence >= LIKELY]
        spans = [span for row in rows for span in repeats(tools, film, row) or [Span(row.start_s, row.end_s)]]
    if not spans:
        # In a part the tool may be sure where it is not for the whole.
        spans = [span for part in _parts(film) for span in repeats(tools, film, part)]
    return cut_out(tools, film, merged(spans), "repeated frames") if spans else None


def _without_fillers(tools: Tools, film: Watched) -> Repaired | None:
    spans = fillers(tools, film.path) if film.has_sound else []
    return cut_out(tools, film, spans, "filler words") if spans else None


def _parts(film: Watched) -> list[Suspect]:
    """Windows over the whole film, each half over the next."""
    length_s = max(PART_S, film.duration_s / MOST_PARTS)
    count = max(1, math.ceil(2 * film.duration_s / length_s) - 1)
    starts_s = [number * length_s / 2 for number in range(count)]
    return [Suspect("repeat", at_s, min(at_s + length_s, film.duration_s), LIKELY) for at_s in starts_s]


# ---- one thing that is wrong, or two


def _mended(tools: Tools, film: Watched, wishes: Wishes) -> Repaired | None:
    told = [row for row in findings(tools, film.path) if not (wishes.same_length and row.kind in SHORTENS)]
    if wishes.same_length:
        # Frozen frames that may not be cut out are made anew.
        told = [replace(row, next=None) if row.kind == "freeze" else row for row in told]
    if wishes.several:
        certain = [row for row in told if row.confidence >= CERTAIN and not _is_scene(row, film)][:MOST_REPAIRS]
        done = _both(tools, film, certain) if len({row.kind for row in certain}) > 1 else None
        if done is not None:
            return done
    stops = [row for row in told if row.confidence >= LIKELY and _shortens(row)]
    for suspect in _suspects_of(tools, film, told, wishes):
        done = _attempt(tools, film, suspect, stops)
        if done is not None:
            return done
    guess = likeliest(told, wishes)
    return None if guess is None else _unchanged(tools, film, guess)


def likeliest(told: Sequence[Suspect], wishes: Wishes) -> Suspect | None:
    """The surest of the findings that are more likely than not and that the brief's words allow for."""
    fitting = [row for row in told if row.confidence >= LIKELY and wishes.allow(row.kind)]
    return max(fitting, key=lambda row: row.confidence, default=None)


def _is_scene(row: Suspect, film: Watched) -> bool:
    """Whether a change of sound begins and ends with a shot: then it is more likely the film's own."""
    edges_s = [0.0, film.duration_s, *(shot.start_s for shot in film.shots)]
    ends_s = (row.start_s, row.end_s)
    return row.kind in SCENE_KINDS and all(min(abs(edge_s - end_s) for edge_s in edges_s) < NEAR_S for end_s in ends_s)


def _both(tools: Tools, film: Watched, rows: Sequence[Suspect]) -> Repaired | None:
    """Every one of them, first those that keep the film's times; the diagnosis in order of certainty."""
    path, done = film.path, dict[int, Repaired]()
    for number, row in sorted(enumerate(rows), key=lambda item: _shortens(item[1])):
        one = _attempt(tools, replace(film, path=path), row)
        if one is not None:
            path, done[number] = one.path, one
    parts = [done[number] for number in sorted(done)]
    told = "\n".join(part.told for part in parts)
    return Repaired(path, [row for part in parts for row in part.found], [], told) if parts else None


def _shortens(row: Suspect) -> bool:
    return row.kind in SHORTENS or (row.next is not None and row.next[1].get("kind") == "drop_repeats")


def _attempt(tools: Tools, film: Watched, suspect: Suspect, stops: Sequence[Suspect] = ()) -> Repaired | None:
    """Repair it; one of several interruptions together with the others."""
    attempt = ATTEMPTS.get(suspect.kind)
    try:
        if len(stops) > 1 and suspect in stops:
            return without_stops(tools, film, stops)
        return attempt(tools, film, suspect) if attempt else None
    except ToolRefused:
        return None  # the tool measured that it would not help, or is not there


def _suspects_of(tools: Tools, film: Watched, told: Sequence[Suspect], wishes: Wishes) -> Iterator[Suspect]:
    """What may be wrong, the likeliest first; looked for only as long as nothing was repaired."""
    likely = [row for row in told if row.confidence >= LIKELY and not _is_scene(row, film)]
    # Scenes differ in level by themselves: such a finding comes last, and not at all where it is doubtful.
    likely.sort(key=lambda row: row.kind == "level")
    fitting = [row for row in likely if wishes.allow(row.kind)]
    yield from fitting
    whole = Suspect("repeat", 0.0, film.duration_s, 0.5)
    if wishes.of_time and not wishes.same_length:
        yield whole
    if wishes.of_order:
        yield from _suspects.out_of_order(film)
    if wishes.of_sound and film.has_sound:
        yield Suspect("clipping somewhere", 0.0, film.duration_s, 0.5)
    if wishes.allow("colour"):
        yield from _suspects.colour(film)
        yield from _suspects.sharpness(tools, film)
    yield from (row for row in likely if row not in fitting)
    if not wishes.of_time:
        yield Suspect("freeze", 0.0, film.duration_s, 0.5)
        if not wishes.same_length:
            yield whole
    doubtful = [row for row in told if row not in likely and row.kind != "level"]
    yield from sorted(doubtful, key=lambda row: not wishes.allow(row.kind))
    if not wishes.of_order and wishes.allow("order"):
        yield from _suspects.out_of_order(film)


def _unchanged(tools: Tools, film: Watched, guess: Suspect | None = None) -> Repaired:
    """Nothing repaired: the film as it is, its sound written anew."""
    segment = {"start_s": 0.0, "gain_db": 0.01 if film.has_sound else 0.0}
    tools.call("trim_concat", path=film.path, segments=[segment], output=OUTPUT)
    found = [finding(guess.kind, guess) if guess else finding("not found", Span(0.0, film.duration_s))]
    return Repaired(OUTPUT, found, [], "Nothing was found that the tools could repair; the film is unchanged.")
