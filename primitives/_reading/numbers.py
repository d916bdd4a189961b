"""Numbers in a text: counts, scores, clock times. Pure."""

from __future__ import annotations

import re

_TIMECODE = re.compile(r"(?<![\d:.])(\d{1,2})((?::\d{2}){1,3})([.,]\d{1,3})?(?![\d:])")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])[-+]?\d+(?:[.,]\d+)?(?!\w*:)")


def clock_s(text: str) -> float | None:
    """The first clock time of a text in seconds: 1:05 is 65, 01:02:03.5 is 3723.5; of a timecode the frames are
    left out."""
    found = _TIMECODE.search(text)
    if found is None:
        return None
    parts = [int(found[1]), *(int(part) for part in found[2].split(":")[1:])]
    if len(parts) == 4:
        parts.pop()
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + part
    return seconds + (float(found[3].replace(",", ".")) if found[3] else 0.0)


def numbers(text: str) -> list[float]:
    """Every number of a text in its order; a clock time counts as its seconds."""
    found: list[tuple[int, float]] = []
    for clock in _TIMECODE.finditer(text):
        value = clock_s(clock[0])
        if value is not None:
            found.append((clock.start(), value))
    rest = _TIMECODE.sub(lambda match: " " * len(match[0]), text)
    for number in _NUMBER.finditer(rest):
        before = rest[: number.start()].rstrip()
        written = number[0]
        if written[0] in "-+" and before and before[-1].isdigit():
            written = written[1:]  # the dash of `3 -2` stands between two numbers
        found.append((number.start(), _value(written)))
    return [value for _, value in sorted(found)]


def _value(written: str) -> float:
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", written):
        return float(written.replace(",", ""))
    return float(written.replace(",", "."))
