"""The submitted `report.md`, read with the released scheme's leniencies, pure.

A field is a line `- start: …`, `- end: …` or `- window_1_start: …`, in any case, with any indentation; its
first occurrence wins; a time is `HH:MM:SS.mmm`, `MM:SS.mmm` or seconds; a window ends after it starts.

One truth window: the first `start` and `end` anywhere in the file. Several: numbered windows if there is any
in the file; else one window for each `## Diagnosis` block (a block ends at the next `## ` heading) if there
are several; else the first `start` and `end` in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from verifiers.video_repair_v3.truth import Window

MIN_WINDOWS_READ = 12

_FIELD = re.compile(r"\s*-\s*(start|end)\s*:(.*)", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*-\s*window[_\s-]?(\d{1,9})[_\s-]?(start|end)\s*:(.*)", re.IGNORECASE)
_DIAGNOSIS = re.compile(r"\s*##\s+Diagnosis\b", re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d{1,9}):(?=\d{1,2}:))?(\d{1,9}):(\d{1,2}(?:\.\d+)?)")
_SECONDS = re.compile(r"\d{1,9}(?:\.\d+)?")


def reported_windows(text: str, truth_count: int) -> list[Window]:
    """The windows a report names, in order, as far as they are read for that many truth windows."""
    lines = text.splitlines()
    if truth_count == 1:
        found = [_plain_window(lines)]
    else:
        limit = max(2 * truth_count, MIN_WINDOWS_READ)
        found = (_numbered_windows(lines) or _block_windows(lines) or [_plain_window(lines)])[:limit]
    return [window for window in found if window is not None]


def parse_time_s(text: str) -> float | None:
    """Seconds from `HH:MM:SS.mmm`, `MM:SS.mmm` or seconds; None for anything else."""
    text = text.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return 3600.0 * hours + 60.0 * minutes + seconds


def _numbered_windows(lines: Iterable[str]) -> list[Window | None]:
    fields: dict[int, dict[str, str]] = {}
    for line in lines:
        match = _NUMBERED.fullmatch(line)
        if match and match[3].strip():
            fields.setdefault(int(match[1]), {}).setdefault(match[2].lower(), match[3])
    return [_window(fields[number]) for number in sorted(fields)]


def _block_windows(lines: Sequence[str]) -> list[Window | None]:
    blocks: list[list[str]] = []
    inside = False
    for line in lines:
        if _DIAGNOSIS.match(line):
            blocks.append([])
            inside = True
        elif line.lstrip().startswith("## "):
            inside = False
        elif inside:
            blocks[-1].append(line)
    return [_plain_window(block) for block in blocks] if len(blocks) > 1 else []


def _plain_window(lines: Iterable[str]) -> Window | None:
    fields: dict[str, str] = {}
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match and match[2].strip():
            fields.setdefault(match[1].lower(), match[2])
    return _window(fields)


def _window(fields: dict[str, str]) -> Window | None:
    start_s = parse_time_s(fields.get("start", ""))
    end_s = parse_time_s(fields.get("end", ""))
    if start_s is None or end_s is None or end_s <= start_s:
        return None
    return Window(start_s, end_s)
