"""The shots of a film: found once, kept beside it, and read from there by whoever needs them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from primitives._base import Call
from primitives._cuts import LONGEST_FADE_S, Transition, find_transitions
from primitives._media.scan import Scan
from primitives._media.thumbs import film_thumbs
from primitives._signature import Signature, Thumbs

WINDOW_FRAMES = 4096
"""Thumbnails that are judged together: memory stays flat however long the film."""
VERSION = 1
"""Raised whenever the same film may give other transitions, so that kept ones are found anew."""


@dataclass(frozen=True)
class Changes:
    """Every transition of a film or of a range of it, weak ones included, by frame number."""

    frames: range
    transitions: tuple[Transition, ...]

    def sure(self, sensitivity: float) -> list[Transition]:
        """The transitions that count at a sensitivity from 0 (only certain ones) to 1."""
        return [change for change in self.transitions if change.strength >= 1 - sensitivity]


def film_changes(call: Call, path: Path, name: str, scan: Scan, frames: range | None = None) -> Changes:
    """The transitions of a film, or of a range; those of a whole film are kept for the next who asks."""
    assert scan.video is not None
    everything = range(len(scan.video))
    wanted = frames or everything
    known = kept_changes(call, path)
    if known is None:
        known = _find(call, path, name, scan, wanted)
        if wanted == everything:
            keep_changes(call, path, known)
    # A fade that closes the film stands at the frame after the last.
    until = wanted.stop + (wanted.stop == everything.stop)
    return Changes(wanted, tuple(change for change in known if wanted.start <= change.frame < until))


def kept_changes(call: Call, path: Path) -> list[Transition] | None:
    """A whole film's transitions, where they were found before."""
    return _read(_store(call, path))


def keep_changes(call: Call, path: Path, changes: list[Transition]) -> None:
    """Keep a whole film's transitions. A courtesy: a full disk must not cost the answer."""
    with contextlib.suppress(OSError), call.workspace.atomic(_store(call, path)) as part:
        part.write_text(json.dumps([dataclasses.asdict(change) for change in changes]), encoding="utf-8")


def _store(call: Call, path: Path) -> Path:
    return call.workspace.derived(path, f"changes-{VERSION}")


def _read(store: Path) -> list[Transition] | None:
    try:
        return TypeAdapter(list[Transition]).validate_json(store.read_bytes())
    except (OSError, ValidationError):
        return None


def _find(call: Call, path: Path, name: str, scan: Scan, wanted: range) -> list[Transition]:
    assert scan.video is not None
    fps = float(scan.video.frame_rate)
    margin = _margin(fps)
    read = range(max(0, wanted.start - margin), min(len(scan.video), wanted.stop + margin))
    progress = _Progress(call, len(read), name)
    return changes_in(film_thumbs(path, name, scan, read, progress.add), fps, read.start)


def _margin(fps: float) -> int:
    return round(2 * LONGEST_FADE_S * fps)


def changes_in(pieces: Iterator[Thumbs], fps: float, first: int = 0) -> list[Transition]:
    """The transitions in consecutive thumbnails, the first of which is that of frame `first`."""
    found: list[Transition] = []
    for window in _windows(pieces, _margin(fps)):
        for change in find_transitions(Signature(window.thumbs, fps)):
            if change.frame in window.core or (change.frame == len(window.thumbs) and window.is_last):
                found.append(_moved(change, window.first + first))
    return found


class _Progress:
    """Counts frames over several threads."""

    def __init__(self, call: Call, total: int, name: str) -> None:
        self._call, self._total, self._name, self._done = call, total, name, 0

    def add(self, frames: int) -> None:
        self._done += frames
        self._call.progress(min(self._done, self._total), self._total, f"looking for cuts in {self._name}")


@dataclass(frozen=True, eq=False)
class _Window:
    """Consecutive thumbnails, and which of them this window answers for: the others are there for context."""

    thumbs: Thumbs
    first: int
    core: range
    is_last: bool


def _windows(pieces: Iterator[Thumbs], margin: int) -> Iterator[_Window]:
    held: Thumbs | None = None
    first, answered = 0, 0
    for piece in pieces:
        held = piece if held is None else np.concatenate((held, piece))
        if len(held) >= max(WINDOW_FRAMES, 6 * margin):
            until = first + len(held) - margin
            yield _Window(held, first, range(answered - first, until - first), is_last=False)
            kept = min(len(held), 2 * margin)
            answered, first, held = until, first + len(held) - kept, held[len(held) - kept :]
    if held is not None:
        yield _Window(held, first, range(answered - first, len(held)), is_last=True)


def _moved(change: Transition, by: int) -> Transition:
    return dataclasses.replace(change, frame=change.frame + by, start=change.start + by, end=change.end + by)
