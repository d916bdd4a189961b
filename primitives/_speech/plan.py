"""How a film is cut for reading: sections of about five minutes, and in them windows of at most 28 s of speech.

Where the cuts fall depends on the film alone and never on the range that was asked for, so that what was read for one
range serves any other. Pure: over spans of speech, not sound.
"""

from __future__ import annotations

import itertools

from primitives._speech.vad import Span, gaps

SECTION_S = 300.0
SHORTEST_SECTION_S = 60.0
CUT_REACH_S = 10.0
"""A section ends at the longest silence so near to its nominal end."""
LONGEST_S = 28.0
"""Whisper reads 30 s at once."""
SHORTEST_S = 12.0
"""A window that must be cut is cut at the longest pause from here on."""
APART_S = 5.0
"""Silence from here on is left out: whisper invents words in it."""
EDGE_S = 0.4
"""How far a window reaches into the silence around its speech."""


def section_count(duration_s: float) -> int:
    """How many sections a film has; a last one that would be short belongs to the one before."""
    return max(1, int((duration_s + SECTION_S - SHORTEST_SECTION_S) // SECTION_S))


def cut_near(at_s: float, speech: list[Span]) -> float:
    """Where to cut near a time: in the middle of the longest silence within reach, or right there if there is none."""
    pauses = gaps(speech, at_s - CUT_REACH_S, at_s + CUT_REACH_S)
    if not pauses:
        return at_s
    best = max(pauses, key=lambda pause: (min(pause.length_s, 1.0), -abs((pause.start_s + pause.end_s) / 2 - at_s)))
    # A long silence may reach over the nominal place itself, which then is as good as its middle.
    middle = (best.start_s + best.end_s) / 2
    return round(at_s if best.start_s + EDGE_S < at_s < best.end_s - EDGE_S else middle, 3)


def plan_windows(speech: list[Span], start_s: float, end_s: float) -> list[Span]:
    """The windows of a section: speech packed to at most `LONGEST_S`, cut in pauses, long silences left out."""
    windows: list[Span] = []
    packed: list[Span] = []
    for island in _halved(speech):
        if packed and island.start_s - packed[-1].end_s >= APART_S:
            windows.append(_around(packed))
            packed = []
        packed.append(island)
        while packed[-1].end_s - packed[0].start_s > LONGEST_S:
            head = _head(packed)
            windows.append(_around(packed[:head]))
            packed = packed[head:]
    if packed:
        windows.append(_around(packed))
    return _apart(windows, start_s, end_s)


def _halved(speech: list[Span]) -> list[Span]:
    """Speech without a pause for longer than a window, in equal parts: there is no good place to cut."""
    parts: list[Span] = []
    for island in speech:
        count = int(island.length_s // LONGEST_S) + 1
        edges = [island.start_s + island.length_s * part / count for part in range(count + 1)]
        parts += [Span(a, b) for a, b in itertools.pairwise(edges)]
    return parts


def _head(packed: list[Span]) -> int:
    """How many of too many islands go into the first window: up to the longest pause that leaves it well filled."""
    start_s = packed[0].start_s
    fitting = [n for n in range(1, len(packed)) if packed[n - 1].end_s - start_s <= LONGEST_S]
    filled = [n for n in fitting if packed[n - 1].end_s - start_s >= SHORTEST_S] or fitting[-1:]
    return max(filled, key=lambda n: (packed[n].start_s - packed[n - 1].end_s, n))


def _around(packed: list[Span]) -> Span:
    return Span(packed[0].start_s - EDGE_S, packed[-1].end_s + EDGE_S)


def _apart(windows: list[Span], start_s: float, end_s: float) -> list[Span]:
    """Windows that overlap in a short pause meet in its middle; none leaves the section."""
    edges = [[max(start_s, window.start_s), min(end_s, window.end_s)] for window in windows]
    for before, after in itertools.pairwise(edges):
        if before[1] > after[0]:
            before[1] = after[0] = (before[1] + after[0]) / 2
    return [Span(round(first, 3), round(last, 3)) for first, last in edges]
